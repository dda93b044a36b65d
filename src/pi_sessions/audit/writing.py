"""Which replies wrote the report, and which of them wrote each of its lines.

Looked at are the calls that write or edit a file, shell commands, and what replies say themselves.
A line belongs to the last of them that has it; a reply's own words count only where no call has it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit.calls import WRITING, text_of
from pi_sessions.audit.findings import Writer
from pi_sessions.context.passage import strings
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.audit.calls import Call
    from pi_sessions.audit.report import Report
    from pi_sessions.session import Session

LEAST = 0.5
"""Part of a report's lines that must be found for its writers to count as found."""
_SHORT = 4
"""Shorter lines say nothing about where they come from."""
_PIECE = 8
"""Shorter pieces of an edit are not looked for within lines."""


class Point(msgspec.Struct, frozen=True):
    """A reply of one of the sessions."""

    session: int
    """Which session, from 0."""
    line: int
    way: str
    path: str = ""
    """The file it wrote."""


class Authorship(msgspec.Struct, frozen=True):
    """Who wrote what of a report."""

    main: Point | None
    lines: dict[int, Point]
    """For lines of the report, from 1, that were found."""
    writers: tuple[Writer, ...]

    def of(self, line: int) -> Point | None:
        """Give the reply that wrote a line of the report, else the main one."""
        return self.lines.get(line, self.main)


def authorship(
    report: Report, sessions: Sequence[Session], calls: Sequence[Sequence[Call]]
) -> Authorship:
    """Find the replies that wrote a report."""
    wanted = {text for line in report.lines if len(text := _bare(line)) >= _SHORT}
    tools: dict[str, Point] = {}
    says: dict[str, Point] = {}
    pieces: list[tuple[str, Point]] = []
    for number, session in enumerate(sessions):
        for call in calls[number]:
            texts, way, path = _written(call)
            point = Point(number, call.line, way, path)
            tools |= dict.fromkeys(_lines(texts) & wanted, point)
            if way == "edit":
                pieces += [(text, point) for text in _lines(texts) if len(text) >= _PIECE]
        for line in session.table.of_kind(Kind.ASSISTANT):
            said = text_of(session.table.raw(line)["message"].get("content"))
            says |= dict.fromkeys(_lines([said]) & wanted, Point(number, line, "text"))
    by_text = says | tools
    for text in wanted - by_text.keys() if pieces else ():
        # An edit often changes a part of a line, which no call then has whole.
        held = [point for piece, point in pieces if piece in text]
        by_text |= {text: held[-1]} if held else {}
    if not wanted or len(by_text) < LEAST * len(wanted):
        return Authorship(None, {}, ())
    found = {
        number: by_text[text]
        for number, line in enumerate(report.lines, 1)
        if (text := _bare(line)) in by_text
    }
    counts = Counter(found.values())
    ranked = sorted(counts, key=lambda p: (-counts[p], -p.session, -p.line))
    total = sum(1 for line in report.lines if _bare(line) in wanted)
    writers = tuple(_writer(sessions[p.session], p, counts[p] / total) for p in ranked)
    return Authorship(ranked[0], found, writers)


def _writer(session: Session, point: Point, share: float) -> Writer:
    entry = session.at(point.line)
    return Writer(session.path, point.line, entry.id, entry.timestamp, point.way, round(share, 3))


def _written(call: Call) -> tuple[list[str], str, str]:
    """Give the texts a call wrote, in which way, and to which file."""
    if call.is_failed and call.result:
        return [], "", ""
    if call.name in WRITING:
        kept = {key: value for key, value in call.arguments.items() if key != "oldText"}
        way = "write" if call.name.startswith(("write", "create")) else "edit"
        return list(strings(kept, ("oldText", "old_string"))), way, call.path
    if call.command and (">" in call.command or "tee" in call.command):
        target = re.search(r"(?:>{1,2}\s*|\btee\s+(?:-a\s+)?)['\"]?([^\s'\";|&<>]+)", call.command)
        return [call.command], "shell", target[1] if target else ""
    return [], "", ""


def _lines(texts: list[str]) -> set[str]:
    return {_bare(line) for text in texts for line in re.split(r"\r\n|\r|\n", text)}


def _bare(line: str) -> str:
    return line.strip()


def own_files(calls: Sequence[Call]) -> set[str]:
    """Give the base names of files whose text the model itself made."""
    paths = [_written(call)[2] for call in calls if call.name in WRITING or "<<" in call.command]
    return {path.rsplit("/", 1)[-1] for path in paths if path}

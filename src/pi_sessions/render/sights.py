"""The answer of `saw` as a picture: for each place of a text the replies that had it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.excerpt import one_line
from pi_sessions.render.rows import WHO
from pi_sessions.render.states import WHY
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from pi_sessions.context.sighting import Match, Sightings
    from pi_sessions.session import Session

WIDTH = 1000
"""Units of the picture across all replies."""
MOST = 60
"""Places that are drawn; more are counted."""
_BEFORE, _AFTER = 40, 90
_CUTS = 40
TOLD = {
    "seen": "still in front of the model",
    "seen-then-gone": "was seen, and is gone",
    "abandoned": "seen on another branch only",
    "next": "the next request has it first",
    "never-seen": "no reply ever had it",
}
"""What became of a text in one place."""


class Bar(msgspec.Struct, frozen=True):
    """Replies in a row, in file order, that had the text; in units of WIDTH."""

    x: float
    width: float
    told: str


class Sight(msgspec.Struct, frozen=True):
    """A place of the text."""

    line: int
    who: str
    where: str
    before: str
    text: str
    after: str
    standing: str
    told: str
    bars: tuple[Bar, ...]
    had: int
    """Replies that had it."""
    lost_x: float
    """Where on the way it was lost, in units of WIDTH."""
    lost: int
    """The first reply below it on the live branch, or in the file, that had it not; 0 for none."""
    why: str
    first: int
    """The first reply that had it, 0 if none had."""


class Sights(msgspec.Struct, frozen=True):
    """All places of a text."""

    rows: tuple[Sight, ...]
    count: int
    replies: int
    had: int
    """Replies that had it anywhere."""
    cuts: tuple[float, ...]
    """Where the context was compacted, in units of WIDTH."""


def picture(session: Session, found: Sightings) -> Sights:
    """Draw what was found."""
    replies = list(found.sight.visibility.replies)
    number = {line: n for n, line in enumerate(replies)}
    rows = [_row(session, found, match, number) for match in found.matches[:MOST]]
    had = sum(saw for _, saw in found.replies())
    step = WIDTH / max(len(replies), 1)
    compactions = session.table.of_kind(Kind.COMPACTION)
    cuts = sorted({bisect_left(replies, line) * step for line in compactions})
    return Sights(tuple(rows), len(found.matches), len(replies), had, tuple(cuts[:_CUTS]))


def _row(session: Session, found: Sightings, match: Match, number: dict[int, int]) -> Sight:
    passage, table = match.passage, session.table
    order = found.sight.visibility.order
    had = sorted(number[order[n]] for span in match.spans for n in range(span.start, span.stop))
    replies = list(number)
    lost, why = _lost(found, match, had, replies)
    begin = max(0, match.start - _BEFORE)
    end = match.stop + _AFTER
    return Sight(
        line=passage.line,
        who=WHO[Kind(table.kinds[passage.line])],
        where=f"{passage.where} {one_line(passage.name, 40)}".strip(),
        before=("…" if begin else "") + one_line(passage.text[begin : match.start], 80),
        text=one_line(passage.text[match.start : min(match.stop, match.start + 200)], 200),
        after=one_line(passage.text[match.stop : end], 120),
        standing=str(match.standing),
        told=TOLD[str(match.standing)],
        bars=tuple(_bars(had, replies)),
        had=len(had),
        lost_x=number[lost] * WIDTH / len(replies) if lost else 0,
        lost=lost,
        why=why,
        first=replies[had[0]] if had else 0,
    )


def _lost(found: Sightings, match: Match, had: list[int], replies: list[int]) -> tuple[int, str]:
    """Find the first reply after the text that had it not, and say why."""
    start = had[0] if had else 0
    seen = set(had)
    for place in range(start, len(replies)):
        reply = replies[place]
        if place not in seen and reply > match.passage.line:
            reason = found.why_not(reply, match)
            return reply, WHY[reason] if reason else ""
    return 0, ""


def _bars(had: list[int], replies: list[int]) -> list[Bar]:
    """Join neighbours in file order."""
    step = WIDTH / max(len(replies), 1)
    runs: list[list[int]] = []
    for place in had:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return [
        Bar(
            first * step,
            max((last - first + 1) * step, 1.5),
            f"line {replies[first]:,}"
            if first == last
            else f"lines {replies[first]:,} to {replies[last]:,}: {last - first + 1:,} replies",
        )
        for first, last in runs[:300]
    ]

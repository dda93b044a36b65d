"""Reading a session from its end: messages alone, without looking at the head of the file.

Goes back block by block until the newest compaction on the leaf's path and all it keeps have been
seen. Where that cannot be known without the head (no compaction, an old version, a kept entry that
is never met), it reads on to the start and gives what the full reading gives.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, _process, migrations, reader, scan
from pi_sessions._lines import BLOCK, Source, open_source
from pi_sessions.session import Session
from pi_sessions.table import Kind

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


class _Envelope(msgspec.Struct, gc=False):
    type: str
    id: str
    parentId: str | None = None  # noqa: N815 - the format's own name
    firstKeptEntryId: str | None = None  # noqa: N815 - the format's own name


_decode = msgspec.json.Decoder(_Envelope).decode


class Tail(msgspec.Struct, frozen=True):
    """A session of which only the end was read."""

    session: Session
    skipped: int
    """Bytes between the header and the first line read; 0 if the whole file was read."""
    level_known: bool
    """Whether a thinking level was met on the way; otherwise the head may have set one."""

    def look_at_head(self) -> Head | None:
        """Count the lines of the head, and make sure that no thinking level is set in it.

        Of a large head a forked child looks at the second half.

        Returns:
            None where the head has to be read as well: it may set a level.
        """
        half = self.skipped // 2 if self.skipped > scan.LARGE else self.skipped
        second = (
            _process.start(lambda: self._look(half, self.skipped)) if half < self.skipped else None
        )
        first = self._look(0, half)
        if half == self.skipped:
            return None if first is None else Head(first)
        rest = _process.result(second) if second else self._look(half, self.skipped)
        return None if first is None or rest is None else Head(first + rest)

    def _look(self, start: int, end: int) -> int | None:
        """Count the lines of a part of the head; None if it may set a thinking level."""
        source = self.session.table.source
        lines, carried = 0, source.read(max(0, start - len(_LEVEL)), min(start, len(_LEVEL)))
        for offset in range(start, end, 4 * BLOCK):
            data = source.read(offset, min(4 * BLOCK, end - offset))
            lines += data.count(b"\n")
            if not self.level_known and (
                _may_set_level(data) or _may_set_level(carried + data[: len(_LEVEL)])
            ):
                return None
            carried = data[-len(_LEVEL) :]
        return lines


class Head(msgspec.Struct, frozen=True):
    """What is to be known of the part of a file that was not read."""

    lines: int
    """Physical lines in it."""


_LEVEL = b"thinking_level_change"
_ESCAPED = (0x36, 0x37)
"""Digits after `\\u00` with which an escape stands for a letter."""


def _may_set_level(data: bytes) -> bool:
    """Say whether bytes hold the type of an entry that sets a level, perhaps with escapes in it."""
    # The middle of the word has few letters in common with other text and is found much faster.
    found = data.find(b"_level_")
    while found >= 0:
        if data.startswith(_LEVEL, max(0, found - 8)):
            return True
        found = data.find(b"_level_", found + 1)
    found = data.find(b"\\u00")
    while found >= 0:
        if data[found + 4 : found + 5] and data[found + 4] in _ESCAPED:
            return True
        found = data.find(b"\\u00", found + 4)
    return False


def load_tail(path: str | os.PathLike[str], *, zone: tzinfo = UTC) -> Tail:
    """Open a session file and read only as much of its end as the messages of its leaf need.

    Raises:
        UnreadableError: it cannot be opened or read.
        NotASessionError: the first JSON value in it is no header.
    """
    source = open_source(path)
    header = _header(source)
    lines = _needed(source) if header is not None else None
    if header is None or not lines:
        return Tail(reader.load(path, zone=zone), 0, level_known=True)
    table = scan.read_part(source, header, lines)
    level = any(True for _ in table.of_kind(Kind.THINKING_LEVEL_CHANGE))
    return Tail(Session(table, zone=zone), lines[0][0], level_known=level)


def _header(source: Source) -> dict[str, Any] | None:
    """Read a header of the current version on the first line; None for anything else."""
    head = source.read(0, min(source.size, BLOCK))
    end = head.find(b"\n")
    if end < 0:
        return None
    try:
        value = _json.loads(head[:end])
    except _json.JSONError:
        return None
    if not isinstance(value, dict) or value.get("type") != "session":
        return None
    current = migrations.version_number(value.get("version")) >= migrations.CURRENT
    return value if current and isinstance(value.get("id"), str) else None


def _needed(source: Source) -> list[tuple[int, bytes]] | None:
    """Give the lines, with their offsets, from the first one needed on; None: read everything."""
    lines: list[tuple[int, bytes]] = []
    parents: dict[str, str | None] = {}
    seen: set[str] = set()
    wanted: str | None = None
    kept: str | None = None
    started = False
    for offset, data in _backwards(source):
        lines.append((offset, data))
        try:
            entry = _decode(data)
        except (msgspec.MsgspecError, RecursionError):
            if data.strip():
                return None  # odd lines are for the full reading
            continue
        if entry.type == "session":
            return None
        if entry.id in seen:
            continue  # a later line has its id
        seen.add(entry.id)
        parents[entry.id] = entry.parentId
        if not started:
            started, wanted = True, entry.id
        while wanted is not None and wanted in parents:
            if wanted == entry.id and entry.type == "compaction" and kept is None:
                kept = entry.firstKeptEntryId
                if kept is None:
                    return None
                if kept == entry.id:
                    lines.reverse()
                    return lines
            elif wanted == kept:
                lines.reverse()
                return lines
            wanted = parents.pop(wanted) or None
            if wanted is None:
                return None
    return None


def _backwards(source: Source) -> Iterator[tuple[int, bytes]]:
    """Give the lines from the last to the first, each with its offset and its newline."""
    position, pending = source.size, b""
    while position > 0:
        start = max(0, position - 4 * BLOCK)
        block = source.read(start, position - start) + pending
        position = start
        end = len(block)
        while end > 0:
            begin = block.rfind(b"\n", 0, end - 1) + 1
            if begin == 0 and start > 0:
                break
            yield start + begin, block[begin:end]
            end = begin
        pending = block[:end]

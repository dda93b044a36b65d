"""Broken lines put together again: two entries on one line, one entry over several, a cut header.

Works on bytes; what cannot be understood is kept as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions.faults import second_object
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LINES = 10_000
"""Lines that one broken text may be spread over."""
_LONGEST = 16 << 20
"""Bytes up to which spread lines are put together."""
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)+")')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"\\]+)"')


def split_fused(data: bytes) -> list[bytes] | None:
    """Part a line on which a torn entry and whole ones stand; None if it is not like that.

    Whole entries that stand side by side are parted from one another as well.
    """
    start = second_object(data)
    if start is None:
        return None
    head, tail = data[:start], data[start:]
    return [*(split_fused(head) or [head]), tail]


def join_spread(table: Table, line: int) -> tuple[bytes, int] | None:
    """Put together an entry that raw newlines have spread over several lines.

    Gives the entry with the newlines as escapes, and the last of its lines; None if `line` does
    not begin one.
    """
    pieces: list[bytes] = []
    size = 0
    for number in range(line, min(line + MOST_LINES, len(table) + 1)):
        if table.kinds[number] not in (Kind.MALFORMED, Kind.BLANK) and number > line:
            return None
        piece = table.bytes(number)
        if number == line and not piece.lstrip().startswith(b"{"):
            return None
        pieces.append(piece.removesuffix(b"\r"))
        size += len(piece)
        if size > _LONGEST:
            return None
        # Only a line that may end an object is worth the parsing.
        if number > line and piece.rstrip().endswith(b"}"):
            whole = b"\\n".join(pieces)
            if _is_entry(whole):
                return whole, number
    return None


def _is_entry(data: bytes) -> bool:
    try:
        value = _json.loads(data)
    except _json.JSONError:
        return False
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def header_for(table_bytes: bytes, name: str, new_id: Callable[[], str]) -> dict[str, Any]:
    """Make a header for a file that has lost its own.

    What its first line, its name and its first entry still tell is taken; a working directory that
    is told nowhere is left out.

    Args:
        table_bytes: the beginning of the file.
        name: name of the file.
        new_id: makes a session id.
    """
    first, _, rest = table_bytes.partition(b"\n")
    stem = name.rpartition("/")[2].removesuffix(".jsonl")
    named = re.fullmatch(r".*_([0-9A-Za-z][0-9A-Za-z._-]*)", stem)
    broken = not _is_entry(first)
    session_id = _text(_ID.search(first)) if broken else None
    header: dict[str, Any] = {
        "type": "session",
        "version": 3 if b'"parentId"' in table_bytes else 1,
        "id": session_id or (named[1] if named else new_id()),
    }
    time = (_TIME.search(first) if broken else None) or _TIME.search(rest or first)
    if time:
        header["timestamp"] = time[1].decode("utf-8", "replace")
    if broken and (cwd := _text(_CWD.search(first))) is not None:
        header["cwd"] = cwd
    return header


def _text(match: re.Match[bytes] | None) -> str | None:
    if match is None:
        return None
    try:
        value = _json.loads(match[1])
    except _json.JSONError:
        return None
    return value if isinstance(value, str) else None


def first_entry(table: Table) -> int:
    """Give the line of the first entry, 0 without any."""
    return next((n for n, kind in enumerate(table.kinds) if n and kind < FIRST_OTHER), 0)

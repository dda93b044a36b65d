"""Broken lines put together again: entries on one line, one entry over several, a cut header.

Works on bytes; what cannot be understood is kept as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions.repair.keys import Nesting
from pi_sessions.table import TYPES, Table

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LINES = 10_000
"""Lines that one broken text may be spread over."""
_LONGEST = 32 << 20
"""Bytes up to which something is put together, or looked for on one line."""
_LINE = 200
"""Bytes that reading a line is worth."""
_CANDIDATES = 256
"""Beginnings of an entry that are tried on one line."""
_TYPES = frozenset(("message", "session", *TYPES))
_BEGINNING = b'{"type":'
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)+")')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"\\]+)"')


def split_fused(data: bytes) -> list[bytes] | None:
    """Part a line on which whole entries stand beside each other or beside torn ones.

    Gives the pieces, which are the line when joined; None if there is nothing to part.
    """
    tails: list[list[bytes]] = []
    while start := _last_entry(data):
        tails.append(_whole_first(data[start:]))
        data = data[:start]
    pieces = [*_whole_first(data), *(piece for tail in reversed(tails) for piece in tail)]
    return pieces if len(pieces) > 1 else None


def _whole_first(data: bytes) -> list[bytes]:
    """Part the whole entries that a line begins with from each other and from what follows them."""
    pieces = []
    while end := _first_entry(data):
        pieces.append(data[:end])
        data = data[end:]
    if pieces and not data.strip():
        return [*pieces[:-1], pieces[-1] + data]
    return [*pieces, data]


def _first_entry(data: bytes) -> int:
    """Give the end of the entry that a line begins with, 0 if it begins with none."""
    if not data.lstrip().startswith(b"{"):
        return 0
    end = Nesting().read(data)
    return end if end > 0 and _is_entry(data[:end]) else 0


def _last_entry(data: bytes) -> int:
    """Give the start of the entry that ends a line, 0 if none does."""
    place, looked_at = len(data), 0
    for _ in range(_CANDIDATES):
        place = data.rfind(_BEGINNING, 0, place)
        looked_at += len(data) - place
        if place <= 0 or looked_at > _LONGEST:
            return 0
        end = Nesting().read(data[place:])
        if end > 0 and _is_entry(data[place : place + end]):
            return place
    return 0


class Budget:
    """Bytes that may be looked at in search of entries over several lines."""

    def __init__(self, left: int = 64 << 20) -> None:
        self.left = left


def join_spread(table: Table, line: int, budget: Budget) -> tuple[bytes, int] | None:
    """Put together an entry that newlines have spread over several lines.

    A newline inside a text becomes an escape, any other one is left out. Gives the entry and the
    last of its lines; None if `line` does not begin one.
    """
    pieces: list[bytes] = []
    nesting, size, carried = Nesting(), 0, b""
    for number in range(line, min(line + MOST_LINES, len(table) + 1)):
        piece = table.bytes(number)
        size += len(piece)
        budget.left -= len(piece) + _LINE
        is_first = number == line
        if size > _LONGEST or budget.left < 0 or (table.counts(number) and _is_entry(piece)):
            return None
        if is_first and not piece.lstrip().startswith(b"{"):
            return None
        piece = carried + piece.removesuffix(b"\r")
        carried = b""
        if _ends_in_escape(piece) and number < len(table):
            # The newline parts an escape: it was not in the text.
            carried = piece
            continue
        if nesting.read(piece) > 0:
            whole = b"".join([*pieces, piece])
            return (whole, number) if not is_first and _is_entry(whole) else None
        pieces.append(piece + (b"\\n" if nesting.in_string else b""))
    return None


def _ends_in_escape(piece: bytes) -> bool:
    return (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1


_CONTROL = re.compile(rb"[\x00-\x1f]")
_SHORT = {b"\t": b"\\t", b"\r": b"\\r", b"\b": b"\\b", b"\f": b"\\f"}


def escape_controls(data: bytes) -> bytes | None:
    """Give an entry with escapes for raw control characters in its texts; None if it is none."""
    if not _CONTROL.search(data.rstrip(b"\r")):
        return None
    escaped = _CONTROL.sub(
        lambda found: _SHORT.get(found[0], b"\\u%04x" % ord(found[0])), data.rstrip(b"\r")
    )
    return escaped if _is_entry(escaped) else None


def _is_entry(data: bytes) -> bool:
    """Say whether bytes are an entry or a header, and not some object inside one."""
    try:
        value = _json.loads(data)
    except _json.JSONError:
        return False
    if not isinstance(value, dict) or not isinstance(value.get("timestamp"), str):
        return False
    kind = value.get("type")
    has_place = isinstance(value.get("id"), str) and "parentId" in value
    return isinstance(kind, str) and (kind in _TYPES or has_place)


def header_for(beginning: bytes, name: str, new_id: Callable[[], str]) -> dict[str, Any]:
    """Make a header for a file that has lost its own.

    What its first line, its name and its first entry still tell is taken; a working directory that
    is told nowhere is left out.

    Args:
        beginning: the beginning of the file.
        name: name of the file.
        new_id: makes a session id.
    """
    first, _, rest = beginning.partition(b"\n")
    stem = name.rpartition("/")[2].removesuffix(".jsonl")
    named = re.fullmatch(r".*_([0-9A-Za-z][0-9A-Za-z._-]*)", stem)
    broken = b'"session"' in first[:64] or not _is_entry(first)
    session_id = _text(_ID.search(first)) if broken else None
    header: dict[str, Any] = {
        "type": "session",
        "version": 3 if b'"parentId"' in beginning else 1,
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

"""Which lines of a file can hold a text: a search of the raw bytes that overlooks nothing.

In JSON a character stands as it is or as an escape. What this search looks for is a stretch of the
text that writers leave as it is, and, beside it, the escapes in which it might stand instead. The
lines it gives are few and still have to be decoded; the lines it leaves out cannot hold the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import product
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from pi_sessions._lines import Source
    from pi_sessions.table import Table

_PLAIN = re.compile(r"[ !#-.0-\[\]-~]+")
"""What no JSON writer has to escape."""
_OTHER = re.compile(r"[\u00a0-\ud7ff\ue000-\ufffc\U00010000-\U0010ffff]+")
_ESCAPE = rb"\u"
_PRINTABLE = _ESCAPE + b"00"
_ESCAPES = re.compile(rb"\\u(?:00[2-7]|01(?:3[01]|7f)|212a)", re.IGNORECASE)
_LOOKALIKES = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}
"""Letters that are capitals of ASCII ones, or have them as capitals."""
_WINDOW = 1 << 18
"""Bytes that are looked into at once; their small letters stay in the processor's cache."""


class Needle(msgspec.Struct, frozen=True):
    """Byte strings of which a line has one if it holds a text."""

    strings: tuple[bytes, ...]
    folds: bool = False
    """Whether they are small letters, to be looked for where capitals do not matter."""
    lookalikes: tuple[bytes, ...] = ()
    """Letters beyond ASCII that may stand for one of the text."""
    escape: bytes = b""
    """How escapes begin behind which characters of the text may stand."""

    def places(self, window: bytes) -> Generator[int, int | None, None]:
        """Give the places of a window where the text may stand, in no order.

        What is sent back is the place to go on at.
        """
        data = window.lower() if self.folds else window
        strings = self.strings
        if self.lookalikes and not window.isascii():
            strings += tuple(each for each in self.lookalikes if all(byte in data for byte in each))
        for string in strings:
            place = data.find(string)
            while place >= 0:
                end = yield place
                place = data.find(string, place + 1 if end is None else end)
        place = window.find(self.escape) if self.escape else -1
        while place >= 0:
            end = (yield place) if _ESCAPES.match(window, place) else None
            place = window.find(self.escape, place + 1 if end is None else end)

    def is_in(self, window: bytes) -> bool:
        """Say whether a window may hold the text."""
        return next(self.places(window), None) is not None


def needle_of(text: str, *, ignore_case: bool = False) -> Needle | None:
    """Find what to look for; None where nothing can be said and all lines have to be decoded."""
    if ignore_case and not text.isascii():
        return None
    if plain := max(_PLAIN.findall(text), key=len, default=""):
        if ignore_case:
            return _folding(plain.lower())
        return Needle((plain.encode(),), escape=_PRINTABLE)
    if other := max(_OTHER.findall(text), key=len, default=""):
        return Needle((other.encode(), *_escapes(other[0])))
    return None


def _folding(plain: str) -> Needle:
    """Make what finds a stretch where capitals do not matter."""
    letters = "".join(_LOOKALIKES[char] for char in _LOOKALIKES if char in plain)
    lookalikes = tuple(letter.encode() for letter in letters)
    return Needle((plain.encode(),), True, lookalikes, _ESCAPE if letters else _PRINTABLE)


def may_hold(table: Table, text: str, *, ignore_case: bool = False) -> Iterator[int]:
    """Give, in order, the lines that can hold a text when they are decoded."""
    needle = needle_of(text, ignore_case=ignore_case)
    if needle is None:
        yield from range(1, len(table) + 1)
        return
    offsets, size = table.offsets, len(table)
    first = 1
    while first <= size:
        last = max(first, bisect_right(offsets, offsets[first] + _WINDOW, first, size + 1) - 1)
        last = min(last, size)
        begin = offsets[first]
        window = table.source.read(begin, offsets[last] + table.length(last) - begin)
        found: set[int] = set()
        places = needle.places(window)
        place = next(places, None)
        while place is not None:
            line = bisect_right(offsets, begin + place, first, last + 1) - 1
            found.add(line)
            try:
                # The rest of the line tells nothing new.
                place = places.send(offsets[line] + table.length(line) - begin)
            except StopIteration:
                break
        yield from sorted(found)
        first = last + 1


def file_may_hold(source: Source, text: str, *, ignore_case: bool = False) -> bool:
    """Say whether a file can hold a text at all, before anything of it is read as JSON."""
    needle = needle_of(text, ignore_case=ignore_case)
    if needle is None:
        return True
    overlap = max(map(len, needle.strings)) + 6
    carried = b""
    for offset in range(0, source.size, _WINDOW):
        window = carried + source.read(offset, min(_WINDOW, source.size - offset))
        if needle.is_in(window):
            return True
        carried = window[-overlap:]
    return False


def _escapes(character: str) -> Iterator[bytes]:
    """Give the spellings of a character's first code unit as an escape."""
    digits = f"{int.from_bytes(character.encode('utf-16-be')[:2], 'big'):04x}"
    for spelling in product(*({digit, digit.upper()} for digit in digits)):
        yield b"\\u" + "".join(spelling).encode()

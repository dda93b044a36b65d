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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.table import Table

_PLAIN = re.compile(r"[ !#-.0-\[\]-~]+")
"""What no JSON writer has to escape."""
_OTHER = re.compile(r"[\u00a0-\ud7ff\ue000-\ufffc\U00010000-\U0010ffff]+")
_PRINTABLE_ESCAPE = re.compile(rb"\\u00[2-7]")
_WINDOW = 1 << 22


def may_hold(table: Table, text: str) -> Iterator[int]:
    """Give, in order, the lines that can hold a text when they are decoded."""
    needles = _needles(text)
    if needles is None:
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
        for needle in needles:
            place = window.find(needle)
            while place >= 0:
                line = bisect_right(offsets, begin + place, first, last + 1) - 1
                if needle != b"\\u00" or _PRINTABLE_ESCAPE.match(window, place):
                    found.add(line)
                    # The rest of the line tells nothing new.
                    place = offsets[line] + table.length(line) - begin - 1
                place = window.find(needle, place + 1)
        yield from sorted(found)
        first = last + 1


def _needles(text: str) -> list[bytes] | None:
    """Give byte strings of which a line that holds the text has one; None: nothing can be said."""
    if plain := max(_PLAIN.findall(text), key=len, default=""):
        return [plain.encode(), b"\\u00"]
    if other := max(_OTHER.findall(text), key=len, default=""):
        return [other.encode(), *_escapes(other[0])]
    return None


def _escapes(character: str) -> Iterator[bytes]:
    """Give the spellings of a character's first code unit as an escape."""
    digits = f"{int.from_bytes(character.encode('utf-16-be')[:2], 'big'):04x}"
    for spelling in product(*({digit, digit.upper()} for digit in digits)):
        yield b"\\u" + "".join(spelling).encode()

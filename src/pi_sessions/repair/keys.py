"""Values of an object's line changed in its own bytes; all other bytes stay as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions import _json

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\],:"]', re.DOTALL)
"""A whole text, a sign of the structure, or a quote that no other one ends."""
_OPENS, _CLOSES = b"{[", b"}]"
_WHITE = b" \t\r\n"


class Nesting:
    """How far a text has got that comes in pieces: how deep, and whether inside a string."""

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False

    def read(self, piece: bytes) -> int:
        """Go on over a piece.

        Returns:
            Where the outermost value ends in it, -1 if it does not.
        """
        place = 0
        if self.in_string:
            end = _REST.match(piece)
            if end is None:
                return -1
            self.in_string, place = False, end.end()
        for token in _TOKEN.finditer(piece, place):
            sign = token[0]
            if sign == b'"':
                self.in_string = True
                return -1
            if sign in (b"{", b"["):
                self.depth += 1
            elif sign in (b"}", b"]"):
                self.depth -= 1
                if self.depth <= 0:
                    return token.end()
        return -1


_REST = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)


def replaced(data: bytes, keys: Mapping[str, Any]) -> bytes:
    """Give a line with other values for some keys; those it does not have come last.

    Args:
        data: JSON of an object, as JavaScript reads it.
        keys: the new values.
    """
    spans = _spans(data)
    new = {key: _json.encode(value) for key, value in keys.items()}
    last = data.rindex(b"}")
    added = [_json.encode(key) + b":" + value for key, value in new.items() if key not in spans]
    if added:
        separator = b"," if spans else b""
        data = data[:last] + separator + b",".join(added) + data[last:]
    for key, (start, end) in sorted(spans.items(), key=lambda item: -item[1][0]):
        if key in new:
            data = data[:start] + new[key] + data[end:]
    return data


def replaced_within(data: bytes, outer: str, keys: Mapping[str, Any]) -> bytes:
    """Give a line with other values for some keys of the object that one of its keys has."""
    start, end = _spans(data)[outer]
    return data[:start] + replaced(data[start:end], keys) + data[end:]


def _spans(data: bytes) -> dict[str, tuple[int, int]]:
    """Find where the value of each key stands; of a key that stands twice the last one counts."""
    spans: dict[str, tuple[int, int]] = {}
    depth, key, start = 0, b"", 0
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in (b"{", b"["):
            depth += 1
        elif depth == 1 and sign in (b",", b"}"):
            if key:
                value = data[start : token.start()]
                end = token.start() - len(value) + len(value.rstrip(_WHITE))
                begin = start + len(value) - len(value.lstrip(_WHITE))
                spans[_json.loads(key)] = (begin, end)
            key = b""
            depth -= sign == b"}"
        elif sign in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and sign == b":":
            start = token.end()
        elif depth == 1 and not key:
            key = sign
    return spans

"""The point in the tree at which a context is built: a leaf, or the leaf behind a response."""

from __future__ import annotations

import math
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import date_value
from pi_sessions.tree import path

if TYPE_CHECKING:
    from pi_sessions.table import Table


class Point(msgspec.Struct, frozen=True):
    """Where a context is built."""

    leaf: int
    """Line of the leaf; 0 before the first entry."""
    response: int = 0
    """Line of the reply that was written there, 0 if the point was chosen by its leaf."""
    path: tuple[int, ...] = ()
    """Lines from the root to the leaf."""


def at_leaf(table: Table, leaf: int) -> Point:
    """Take an entry as the leaf: what would be sent with it as the last entry."""
    return Point(leaf, 0, tuple(path(table, leaf)))


def at_response(table: Table, response: int, zone: tzinfo = UTC) -> Point:
    """Find the leaf a reply's request was built from.

    That is the nearest entry, from the reply's parent upwards, which was there when the request was
    built, at the reply's own `message.timestamp`; entries passed over were written in flight. Of a
    message its own time counts: old releases stored it some milliseconds after they sent it.
    """
    lines = path(table, response)[:-1]
    built = _number(_message(table.raw(response)).get("timestamp"))
    end = len(lines)
    if not math.isnan(built):
        while end and _time(table, lines[end - 1], zone) > built:
            end -= 1
        end = end or len(lines)
    return Point(lines[end - 1] if end else 0, response, tuple(lines[:end]))


def _time(table: Table, line: int, zone: tzinfo) -> float:
    """Read the moment from which an entry was there; NaN is later than nothing."""
    if not table.is_entry(line):
        return math.nan
    entry = table.raw(line)
    own = _number(_message(entry).get("timestamp"))
    return date_value(entry.get("timestamp", math.nan), zone) if math.isnan(own) else own


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    message = entry.get("message") if entry.get("type") == "message" else None
    return message if isinstance(message, dict) else {}


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return math.nan

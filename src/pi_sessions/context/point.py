"""The point in the tree at which a context is built: a leaf, or the leaf behind a response."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import date_value
from pi_sessions.context.glimpse import times
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.tree import path

if TYPE_CHECKING:
    from pi_sessions.context.writers import Writer
    from pi_sessions.table import Table


class Point(msgspec.Struct, frozen=True):
    """Where a context is built."""

    leaf: int
    """Line of the leaf; 0 before the first entry."""
    response: int = 0
    """Line of the reply that was written there, 0 if the point was chosen by its leaf."""
    path: tuple[int, ...] = ()
    """Lines from the root to the leaf."""
    rules: Rules = CURRENT
    """The rules the request is built by."""
    writer: Writer | None = None
    """The releases whose rules it may have been, where that was found out from the file."""


def at_leaf(table: Table, leaf: int) -> Point:
    """Take an entry as the leaf: what would be sent with it as the last entry."""
    return Point(leaf, 0, tuple(path(table, leaf)))


def at_response(table: Table, response: int, zone: tzinfo = UTC) -> Point:
    """Find the leaf a reply's request was built from (`leaf_behind`), and the path to it."""
    built = moment(times(table, response)[1])
    leaf = leaf_behind(table, response, built, lambda line: time_of(table, line, zone))
    lines = path(table, response)[:-1]
    return Point(leaf, response, tuple(lines[: lines.index(leaf) + 1]) if leaf else ())


def by_release(where: Point, release: str) -> Point:
    """Give a point whose request is built by the rules of a release.

    Raises:
        UnknownReleaseError: there is no such release.
    """
    return msgspec.structs.replace(where, rules=Rules.of(release))


def leaf_behind(table: Table, response: int, built: float, time: Callable[[int], float]) -> int:
    """Find the line of the leaf a reply's request was built from, 0 if there was none.

    That is the nearest entry, from the reply's parent upwards, which was there when the request was
    built, at the reply's own `message.timestamp`; entries passed over were written in flight. If
    none was, it is the parent.

    Args:
        table: the lines.
        response: line of the reply.
        built: its own time, as `moment` gives it.
        time: the moment from which an entry was there, as `time_of` tells it.
    """
    parents = table.parents
    parent = parents[response] if parents[response] != response else 0
    line, passed = parent, {response}
    while line > 0 and line not in passed and time(line) > built:
        passed.add(line)
        line = parents[line]
    found = line if line > 0 and line not in passed else parent
    return max(found, 0)


def time_of(table: Table, line: int, zone: tzinfo, data: bytes | None = None) -> float:
    """Read the moment from which an entry was there; NaN is later than nothing.

    Of a message its own time counts: old releases stored it some milliseconds after they sent it.
    """
    if not table.is_entry(line):
        return math.nan
    stored, own = times(table, line, data)
    sent = moment(own)
    return date_value(stored, zone) if math.isnan(sent) else sent


def moment(value: Any) -> float:
    """Give a message's own time in milliseconds, NaN for what is no number."""
    return float(value) if type(value) in (int, float) else math.nan

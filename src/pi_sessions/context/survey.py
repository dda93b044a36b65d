"""One pass over the replies of a file: when each was asked, of which model, and whether it failed.

Read are the replies and what stands before each; of a large file a second process reads half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _process
from pi_sessions.context.fate import judge_reply
from pi_sessions.context.glimpse import glimpse
from pi_sessions.context.message import Reason
from pi_sessions.context.point import leaf_behind, moment, time_of
from pi_sessions.context.target import Target
from pi_sessions.table import MISSING_PARENT, NO_PARENT, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

_TOLD, _ASKS, _FAILED = range(3)
_PLAIN = (None, True, Reason.FAILED_REPLY)


class Survey(msgspec.Struct, frozen=True):
    """What one pass finds, by the line of each reply."""

    leaves: Mapping[int, int]
    """The leaf a reply's request was built from."""
    targets: Mapping[int, Target]
    plain: Mapping[int, Reason | bool | None]
    """What becomes of the reply in later requests, as `Fates.plain` tells it."""


def replies_of(table: Table) -> list[int]:
    """Give the lines of the replies, without those whose id a later line has."""
    return [n for n in table.of_kind(Kind.ASSISTANT) if n not in table.shadowed]


def survey(table: Table, zone: tzinfo, workers: int) -> Survey:
    """Look at all replies of a file."""
    replies = replies_of(table)
    looks: list[Any] = []
    times: dict[int, float] = {}
    for some, found in _process.in_halves(lambda of: _look(table, zone, of), replies, workers):
        looks += some
        times |= found

    def time(line: int) -> float:
        if line not in times:
            times[line] = time_of(table, line, zone)
        return times[line]

    names: dict[tuple[str, str, str], Target] = {}
    leaves, targets, plain = {}, {}, {}
    parents = table.parents
    for reply, (built, state, named) in zip(replies, looks, strict=True):
        parent = parents[reply]
        # Nearly always the parent was there; what is not later, is not in flight.
        was_there = parent in times and parent != reply and not times[parent] > built
        leaves[reply] = parent if was_there else leaf_behind(table, reply, built, time)
        targets[reply] = names.get(named) or names.setdefault(named, Target(*named))
        plain[reply] = _PLAIN[state]
    return Survey(leaves, targets, plain)


def _look(table: Table, zone: tzinfo, replies: Sequence[int]) -> tuple[list[Any], dict[int, float]]:
    """Read replies and their parents; gives values of built-in types alone."""
    looks: list[Any] = []
    times: dict[int, float] = {}
    asked = set(replies)
    parents = {table.parents[reply] for reply in replies} - {NO_PARENT, MISSING_PARENT}
    for line, data in table.read(sorted(asked | parents)):
        if line in parents:
            times[line] = time_of(table, line, zone, data)
        if line in asked:
            message = glimpse(table, line, data).message
            if message is None:
                raise table.changed(line)
            state = _PLAIN.index(judge_reply(message))
            looks.append((moment(message.timestamp), state, message.names))
    return looks, times

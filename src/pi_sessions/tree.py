"""The tree that parents make of the entries: walks, roots, children, branches.

Works on line numbers over a table; the only thing it reads again are the times of siblings. Never
recursive: a chain of 200,000 entries is ordinary, and a cycle ends a walk instead of hanging it.
"""

from __future__ import annotations

import math
from datetime import UTC, tzinfo
from functools import cmp_to_key
from typing import TYPE_CHECKING

import msgspec

from pi_sessions._javascript import date_value
from pi_sessions._json import dumps
from pi_sessions.table import FIRST_OTHER, NO_PARENT, Kind, Table, id_key

if TYPE_CHECKING:
    from collections.abc import Iterator


def path(table: Table, leaf: int) -> list[int]:
    """Give the lines from the root to a leaf, both included; nothing for leaf 0.

    A walk that comes to a parent it has visited ends there: that entry acts as a root.
    """
    parents = table.parents
    lines: list[int] = []
    add = lines.append
    line = leaf
    for _ in range(len(table) + 1):
        if line <= 0:
            break
        add(line)
        line = parents[line]
    else:
        lines = list(dict.fromkeys(lines))
    lines.reverse()
    return lines


def is_cut(table: Table, lines: list[int]) -> bool:
    """Say whether a path begins where a parent is missing or a cycle was cut, not at a root."""
    return bool(lines) and table.parents[lines[0]] != NO_PARENT


class Tree(msgspec.Struct, frozen=True, dict=True):
    """Roots and children of the entries that are reachable by id, in the order of the reference."""

    table: Table
    roots: tuple[int, ...]
    """Entries without a parent in the file, in file order."""
    children_of: dict[int, tuple[int, ...]]
    """Children by the line of their parent, oldest first."""

    def children(self, line: int) -> tuple[int, ...]:
        """Give the children of an entry, oldest first; times that are no dates stay in place."""
        return self.children_of.get(line, ())

    def walk(self) -> Iterator[tuple[int, int]]:
        """Give (line, depth) of every entry, parents first; depth counts branch points."""
        stack = [(root, 0) for root in reversed(self.roots)]
        while stack:
            line, depth = stack.pop()
            yield line, depth
            children = self.children(line)
            inner = depth + (len(children) > 1)
            stack.extend((child, inner) for child in reversed(children))

    def leaves(self) -> list[int]:
        """Give the entries without children, in file order."""
        return sorted(line for line, _ in self.walk() if line not in self.children_of)

    def cycles(self) -> list[tuple[int, ...]]:
        """Give the cycles among the parents, each from its first line on; no tree holds them."""
        parents = self.table.parents
        done = bytearray(len(parents))
        found = []
        for start in range(1, len(parents)):
            trail: list[int] = []
            line = start
            while line > 0 and not done[line]:
                done[line] = 1
                trail.append(line)
                line = parents[line]
            if line > 0 and line in trail:
                ring = trail[trail.index(line) :]
                first = ring.index(min(ring))
                found.append(tuple(ring[first:] + ring[:first]))
        return found


def build(table: Table, zone: tzinfo = UTC) -> Tree:
    """Arrange the entries of a table; an entry whose id a later line has is represented by that.

    Args:
        table: the lines.
        zone: in which times without a zone are read when siblings are put in order.
    """
    parents, kinds, shadowed = table.parents, table.kinds, table.shadowed
    roots: list[int] = []
    children: dict[int, list[int]] = {}
    for line, kind in enumerate(kinds):
        if (kind >= FIRST_OTHER and table.ids[line] is None) or line in shadowed:
            continue
        parent = parents[line]
        if parent > 0 and parent != line:
            children.setdefault(parent, []).append(line)
        else:
            roots.append(line)
    ordered = {
        parent: tuple(lines if len(lines) < 2 else _by_time(table, lines, zone))
        for parent, lines in children.items()
    }
    return Tree(table, tuple(roots), ordered)


def _by_time(table: Table, lines: list[int], zone: tzinfo) -> list[int]:
    times = {line: entry_time(table, line, zone) for line in lines}

    def compare(left: int, right: int) -> int:
        # NaN compares as equal to everything, as in the reference's sort.
        difference = times[left] - times[right]
        return (difference > 0) - (difference < 0)

    return sorted(lines, key=cmp_to_key(compare))


def entry_time(table: Table, line: int, zone: tzinfo = UTC) -> float:
    """Read the time of an entry in milliseconds, NaN where it has no valid one."""
    return date_value(table.raw(line).get("timestamp", math.nan), zone)


def common_ancestor(table: Table, left: int, right: int) -> int:
    """Give the last line that the paths of two leaves share, 0 if they share none."""
    shared = 0
    for a, b in zip(path(table, left), path(table, right), strict=False):
        if a != b:
            break
        shared = a
    return shared


class Label(msgspec.Struct, frozen=True):
    """A bookmark on an entry."""

    text: str
    line: int
    """The label entry that set it."""
    timestamp: object
    """Time of that entry, as stored."""


def labels(table: Table) -> dict[object, Label]:
    """Resolve the labels: by target id, in order of setting; the last one in the file counts.

    Labels of all branches count, targets need not exist, an empty label clears.
    """
    found: dict[object, Label] = {}
    for line in table.of_kind(Kind.LABEL):
        entry = table.raw(line)
        target, text = entry.get("targetId"), entry.get("label")
        key = id_key(target)
        if text:
            label = text if isinstance(text, str) else dumps(text)
            # A label that is set again keeps its place, as in the reference's map.
            found[key] = Label(label, line, entry.get("timestamp"))
        else:
            found.pop(key, None)
    return found

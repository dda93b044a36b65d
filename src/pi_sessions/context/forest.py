"""The entries' trees, numbered, so that questions about ancestors cost nothing.

Entries are numbered parents first; a branch is then a run of numbers. What hangs on the way from
the root, such as the newest compaction, is carried down once. Entries in a circle, and those that
hang on one, are in no tree and have no number.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from pi_sessions.context.selection import NO_BOUNDARY, first_kept_key
from pi_sessions.table import NO_PARENT, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_sessions.tree import Tree


class Forest:
    """Columns by line; 0 where a line is in no tree."""

    def __init__(
        self, table: Table, tree: Tree, keeps_all: Callable[[int], bool] = lambda _: False
    ) -> None:
        size = len(table.parents)
        self.table = table
        self._keeps_all = keeps_all
        """Says of a compaction that names no first kept entry whether it keeps everything."""
        self.enter = array("i", bytes(4 * size))
        """Number of an entry, counted from 1, parents first."""
        self.leave = array("i", bytes(4 * size))
        """Highest number among an entry and what comes after it."""
        self.depth = array("i", bytes(4 * size))
        """Entries on the way from the root, itself included."""
        self.above = array("i", bytes(4 * size))
        """Parent in the tree, 0 for a root."""
        self.root = array("i", bytes(4 * size))
        self.compaction = array("i", bytes(4 * size))
        """Newest compaction on the way from the root, itself included."""
        self.prompt = array("i", bytes(4 * size))
        """Last system message or compaction on the way from the root, itself included."""
        self._number(tree)
        compactions = (line for line in table.of_kind(Kind.COMPACTION) if self.enter[line])
        self.first = {line: self._first(line) for line in compactions}
        """Depth from which on entries before a compaction are kept, by its line."""

    def _number(self, tree: Tree) -> None:
        kinds, below = self.table.kinds, tree.children_of.get
        enter, leave, depth, above = self.enter, self.leave, self.depth, self.above
        roots, compaction, prompt = self.root, self.compaction, self.prompt
        is_compaction, is_system = int(Kind.COMPACTION), int(Kind.SYSTEM)
        number = 0
        stack = list(reversed(tree.roots))
        while stack:
            line = stack.pop()
            if line < 0:
                leave[-line] = number
                continue
            number += 1
            enter[line] = number
            parent = above[line]
            depth[line] = depth[parent] + 1
            roots[line] = roots[parent] or line
            compaction[line] = compaction[parent]
            prompt[line] = prompt[parent]
            if (kind := kinds[line]) == is_compaction:
                compaction[line] = prompt[line] = line
            elif kind == is_system:
                prompt[line] = line
            stack.append(-line)
            for child in reversed(below(line, ())):
                above[child] = line
                stack.append(child)

    def _first(self, compaction: int) -> int:
        """Give the depth of the first kept entry, the compaction's own if nothing is kept."""
        key = first_kept_key(self.table, compaction)
        if key == NO_BOUNDARY and self._keeps_all(compaction):
            return 1
        kept = self.table.lines_by_id.get(key, 0)
        is_above = kept != compaction and self.is_on_path(kept, compaction)
        return self.depth[kept if is_above else compaction]

    def __contains__(self, line: int) -> bool:
        return self.enter[line] > 0

    def is_on_path(self, line: int, leaf: int) -> bool:
        """Say whether an entry is on the way from the root to a leaf, both included."""
        return 0 < self.enter[line] <= self.enter[leaf] <= self.leave[line]

    def first_depth(self, leaf: int) -> int:
        """Give the depth from which on entries are in the context of a leaf."""
        compaction = self.compaction[leaf]
        return self.first[compaction] if compaction else 1

    def is_cut(self, line: int) -> bool:
        """Say whether an entry's tree begins where a parent is missing, not at a root."""
        return self.table.parents[self.root[line]] != NO_PARENT

    def upwards(self, line: int, end: int) -> Iterator[int]:
        """Give the ancestors of an entry, nearest first, down to but not with a depth."""
        while (line := self.above[line]) and self.depth[line] > end:
            yield line


class Minima:
    """Finds, in a list of numbers, the places of those that are small enough."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.size = 1
        while self.size < max(1, len(numbers)):
            self.size *= 2
        self._least = [2**31] * self.size + list(numbers)
        self._least += [2**31] * (2 * self.size - len(self._least))
        for place in range(self.size - 1, 0, -1):
            self._least[place] = min(self._least[2 * place], self._least[2 * place + 1])

    def at_most(self, limit: int, start: int, stop: int) -> list[int]:
        """Give the places from start up to, not with, stop whose number is at most a limit."""
        least, found = self._least, []
        low, high = start + self.size, stop + self.size
        while low < high:
            if low & 1:
                if least[low] <= limit:
                    found.append(low)
                low += 1
            if high & 1:
                high -= 1
                if least[high] <= limit:
                    found.append(high)
            low >>= 1
            high >>= 1
        places = []
        while found:
            place = found.pop()
            if place >= self.size:
                places.append(place - self.size)
            else:
                found += [half for half in (2 * place, 2 * place + 1) if least[half] <= limit]
        return places


def between(numbers: Sequence[int], low: int, high: int) -> tuple[int, int]:
    """Give the slice of sorted numbers from low to high, both included."""
    return bisect_left(numbers, low), bisect_left(numbers, high + 1)

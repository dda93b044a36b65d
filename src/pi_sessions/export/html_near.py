"""What a page of a long session knows of lines on other pages: those its replies had.

A reply may have had every line before it. So of the lines that all replies of a page had, the
nearest are told one by one and the others are counted; all others are few.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.render.requested import HAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Row = list[int]

NEAR = 2_000
"""Lines of other pages that are told one by one, of those that all replies of a page had."""


class Near(msgspec.Struct, frozen=True):
    """The lines a page knows of."""

    rows: list[list[int]]
    """Their runs, in the order of the file."""
    far: dict[str, int]
    """Count, first and last of those that are told no more than that."""


class Neighbours:
    """Finds the lines for each page.

    Args:
        rows: the runs of all lines.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self._by_line = {row[0]: row for row in rows}
        simple, self._others = [], []
        for row in rows:
            runs = list(_runs_had(row))
            if len(runs) == 1 and not row[2]:
                simple.append((*runs[0], row))
            elif runs:
                self._others.append((runs[0][0], runs[-1][1], row))
        # Nearly all lines were had by replies that stand side by side: no look into their runs.
        simple.sort(key=lambda found: (found[0], found[2][0]))
        self._starts = [start for start, _, _ in simple]
        self._ends = [end for _, end, _ in simple]
        self._rows = [row for _, _, row in simple]

    def of(self, wanted: Sequence[int], shown: frozenset[int]) -> Near:
        """Give the lines that some replies had, and those of their page.

        Args:
            wanted: the places of the replies, in order.
            shown: the lines of the page.
        """
        found = {line: self._by_line[line] for line in shown if line in self._by_line}
        if not wanted:
            return Near([found[line] for line in sorted(found)], _told([]))
        low, high = wanted[0], wanted[-1]
        known = bisect_right(self._starts, low)
        ends, rows = self._ends, self._rows
        common = [n for n in range(known) if ends[n] > high]
        away = sorted(line for n in common if (line := rows[n][0]) not in shown)
        far, near = away[: max(0, len(away) - NEAR)], away[-NEAR:]
        found |= {line: self._by_line[line] for line in near}
        if len(common) < known:
            self._add(found, wanted, range(known), {*far})
        self._add(found, wanted, range(known, bisect_right(self._starts, high)), set())
        for start, end, row in self._others:
            if start <= high and end > low and _is_had(row, wanted):
                found[row[0]] = row
        return Near([found[line] for line in sorted(found)], _told(far))

    def _add(
        self, found: dict[int, Row], wanted: Sequence[int], places: range, far: set[int]
    ) -> None:
        low = wanted[0]
        starts, ends, rows = self._starts, self._ends, self._rows
        for n in [n for n in places if ends[n] > low]:
            first = bisect_left(wanted, starts[n])
            if first < len(wanted) and wanted[first] < ends[n] and rows[n][0] not in far:
                found[rows[n][0]] = rows[n]


def _told(far: Sequence[int]) -> dict[str, int]:
    return {"count": len(far), "first": far[0] if far else 0, "last": far[-1] if far else 0}


def _runs_had(row: Row) -> Iterable[tuple[int, int]]:
    """Give the runs of replies that had a line, those side by side as one: first, and behind."""
    begun, start = -1, row[4]
    for end, code in zip(row[5::2], row[6::2], strict=True):
        if code <= HAD:
            begun = start if begun < 0 else begun
        elif begun >= 0:
            yield begun, start
            begun = -1
        start = end
    if begun >= 0:
        yield begun, start


def _is_had(row: Row, places: Sequence[int]) -> bool:
    """Say whether one of some replies had a line."""
    for start, end in _runs_had(row):
        first = bisect_left(places, start)
        if first < len(places) and places[first] < end:
            return True
    return False

"""Which rows of a transcript are on a page: a window of it, with long runs folded and counted.

A page never has more than a few thousand elements, however long the session is; and no line
vanishes: what is folded, filtered or outside of the window is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason
from pi_sessions.render.figures import count
from pi_sessions.render.states import CLASSES, ELSEWHERE, QUIET, WHY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.render.rows import Row, Teller

BUDGET = 2_400
"""Elements of the rows of one page."""
MOST = 120
"""Rows of one page."""
_RUN = re.compile(rb"(.)\1*", re.DOTALL)
_SHOWN, _FOLDED = 0, 3
"""Runs of folding lines that are shorter than the second are shown."""


class Fold(msgspec.Struct, frozen=True):
    """Neighbouring lines told by one row."""

    first: int
    last: int
    told: str

    @property
    def line(self) -> int:
        """Where it stands."""
        return self.first


class Window(msgspec.Struct, frozen=True):
    """The rows of a page."""

    items: tuple[Row | Fold, ...]
    before: int
    """Lines above it."""
    after: int
    """Lines below it."""
    first: int
    last: int
    """First and last line; the last is 0 if there is no line at all."""


class Runs:
    """Where neighbouring lines fold.

    Args:
        explanation: what became of the lines.
        shown: the letters of the states that are shown; others fold whatever they are.
    """

    def __init__(self, explanation: Explanation, shown: str = "scn") -> None:
        self.explanation = explanation
        classes = bytes(_fold_class(reason, shown) for reason in REASONS)
        places = bytes(explanation.reasons[1:]).translate(classes.ljust(256, b"\0"))
        self._starts: list[int] = []
        self._ends: list[int] = []
        for found in _RUN.finditer(places):
            kind, first, last = found[1][0], found.start() + 1, found.end()
            is_folded = kind != _SHOWN and (last - first + 1 >= _FOLDED or kind == _HIDDEN)
            if is_folded:
                self._starts.append(first)
                self._ends.append(last)

    def at(self, line: int) -> tuple[int, int] | None:
        """Give (first, last) of the fold that a line is in."""
        place = bisect_right(self._starts, line) - 1
        if place >= 0 and line <= self._ends[place]:
            return self._starts[place], self._ends[place]
        return None

    def fold(self, first: int, last: int) -> Fold:
        """Tell a fold."""
        counted: dict[str, int] = {}
        reasons = self.explanation.reasons[first : last + 1]
        for number in set(reasons):
            why = WHY[REASONS[number]] or "sent as stored"
            counted[why] = counted.get(why, 0) + reasons.count(number)
        rows = sorted(counted.items(), key=lambda row: -row[1])
        told = ", ".join(why if len(rows) == 1 else f"{n:,} {why}" for why, n in rows)
        return Fold(first, last, f"{count(last - first + 1, 'line')}: {told}")


_HIDDEN = 1


def _fold_class(reason: Reason, shown: str) -> int:
    if CLASSES[reason.verdict] not in shown:
        return _HIDDEN
    if reason in QUIET:
        return 2
    return 3 + list(ELSEWHERE_ORDER).index(reason) if reason in ELSEWHERE else _SHOWN


ELSEWHERE_ORDER = sorted(ELSEWHERE)


def window(
    teller: Teller,
    runs: Runs,
    *,
    first: int | None = None,
    last: int | None = None,
    open_at: int = 0,
) -> Window:
    """Fill a window from a line on downwards, or from a line on upwards.

    Args:
        teller: makes the rows.
        runs: what folds.
        first: the first line; the window grows down from it.
        last: the last line; the window grows up from it. By default the last of the file.
        open_at: a line whose fold stands open.
    """
    total = len(teller.table)
    open_run = runs.at(open_at) if open_at else None
    items: list[Row | Fold] = []
    budget = BUDGET
    walk = _down(runs, first, total, open_run) if first else _up(runs, last or total, open_run)
    low, high = total + 1, 0
    for start, end in walk:
        is_shown = runs.at(start) in (None, open_run)
        item = teller.row(start) if is_shown else runs.fold(start, end)
        items.append(item)
        low, high = min(low, start), max(high, end)
        budget -= 12 if isinstance(item, Fold) else 14 + str(item.body).count("<") * 6 // 10
        if budget < 0 or len(items) >= MOST:
            break
    if not first:
        items.reverse()
    return Window(tuple(items), max(low - 1, 0), max(total - high, 0), low, high)


def _down(
    runs: Runs, line: int, total: int, open_run: tuple[int, int] | None
) -> Iterator[tuple[int, int]]:
    while line <= total:
        run = runs.at(line)
        if run is None or run == open_run:
            yield line, line
            line += 1
        else:
            yield line, run[1]
            line = run[1] + 1


def _up(runs: Runs, line: int, open_run: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    while line > 0:
        run = runs.at(line)
        if run is None or run == open_run:
            yield line, line
            line -= 1
        else:
            yield run[0], line
            line = run[0] - 1

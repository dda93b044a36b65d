"""The whole session as a picture: how large the context was at each reply, and what shaped it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_sessions.meter import Totals
from pi_sessions.render.composition import KEYS, Composition, shares
from pi_sessions.render.figures import count, money, short
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_sessions.meter import Spent

WIDTH, HEIGHT = 1200, 48
"""Units of the picture of the contexts."""
COSTS = 8
"""Units below it for what the replies cost."""
NAMES = {
    "prompt": "prompt and tools",
    "summary": "summaries",
    "talk": "conversation",
    "results": "tool results",
}
_COLUMNS = 200
"""Columns that can be clicked at most; each stands for the largest of some replies."""
_MARKS = 60
"""Marks of one kind at most."""


class Column(msgspec.Struct, frozen=True):
    """Some replies in a row, told by the one with the largest context."""

    x: float
    width: float
    line: int
    told: str


class Mark(msgspec.Struct, frozen=True):
    """Something that happened between two replies."""

    x: float
    kind: str
    """`compaction`, `branch` or `lost` (much of the cache was paid again)."""
    told: str


class Band(msgspec.Struct, frozen=True):
    """One part of the contexts, standing on the parts below it."""

    key: str
    name: str
    path: str
    """Its outline, as the `d` of a path."""


class Strip(msgspec.Struct, frozen=True):
    """The picture in parts; all lengths are units of WIDTH and HEIGHT."""

    bands: tuple[Band, ...]
    fresh: str
    """Outline of what did not come from the cache, over the bands."""
    costs: str
    """Bars of what the replies cost, under the bands."""
    columns: tuple[Column, ...]
    marks: tuple[Mark, ...]
    most: float
    """Tokens of the largest context."""
    cost: float
    replies: int
    is_reported: bool
    """Whether any reply reports tokens; else all sizes are estimates."""


class _Bar(msgspec.Struct):
    number: int
    line: int
    tokens: float
    cached: float
    cost: float
    again: float
    is_reported: bool


def strip(table: Table, replies: Sequence[int], spent: Iterable[Spent]) -> Strip | None:
    """Draw the strip of a session; None where there are fewer than two replies.

    Args:
        table: the lines.
        replies: lines of the replies, in order.
        spent: what the entries report.
    """
    if len(replies) < 2:
        return None
    composition = Composition(table)
    bars = _bars(composition, replies, {i.line: i for i in spent if i.kind == "reply"})
    most = max(bar.tokens for bar in bars)
    if not most:
        return None
    step = WIDTH / len(bars)
    size = -(-len(bars) // (WIDTH // 2))
    starts = range(0, len(bars), size)
    edges = [start * step for start in starts[1:]] + [WIDTH]
    largest = [_largest(bars[start : start + size]) for start in starts]
    parts = [shares(composition.at(bar.line), bar.tokens / most) for bar in largest]
    levels = [[sum(row[:n]) for n in range(len(KEYS) + 1)] for row in parts]
    bands = [
        Band(key, NAMES[key], _between([r[n] for r in levels], [r[n + 1] for r in levels], edges))
        for n, key in enumerate(KEYS)
        if any(row[n] for row in parts)
    ]
    tops = [row[-1] for row in levels]
    # What reports nothing is not known to be fresh.
    cached = [
        bar.cached / most if bar.is_reported else top
        for bar, top in zip(largest, tops, strict=True)
    ]
    costs = [sum(max(bar.cost, 0) for bar in bars[start : start + size]) for start in starts]
    return Strip(
        bands=tuple(bands),
        fresh=_between(cached, tops, edges) if any(bar.cached for bar in bars) else "",
        costs=_costs(costs, edges),
        columns=_columns(bars, step),
        marks=_marks(table, bars, step),
        most=most,
        cost=sum(bar.cost for bar in bars),
        replies=len(bars),
        is_reported=any(bar.is_reported for bar in bars),
    )


def place_of(strip_: Strip, number: int) -> float:
    """Give the middle of a reply, counted from 1."""
    return (number - 0.5) * WIDTH / strip_.replies


def _bars(
    composition: Composition, replies: Sequence[int], told: Mapping[int, Spent]
) -> list[_Bar]:
    """Measure each reply; one that reports nothing is estimated as the last that did was off."""
    bars: list[_Bar] = []
    last: _Bar | None = None
    for number, line in enumerate(replies):
        item = told.get(line)
        totals = item.totals if item else Totals()
        read = max(totals.cache_read, 0)
        tokens = max(totals.input, 0) + read + max(totals.cache_write, 0)
        again = item.again.tokens if item and item.again else 0
        bar = _Bar(number, line, tokens, read, totals.cost, again, tokens > 0)
        if bar.is_reported:
            last = bar
        else:
            bar.tokens = sum(composition.at(line))
            if last and (guessed := sum(composition.at(last.line))):
                bar.tokens *= last.tokens / guessed
        bars.append(bar)
    return bars


def _largest(bars: Sequence[_Bar]) -> _Bar:
    return max(bars, key=lambda bar: bar.tokens)


def _between(low: Sequence[float], high: Sequence[float], edges: Sequence[float]) -> str:
    """Draw steps along the upper levels and back along the lower ones; levels from 0 to 1."""
    forth = [f"M0 {_y(high[0])}"]
    for place, end in enumerate(edges):
        forth.append(f"V{_y(high[place])}H{end:.1f}")
    back = [
        f"V{_y(low[place])}H{edges[place - 1] if place else 0:.1f}"
        for place in range(len(edges) - 1, -1, -1)
    ]
    return "".join([*forth, *back, "Z"])


def _y(level: float) -> str:
    return f"{HEIGHT * (1 - 0.96 * level):.1f}"


def _costs(costs: Sequence[float], edges: Sequence[float]) -> str:
    """Draw what the replies of each step cost together, downwards from under the bands."""
    most = max(costs)
    start, parts = 0.0, []
    for cost, end in zip(costs, edges, strict=True):
        if cost:
            deep = max(0.6, COSTS * cost / most)
            parts.append(f"M{start:.1f} {HEIGHT + 1}H{end:.1f}v{deep:.1f}H{start:.1f}Z")
        start = end
    return "".join(parts)


def _columns(bars: Sequence[_Bar], step: float) -> tuple[Column, ...]:
    size = -(-len(bars) // _COLUMNS)
    found = []
    for start in range(0, len(bars), size):
        some = bars[start : start + size]
        bar = _largest(some)
        parts = [f"reply {bar.number + 1:,} on line {bar.line:,}"]
        if bar.tokens:
            share = f", {100 * bar.cached / bar.tokens:.0f} % from the cache" if bar.cached else ""
            about = "" if bar.is_reported else "about "
            parts.append(f"{about}{short(bar.tokens)} tokens{share}")
        if bar.cost:
            parts.append(money(bar.cost))
        if len(some) > 1:
            parts.append(f"largest of {len(some):,} replies")
        found.append(Column(start * step, len(some) * step, bar.line, " · ".join(parts)))
    return tuple(found)


def _marks(table: Table, bars: Sequence[_Bar], step: float) -> tuple[Mark, ...]:
    """Say where the context was cut, a branch was left, and much was paid again."""
    number = {bar.line: bar.number for bar in bars}
    branches = []
    cuts = [
        (_after(bars, line), f"compaction on line {line:,}")
        for line in table.of_kind(Kind.COMPACTION)
    ]
    for bar, before in zip(bars[1:], bars, strict=False):
        above = _reply_above(table, bar.line, number)
        if above < 0:
            branches.append((bar.number, f"begins anew; {count(bar.number, 'reply')} left"))
        elif above and above < before.line:
            told = (
                f"goes on at line {above:,}; {count(bar.number - number[above] - 1, 'reply')} left"
            )
            branches.append((bar.number, told))
    lost = [
        (bar.number, f"about {short(bar.again)} tokens paid again at line {bar.line:,}")
        for bar in bars
        if bar.again > 0.5 * bar.tokens and bar.again > 5_000
    ]
    kinds = (("compaction", cuts), ("branch", branches), ("lost", lost))
    return tuple(
        Mark(place * step, kind, told) for kind, all_ in kinds for place, told in all_[:_MARKS]
    )


def _after(bars: Sequence[_Bar], line: int) -> int:
    """Count the replies before a line."""
    low, high = 0, len(bars)
    while low < high:
        middle = (low + high) // 2
        if bars[middle].line < line:
            low = middle + 1
        else:
            high = middle
    return low


def _reply_above(table: Table, line: int, number: Mapping[int, int]) -> int:
    """Find the reply next above on the branch: 0 if none is near, -1 if it begins before any."""
    above = table.parents[line]
    for _ in range(200):
        if above <= 0 or above in number:
            break
        above = table.parents[above]
    if above in number:
        return above
    return -1 if above <= 0 else 0

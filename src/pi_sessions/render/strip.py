"""The whole session as a picture: how large the context was at each reply, and what shaped it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_sessions.render.figures import count, money, short
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_sessions.meter import Spent

WIDTH, HEIGHT = 1200, 56
"""Units of the picture."""
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


class Strip(msgspec.Struct, frozen=True):
    """The picture in parts; all lengths are units of WIDTH and HEIGHT."""

    whole: str
    """Outline of the context sizes, as the `d` of a path."""
    cached: str
    """Outline of what of them came from the cache."""
    columns: tuple[Column, ...]
    marks: tuple[Mark, ...]
    most: float
    """Tokens of the largest context."""
    cost: float
    replies: int


class _Bar(msgspec.Struct):
    number: int
    line: int
    tokens: float
    cached: float
    cost: float
    again: float


def strip(table: Table, replies: Sequence[int], spent: Iterable[Spent]) -> Strip | None:
    """Draw the strip of a session; None where fewer than two replies tell their usage.

    Args:
        table: the lines.
        replies: lines of the replies, in order.
        spent: what the entries report.
    """
    told = {item.line: item for item in spent if item.kind == "reply"}
    bars = [_bar(number, line, told.get(line)) for number, line in enumerate(replies)]
    most = max((bar.tokens for bar in bars), default=0.0)
    if len(bars) < 2 or not most:
        return None
    step = WIDTH / len(bars)
    groups = _grouped(bars)
    return Strip(
        whole=_outline([(bar.number, bar.tokens) for bar in groups], step, most),
        cached=_outline([(bar.number, bar.cached) for bar in groups], step, most),
        columns=_columns(bars, step),
        marks=_marks(table, bars, step),
        most=most,
        cost=sum(bar.cost for bar in bars),
        replies=len(bars),
    )


def place_of(strip_: Strip, number: int) -> float:
    """Give the middle of a reply, counted from 1."""
    return (number - 0.5) * WIDTH / strip_.replies


def _bar(number: int, line: int, item: Spent | None) -> _Bar:
    if item is None:
        return _Bar(number, line, 0, 0, 0, 0)
    totals = item.totals
    read = max(totals.cache_read, 0)
    tokens = max(totals.input, 0) + read + max(totals.cache_write, 0)
    again = item.again.tokens if item.again else 0
    return _Bar(number, line, tokens, read, totals.cost, again)


def _grouped(bars: Sequence[_Bar]) -> list[_Bar]:
    """Leave the largest of every few replies, so that the outline has a thousand points."""
    size = -(-len(bars) // (WIDTH // 2))
    return [
        max(bars[start : start + size], key=lambda bar: bar.tokens)
        for start in range(0, len(bars), size)
    ]


def _outline(points: Sequence[tuple[int, float]], step: float, most: float) -> str:
    """Draw steps from bar to bar, down to the ground at both ends."""
    parts = [f"M0 {HEIGHT}"]
    for place, (_, tokens) in enumerate(points):
        end = points[place + 1][0] * step if place + 1 < len(points) else WIDTH
        parts.append(f"V{HEIGHT * (1 - 0.94 * tokens / most):.1f}H{end:.1f}")
    return "".join([*parts, f"V{HEIGHT}Z"])


def _columns(bars: Sequence[_Bar], step: float) -> tuple[Column, ...]:
    size = -(-len(bars) // _COLUMNS)
    found = []
    for start in range(0, len(bars), size):
        some = bars[start : start + size]
        bar = max(some, key=lambda each: each.tokens)
        parts = [f"reply {bar.number + 1:,} on line {bar.line:,}"]
        if bar.tokens:
            share = f", {100 * bar.cached / bar.tokens:.0f} % from the cache" if bar.cached else ""
            parts.append(f"{short(bar.tokens)} tokens{share}")
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
        if above and above != before.line and above < before.line:
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
    """Find the reply next above on the branch, 0 if none is near."""
    above = table.parents[line]
    for _ in range(200):
        if above <= 0 or above in number:
            break
        above = table.parents[above]
    return above if above in number else 0

"""Tokens and money for a person: sums, bars by row and by day, and what was paid again."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from pi_sessions.cli.commands.usage import dearest, ordered
from pi_sessions.cli.paper import Paper
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pi_sessions.cli.commands.usage import Account
    from pi_sessions.usage import Again, Copies, Row

_BAR = 24
"""Columns of the largest bar."""
_PARTS = " ▏▎▍▌▋▊▉"
"""Eighths of a column."""
_DAYS = 31
"""Days a chart shows at most where days were not asked for."""
_REASONS = {
    "branch": "another branch",
    "model": "another model",
    "edit": "an edit of the context",
    "prompt": "another prompt",
    "idle": "more than five minutes between",
}
"""What the reasons of what was paid again mean."""


def tell(args: argparse.Namespace, account: Account, copies: Copies) -> None:
    """Print what was added up."""
    paper = Paper(color=not args.no_color)
    totals = account.totals
    paper.row(
        (f"${totals.cost:,.2f} · {totals.tokens:,} tokens", "bold"),
        (f": {totals.input:,} in, {totals.output:,} out, ", ""),
        (f"{totals.cache_read:,} from the cache, {totals.cache_write:,} into it", ""),
    )
    rows = ordered(account.rows)
    chart(paper, without_gaps(rows) if account.asked.by == "day" else rows)
    if args.by is None and len(account.days) > 1:
        days = without_gaps(sorted(account.days.items()))
        paper.row((f"by day, {zone_name(str(account.asked.zone))}", "bold"))
        chart(paper, days[-_DAYS:])
        if len(days) > _DAYS:
            told = f"{len(days) - _DAYS} days before; --by day shows all"
            paper.row((told, "dim"))
    _again(paper, account.again)
    if copies.count:
        told = f"{copies.count} entries that forks have copied are counted once"
        paper.row((f"{told}: ${copies.cost:,.2f} less", "yellow"))
    if account.incomplete:
        path, line = account.incomplete[0]
        count = len(account.incomplete)
        told = f"{count} replies do not report all; the first: {one_line(path, 400)}:{line}"
        paper.row((told, "yellow"))


def chart(paper: Paper, rows: Sequence[tuple[str, Row | None]]) -> None:
    """Print rows with a bar each; None stands for one in which nothing was."""
    most = max((row.totals.cost for _, row in rows if row is not None), default=0)
    width = min(40, max((len(one_line(key, 40)) for key, _ in rows), default=0))
    for key, row in rows:
        cost, tokens = (row.totals.cost, row.totals.tokens) if row else (0, 0)
        paper.row(
            (f"{one_line(key or 'no date', 40):<{width}} ", "cyan"),
            (f"${cost:>10,.2f} ", ""),
            (f"{tokens:>16,} ", "dim"),
            (bar(cost, most), "green"),
        )


def bar(amount: float, most: float) -> str:
    """Draw an amount beside the largest there is; what is not nothing can be seen."""
    if amount <= 0 or most <= 0:
        return ""
    eighths = max(1, round(8 * _BAR * amount / most))
    return ("█" * (eighths // 8) + _PARTS[eighths % 8]).rstrip()


def without_gaps(rows: Sequence[tuple[str, Row]]) -> Sequence[tuple[str, Row | None]]:
    """Put in the days on which nothing was, unless that would be most of them."""
    named: dict[str, Row] = dict(rows)
    try:
        days = [date.fromisoformat(day) for day in named if day[:4].isdigit()]
    except ValueError:
        return rows
    if not days or (max(days) - min(days)).days > 2 * len(days) + 7:
        return rows
    span = (max(days) - min(days)).days
    every = [str(min(days) + timedelta(days=n)) for n in range(span + 1)]
    others = [key for key in named if key not in set(every)]
    return [(day, named.get(day)) for day in (*every, *others)]


def zone_name(zone: str) -> str:
    """Name a zone; where the system has it as a file, by what that stands for."""
    return zone.rpartition("/zoneinfo/")[2]


def _again(paper: Paper, again: dict[str, Again]) -> None:
    if not again:
        return
    tokens = sum(each.tokens for each in again.values())
    cost = sum(each.cost for each in again.values())
    replies = sum(each.replies for each in again.values())
    paper.row(
        (f"paid again: {tokens:,} tokens in {replies:,} replies", "bold"),
        (f", ${cost:,.2f} more than from the cache", ""),
    )
    most = max(each.cost for each in again.values())
    for why, each in dearest(again):
        told = " and ".join(_REASONS.get(part, part) for part in why.split(", ")) if why else ""
        paper.row(
            (f"${each.cost:>10,.2f} ", ""),
            (f"{each.tokens:>16,} ", "dim"),
            (f"{bar(each.cost, most):<{_BAR}} ", "green"),
            (told or "nothing in the file tells why", ""),
        )

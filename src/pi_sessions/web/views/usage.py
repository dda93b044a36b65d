"""What a session cost: by day, model, kind and tool, on its branch and in the whole file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions.meter import Again, Totals
from pi_sessions.usage import Ledger
from pi_sessions.web.views.shared import about, answer, opened_of, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.meter import Spent
    from pi_sessions.web.opened import Opened

UNKNOWN = "nothing in the file tells why"
_BRANCHES = ("branches that were left", "the branch of the leaf")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z|no time\Z")
_MOST = 60
"""Rows of a table; of days, the last."""


def show(request: Request) -> Response:
    """Show tokens and money of a session."""
    opened = opened_of(request)
    with opened.lock:
        view = view_of(opened)
        values: dict[str, Any] = about(opened, view, "usage")
        if "usage" not in opened.kept:
            opened.keep("usage", _sums(opened))
        kept: Any = opened.kept["usage"]
        values |= kept | {"addresses": view.addresses}
        return answer(request, "usage.html", **values)


def _sums(opened: Opened) -> dict[str, Any]:
    """Add up what the page shows."""
    spent = opened.spent()
    live = {entry.line for entry in opened.session.branch()}
    days = Ledger(opened.site.zone)
    return {
        "total": _sum(spent),
        "branch": _sum(item for item in spent if item.line in live),
        "tables": [
            ("Day", _table(spent, lambda item: days.day(item.time) or "no time")),
            ("Model", _table(spent, lambda item: item.model or "none named")),
            ("Branch", _table(spent, lambda item: _BRANCHES[item.line in live])),
            ("Kind", _table(spent, lambda item: item.kind)),
            ("Tool", _table([item for item in spent if item.tool], lambda item: item.tool)),
        ],
        "again": lost(_again(spent)),
        "dearest": sorted(spent, key=lambda item: -item.totals.cost)[:10],
        "incomplete": [item.line for item in spent if not item.is_complete],
    }


def _sum(spent: Any) -> Totals:
    total = Totals()
    for item in spent:
        total.add(item.totals)
    return total


def _table(spent: list[Spent], key: Callable[[Spent], str]) -> list[tuple[str, Totals, float]]:
    rows: dict[str, Totals] = {}
    for item in spent:
        rows.setdefault(key(item), Totals()).add(item.totals)
    return shares(rows, by_name=all(_DAY.match(name) for name in rows))


def shares(rows: Mapping[str, Totals], *, by_name: bool = False) -> list[tuple[str, Totals, float]]:
    """Give name, sums and share of the largest, dearest first or by name."""
    weight = _weight(rows)
    most = max(map(weight, rows.values()), default=0) or 1
    found = [(name, totals, weight(totals) / most) for name, totals in rows.items()]
    if by_name:
        return sorted(found, key=lambda row: row[0])[-_MOST:]
    return sorted(found, key=lambda row: -row[2])[:_MOST]


def _weight(rows: Mapping[str, Totals]) -> Callable[[Totals], float]:
    """Weigh by money where any was paid, else by tokens."""
    if any(totals.cost for totals in rows.values()):
        return lambda totals: max(totals.cost, 0)
    return lambda totals: max(totals.tokens, 0)


def _again(spent: list[Spent]) -> dict[str, Again]:
    found: dict[str, Again] = {}
    for item in spent:
        if item.again:
            found.setdefault(item.why, Again()).add(item.again)
    return found


def lost(again: Mapping[str, Again]) -> list[tuple[str, Again]]:
    """Give what was paid again, by why; most tokens first."""
    rows = [(why or UNKNOWN, each) for why, each in again.items() if each.tokens]
    return sorted(rows, key=lambda row: -row[1].tokens)

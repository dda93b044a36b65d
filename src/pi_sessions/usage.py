"""What sessions cost: what their entries report, added up in rows.

A file's `Ledger` has a row for each day, model, kind and tool; whatever else is asked for is added
up from these. An `Account` takes the rows of many files, and the single entries of files that have
copied from each other, each entry once.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.meter import Again, Spent, Totals, spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo

    from pi_sessions.meter import Number

__all__ = ["Account", "Again", "Ledger", "Row", "Spent", "Totals", "day_of", "spent"]


class Row(msgspec.Struct):
    """Entries added up that have all of these in common."""

    day: str
    """As in 2026-01-31, in the zone that was asked for; "" where there is no valid time."""
    model: str
    kind: str
    tool: str
    totals: Totals = msgspec.field(default_factory=Totals)
    count: int = 0
    incomplete: list[int] = msgspec.field(default_factory=list)
    """Lines of those that do not report all."""
    again: dict[str, Again] = msgspec.field(default_factory=dict)
    """What was paid again, by why."""

    def add(self, other: Row) -> None:
        """Add another row of the same kind in place."""
        self.totals.add(other.totals)
        self.count += other.count
        self.incomplete += other.incomplete
        for why, again in other.again.items():
            self.again.setdefault(why, Again()).add(again)


class Ledger:
    """Adds up what entries report, in rows by day, model, kind and tool."""

    def __init__(self, zone: tzinfo, rows: Iterable[Row] = ()) -> None:
        self.zone = zone
        self._rows = {(row.day, row.model, row.kind, row.tool): row for row in rows}
        self._days: dict[float, str] = {}

    @property
    def rows(self) -> list[Row]:
        """The rows, in the order in which they came up."""
        return list(self._rows.values())

    def add(self, item: Spent) -> None:
        """Add what an entry reports."""
        time = item.time
        day = self._days.get(time // _SLOT) or self.day(time)
        key = (day, item.model, item.kind, item.tool)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = Row(*key)
        row.count += 1
        row.totals.add(item.totals)
        if not item.is_complete:
            row.incomplete.append(item.line)
        if item.again is not None:
            row.again.setdefault(item.why, Again()).add(item.again)

    def day(self, time: float) -> str:
        """Give the day of a time in the zone, "" if it has none."""
        if math.isnan(time):
            return ""
        slot = time // _SLOT
        day = self._days.get(slot)
        if day is None:
            day = day_of(slot * _SLOT, self.zone)
            if day != day_of((slot + 1) * _SLOT - 1, self.zone):
                return day_of(time, self.zone)
            self._days[slot] = day
        return day


_SLOT = 900_000
"""Milliseconds of a quarter of an hour: nearly all of them lie within one day, in every zone."""


def day_of(time: float, zone: tzinfo) -> str:
    """Write the day of a time in milliseconds, in a zone; "" for one beyond the calendar."""
    try:
        return str(datetime.fromtimestamp(time / 1000, UTC).astimezone(zone).date())
    except (OverflowError, OSError, ValueError):
        return ""


class Account(msgspec.Struct):
    """Entries added up, each but once, whatever number of files they were copied to."""

    totals: Totals = msgspec.field(default_factory=Totals)
    rows: dict[str, Totals] = msgspec.field(default_factory=dict)
    copies: int = 0
    """Entries that were left out because another file has them."""
    copied_cost: Number = 0
    _seen: set[tuple[Any, ...]] = msgspec.field(default_factory=set)

    def add(self, items: Iterable[tuple[str, Spent]]) -> None:
        """Add the entries of one file, each with the key of its row."""
        mine: set[tuple[Any, ...]] = set()
        for row, item in items:
            if item.key in self._seen and item.totals.tokens:
                self.copies += 1
                self.copied_cost += item.totals.cost
                continue
            mine.add(item.key)
            self.totals.add(item.totals)
            self.rows.setdefault(row, Totals()).add(item.totals)
        self._seen |= mine

    def add_sums(self, rows: Mapping[str, Totals]) -> None:
        """Add the rows of a file that shares no entry with another."""
        for row, totals in rows.items():
            self.totals.add(totals)
            self.rows.setdefault(row, Totals()).add(totals)

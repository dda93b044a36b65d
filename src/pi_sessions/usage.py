"""What sessions cost: what their entries report, added up in rows.

A file's `Ledger` has a row for each day, model, kind and tool; whatever else is asked for is added
up from these. Of files that have copied from each other the single entries are needed, and `Copies`
lets each through once.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.meter import Again, Spent, Totals, spent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from pi_sessions.meter import Number

__all__ = ["Again", "Copies", "Ledger", "Row", "Spent", "Totals", "added_up", "day_of", "spent"]


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

    def add(self, item: Spent) -> Row:
        """Add what an entry reports; gives the row it was added to."""
        time = item.time
        day = self._days.get(time // SLOT) or self.day(time)
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
        return row

    def is_whole(self, time: float) -> bool:
        """Say whether the quarter of an hour around a time that came up lies within one day."""
        return time // SLOT in self._days

    def day(self, time: float) -> str:
        """Give the day of a time in the zone, "" if it has none."""
        if math.isnan(time):
            return ""
        slot = time // SLOT
        day = self._days.get(slot)
        if day is None:
            day = day_of(slot * SLOT, self.zone)
            if day != day_of((slot + 1) * SLOT - 1, self.zone):
                return day_of(time, self.zone)
            self._days[slot] = day
        return day


SLOT = 900_000
"""Milliseconds of a quarter of an hour: nearly all of them lie within one day, in every zone."""


def day_of(time: float, zone: tzinfo) -> str:
    """Write the day of a time in milliseconds, in a zone; "" for one beyond the calendar."""
    try:
        return str(datetime.fromtimestamp(time / 1000, UTC).astimezone(zone).date())
    except (OverflowError, OSError, ValueError):
        return ""


class Copies:
    """Tells copies: an entry that another file has as well counts once."""

    def __init__(self) -> None:
        self.count = 0
        """Entries that were left out because another file has them."""
        self.cost: Number = 0
        """What they would have added."""
        self._seen: set[tuple[Any, ...]] = set()

    def without(self, items: Iterable[Spent]) -> list[Spent]:
        """Give what the entries of the next file report, those left out that came before."""
        fresh = []
        for item in items:
            if item.key in self._seen and item.totals.tokens:
                self.count += 1
                self.cost += item.totals.cost
            else:
                fresh.append(item)
        self._seen.update(item.key for item in fresh)
        return fresh


def added_up(items: Iterable[Spent], zone: tzinfo) -> list[Row]:
    """Add up what entries report, in rows."""
    ledger = Ledger(zone)
    for item in items:
        ledger.add(item)
    return ledger.rows

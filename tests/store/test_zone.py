"""The zone of the machine, summer time included, and days in any zone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_sessions.cli.environment import LocalZone
from pi_sessions.meter import Spent, Totals
from pi_sessions.usage import Ledger, day_of

ZONES = (
    "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu",
    "America/Asuncion",
)  # fmt: skip
MOMENTS = st.integers(0, 4_000_000_000)


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ["TZ"]
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    os.environ["TZ"] = before
    time.tzset()


def moments(name: str) -> list[int]:
    """Give moments all over, and some around each change of a zone's offset in some years."""
    found = list(range(0, 2_000_000_000, 9_999_991))
    offset = None
    for second in range(1_100_000_000, 1_500_000_000, 3600):
        now = datetime.fromtimestamp(second, ZoneInfo(name)).utcoffset()
        if offset is not None and now != offset:
            found += range(second - 7300, second + 7300, 599)
        offset = now
    return found


def test_the_local_zone_is_that_of_the_database(zone: str) -> None:
    """Also in the hour that comes twice; this is what a fixed offset gets wrong."""
    local, real = LocalZone(), ZoneInfo(zone)
    for second in moments(zone):
        ours, theirs = (datetime.fromtimestamp(second, each) for each in (local, real))
        assert ours.replace(tzinfo=None) == theirs.replace(tzinfo=None)
        assert (ours.utcoffset(), ours.fold) == (theirs.utcoffset(), theirs.fold)
        assert ours.timestamp() == second
    assert str(local) == zone


@given(st.sampled_from(ZONES), st.lists(MOMENTS, min_size=1, max_size=20))
def test_a_ledger_puts_each_entry_on_its_day(name: str, seconds: list[int]) -> None:
    """The quarters of an hour it remembers lead to the same days as asking for each."""
    zone = ZoneInfo(name)
    around = [1_288_494_120, 1_162_094_460]  # St. John's went back at a minute past midnight
    seconds = [*seconds, *(base + step for base in around for step in range(-90, 4000, 50))]
    ledger = Ledger(zone)
    for line, second in enumerate(seconds, 1):
        totals = Totals(1, 0, 0, 0, 0.5)
        ledger.add(Spent(line, "reply", "m", "", second * 1000, totals, True, (line, None)))
    counted: dict[str, int] = {}
    for second in seconds:
        day = str(datetime.fromtimestamp(second, UTC).astimezone(zone).date())
        counted[day] = counted.get(day, 0) + 1

    assert {row.day: row.count for row in ledger.rows} == counted


def test_times_that_no_calendar_has() -> None:
    for stamp in (float("nan"), 1e300, -1e300, 8.64e15):
        assert (day_of(stamp, UTC) if stamp == stamp else Ledger(UTC).day(stamp)) == ""

"""The releases of Pi, in order, and the day of each as its changelog has it.

A release is a text such as "0.49.3" outside of this module and its place in `NAMES` inside.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date, timedelta
from functools import cache

from pi_sessions.errors import UnknownReleaseError

_ONE_DAY = timedelta(days=1)
"""What a clock and a zone may be off by."""


def version(release: str) -> tuple[int, ...]:
    """Give what releases are ordered by.

    Raises:
        UnknownReleaseError: the text is no release number.
    """
    try:
        return tuple(int(part) for part in release.split("."))
    except ValueError:
        raise UnknownReleaseError(release) from None


@cache
def names() -> tuple[str, ...]:
    """Give all releases that are known, oldest first."""
    return tuple(name for name, _ in _rows())


@cache
def days() -> dict[str, date]:
    """Give the day of each release that the changelog dates."""
    return {name: date.fromisoformat(day) for name, day in _rows() if day != "-"}


@cache
def _rows() -> tuple[tuple[str, str], ...]:
    from pathlib import Path  # noqa: PLC0415 - start-up

    text = Path(__file__).with_name("releases.txt").read_text("ascii")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return tuple((name, day) for name, day in rows)


def place(release: str) -> int:
    """Give the place of a release in `names`.

    Raises:
        UnknownReleaseError: there is no such release.
    """
    found = _places().get(release)
    if found is None:
        raise UnknownReleaseError(release, names()[0], names()[-1])
    return found


@cache
def _places() -> dict[str, int]:
    return {name: number for number, name in enumerate(names())}


@cache
def before(release: str) -> str:
    """Give the newest known release that is older; the oldest itself if there is none."""
    versions = [version(name) for name in names()]
    found = bisect_right(versions, version(release))
    at = found - 1 if found and versions[found - 1] == version(release) else found
    return names()[max(at - 1, 0)]


@cache
def following(release: str) -> str:
    """Give the oldest known release that is newer; the newest itself if there is none."""
    versions = [version(name) for name in names()]
    return names()[min(bisect_right(versions, version(release)), len(versions) - 1)]


@cache
def newest_at(day: date) -> str | None:
    """Give the newest release that was out on a day, a day's slack included; None before all."""
    dated, last = days(), day + _ONE_DAY
    return next((name for name in reversed(names()) if name in dated and dated[name] <= last), None)

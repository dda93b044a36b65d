"""Bytes and spans of time, as people write and read them on the command line."""

from __future__ import annotations

import argparse
import re
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kKMGT]?)B?")
_POWERS = "kMGT"
_STEP = 1000
_SPAN = re.compile(r"(\d+) ?([hdwy])")
_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}


def amount(size: int) -> str:
    """Write a number of bytes for a person, in powers of a thousand as disks are sold."""
    number, unit = float(size), "B"
    for power in _POWERS:
        if number < _STEP:
            break
        number, unit = number / _STEP, f"{power}B"
    return f"{size} B" if unit == "B" else f"{number:.{0 if number >= 100 else 1}f} {unit}"


def size(text: str) -> int:
    """Read a number of bytes: 50000, 50kB, 2.5MB, 1GB.

    Raises:
        ArgumentTypeError: it is none.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: 50000, 50kB, 2.5MB or 1GB")
    power = match[2].replace("K", "k")
    factor = float(_STEP) ** (_POWERS.index(power) + 1 if power else 0)
    return round(float(match[1]) * factor)


def moment(text: str, now: float, zone: tzinfo) -> float:
    """Read how long ago something was, or a day; gives seconds since 1970.

    Args:
        text: 36h, 90d, 12w, 2y, or 2026-01-31, which stands for the start of that day.
        now: seconds since 1970.
        zone: of the day.

    Raises:
        ValueError: it is neither.
    """
    match = _SPAN.fullmatch(text)
    if match is not None:
        return now - int(match[1]) * _SECONDS[match[2]]
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no age: 36h, 90d, 12w, 2y, or a day: 2026-01-31") from None

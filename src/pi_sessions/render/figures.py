"""Numbers, money and times in few characters, for people."""

from __future__ import annotations

import math
import re
from typing import Any

_TIME = re.compile(r"\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)")
_HOME = re.compile(r"/(?:home|Users)/[^/]+(?=/|\Z)|/root(?=/|\Z)")
_SHORTEST = 4
_MONEY_STEPS = ((0.01, 4), (1, 3), (1000, 2))


def short(number: float) -> str:
    """Give a number in at most five characters: 812, 7.1k, 33k, 1.2M."""
    if not math.isfinite(number):
        return "?"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size * 0.9995:
            value = number / size
            return f"{value:.1f}{unit}" if abs(value) < 9.95 else f"{value:.0f}{unit}"
    return f"{number:.0f}"


def money(dollars: float) -> str:
    """Give money in dollars with the digits that tell something."""
    if not math.isfinite(dollars):
        return "$?"
    digits = next((n for limit, n in _MONEY_STEPS if abs(dollars) < limit), 0)
    return f"${dollars:,.{digits if dollars else 2}f}"


def count(number: int, word: str) -> str:
    """Count something: 1 line, 1,204 lines; the plural ends in s, es or ies."""
    ending = "es" if word.endswith(("ch", "sh", "s")) else "s"
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}{ending}"
    return f"{number:,} {word if number == 1 else plural}"


def size(number: int) -> str:
    """Give bytes: 812 B, 25 kB, 2.4 MB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            value = number / unit
            return f"{value:.1f} {name}" if value < 9.95 else f"{value:.0f} {name}"
    return f"{number} B"


def nearer(text: str, cwd: str | None) -> str:
    """Shorten paths from the left: `./` for the session's directory, `~/` for the home it is in."""
    if not cwd or len(cwd) < _SHORTEST:
        return text
    text = text.replace(f"{cwd.rstrip('/')}/", "./")
    home = _HOME.match(cwd)
    return text.replace(f"{home[0]}/", "~/") if home else text


def clock(timestamp: Any) -> list[str]:
    """Give the time of day of a timestamp as it is written, nothing where it has none."""
    found = _TIME.match(timestamp) if isinstance(timestamp, str) else None
    return [found[1]] if found else []

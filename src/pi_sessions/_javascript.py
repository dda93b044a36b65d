"""The few string and number rules of JavaScript that the format depends on.

The reference measures, trims, sorts and prints with JavaScript's primitives, so equal answers need
the same ones. JSON itself is in `_json`; nothing here knows about sessions.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo
from typing import Any

_WHITE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(c) for c in range(0x2000, 0x200B)
)
_LONE = re.compile("[\ud800-\udfff]")
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_MAX_ARRAY_INDEX = 2**32 - 2
_SAFE = 2**53


def trim(text: str) -> str:
    """Strip what `String.prototype.trim` strips (also NBSP and U+FEFF, but not U+0085)."""
    return text.strip(_WHITE)


def utf16_length(text: str) -> int:
    """Count UTF-16 code units, which is what `.length` counts."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")


def without_lone_surrogates(text: str) -> str:
    """Remove unpaired surrogates; a Python string holds no paired ones after reading."""
    return text if text.isascii() else _LONE.sub("", text)


def has_lone_surrogates(text: str) -> bool:
    """Say whether `without_lone_surrogates` would change the text."""
    return not text.isascii() and _LONE.search(text) is not None


def pair_surrogates(text: str) -> str:
    """Make one character of each surrogate pair that stands as two (after joining pieces)."""
    if text.isascii() or not _LONE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_array_index(key: str) -> bool:
    """Say whether an object would keep this key among its integer keys, in ascending order."""
    return bool(_ARRAY_INDEX.match(key)) and int(key) <= _MAX_ARRAY_INDEX


def truthy(value: Any) -> bool:
    """Say whether JavaScript takes the JSON value for true (empty lists and objects are)."""
    if isinstance(value, list | dict):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value)


def number_text(value: float) -> str:
    """Print a number as `String(n)` does, with ints taken as the doubles they are there."""
    if isinstance(value, int):
        if -_SAFE < value < _SAFE:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            return "Infinity" if value > 0 else "-Infinity"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    return _shortest(value)


def _shortest(value: float) -> str:
    """Lay out the shortest digits that read back as `value` (ECMA-262, Number::toString)."""
    sign, text = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    tail = f"e{'+' if power > 0 else '-'}{abs(power)}"
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + tail


def string(value: Any) -> str:
    """Turn a JSON value into text as a template literal does."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return _list_text(value) if isinstance(value, list) else "[object Object]"


def _list_text(value: list[Any]) -> str:
    """Join a list of any depth with commas; null and an empty list are empty texts."""
    out: list[str] = []
    # Texts are still to be written as they are, values stand in a tuple of one.
    todo: list[str | tuple[Any]] = [(value,)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item[0], list):
            parts = [part for child in item[0] for part in (",", (child,))]
            todo.extend(reversed(parts[1:]))
        elif item[0] is not None:
            out.append(string(item[0]))
    return "".join(out)


_ISO = re.compile(
    r"([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?"
    r"(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?\Z"
)


def date_value(value: Any, zone: tzinfo = UTC) -> float:
    """Give `new Date(value).getTime()` in milliseconds, NaN where that is an invalid date.

    Covers numbers, the ISO forms of ECMA-262, and those with a space in the place of T; a date-time
    without a zone is taken in `zone` (the reference: local time). Other texts, which engines read
    each in their own way, are NaN.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(math.trunc(value)) if abs(value) <= 8.64e15 else math.nan
    if value is None:
        return 0.0
    match = _ISO.match(trim(value)) if isinstance(value, str) else None
    if match is None:
        return math.nan
    year, month, day, between, hour, minute, second, fraction, offset = match.groups()
    # Behind a space, two digits of a year stand for one of the last hundred years.
    if year == "-000000" or (between == " " and year.startswith("00")):
        return math.nan
    return _milliseconds(
        (int(year), int(month or 1), int(day or 1)),
        (int(hour or 0), int(minute or 0), int(second or 0)),
        int(((fraction or "") + "000")[:3]),
        UTC if hour is None or offset == "Z" else offset or zone,
    )


def _milliseconds(
    date: tuple[int, int, int], clock: tuple[int, int, int], milli: int, zone: tzinfo | str
) -> float:
    (year, month, day), (hour, minute, second) = date, clock
    if hour == 24 and (minute, second, milli) != (0, 0, 0):
        return math.nan
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60 and second < 60):
        return math.nan
    shift, zone = (_offset_minutes(zone), UTC) if isinstance(zone, str) else (0, zone)
    if shift is None:
        return math.nan
    days, year = divmod(year - 2000, 400)
    try:
        base = datetime(2000 + year, month, 1, tzinfo=zone)
    except ValueError:
        return math.nan
    seconds = base.timestamp() + (day - 1) * 86400 + hour * 3600 + minute * 60 + second
    if zone is not UTC:
        seconds = _local_seconds(base, seconds)
    result = (seconds + days * 146097 * 86400 - shift * 60) * 1000 + milli
    return result if abs(result) <= 8.64e15 else math.nan


def _offset_minutes(text: str) -> int | None:
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * (-1 if text[0] == "-" else 1)


def _local_seconds(base: datetime, seconds: float) -> float:
    """Correct for a change of the zone's offset between the first of the month and the time."""
    first = base.utcoffset()
    there = datetime.fromtimestamp(seconds, base.tzinfo).utcoffset()
    return seconds + ((first - there).total_seconds() if first and there is not None else 0)


def short_hash(text: str) -> str:
    """Hash a text as the reference shortens long tool-call ids; base 36 (docs/format.md)."""
    high, low = 0xDEADBEEF, 0x41C6CE57
    encoded = text.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(encoded), 2):
        unit = encoded[index] | encoded[index + 1] << 8
        high = (high ^ unit) * 2654435761 & 0xFFFFFFFF
        low = (low ^ unit) * 1597334677 & 0xFFFFFFFF
    high = _mix(high, 16, 2246822507) ^ _mix(low, 13, 3266489909)
    low = _mix(low, 16, 2246822507) ^ _mix(high, 13, 3266489909)
    return _base36(low) + _base36(high)


def _mix(lane: int, shift: int, factor: int) -> int:
    return (lane ^ lane >> shift) * factor & 0xFFFFFFFF


def _base36(value: int) -> str:
    digits = ""
    while True:
        value, rest = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
        if not value:
            return digits

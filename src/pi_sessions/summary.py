"""What a list says of a session, and the rules for each part of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import msgspec

from pi_sessions import _json, migrations
from pi_sessions._javascript import date_value, string, trim
from pi_sessions.meter import Reported, Totals
from pi_sessions.usage import Row

_LAST = 8.64e15
"""The last moment JavaScript has, in milliseconds."""
_CYCLE = 146_097 * 86_400_000
"""Milliseconds of 400 years."""


class Summary(msgspec.Struct):
    """What a list says of a session; plain values, which any encoder can keep."""

    path: str
    id: str
    cwd: str | None
    name: str | None
    parent_session: str | None
    """Path of the session it was forked from, as the header has it."""
    created: str | None
    """ISO time in UTC; None where the header has no valid one."""
    modified: str
    """ISO time in UTC of the latest user or assistant message."""
    message_count: int
    first_message: str
    """First user text, "" if there is none."""
    size: int
    """Bytes of the file."""
    version: float
    """That of the format, as stored."""
    branches: int
    """Entries with nothing below them."""
    compactions: int
    defects: int
    """What opening it tolerates and a list of ids, parents and targets shows (`check`)."""
    rows: list[Row]
    """What its entries report of tokens and money."""

    @property
    def totals(self) -> Totals:
        """Tokens and money of all rows."""
        totals = Totals()
        for row in self.rows:
            totals.add(row.totals)
        return totals

    @property
    def models(self) -> dict[str, int]:
        """Replies by PROVIDER/MODEL, in the order in which the models came up."""
        models: dict[str, int] = {}
        for row in self.rows:
            if row.kind == "reply":
                models[row.model] = models.get(row.model, 0) + row.count
        return models

    @property
    def cost(self) -> float:
        """Dollars."""
        return sum(row.totals.cost for row in self.rows)


class Told(msgspec.Struct):
    """What the lines told so far; the part of a fold that is the same for odd files."""

    name: str | None = None
    first: str = ""
    latest: float = math.nan
    """Milliseconds since 1970 of the latest user or assistant message."""
    messages: int = 0
    compactions: int = 0


def take_message(told: Told, entry: Reported, data: bytes, zone: tzinfo) -> None:
    """Take in a message entry; `data` is its line."""
    told.messages += 1
    message = entry.message
    if message is None or message.role not in ("user", "assistant"):
        return
    stamp = message.timestamp
    if type(stamp) is not int and type(stamp) is not float:
        stamp = date_value(entry.timestamp, zone)
    if not told.latest >= stamp and abs(stamp) <= _LAST:
        told.latest = stamp
    if not told.first and message.role == "user":
        told.first = _text(_json.loads(data)["message"].get("content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (b for b in content if isinstance(b, dict) and b.get("type") == "text")
    return " ".join(string(block.get("text", "")) for block in blocks)


def name_in(data: bytes) -> str | None:
    """Give the name that the line of a session_info entry sets, None if it takes it away."""
    name = _json.loads(data).get("name")
    return (trim(name) or None) if isinstance(name, str) else None


def summary_of(
    path: str,
    size: int,
    header: dict[str, Any],
    told: tuple[Told, list[Row]],
    zone: tzinfo,
    written: float,
    counts: tuple[int, int],
) -> Summary:
    """Put a summary together.

    Args:
        path: of the file.
        size: its bytes.
        header: its header.
        told: what its messages told, and what its entries reported.
        zone: in which times without one are read.
        written: when the file was, in milliseconds; counts where nothing else tells a time.
        counts: branches and defects.
    """
    lines, rows = told
    branches, defects = counts
    stamp = header.get("timestamp", math.nan)
    created = date_value(stamp, zone)
    modified = lines.latest
    if not modified > 0:
        modified = created if isinstance(stamp, str) and not math.isnan(created) else written
    parent = header.get("parentSession", header.get("branchedFrom"))
    cwd = header.get("cwd")
    return Summary(
        path=path,
        id=header["id"],
        cwd=cwd if isinstance(cwd, str) and cwd else None,
        name=lines.name,
        parent_session=parent if isinstance(parent, str) else None,
        created=None if math.isnan(created) else iso(created),
        modified=iso(modified),
        message_count=lines.messages,
        first_message=lines.first,
        size=size,
        version=migrations.version_number(header.get("version")),
        branches=branches,
        compactions=lines.compactions,
        defects=defects,
        rows=rows,
    )


def iso(milliseconds: float) -> str:
    """Write a time as ISO 8601 in UTC with milliseconds."""
    # Python's years end with 9999, JavaScript's do not; the calendar repeats after 400 years.
    cycles, rest = divmod(math.trunc(milliseconds), _CYCLE)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=rest)
    number = moment.year + 400 * cycles
    year = f"{number:04d}" if 0 <= number <= 9999 else f"{number:+07d}"
    return f"{year}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

"""What a session cost: tokens and money of every entry that reports usage.

Replies, tool results, compactions, branch summaries and usage entries of any kind report usage; the
reference adds up all of them, of all branches, and so do we. Reading skips all else of a line.
Copies that forks and clones made can be told by `Spent.key`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, migrations
from pi_sessions._javascript import date_value
from pi_sessions.errors import NotASessionError
from pi_sessions.faults import no_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import tzinfo

    from pi_sessions._lines import Source

Number = int | float


class Totals(msgspec.Struct):
    """Tokens by kind, and money in dollars."""

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    cost: Number = 0

    @property
    def tokens(self) -> Number:
        """All tokens."""
        return self.input + self.output + self.cache_read + self.cache_write

    def add(self, other: Totals) -> None:
        """Add in place, in the order of the file as the reference does."""
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.cost += other.cost


class Spent(msgspec.Struct, frozen=True):
    """What one entry reports."""

    line: int
    kind: str
    """`reply`, `tool`, `compaction`, `branch_summary`, or the kind of a usage entry."""
    model: str
    """PROVIDER/MODEL, "" where the entry names none."""
    tool: str
    """Name of the tool, of tool results."""
    time: float
    """Milliseconds since 1970, NaN where it has no valid time."""
    totals: Totals
    is_complete: bool
    """Whether tokens and cost are all there; what is missing counts as 0."""
    key: tuple[Any, ...]
    """Equal for an entry and its copies in other files."""


class _Cost(msgspec.Struct, gc=False):
    total: Any = None


class _Usage(msgspec.Struct, gc=False):
    input: Any = None
    output: Any = None
    cacheRead: Any = None  # noqa: N815 - the format's own names
    cacheWrite: Any = None  # noqa: N815
    cost: _Cost | None = None


class _Message(msgspec.Struct, gc=False):
    role: Any = None
    usage: _Usage | None = None
    provider: Any = None
    model: Any = None
    responseModel: Any = None  # noqa: N815
    toolName: Any = None  # noqa: N815
    timestamp: Any = None


class _Entry(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    timestamp: Any = math.nan
    kind: Any = None
    provider: Any = None
    model: Any = None
    usage: _Usage | None = None
    message: _Message | None = None


_decode = msgspec.json.Decoder(_Entry).decode
_SUMMARIES = ("compaction", "branch_summary")


def spent(source: Source, zone: tzinfo) -> Iterator[Spent]:
    """Give what each entry of a session file reports, in file order.

    Args:
        source: the file.
        zone: in which times without one are read.

    Raises:
        NotASessionError: the first JSON value is no header.
        UnreadableError: it cannot be read.
    """
    version = 0.0
    for line, data in enumerate(source.lines(), 1):
        if not version:
            version = _version(data, source.name, line)
            continue
        # Two searches in bytes cost a tenth of decoding; nobody writes these words as escapes.
        if b'"usage"' not in data and b'"assistant"' not in data:
            continue
        entry = _read(data)
        if entry is not None and (found := _spent(line, entry, zone, version)):
            yield found
    if not version:
        raise NotASessionError(source.name, 0, 0, "the file is empty or holds no JSON")


def _version(data: bytes, name: str, line: int) -> float:
    """Read a line that may be the header: its version, 0 for a line that is skipped."""
    try:
        value = _json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except _json.JSONError:
        return 0.0
    if not value:
        return 0.0
    if why := no_header(value):
        raise NotASessionError(name, line, 0, why)
    version = migrations.version_number(value.get("version"))
    return 3.0 if math.isnan(version) else max(version, 1.0)


def _read(data: bytes) -> _Entry | None:
    """Read a line as far as it tells of usage, None for one that is no entry."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        value = _json.loads(data)
    except _json.JSONError:
        return None
    if not isinstance(value, dict):
        return None
    entry = _Entry(*(value.get(key) for key in ("type", "id", "timestamp", "kind")))
    entry.provider, entry.model = value.get("provider"), value.get("model")
    entry.usage = _usage(value.get("usage"))
    message = value.get("message")
    if isinstance(message, dict):
        names = ("provider", "model", "responseModel", "toolName", "timestamp")
        told = {name: message.get(name) for name in names}
        entry.message = _Message(message.get("role"), _usage(message.get("usage")), **told)
    return entry


def _usage(value: Any) -> _Usage | None:
    if not isinstance(value, dict):
        return None
    cost = value.get("cost")
    total = _Cost(cost.get("total")) if isinstance(cost, dict) else None
    tokens = {key: value.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")}
    return _Usage(**tokens, cost=total)


def _spent(line: int, entry: _Entry, zone: tzinfo, version: float) -> Spent | None:
    message = entry.message
    usage, names, tool = entry.usage, (entry.provider, entry.model), ""
    if entry.type == "message" and message is not None:
        usage, kind = message.usage, "reply"
        names = (message.provider, message.responseModel or message.model)
        if message.role == "toolResult" and usage is not None:
            kind, names = "tool", (None, None)
            tool = message.toolName if isinstance(message.toolName, str) else ""
        elif message.role != "assistant":
            return None
    elif entry.type == "usage":
        kind = entry.kind if isinstance(entry.kind, str) else "usage"
    elif entry.type in _SUMMARIES and usage is not None:
        kind, names = entry.type, (None, None)
    else:
        return None
    stamp = message.timestamp if message else None
    moment = _number(stamp)
    time = date_value(entry.timestamp, zone) if moment is None else float(moment)
    totals, is_complete = _totals(usage)
    # Ids of version 1 are drawn anew by whoever reads it: there the time stands for the entry.
    identity = entry.id if version >= 2 and isinstance(entry.id, str) else str(entry.timestamp)
    key = (identity, str(stamp), totals.input, totals.output, totals.cache_read, totals.cost)
    provider, model_id = (name if isinstance(name, str) else "" for name in names)
    model = f"{provider}/{model_id}" if provider and model_id else provider or model_id
    return Spent(line, kind, model, tool, time, totals, is_complete, key)


def _totals(usage: _Usage | None) -> tuple[Totals, bool]:
    if usage is None:
        return Totals(), False
    cost = usage.cost.total if usage.cost else None
    if type(usage.input) is type(usage.output) is int and type(cost) is float:
        read, written = usage.cacheRead, usage.cacheWrite
        if type(read) is type(written) is int and math.isfinite(cost):
            return Totals(usage.input, usage.output, read, written, cost), True
    values = (usage.input, usage.output, usage.cacheRead, usage.cacheWrite, cost)
    numbers = [_number(value) for value in values]
    return Totals(*(number or 0 for number in numbers)), None not in numbers


def _number(value: Any) -> Number | None:
    """Give a number that can be added up, None for anything else."""
    if type(value) not in (int, float) or not math.isfinite(value):
        return None
    number: Number = value
    return number


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

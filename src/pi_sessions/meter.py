"""What one entry after the other reports of tokens and money, and what had to be paid again.

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
    from collections.abc import Iterator
    from datetime import tzinfo

    from pi_sessions._lines import Source

Number = int | float
_IDLE = 5 * 60_000
"""Milliseconds after which a provider forgets a prompt, as far as the reference assumes."""
SLACK = 1024
"""Tokens by which cached beginnings fall short of a prompt: they are kept in blocks."""


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


class Again(msgspec.Struct):
    """Tokens of prompts that were paid again, though the prompt before had them."""

    tokens: Number = 0
    cost: Number = 0
    """What they cost more than from the cache."""
    replies: int = 0

    def add(self, other: Again) -> None:
        """Add in place."""
        self.tokens += other.tokens
        self.cost += other.cost
        self.replies += other.replies


class Spent(msgspec.Struct, frozen=True):
    """What one entry reports."""

    line: int
    kind: str
    """`reply`, `tool`, `compaction`, `branch_summary`, or the kind of a usage entry."""
    model: str
    """PROVIDER/MODEL, "" where the entry names none."""
    tool: str
    """Name of the tool, of tool results."""
    time: Number
    """Milliseconds since 1970, NaN where it has no valid time."""
    totals: Totals
    is_complete: bool
    """Whether tokens and cost are all there; what is missing counts as 0."""
    identity: tuple[Any, Any]
    """Its id, or what stands for one, and the time of its message."""
    again: Again | None = None
    """What of its prompt was paid again, of a reply."""
    why: str = ""
    """Why: `branch`, `model`, `edit`, `prompt`, `idle`, with commas between; "" if none is seen."""
    is_live: bool = True
    """Whether it is on the branch of the file's leaf; told by who has read the whole file."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for an entry and its copies in other files."""
        (entry_id, stamp), totals = self.identity, self.totals
        return entry_id, str(stamp), totals.input, totals.output, totals.cache_read, totals.cost


class Cost(msgspec.Struct, gc=False):
    """The cost of a usage object, as the format names it."""

    total: Any = None
    input: Any = None
    cacheRead: Any = None  # noqa: N815 - the format's own names
    cacheWrite: Any = None  # noqa: N815


class Usage(msgspec.Struct, gc=False):
    """A usage object."""

    input: Any = None
    output: Any = None
    cacheRead: Any = None  # noqa: N815
    cacheWrite: Any = None  # noqa: N815
    cost: Cost | None = None


class Message(msgspec.Struct, gc=False):
    """What of a message tells of usage."""

    role: Any = None
    usage: Usage | None = None
    provider: Any = None
    model: Any = None
    responseModel: Any = None  # noqa: N815
    toolName: Any = None  # noqa: N815
    timestamp: Any = None


class Reported(msgspec.Struct, gc=False):
    """What of an entry tells of usage."""

    type: Any = None
    id: Any = None
    parentId: Any = None  # noqa: N815
    timestamp: Any = math.nan
    kind: Any = None
    provider: Any = None
    model: Any = None
    usage: Usage | None = None
    message: Message | None = None


_decode = msgspec.json.Decoder(Reported).decode
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
    meter = None
    for line, data in enumerate(source.lines(), 1):
        if meter is None:
            version = _version(data, source.name, line)
            meter = Meter(zone, version) if version else None
            continue
        entry = read(data)
        if entry is not None and (found := meter.take(line, entry)):
            yield found
    if meter is None:
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


def read(data: bytes) -> Reported | None:
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
    names = ("type", "id", "parentId", "timestamp", "kind", "provider", "model")
    entry = Reported(**{name: value[name] for name in names if name in value})
    entry.usage = _usage(value.get("usage"))
    message = value.get("message")
    if isinstance(message, dict):
        parts = ("role", "provider", "model", "responseModel", "toolName", "timestamp")
        told = {name: message.get(name) for name in parts}
        entry.message = Message(usage=_usage(message.get("usage")), **told)
    return entry


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    cost = value.get("cost")
    names = ("total", "input", "cacheRead", "cacheWrite")
    paid = Cost(*map(cost.get, names)) if isinstance(cost, dict) else None
    tokens = {key: value.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")}
    return Usage(**tokens, cost=paid)


class Memory(msgspec.Struct):
    """What a meter keeps between two entries; plain values, so that reading can go on later."""

    last: Any = None
    """Id of the entry before."""
    tokens: Number = 0
    """Of the prompt that a cache can have had; 0 if there is none."""
    model: str = ""
    time: Number | None = None
    """When it was sent, in milliseconds since 1970."""
    is_cached: bool = False
    """Whether any reply so far has told of a cache."""
    changes: list[str] = msgspec.field(default_factory=list)
    """What since that prompt may have made the next one another."""
    rates: dict[str, float] = msgspec.field(default_factory=dict)
    """Dollars for a token from the cache, by model, as last paid."""


class Meter:
    """Takes the entries of a file in their order, and tells what each reports."""

    def __init__(self, zone: tzinfo, version: float = 3.0, memory: Memory | None = None) -> None:
        """Begin before the first entry, or go on where another meter was.

        Args:
            zone: in which times without one are read.
            version: of the file.
            memory: of the meter that was there before.
        """
        self.zone, self.version = zone, version
        self.memory = memory or Memory()
        self._names: dict[tuple[Any, Any], str] = {}

    def take(self, line: int, entry: Reported) -> Spent | None:
        """Take the next entry; gives what it reports, None if nothing."""
        memory = self.memory
        if entry.parentId != memory.last and memory.tokens and self.version >= 2:
            self._changed("branch")
        memory.last = entry.id
        usage = entry.usage
        if entry.type == "message":
            if (message := entry.message) is None:
                return None
            if message.role == "assistant":
                return self._reply(line, entry, message)
            if message.role == "system":
                self._changed("prompt")
            if message.role != "toolResult" or message.usage is None:
                return None
            tool = message.toolName if isinstance(message.toolName, str) else ""
            return self._spent(line, entry, "tool", message.usage, tool=tool)
        if entry.type == "usage":
            kind = entry.kind if isinstance(entry.kind, str) else "usage"
            if kind == "cache_warm":
                self._warmed(entry)
            model = self._name(entry.provider, entry.model)
            return self._spent(line, entry, kind, usage, model=model)
        if entry.type in _SUMMARIES:
            memory.tokens = 0
            return None if usage is None else self._spent(line, entry, entry.type, usage)
        if entry.type == "context_edit":
            self._changed("edit")
        return None

    def _changed(self, what: str) -> None:
        if what not in self.memory.changes:
            self.memory.changes.append(what)

    def _name(self, provider: Any, model: Any) -> str:
        """Name a model, "" where nothing names it."""
        try:
            return self._names[provider, model]
        except (KeyError, TypeError):
            texts = [part if isinstance(part, str) else "" for part in (provider, model)]
            name = "/".join(filter(None, texts))
            if all(isinstance(part, str | None) for part in (provider, model)):
                self._names[provider, model] = name
            return name

    def _spent(
        self,
        line: int,
        entry: Reported,
        kind: str,
        usage: Usage | None,
        *,
        model: str = "",
        tool: str = "",
    ) -> Spent:
        totals, is_complete = _totals(usage)
        stamp = entry.message.timestamp if entry.message else None
        moment = _number(stamp)
        time = date_value(entry.timestamp, self.zone) if moment is None else moment
        identity = (self._identity(entry), stamp)
        return Spent(line, kind, model, tool, time, totals, is_complete, identity)

    def _identity(self, entry: Reported) -> Any:
        # Ids of version 1 are drawn anew by whoever reads it: there the time stands for the entry.
        is_stored = type(entry.id) is str and self.version >= 2
        return entry.id if is_stored else str(entry.timestamp)

    def _warmed(self, entry: Reported) -> None:
        totals, _ = _totals(entry.usage)
        tokens = totals.input + totals.cache_read + totals.cache_write
        if tokens > 0:
            time = date_value(entry.timestamp, self.zone)
            memory = self.memory
            memory.tokens, memory.is_cached, memory.changes = tokens, True, []
            memory.model = self._name(entry.provider, entry.model)
            memory.time = None if math.isnan(time) else time

    def _reply(self, line: int, entry: Reported, message: Message) -> Spent:
        """Take a reply: what it reports, and what the cache should have had of its prompt.

        The counting is that of the reference, without its price list: where a reply read nothing
        from the cache, the price of reading is the one its model had before in this file.
        """
        usage, stamp, memory = message.usage, message.timestamp, self.memory
        totals, is_complete = _totals(usage)
        moment = stamp if type(stamp) is int else _number(stamp)
        time = date_value(entry.timestamp, self.zone) if moment is None else moment
        asked = self._name(message.provider, message.model)
        response = message.responseModel
        name = self._name(message.provider, response) if response else asked
        again, why = None, ""
        read, before = totals.cache_read, memory.tokens
        tokens = totals.input + read + totals.cache_write
        if tokens > 0 and usage is not None:
            if read or totals.cache_write:
                memory.is_cached = True
            if read > 0 and usage.cost:
                memory.rates[asked] = (_number(usage.cost.cacheRead) or 0) / read
            missed = min(before, tokens) - read
            if before and missed > SLACK and memory.is_cached:
                again, why = self._missed(missed, totals, usage.cost or _FREE, asked, moment)
            memory.tokens, memory.model, memory.time = tokens, asked, moment
            if memory.changes:
                memory.changes = []
        identity = (self._identity(entry), stamp)
        return Spent(line, "reply", name, "", time, totals, is_complete, identity, again, why)

    def _missed(
        self, missed: Number, totals: Totals, cost: Cost, model: str, time: Number | None
    ) -> tuple[Again, str]:
        memory = self.memory
        paid = totals.input + totals.cache_write
        price = ((_number(cost.input) or 0) + (_number(cost.cacheWrite) or 0)) / paid if paid else 0
        why = list(memory.changes)
        if model != memory.model:
            why.append("model")
        if time is not None and memory.time is not None and time - memory.time > _IDLE:
            why.append("idle")
        more = missed * max(0, price - memory.rates.get(model, 0))
        return Again(missed, more, 1), ", ".join(sorted(why))


_FREE = Cost()


def _totals(usage: Usage | None) -> tuple[Totals, bool]:
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

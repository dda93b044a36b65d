"""The lines of a session folded into its summary, so that a file that grew costs its new bytes.

A `Fold` takes the lines of a file one after the other and can go on where it once ended. It takes
only files in which nothing is odd: version 3, every line a known entry with an id of its own and a
parent before it. `summarising` reads all others with care, and comes to the same answers.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, migrations
from pi_sessions.faults import invalid_utf8, is_blank, no_header
from pi_sessions.meter import SLACK, Memory, Message, Meter, Reported, Spent
from pi_sessions.summary import Summary, Told, name_in, summary_of, take_message
from pi_sessions.table import ROLES, TYPES
from pi_sessions.usage import SLOT, Ledger, Row

if TYPE_CHECKING:
    from collections.abc import Iterable


class _State(msgspec.Struct):
    """A fold at rest."""

    header: dict[str, Any]
    lines: int
    offset: int
    told: Told
    rows: list[Row]
    memory: Memory
    inner: bytes
    """Digests of the ids that have something below them."""
    leaves: list[str]


class _Message(Message, gc=False):
    role: str = ""


class _Line(Reported, gc=False):
    """The envelope of a line; what has other types, or no id, is odd."""

    type: str = ""
    id: str = ""
    parentId: str | None = None  # noqa: N815 - the format's own name
    message: _Message | None = None
    targetId: str | None = None  # noqa: N815
    firstKeptEntryId: str | None = None  # noqa: N815


_decode = msgspec.json.Decoder(_Line).decode
_ROLES, _TYPES = frozenset(ROLES), frozenset(TYPES)
_DIGEST = 8
_NUMBERS = (int, float)


class Fold:
    """The lines of a file in which nothing is odd, taken in one after the other."""

    def __init__(self, zone: tzinfo = UTC, keep: list[Spent] | None = None) -> None:
        """Begin before the first line.

        Args:
            zone: in which times without one are read, and days are told.
            keep: takes what single entries report, where that is wanted.
        """
        self.zone = zone
        self.header: dict[str, Any] = {}
        self.lines = 0
        self.offset = 0
        """Bytes taken in."""
        self._told = Told()
        self._meter = Meter(zone)
        self._ledger = Ledger(zone)
        self._keep = keep
        self._near: dict[tuple[Any, ...], tuple[Row, str]] = {}
        """Rows and models of replies, by quarter of an hour, provider and model."""
        self._parents: dict[str, str | None] = {}
        self._inner: frozenset[bytes] = frozenset()
        self._leaves: frozenset[str] = frozenset()

    def feed(self, lines: Iterable[bytes]) -> bool:
        """Take lines, each with its newline; False if one is odd, then this fold is of no use."""
        if not self.lines:
            lines = iter(lines)
            if not self._take_header(next(lines, b"")):
                return False
        parents, memory, decode = self._parents, self._meter.memory, _decode
        line, offset, is_first_part = self.lines, self.offset, not self._leaves
        for line, data in enumerate(lines, self.lines + 1):
            offset += len(data)
            try:
                entry = decode(data)
            except (msgspec.MsgspecError, RecursionError):
                if is_blank(data):
                    continue
                return False
            entry_id, parent, message = entry.id, entry.parentId, entry.message
            is_next = parent == memory.last
            if not (is_next or not parent or parent in parents or self._had(parent)):
                return False
            if not entry_id or entry_id in parents:
                return False
            if not is_first_part and self._had(entry_id):
                return False
            parents[entry_id] = parent
            # Nearly all lines are results of tools and usual replies: they have a shorter way.
            if is_next and message and entry.type == "message":
                if message.role == "toolResult" and not message.usage:
                    self._told.messages += 1
                    memory.last = entry_id
                    continue
                if message.role == "assistant" and self._take_usual(entry_id, message):
                    continue
            if not self._take(line, entry, data):
                return False
        self.lines, self.offset = line, offset
        return True

    def _take_usual(self, entry_id: str, message: _Message) -> bool:
        """Do what `_take` does, in few steps, for a reply with nothing to say about it.

        Its numbers are of the usual types, it lost nothing from a cache, and one of its model came
        in the same quarter of an hour before. False for any other, and then nothing has changed.
        """
        usage, stamp, memory = message.usage, message.timestamp, self._meter.memory
        if usage is None or type(stamp) is not int or message.responseModel:
            return False
        try:
            row, name = self._near[stamp // SLOT, message.provider, message.model]
        except (KeyError, TypeError):
            return False
        fresh, read, written, cost = usage.input, usage.cacheRead, usage.cacheWrite, usage.cost
        if (
            not (type(fresh) is type(read) is type(written) is type(usage.output) is int)
            or not cost
        ):
            return False
        if type(cost.total) not in _NUMBERS or type(cost.cacheRead) not in _NUMBERS:
            return False
        tokens = fresh + read + written
        if tokens <= 0 or (memory.tokens and min(memory.tokens, tokens) - read > SLACK):
            return False
        sums = row.totals
        row.count += 1
        sums.input += fresh
        sums.output += usage.output
        sums.cache_read += read
        sums.cache_write += written
        sums.cost += cost.total
        memory.last, memory.tokens, memory.model, memory.time = entry_id, tokens, name, stamp
        if read or written:
            memory.is_cached = True
        if read > 0:
            memory.rates[name] = cost.cacheRead / read
        if memory.changes:
            memory.changes = []
        told = self._told
        told.messages += 1
        told.latest = max(told.latest, stamp)
        return True

    def _had(self, entry_id: str) -> bool:
        """Say whether an id stands before the place where this fold went on."""
        return entry_id in self._leaves or _digest(entry_id) in self._inner

    def _take_header(self, data: bytes) -> bool:
        try:
            header = _json.loads(data)
        except _json.JSONError:
            return False
        if no_header(header) or migrations.version_number(header.get("version")) != 3:
            return False
        self.header, self.lines, self.offset = header, 1, len(data)
        return invalid_utf8(data) is None and _json.depth(header) <= _json.DEPTH

    def _take(self, line: int, entry: _Line, data: bytes) -> bool:
        kind, told = entry.type, self._told
        if kind == "message":
            if entry.message is None or entry.message.role not in _ROLES:
                return False
            take_message(told, entry, data, self.zone)
        elif kind not in _TYPES or not self._has_target(entry):
            return False
        elif kind == "session_info":
            told.name = name_in(data)
        elif kind == "compaction":
            told.compactions += 1
        if found := self._meter.take(line, entry):
            row = self._ledger.add(found)
            if self._keep is not None:
                self._keep.append(found)
            elif found.kind == "reply" and entry.message and self._ledger.is_whole(found.time):
                key = (found.time // SLOT, entry.message.provider, entry.message.model)
                if not entry.message.responseModel and type(found.time) is int:
                    self._near[key] = (row, found.model)
        return True

    def _has_target(self, entry: _Line) -> bool:
        """Say whether what an entry points at is there, as far as this fold has read itself."""
        parents = self._parents
        if entry.type == "compaction":
            kept, at = entry.firstKeptEntryId, entry.id
            while at and at != kept:
                at = parents.get(at) or ""
            return bool(at)
        return entry.type not in ("label", "context_edit") or entry.targetId in parents

    def live(self) -> set[str]:
        """Give the ids on the branch of the last entry, as far as this fold has read itself."""
        at = next(reversed(self._parents), None)
        found: set[str] = set()
        while at:
            found.add(at)
            at = self._parents.get(at)
        return found

    def summary(self, path: str, written: float) -> Summary:
        """Say what was read so far.

        Args:
            path: of the file.
            written: when it was, in milliseconds; counts where nothing else tells a time.
        """
        above = self._above()
        branches = len(self._leaves - above) + len(self._parents.keys() - above)
        told = (self._told, self._ledger.rows)
        return summary_of(path, self.offset, self.header, told, self.zone, written, (branches, 0))

    def _above(self) -> set[str | None]:
        return set(self._parents.values())

    def state(self) -> bytes:
        """Give what `resumed` needs to go on behind the last line; b"" if it cannot be kept."""
        above = self._above()
        leaves = [leaf for leaf in (*self._leaves, *self._parents) if leaf not in above]
        inner = self._inner.union(_digest(entry) for entry in above if entry)
        header = {key: self.header[key] for key in _HEADER if key in self.header}
        state = _State(
            header=header,
            lines=self.lines,
            offset=self.offset,
            told=self._told,
            rows=self._ledger.rows,
            memory=self._meter.memory,
            inner=b"".join(sorted(inner)),
            leaves=leaves,
        )
        try:
            return msgspec.msgpack.encode(state)
        except (TypeError, ValueError, OverflowError):  # numbers and texts that JSON alone has
            return b""

    @classmethod
    def resumed(cls, state: bytes, zone: tzinfo = UTC) -> Fold:
        """Make a fold that goes on where another was.

        Args:
            state: what `state` gave.
            zone: the same as then.

        Raises:
            ValueError: the state is none.
        """
        was = _decode_state(state)
        fold = cls(zone)
        fold.header, fold.lines, fold.offset = was.header, was.lines, was.offset
        fold._told, fold._meter = was.told, Meter(zone, memory=was.memory)
        fold._ledger = Ledger(zone, was.rows)
        inner = was.inner
        fold._inner = frozenset(inner[n : n + _DIGEST] for n in range(0, len(inner), _DIGEST))
        fold._leaves = frozenset(was.leaves)
        return fold


_decode_state = msgspec.msgpack.Decoder(_State).decode
_HEADER = ("id", "version", "cwd", "timestamp", "parentSession", "branchedFrom")


def _digest(entry_id: str) -> bytes:
    """Shorten an id to what tells it from all others of its file."""
    from hashlib import blake2b  # noqa: PLC0415 - start-up: only what grows needs it

    return blake2b(entry_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()

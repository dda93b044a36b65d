"""One row for each physical line of a file: what it is, its id and its parent, nothing more.

This is what opening a session costs. A row keeps where the line stands and the few fields the tree
needs; everything else of a line is read again and decoded when somebody asks (`Table.raw`). Lines
are numbered from 1 and a line's number is its handle everywhere in this package.
"""

from __future__ import annotations

from array import array
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pi_sessions import _json, migrations
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_sessions._lines import Source

ROLES = (
    "user",
    "assistant",
    "toolResult",
    "system",
    "bashExecution",
    "custom",
    "branchSummary",
    "compactionSummary",
)
"""The roles of message entries that reach the model in one form or another."""

TYPES = (
    "compaction",
    "branch_summary",
    "context_edit",
    "custom_message",
    "custom",
    "label",
    "session_info",
    "usage",
    "model_change",
    "thinking_level_change",
)
"""The entry types of the format other than `message`."""


class Kind(IntEnum):
    """What a line is, in one byte: a message by its role, another entry by its type, or neither."""

    USER = 0
    ASSISTANT = 1
    TOOL_RESULT = 2
    SYSTEM = 3
    BASH = 4
    CUSTOM_ROLE = 5
    BRANCH_SUMMARY_ROLE = 6
    COMPACTION_SUMMARY_ROLE = 7
    UNUSUAL_ROLE = 8
    COMPACTION = 16
    BRANCH_SUMMARY = 17
    CONTEXT_EDIT = 18
    CUSTOM_MESSAGE = 19
    CUSTOM = 20
    LABEL = 21
    SESSION_INFO = 22
    USAGE = 23
    MODEL_CHANGE = 24
    THINKING_LEVEL_CHANGE = 25
    UNUSUAL_TYPE = 31
    BLANK = 32
    MALFORMED = 33
    FALSY = 34
    """null, false, 0 or "": the reference drops it while reading."""
    FOREIGN = 35
    """Other JSON that is no entry: no object, or an object without a type or its message."""
    SECOND_HEADER = 36
    HEADER = 37


FIRST_TYPE = Kind.COMPACTION
"""Entries below it are messages."""
FIRST_OTHER = Kind.BLANK
"""Lines from here on are no entries."""

NO_PARENT = 0
"""In the column of parents: the entry is a root."""
MISSING_PARENT = -1
"""In the column of parents: it names a parent that is not in the file."""


_Bytes = bytes
"""The type, beside the method of that name."""
_WINDOW = 1 << 18
"""Bytes that are read at once where many lines are read."""


def id_key(value: object) -> object:
    """Give a key under which equal ids meet: as in JavaScript, 1 is not "1" and not true."""
    kind = type(value)
    if kind is str:
        return value
    if kind is bool:
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    if value is None:
        return ("null",)
    return ("object", id(value))


class Table:
    """The rows of one file, in columns. Index 0 of each column is unused."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.offsets = array("q", [0, 0])
        """Byte offset of each line, and at the end the offset behind the last."""
        self.kinds = bytearray((Kind.BLANK,))
        """A `Kind` for each line."""
        self.ids: list[Any] = [None]
        """Id of each line as it is used after migration; None where it has none."""
        self.parents = array("i", [0])
        self.lines_by_id: dict[object, int] = {}
        """Line of the last object with an id."""
        self.unusual: dict[int, str] = {}
        """Type, or role, of a line of the unusual kinds (none for a message without a role)."""
        self.missing_parents: dict[int, object] = {}
        """The parent id that is not in the file, by line."""
        self.shadowed: dict[int, int] = {}
        """Lines whose id a later line has, and that line."""
        self.diagnostics: list[Diagnostic] = []
        """What was tolerated while reading, in line order."""
        self.header: dict[str, Any] = {}
        self.header_line = 0
        self.stored_version: float = migrations.CURRENT
        self.leaf = 0
        """Line of the file's leaf: its last entry. 0 when it has none."""
        self._counted: list[int] | None = None
        self._remembered: dict[int, dict[str, Any]] | None = None

    def __len__(self) -> int:
        """Count the physical lines."""
        return len(self.kinds) - 1

    def length(self, line: int) -> int:
        """Count the bytes of a line without its newline."""
        end = self.offsets[line + 1]
        if line < len(self) or self.ends_with_newline:
            end -= 1
        return end - self.offsets[line]

    @property
    def ends_with_newline(self) -> bool:
        """Say whether the last line is closed."""
        end = self.offsets[-1]
        return end > 0 and self.source.read(end - 1, 1) == b"\n"

    def entries(self) -> Iterator[int]:
        """Give the lines that are entries, in file order."""
        return (line for line, kind in enumerate(self.kinds) if kind < FIRST_OTHER)

    def of_kind(self, kind: Kind) -> Iterator[int]:
        """Give the lines of one kind, in file order."""
        find, line = self.kinds.find, 0
        while (line := find(kind, line + 1)) > 0:
            yield line

    def is_entry(self, line: int) -> bool:
        """Say whether a line is an entry."""
        return self.kinds[line] < FIRST_OTHER

    def type_of(self, line: int) -> str | None:
        """Name the type of an entry, None for a line that is none."""
        kind = self.kinds[line]
        if kind < FIRST_TYPE:
            return "message"
        if kind >= Kind.UNUSUAL_TYPE:
            return self.unusual[line] if kind == Kind.UNUSUAL_TYPE else None
        return TYPES[kind - FIRST_TYPE]

    def role_of(self, line: int) -> str | None:
        """Name the role of a message entry, None where it has none or is no message."""
        kind = self.kinds[line]
        return ROLES[kind] if kind < len(ROLES) else self._unusual_role(line)

    def _unusual_role(self, line: int) -> str | None:
        return self.unusual.get(line) if self.kinds[line] == Kind.UNUSUAL_ROLE else None

    def bytes(self, line: int) -> bytes:
        """Read a line again, without its newline."""
        return self.source.read(self.offsets[line], self.length(line))

    def read(self, lines: Iterable[int]) -> Iterator[tuple[int, _Bytes]]:
        """Read many lines again, in file order, with few reads; gives (line, bytes)."""
        offsets, size, last = self.offsets, self.offsets[-1], len(self)
        window, begin, end = b"", 0, 0
        for line in lines:
            start = offsets[line]
            # All lines but the last end with a newline.
            stop = offsets[line + 1] - 1 if line < last else start + self.length(line)
            if start < begin or stop > end:
                begin, end = start, max(stop, min(start + _WINDOW, size))
                window = self.source.read(begin, end - begin)
            yield line, window[start - begin : stop - begin]

    def raw(self, line: int) -> dict[str, Any]:
        """Decode the object of a line, migrated to version 3; its keys in JavaScript's order.

        Raises:
            UnreadableError: the file is no longer what it was.
        """
        if self._remembered is not None and line in self._remembered:
            return self._remembered[line]
        value = self.decoded(line)
        if self.stored_version < migrations.CURRENT:
            value = self.migrated(line, value)
        if self._remembered is not None:
            self._remembered[line] = value
        return value

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Keep what is decoded, for work that asks for the same lines over and over."""
        before = self._remembered
        self._remembered = {} if before is None else before
        try:
            yield
        finally:
            self._remembered = before

    def migrated(self, line: int, value: dict[str, Any]) -> dict[str, Any]:
        """Bring the object of a line from the stored version to version 3."""
        if self.stored_version < 2:
            before = self.parents[line]
            kept = self._kept_by_index(line, value.get("firstKeptEntryIndex"))
            value = migrations.link_entry(
                value, self.ids[line], self.ids[before] if before > 0 else None, kept
            )
        return migrations.rename_hook_message(value)

    def counts(self, line: int) -> bool:
        """Say whether the reference keeps what a line holds, header and foreign JSON included."""
        return self.kinds[line] < FIRST_OTHER or self.kinds[line] >= Kind.FOREIGN

    def _kept_by_index(self, line: int, index: object) -> object:
        """Find the id a version 1 compaction means: parsed lines are counted, the header is 0.

        The header stands for all that follows it: the release that wrote so kept everything.
        """
        if not migrations.is_index(index):
            return None
        if self._counted is None:
            self._counted = [n for n in range(1, len(self.kinds)) if self.counts(n)]
        position = int(index) if index == index // 1 else -1  # type: ignore[operator]
        if not 0 <= position < len(self._counted):
            return None
        target = self._counted[position]
        if target == self.header_line:
            return next((self.ids[first] for first in self.entries() if first < line), None)
        if target <= line:
            return self.ids[target]
        if self.is_entry(target):
            # It has no new id yet when the reference gets here: what counts is the stored one.
            return self.decoded(target).get("id")
        return None

    def decoded(self, line: int, data: _Bytes | None = None) -> dict[str, Any]:
        """Decode a line that was an object when the file was read, as it is stored.

        Args:
            line: its number.
            data: its bytes, where they have been read already.

        Raises:
            UnreadableError: it no longer is.
        """
        try:
            value = _json.loads(self.bytes(line) if data is None else data)
        except _json.JSONError:
            value = None
        if not isinstance(value, dict) or (
            self.kinds[line] < FIRST_TYPE and not isinstance(value.get("message"), dict)
        ):
            raise self.changed(line)
        return value

    def changed(self, line: int) -> UnreadableError:
        """Make the error that tells that a line is not what it was when the file was read."""
        return UnreadableError(self.source.name, f"line {line} changed after it was read")

    def report(self, code: Code, line: int, message: str, position: int = 0) -> None:
        """Add a diagnostic about a line, `position` bytes into it."""
        self.diagnostics.append(Diagnostic(code, line, self.offsets[line] + position, message))

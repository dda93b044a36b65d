"""Handles of entries: a line of a table, and what to ask it.

A handle is made when it is asked for and holds no content; that is read from the file at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from pi_sessions.entries import EntryValue
    from pi_sessions.table import Table


class Entry:
    """One entry of a session: where it stands, its place in the tree, its content on demand."""

    __slots__ = ("_table", "line")

    def __init__(self, table: Table, line: int) -> None:
        self._table = table
        self.line = line
        """Physical line, counted from 1."""

    @property
    def id(self) -> str | None:
        """Its id after migration, None where it has none in text form."""
        value = self._table.ids[self.line]
        return value if isinstance(value, str) else None

    @property
    def type(self) -> str:
        """Its type, also an unknown one."""
        return self._table.type_of(self.line) or ""

    @property
    def role(self) -> str | None:
        """The role of a message entry."""
        return self._table.role_of(self.line)

    @property
    def parent(self) -> Entry | None:
        """The entry before it on its branch, None for a root or an orphan."""
        line = self._table.parents[self.line]
        return Entry(self._table, line) if line > 0 else None

    @property
    def offset(self) -> int:
        """Byte offset of its line in the file."""
        return self._table.offsets[self.line]

    @property
    def length(self) -> int:
        """Bytes of its line without the newline."""
        return self._table.length(self.line)

    @property
    def raw(self) -> dict[str, Any]:
        """The JSON object of its line, migrated to version 3; read from the file at each call."""
        return self._table.raw(self.line)

    @property
    def value(self) -> EntryValue:
        """Its content as one of the typed entries."""
        from pi_sessions.codec import decode_entry  # noqa: PLC0415 - start-up

        return decode_entry(self.raw)

    @property
    def bytes(self) -> bytes:
        """Its line as it stands in the file, without the newline."""
        return self._table.bytes(self.line)

    @property
    def timestamp(self) -> str | None:
        """Its time as stored, None where that is no text."""
        value = self.raw.get("timestamp")
        return value if isinstance(value, str) else None

    def __eq__(self, other: object) -> bool:
        """Two handles are equal if they mean the same line of the same session."""
        return isinstance(other, Entry) and other.line == self.line and other._table is self._table

    def __hash__(self) -> int:
        return hash((id(self._table), self.line))

    def __repr__(self) -> str:
        kind = f"{self.type}:{self.role}" if self.role else self.type
        return f"<Entry {kind} {self.id} line {self.line}>"


class Entries(Sequence[Entry]):
    """Entries of a session as a sequence that makes each handle when it is asked for."""

    def __init__(self, table: Table, lines: Sequence[int]) -> None:
        self._table = table
        self._lines = lines

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Entries: ...
    def __getitem__(self, index: int | slice) -> Entry | Entries:
        """Give one entry, or a part of the sequence."""
        if isinstance(index, slice):
            return Entries(self._table, self._lines[index])
        return Entry(self._table, self._lines[index])

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        return f"<{len(self)} entries>"

"""Reading the lines of a session file into a table: one pass, an envelope a line.

The hot loop lets msgspec decode the few fields the tree needs and skip the rest of a line; whatever
it refuses or finds odd goes to the careful path, which asks the exact parser and reports what it
tolerates. Rules of reading are told in docs/format.md.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, _process, migrations
from pi_sessions._javascript import truthy
from pi_sessions._lines import FileSource, Source
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.errors import NotASessionError
from pi_sessions.faults import invalid_utf8, is_blank, named, no_header, second_object
from pi_sessions.table import (
    FIRST_OTHER,
    FIRST_TYPE,
    MISSING_PARENT,
    NO_PARENT,
    ROLES,
    TYPES,
    Kind,
    Table,
    id_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_TYPE_KINDS: dict[object, int] = {name: FIRST_TYPE + n for n, name in enumerate(TYPES)}
_ROLE_KINDS: dict[object, int] = {name: n for n, name in enumerate(ROLES)}
_BOM = b"\xef\xbb\xbf"
_PACKED = (b"\xb5\x2f\xfd", b"\x2a\x4d\x18")
"""How a zstandard file begins, behind its first byte."""


class _Message(msgspec.Struct, gc=False):
    role: str


class _Envelope(msgspec.Struct, gc=False):
    """The fields of a line that the tree needs; decoding it skips everything else.

    What has other types, or no id, is refused and goes the careful path.
    """

    type: str
    id: str
    parentId: str | None = None  # noqa: N815 - the format's own name
    message: _Message | None = None


class _OldEnvelope(msgspec.Struct, gc=False):
    """The same of version 1, whose ids are not those of the file."""

    type: str
    message: _Message | None = None


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_old_envelope = msgspec.json.Decoder(_OldEnvelope).decode


def read(source: Source, workers: int = 1) -> Table:
    """Read every line of a session file.

    Args:
        source: the bytes.
        workers: processes that may share the work on a large file; a second one is a fork.

    Raises:
        NotASessionError: the first parsed line is not a header.
        UnreadableError: the file cannot be read.
    """
    lines = source.lines()
    reading = _Reading(Table(source))
    reading.header(lines)
    table = reading.table
    middle = _middle(source, reading.offset) if workers > 1 and table.stored_version >= 3 else 0
    if middle and isinstance(source, FileSource):
        second = _process.start(lambda: _read_span(source, middle, source.size))
        reading.entries(source.lines_between(reading.offset, middle))
        found = _process.result(second) if second else None
        reading.join(_Span(*found) if found else None, source, middle)
    else:
        reading.entries(lines)
    reading.finish()
    return reading.table


LARGE = 48 << 20
"""Bytes from which on a second process pays for itself."""


def _middle(source: Source, start: int) -> int:
    """Find where the second half of a large file begins, 0 if it is not worth halving."""
    if not isinstance(source, FileSource) or source.size - start < LARGE:
        return 0
    place = start + (source.size - start) // 2
    while place < source.size:
        block = source.read(place, min(1 << 20, source.size - place))
        if (found := block.find(b"\n")) >= 0:
            return place + found + 1
        place += len(block)
    return 0


class _Span(msgspec.Struct):
    """What a second process found in its part of the file, with lines counted from its start."""

    kinds: bytes
    offsets: bytes
    parents: bytes
    ids: list[Any]
    unresolved: dict[int, Any]
    unusual: dict[int, str]
    diagnostics: list[tuple[str, int, int, str]]


def _read_span(source: FileSource, start: int, end: int) -> tuple[Any, ...] | None:
    own = source.again()
    if own is None:
        return None
    reading = _Reading(Table(own))
    reading.table.header_line = -1
    reading.offset = start
    reading.entries(own.lines_between(start, end))
    table = reading.table
    return (
        bytes(table.kinds[1:]),
        table.offsets[1:].tobytes(),
        table.parents[1:].tobytes(),
        table.ids[1:],
        reading.unresolved,
        table.unusual,
        [(str(d.code), d.line, d.offset, d.message) for d in table.diagnostics],
    )


def read_part(source: Source, header: dict[str, Any], lines: Iterable[tuple[int, bytes]]) -> Table:
    """Make a table of some lines of a version 3 file, given with their offsets, in file order.

    Line numbers in it count from the first line given, not from the start of the file.
    """
    reading = _Reading(Table(source))
    reading.table.header = header
    for offset, line in lines:
        reading.offset = offset
        reading.entries((line,))
    reading.finish()
    return reading.table


class _Reading:
    """The state of reading one file: the table so far, and what can be settled only at the end."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.offset = 0
        self.unresolved: dict[int, object] = {}

    def header(self, lines: Iterator[bytes]) -> None:
        """Read up to and with the header."""
        table = self.table
        for line, data in enumerate(lines, 1):
            table.offsets.append(self.offset + len(data))
            value = self.unusual_line(line, data)
            self.offset += len(data)
            if value is None:
                continue
            why = no_header(value)
            if why:
                raise NotASessionError(table.source.name, line, table.offsets[line], why)
            self.accept_header(line, value, bom=line == 1 and data.startswith(_BOM))
            return
        why = "the file is empty" if not self.offset else "no line of it is JSON"
        if self.offset and all(kind == Kind.BLANK for kind in table.kinds):
            why = "it holds nothing but white space"
        if table.source.read(0, min(4, table.source.size))[1:] in _PACKED:
            why = "it is packed; `pi-sessions archive --restore` gives the session back"
        raise NotASessionError(table.source.name, 1, 0, why)

    def accept_header(self, line: int, value: dict[str, Any], *, bom: bool) -> None:
        table = self.table
        table.kinds[line] = Kind.HEADER
        table.header, table.header_line = value, line
        table.stored_version = migrations.version_number(value.get("version"))
        if bom:
            table.report(
                Code.BOM, line, "a byte order mark stands before the header; Pi refuses such a file"
            )

    def entries(self, lines: Iterable[bytes]) -> None:
        """Read entries: the hot loop, one envelope a line."""
        table = self.table
        if table.stored_version < 2:
            self.old_entries(lines)
            return
        add_offset, add_kind = table.offsets.append, table.kinds.append
        add_id, add_parent = table.ids.append, table.parents.append
        known, unresolved, shadowed = table.lines_by_id, self.unresolved, table.shadowed
        type_kinds, role_kinds, decode = _TYPE_KINDS, _ROLE_KINDS, _decode_envelope
        table.offsets.pop()
        offset, before = self.offset, None
        for line, data in enumerate(lines, len(table) + 1):
            add_offset(offset)
            offset += len(data)
            try:
                envelope = decode(data)
                if envelope.type == "message":
                    kind = role_kinds[envelope.message.role]  # type: ignore[union-attr]
                else:
                    kind = type_kinds[envelope.type]
            except (msgspec.MsgspecError, RecursionError, KeyError, AttributeError):
                self.careful_line(line, data)
                before = None
                continue
            entry_id, parent_id = envelope.id, envelope.parentId
            add_kind(kind)
            add_id(entry_id)
            if not parent_id:
                add_parent(NO_PARENT)
            elif parent_id == before:
                add_parent(line - 1)
            else:
                unresolved[line] = parent_id
                add_parent(NO_PARENT)
            before = entry_id
            if known.setdefault(entry_id, line) != line:
                shadowed[known[entry_id]] = line
                known[entry_id] = line
        table.offsets.append(offset)
        self.offset = offset

    def old_entries(self, lines: Iterable[bytes]) -> None:
        """Read entries of version 1, which `chain` links: the same loop without links."""
        table = self.table
        type_kinds, role_kinds = _TYPE_KINDS, _ROLE_KINDS
        table.offsets.pop()
        for line, data in enumerate(lines, len(table) + 1):
            table.offsets.append(self.offset)
            self.offset += len(data)
            try:
                envelope = _decode_old_envelope(data)
                if envelope.type == "message":
                    kind = role_kinds[envelope.message.role]  # type: ignore[union-attr]
                else:
                    kind = type_kinds[envelope.type]
            except (msgspec.MsgspecError, RecursionError, KeyError, AttributeError):
                self.careful_line(line, data)
                continue
            table.kinds.append(kind)
            table.ids.append(None)
            table.parents.append(NO_PARENT)
        table.offsets.append(self.offset)

    def join(self, span: _Span | None, source: FileSource, start: int) -> None:
        """Add what a second process read; without it, read that part as well."""
        if span is None:
            self.entries(source.lines_between(start, source.size))
            return
        table = self.table
        base = len(table)
        table.kinds += span.kinds
        table.offsets.pop()
        table.offsets.frombytes(span.offsets)
        parents = array("i")
        parents.frombytes(span.parents)
        table.parents.extend([parent + base if parent > 0 else parent for parent in parents])
        table.ids += span.ids
        self.unresolved |= {base + line: parent for line, parent in span.unresolved.items()}
        table.unusual |= {base + line: name for line, name in span.unusual.items()}
        table.diagnostics += [
            Diagnostic(Code(code), base + line, offset, message)
            for code, line, offset, message in span.diagnostics
        ]
        known, shadowed = table.lines_by_id, table.shadowed
        for line, entry_id in enumerate(span.ids, base + 1):
            if entry_id is None:
                continue
            key = entry_id if type(entry_id) is str else id_key(entry_id)
            if known.setdefault(key, line) != line:
                shadowed[known[key]] = line
                known[key] = line
        self.offset = source.size

    def careful_line(self, line: int, data: bytes) -> None:
        """Read one line that the hot loop does not settle."""
        table = self.table
        value = self.unusual_line(line, data)
        if value is None:
            return
        if not isinstance(value, dict):
            self.not_an_entry(line, f"a line must hold an object, this one holds {named(value)}")
            return
        kind = value.get("type")
        if kind == "session":
            table.kinds[line] = Kind.SECOND_HEADER
            table.report(Code.SECOND_HEADER, line, "a second header, which is ignored")
            return
        self.link(line, value)
        if not isinstance(kind, str):
            self.not_an_entry(line, "an object without a type in text form is no entry")
            return
        if value.get("id") is None and table.stored_version >= 2:
            table.report(Code.MISSING_ID, line, "an entry without id: nothing can refer to it")
        if kind == "message":
            self.classify_message(line, value.get("message"))
            return
        table.kinds[line] = _TYPE_KINDS.get(kind, Kind.UNUSUAL_TYPE)
        if table.kinds[line] == Kind.UNUSUAL_TYPE:
            table.unusual[line] = kind
            table.report(
                Code.UNKNOWN_ENTRY_TYPE, line, f"unknown entry type {kind!r}: kept, never sent"
            )

    def classify_message(self, line: int, message: Any) -> None:
        """Set the kind of a message entry by its role, with what is to be said about it."""
        table = self.table
        if not isinstance(message, dict):
            table.kinds[line] = Kind.FOREIGN
            fault = Code.MISSING_FIELD if message is None else Code.WRONG_TYPE
            table.report(fault, line, "a message entry without its message; Pi fails on this file")
            return
        role = message.get("role")
        if role == "hookMessage" and table.stored_version < migrations.CURRENT:
            role = "custom"
        name = role if isinstance(role, str) else None
        table.kinds[line] = _ROLE_KINDS.get(name, Kind.UNUSUAL_ROLE)
        if table.kinds[line] == Kind.UNUSUAL_ROLE:
            if name is not None:
                table.unusual[line] = name
            told = f"unknown role {name!r}" if name is not None else "a message without a role"
            table.report(Code.UNKNOWN_ROLE, line, f"{told}: kept, never sent")

    def link(self, line: int, value: dict[str, Any]) -> None:
        """Enter the id and parent of an object into the index."""
        table = self.table
        if value.get("id") is not None:
            table.ids[line] = value["id"]
            key = id_key(value["id"])
            if key in table.lines_by_id:
                table.shadowed[table.lines_by_id[key]] = line
            table.lines_by_id[key] = line
        parent_id = value.get("parentId")
        if truthy(parent_id):
            self.unresolved[line] = parent_id

    def not_an_entry(self, line: int, why: str) -> None:
        self.table.kinds[line] = Kind.FOREIGN
        self.table.report(Code.NOT_AN_ENTRY, line, why)

    def unusual_line(self, line: int, data: bytes) -> Any:
        """Add a row for a line and give its parsed value, None if it is blank, broken or falsy."""
        table = self.table
        table.kinds.append(Kind.BLANK)
        table.ids.append(None)
        table.parents.append(NO_PARENT)
        body = data.removesuffix(b"\n")
        if line == 1 and not table.header_line and data.startswith(_BOM):
            body = body[len(_BOM) :]
        if is_blank(body):
            return None
        try:
            value = _json.loads(body)
        except _json.JSONError as error:
            table.kinds[line] = Kind.MALFORMED
            self.report_malformed(line, data, error)
            return None
        if not body.isascii() and (position := invalid_utf8(body)) is not None:
            table.report(
                Code.INVALID_UTF8, line, "bytes that are not UTF-8 read as U+FFFD", position
            )
        if not truthy(value):
            table.kinds[line] = Kind.FALSY
            table.report(Code.NOT_AN_ENTRY, line, f"a line that holds {named(value)} is no entry")
            return None
        if _json.depth(value) > _json.DEPTH:
            table.report(
                Code.TOO_DEEP, line, f"nested deeper than {_json.DEPTH} levels; Pi cannot send it"
            )
        return value

    def report_malformed(self, line: int, data: bytes, error: _json.JSONError) -> None:
        table = self.table
        if isinstance(error, _json.TooDeepError):
            code, told = Code.TOO_DEEP, "kept as it is, not read"
        elif not data.endswith(b"\n"):
            code, told = Code.TORN_TAIL, "the last line is cut off"
        elif (start := second_object(data)) is not None:
            table.report(
                Code.FUSED_LINE, line, "a torn line and a whole one stand on the same line", start
            )
            return
        else:
            code, told = Code.MALFORMED_JSON, "not JSON, skipped"
        table.report(code, line, f"{told}: {error.why}", error.position)

    def finish(self) -> None:
        """Settle what needs the whole file: forward parents, duplicate ids, version 1, the leaf."""
        table = self.table
        if table.stored_version < 2:
            self.chain()
        for line, parent_id in self.unresolved.items():
            parent = table.lines_by_id.get(id_key(parent_id), MISSING_PARENT)
            table.parents[line] = parent
            if parent == MISSING_PARENT:
                table.missing_parents[line] = parent_id
        if table.shadowed:
            self.settle_duplicates()
        is_entry = (kind < FIRST_OTHER for kind in reversed(table.kinds))
        table.leaf = len(table) - next((n for n, it_is in enumerate(is_entry) if it_is), len(table))

    def settle_duplicates(self) -> None:
        table = self.table
        last = {line: table.lines_by_id[id_key(table.ids[line])] for line in table.shadowed}
        table.shadowed.update(last)
        for line, parent in enumerate(table.parents):
            if parent in last:
                table.parents[line] = last[parent]

    def chain(self) -> None:
        """Link the entries of a version 1 file: derived ids, each the child of the one before."""
        table = self.table
        table.lines_by_id.clear()
        table.shadowed.clear()
        self.unresolved.clear()
        before = 0
        session_id = table.header["id"]
        for line in range(1, len(table.kinds)):
            if not table.counts(line) or table.kinds[line] >= Kind.SECOND_HEADER:
                continue
            entry_id = migrations.derive_id(session_id, line, table.lines_by_id)
            table.ids[line] = entry_id
            table.lines_by_id[entry_id] = line
            table.parents[line] = before
            before = line

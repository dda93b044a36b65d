"""Rows for lines that come in after a table was read: our own, and others' ordinary ones."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions._lines import split
from pi_sessions.table import FIRST_TYPE, MISSING_PARENT, NO_PARENT, ROLES, TYPES, Kind, id_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.table import Table

_ROLE_KINDS = {name: kind for kind, name in enumerate(ROLES)}
_UNUSUAL = int(Kind.UNUSUAL_ROLE)
_TYPE_KINDS = {name: FIRST_TYPE + kind for kind, name in enumerate(TYPES)}


def add(table: Table, entry: dict[str, Any], length: int, parent: int) -> int:
    """Add the row of an entry at the end and give its line.

    Args:
        table: of a file whose last line is closed.
        entry: the object; its id is no other's.
        length: bytes of its line with the newline.
        parent: line of its parent, as in the column of parents.
    """
    line = len(table.kinds)
    name, entry_id, offsets = entry["type"], entry["id"], table.offsets
    if name == "message":
        role = entry["message"]["role"]
        kind = _ROLE_KINDS.get(role, _UNUSUAL)
        if kind == _UNUSUAL:
            table.unusual[line] = role
    else:
        kind = _TYPE_KINDS[name]
    table.kinds.append(kind)
    table.ids.append(entry_id)
    table.parents.append(parent)
    offsets.append(offsets[-1] + length)
    table.lines_by_id[entry_id] = line
    table.leaf = line
    return line


def add_messages(
    table: Table, ids: Sequence[str], roles: Iterable[str], lengths: Iterable[int], parent: int
) -> int:
    """Add the rows of message entries, each the child of the one before; give the last line.

    Args:
        table: as for `add`.
        ids: of the entries; none is another's.
        roles: of their messages.
        lengths: bytes of their lines with the newlines.
        parent: line of the first one's parent.
    """
    first = len(table.kinds)
    for line, role in enumerate(roles, first):
        kind = _ROLE_KINDS.get(role, _UNUSUAL)
        table.kinds.append(kind)
        if kind == _UNUSUAL:
            table.unusual[line] = role
    last = first + len(ids) - 1
    table.ids.extend(ids)
    table.parents.append(parent)
    table.parents.extend(range(first, last))
    table.offsets.extend(list(accumulate(lengths, initial=table.offsets[-1]))[1:])
    table.lines_by_id.update(zip(ids, range(first, last + 1), strict=True))
    table.leaf = last
    return last


def forget(table: Table, length: int) -> None:
    """Take back the rows that `add` made behind the first `length` lines."""
    for entry_id in table.ids[length + 1 :]:
        del table.lines_by_id[entry_id]
    for line in range(length + 1, len(table.kinds)):
        table.unusual.pop(line, None)
    for column in (table.kinds, table.ids, table.parents):
        del column[length + 1 :]
    del table.offsets[length + 2 :]


def extend(table: Table, data: bytes) -> bool:
    """Add the rows of whole lines that others appended; False where a line is out of the ordinary.

    Then some of them may have rows already, and the file is to be read anew.
    """
    awaited = {id_key(parent) for parent in table.missing_parents.values()}
    for line in split((data,)):
        try:
            entry = _json.loads(line)
        except _json.JSONError:
            return False
        if not line.endswith(b"\n") or not _is_ordinary(entry, table):
            return False
        if id_key(entry["id"]) in awaited:
            return False
        parent_id = entry.get("parentId")
        parent = table.lines_by_id.get(parent_id, MISSING_PARENT) if parent_id else NO_PARENT
        if parent == MISSING_PARENT:
            return False
        add(table, entry, len(line), parent)
    return True


def _is_ordinary(entry: Any, table: Table) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return False
    if id_key(entry["id"]) in table.lines_by_id or not isinstance(
        entry.get("parentId"), str | None
    ):
        return False
    if entry.get("type") == "message":
        message = entry.get("message")
        return isinstance(message, dict) and isinstance(message.get("role"), str)
    return entry.get("type") in _TYPE_KINDS

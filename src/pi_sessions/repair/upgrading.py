"""A file of version 1 or 2 made into one of version 3, line by line.

As Pi does it when it opens the file, with these differences: ids are derived and not drawn, so that
they are those under which the old file was read; lines that are no entries stay as they are, where
Pi drops them; and a line of which nothing has to change keeps its own bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, migrations
from pi_sessions.repair.keys import replaced, replaced_within
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Keys(msgspec.Struct, gc=False):
    """The keys of an entry that the upgrade may have to change."""

    id: Any = msgspec.UNSET
    parentId: Any = msgspec.UNSET  # noqa: N815 - the format's own name
    firstKeptEntryIndex: Any = msgspec.UNSET  # noqa: N815


_keys = msgspec.json.Decoder(_Keys).decode
_UNSET = msgspec.UNSET
_BOM = b"\xef\xbb\xbf"


def needs_upgrade(table: Table) -> bool:
    """Say whether a file is of an older version than the current one."""
    return table.stored_version < migrations.CURRENT


def upgraded(table: Table) -> Iterator[bytes]:
    """Give the lines of a file in version 3, each with its newline; memory does not grow."""
    kinds, is_first = table.kinds, table.stored_version < 2
    for line, data in table.read(range(1, len(table) + 1)):
        kind = kinds[line]
        if kind >= FIRST_OTHER:
            if kind == Kind.HEADER:
                data = replaced(data.removeprefix(_BOM), {"version": migrations.CURRENT})  # noqa: PLW2901
            elif is_first and kind == Kind.FOREIGN and _is_object(table, line):
                data = replaced(data, _links(table, line))  # noqa: PLW2901
        elif is_first:
            data = _linked(table, line, data)  # noqa: PLW2901
        if kind == Kind.CUSTOM_ROLE and _is_hook(data):
            data = replaced_within(data, "message", {"role": "custom"})  # noqa: PLW2901
        yield data + b"\n"


def _is_hook(data: bytes) -> bool:
    """Say whether a custom message still has the name it had in version 2."""
    return b"hookMessage" in data and _json.loads(data)["message"]["role"] == "hookMessage"


def _linked(table: Table, line: int, data: bytes) -> bytes:
    """Give an entry of version 1 its id and parent."""
    try:
        keys = _keys(data)
        is_bare = keys.id is _UNSET and keys.parentId is _UNSET
    except (msgspec.MsgspecError, RecursionError):
        is_bare = False
    if is_bare and keys.firstKeptEntryIndex is _UNSET and data[-1:] == b"}":
        # Derived ids are hexadecimal digits.
        above = _above(table, line)
        parent = f'"{table.ids[above]}"' if above else "null"
        return data[:-1] + f',"id":"{table.ids[line]}","parentId":{parent}}}'.encode()
    if table.kinds[line] == Kind.COMPACTION:
        return _json.encode({**table.raw(line), **_links(table, line)})
    return replaced(data, _links(table, line))


def _links(table: Table, line: int) -> dict[str, Any]:
    above = _above(table, line)
    return {"id": table.ids[line], "parentId": table.ids[above] if above else None}


def _above(table: Table, line: int) -> int:
    """Give the line before an entry that can have an id, 0 for the first."""
    above = table.parents[line]
    while above > 0 and table.kinds[above] == Kind.FOREIGN and not _is_object(table, above):
        above = table.parents[above]
    return max(above, 0)


def _is_object(table: Table, line: int) -> bool:
    return isinstance(_json.loads(table.bytes(line)), dict)

"""A file of version 1 or 2 made into one of version 3, line by line.

As Pi does it when it opens the file, with these differences: ids are derived and not drawn, so that
they are those under which the old file was read; lines that are no entries stay as they are, where
Pi drops them; and a line of which nothing has to change keeps its own bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, migrations
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Keys(msgspec.Struct, gc=False):
    """The keys of an entry that the upgrade may have to change."""

    id: Any = msgspec.UNSET
    parentId: Any = msgspec.UNSET  # noqa: N815 - the format's own name
    firstKeptEntryIndex: Any = msgspec.UNSET  # noqa: N815

    @property
    def is_bare(self) -> bool:
        """Whether none of them is there."""
        keys = (self.id, self.parentId, self.firstKeptEntryIndex)
        return all(key is msgspec.UNSET for key in keys)


_keys = msgspec.json.Decoder(_Keys).decode


def needs_upgrade(table: Table) -> bool:
    """Say whether a file is of an older version than the current one."""
    return table.stored_version < migrations.CURRENT


def upgraded(table: Table) -> Iterator[bytes]:
    """Give the lines of a file in version 3, each with its newline; memory does not grow."""
    for line, data in table.read(range(1, len(table) + 1)):
        kind = table.kinds[line]
        if line == table.header_line:
            header = _json.loads(data.removeprefix(b"\xef\xbb\xbf"))
            version = {"version": migrations.CURRENT}
            yield _json.encode({**header, **version}) + b"\n"
        elif kind >= FIRST_OTHER:
            yield data + b"\n"
        elif table.stored_version >= 2:
            # Only the role of a hook's message has another name.
            is_hook = kind == Kind.CUSTOM_ROLE and b"hookMessage" in data
            yield (_json.encode(table.raw(line)) if is_hook else data) + b"\n"
        else:
            yield _linked(table, line, data) + b"\n"


def _linked(table: Table, line: int, data: bytes) -> bytes:
    """Give an entry of version 1 its id and parent."""
    body = data.strip(b" \t\r")
    if table.kinds[line] != Kind.CUSTOM_ROLE and body.endswith(b"}"):
        try:
            is_bare = _keys(body).is_bare
        except (msgspec.MsgspecError, RecursionError):
            is_bare = False
        if is_bare:
            above = table.parents[line]
            parent = _json.dumps(table.ids[above] if above > 0 else None)
            return b'%s,"id":%s,"parentId":%s}' % (
                body[:-1],
                _json.dumps(table.ids[line]).encode(),
                parent.encode(),
            )
    return _json.encode(table.raw(line))

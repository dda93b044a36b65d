"""A session file again: its own bytes, or one branch of it as a session of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json, migrations
from pi_sessions.export.options import point_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.export.options import Options
    from pi_sessions.session import Session

_BLOCK = 1 << 20


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give the bytes of the whole file as they are, or the lines of a branch.

    A branch is written as Pi exports one: a new header with the same id, then the entries from the
    root to the leaf, each the child of the one before. What they refer to may be on another branch.
    """
    return _branch(session, options) if options.is_part else _whole(session)


def _whole(session: Session) -> Iterator[bytes]:
    source = session.table.source
    for offset in range(0, source.size, _BLOCK):
        yield source.read(offset, min(_BLOCK, source.size - offset))


def _branch(session: Session, options: Options) -> Iterator[bytes]:
    table = session.table
    stored = table.header
    header = {"type": "session", "version": migrations.CURRENT, "id": stored["id"]}
    timestamp = stored.get("timestamp") if options.timestamp is None else options.timestamp
    told = {"timestamp": timestamp, "cwd": stored.get("cwd")}
    yield _line({**header, **{key: value for key, value in told.items() if value is not None}})
    parent = None
    for line in point_of(session, options).path:
        entry = table.raw(line)
        # The key keeps its place. Only the leaf can be without an id: nothing refers to it.
        yield _line({**entry, "parentId": parent})
        parent = entry.get("id")


def _line(value: dict[str, Any]) -> bytes:
    return _json.encode(value) + b"\n"

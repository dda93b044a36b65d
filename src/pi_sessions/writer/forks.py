"""A branch of a session, or all of it, as a new session.

Entries keep their ids, and a line of which nothing changes keeps its bytes. The new header names
the file it comes from as `parentSession`. Entries of versions 1 and 2 are migrated on the way.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from pi_sessions import _json, migrations, tree
from pi_sessions.errors import EntryNotFoundError, VersionNotWritableError
from pi_sessions.table import NO_PARENT, Kind, Table
from pi_sessions.writer import ids, shapes
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.entry import Entry
    from pi_sessions.session import Session
    from pi_sessions.writer.ids import Clock, Random


class NewSession(TypedDict, total=False):
    """What may be chosen about a new session."""

    cwd: str
    """Its working directory; that of the old one by default."""
    session_id: str
    """Its id; a new UUIDv7 by default."""
    durable: bool
    """Whether to wait until the disk has it, and each append to it."""
    clock: Clock
    """Gives milliseconds since 1970."""
    random: Random
    """Gives random bytes."""


def fork(
    session: Session,
    folder: str | os.PathLike[str] | None,
    *,
    force: bool = False,
    **chosen: Unpack[NewSession],
) -> SessionWriter:
    """Copy a session with all its branches into a new one; as `pi --fork`, but old versions too.

    What is no entry is left out: broken lines and further headers.

    Args:
        session: the session, read from a file.
        folder: where the new file will be; None makes it in memory.
        force: take a file of a newer version than 3 as one of version 3.
        chosen: see `NewSession`.

    Returns:
        The writer of the new session. Its file is there if anything was said in it.

    Raises:
        VersionNotWritableError: the session is of a newer version, and `force` is not set.
        NotWrittenError: the new file cannot be written.
    """
    return _begun(session, folder, force, chosen).starting_with(_all_lines(session.table))


def fork_branch(
    session: Session,
    folder: str | os.PathLike[str] | None,
    leaf: str | Entry | None = None,
    *,
    force: bool = False,
    **chosen: Unpack[NewSession],
) -> SessionWriter:
    """Copy the branch of a leaf into a new session; as Pi's fork and clone.

    The entries form one chain. Label entries on it are left out, and the labels that the copied
    entries have, wherever they were set, are attached at the end with their old times.

    Args:
        session: the session, read from a file.
        folder: where the new file will be; None makes it in memory.
        leaf: an entry, its id or a unique prefix of it; by default the file's leaf.
        force: take a file of a newer version than 3 as one of version 3.
        chosen: see `NewSession`.

    Returns:
        The writer of the new session. Its file is there if anything was said on the branch.

    Raises:
        EntryNotFoundError: there is no such entry.
        VersionNotWritableError: the session is of a newer version, and `force` is not set.
        NotWrittenError: the new file cannot be written.
    """
    path = [entry.line for entry in session.branch(leaf)]
    if not path:
        raise EntryNotFoundError("of the leaf")
    writer = _begun(session, folder, force, chosen)
    labels = _labels(session.table, path, chosen.get("random", ids.system_random))
    return writer.starting_with([*_chained(session.table, path), *labels])


def _begun(
    session: Session, folder: str | os.PathLike[str] | None, force: bool, chosen: NewSession
) -> SessionWriter:
    """Begin a new session that names another one as its parent."""
    version = session.table.stored_version
    if not (version <= migrations.CURRENT or force):
        raise VersionNotWritableError(session.path, session.version, newer=True)
    chosen.setdefault("cwd", session.cwd or "")
    if folder is None:
        return SessionWriter.in_memory(
            chosen["cwd"],
            session_id=chosen.get("session_id"),
            clock=chosen.get("clock", ids.system_clock),
            random=chosen.get("random", ids.system_random),
        )
    parent = os.fspath(Path(session.path).absolute())
    return SessionWriter.create(folder, **chosen, parent_session=parent)


def _all_lines(table: Table) -> Iterator[bytes]:
    """Give the lines of all that is kept: entries, and JSON that is none but may be a parent."""
    for line in range(1, len(table.kinds)):
        if table.is_entry(line) or table.kinds[line] == Kind.FOREIGN:
            yield _bytes(table, line)


def _bytes(table: Table, line: int) -> bytes:
    """Give a line as version 3 has it: its own bytes, unless it is older."""
    if table.stored_version >= migrations.CURRENT or not table.is_entry(line):
        return table.bytes(line) + b"\n"
    return _json.encode(table.raw(line)) + b"\n"


def _chained(table: Table, path: Sequence[int]) -> Iterator[bytes]:
    """Give the entries of a branch without its labels, each the child of the one before."""
    moved = _after_labels(table, path)
    before = NO_PARENT
    for line in path:
        if table.kinds[line] == Kind.LABEL:
            continue
        changes: dict[str, Any] = {}
        if table.parents[line] != before or not before:
            changes["parentId"] = table.ids[before] if before else None
        if table.kinds[line] == Kind.COMPACTION:
            kept = table.raw(line).get("firstKeptEntryId")
            if isinstance(kept, str) and kept in moved and kept != table.ids[line]:
                changes["firstKeptEntryId"] = moved[kept]
        entry = table.raw(line) if changes else {}
        if changes.items() <= entry.items():
            yield _bytes(table, line)
        else:
            yield _json.encode({**entry, **changes}) + b"\n"
        before = line


def _after_labels(table: Table, path: Sequence[int]) -> dict[str, Any]:
    """Say for each label on a branch which entry that stays follows it: what it kept begins there.

    A label at the end has none.
    """
    moved: dict[str, Any] = {}
    waiting: list[str] = []
    for line in path:
        if table.kinds[line] == Kind.LABEL:
            waiting.append(table.ids[line])
        else:
            moved.update(dict.fromkeys(waiting, table.ids[line]))
            waiting.clear()
    return moved


def _labels(table: Table, path: Sequence[int], random: Random) -> Iterator[bytes]:
    """Give label entries, behind the branch, for the labels that its entries have."""
    kept = [line for line in path if table.kinds[line] != Kind.LABEL]
    taken = {table.ids[line] for line in kept}
    parent = table.ids[kept[-1]] if kept else None
    for target, found in tree.labels(table).items():
        if not isinstance(target, str) or target not in taken:
            continue
        made = ids.entry_id(taken, random)
        taken.add(made)
        label = table.raw(found.line).get("label")
        entry = shapes.label(shapes.Place(made, parent, ""), target, label)
        yield _json.encode({**entry, "timestamp": found.timestamp}) + b"\n"
        parent = made

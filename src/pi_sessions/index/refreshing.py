"""Reading what has changed into the cache: one process writes, all cores read."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from pi_sessions._pool import in_shares
from pi_sessions.index import stored, wording
from pi_sessions.index.database import DAMAGE
from pi_sessions.index.reading import Taken, Task, left, take_share
from pi_sessions.store import Read

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Container, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.index.database import Cache
    from pi_sessions.store import StoredFile

_BATCH = 128_000_000
"""Bytes of files whose words are written at once."""


def refresh(
    cache: Cache,
    files: Sequence[StoredFile],
    zone: tzinfo,
    *,
    workers: int = 1,
    singly: Container[str] = (),
) -> Iterator[Read]:
    """Read files into the cache; gives what they tell, or nothing more where that fails.

    Args:
        cache: of the store they are in.
        files: those of which nothing true is kept.
        zone: in which times without one are read, and days told.
        workers: processes that may share the work.
        singly: paths of the files whose single entries are asked for, too.
    """
    try:
        with cache.writing() as connection:
            if connection is None:
                return
            connection.execute("BEGIN IMMEDIATE")
            tasks, kept = _tasks(connection, cache.root, files, str(zone), singly)
            yield from kept
            read = partial(take_share, zone=zone, clock=cache.clock)
            for share in in_shares(tasks, left, read, workers):
                for taken in share:
                    _keep(connection, cache.root, taken, str(zone))
                    yield Read(taken.task.file, taken.summary, taken.spent)
            connection.execute("COMMIT")
    except DAMAGE:
        return


def index(
    cache: Cache,
    files: Sequence[StoredFile],
    zone: tzinfo,
    *,
    workers: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Read the words of files into the cache; where that fails, some are not in it afterwards.

    Args:
        cache: of the store they are in.
        files: those whose words are not in it.
        zone: in which times without one are read.
        workers: processes that may share the work.
        advance: told how many bytes were read.
    """
    try:
        with cache.writing() as connection:
            if connection is None:
                return
            connection.execute("BEGIN IMMEDIATE")
            wording.clear_waste(connection)
            tasks, _ = _tasks(connection, cache.root, files, str(zone), with_words=True)
            pending = wording.Pending()
            read = partial(take_share, zone=zone, clock=cache.clock)
            for share in in_shares(tasks, left, read, workers):
                for taken in share:
                    row = _keep(connection, cache.root, taken, str(zone))
                    if row and taken.words is not None:
                        pending.add(connection, row, taken.words)
                    advance(left(taken.task))
                if pending.size > _BATCH:
                    pending.write(connection)
                    connection.execute("COMMIT")
                    connection.execute("BEGIN IMMEDIATE")
            pending.write(connection)
            wording.join_vocabulary(connection)
            connection.execute("COMMIT")
    except DAMAGE:
        return


def _tasks(
    connection: sqlite3.Connection,
    root: str,
    files: Sequence[StoredFile],
    zone: str,
    singly: Container[str] = (),
    *,
    with_words: bool = False,
) -> tuple[list[Task], list[Read]]:
    """Find out what has to be read of files; what was kept under another name is given, too."""
    rows = stored.rows(connection, root)
    gone = {(row.device, row.inode): row for path, row in rows.items() if not _is_there(path)}
    tasks, kept = [], []
    for file in sorted(files, key=lambda file: -file.modified):
        row = rows.get(file.path)
        moved = gone.get((file.device, file.inode))
        if row is None and moved is not None and moved.is_of(file, zone):
            del gone[file.device, file.inode]
            path = stored.key_of(file.path, root)
            connection.execute("UPDATE files SET path = ? WHERE id = ?", (path, moved.id))
            row = moved
            if file.path not in singly and not with_words:
                kept.append(Read(file, moved.summarised(file.path)))
                continue
        is_single = file.path in singly
        task = _task(connection, file, row, zone, is_single=is_single, with_words=with_words)
        if row is not None and not task.row:
            _forget(connection, row)
        tasks.append(task)
    for row in gone.values():
        _forget(connection, row)
    return tasks, kept


def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def _task(
    connection: sqlite3.Connection,
    file: StoredFile,
    row: stored.Row | None,
    zone: str,
    *,
    is_single: bool,
    with_words: bool,
) -> Task:
    """Find out from where on a file has to be read."""
    task = Task(file, is_single=is_single, with_words=with_words)
    if row is None:
        return task
    if row.is_same(file):
        task.row = row.id
        if row.zone == zone and not is_single:
            task.begin, task.closed, task.lines = row.size, row.closed, row.lines
            task.is_summarised = True
    elif row.zone == zone and stored.has_grown(row, file):
        kept = connection.execute("SELECT state FROM states WHERE file = ?", (row.id,)).fetchone()
        if kept is not None:
            task.row = row.id
            if not is_single:
                task.begin, task.state = row.closed, kept[0]
    if task.row and with_words:
        task.indexed, task.line = wording.reached(connection, row.id)
        task.begin = min(task.begin, task.indexed)
    return task


def _forget(connection: sqlite3.Connection, row: stored.Row) -> None:
    """Forget a file; its words stay behind and are no longer anybody's."""
    for table, column in (
        ("files", "id"),
        ("states", "file"),
        ("spent", "file"),
        ("parts", "file"),
    ):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (row.id,))  # noqa: S608
    connection.execute("UPDATE waste SET bytes = bytes + ?", (row.indexed,))


def _keep(connection: sqlite3.Connection, root: str, taken: Taken, zone: str) -> int:
    """Put what was read of a file in the place of what was kept of it; gives the id of its row."""
    task = taken.task
    if task.is_summarised:
        return task.row
    summary = None if taken.summary is None else stored.packed(taken.summary)
    if not taken.digest or (taken.summary is not None and summary is None):
        return 0
    file = task.file
    facts = (file.size, taken.modified, file.device, file.inode, taken.digest)
    row = _put(connection, root, task, (*facts, zone, summary, taken.closed, taken.lines))
    spent = None if taken.spent is None else stored.packed(taken.spent)
    for table, column, value in (
        ("states", "state", taken.state or None),
        ("spent", "entries", spent),
    ):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (row,))  # noqa: S608
        if value is not None:
            insert = f"INSERT INTO {table} (file, {column}) VALUES (?, ?)"  # noqa: S608
            connection.execute(insert, (row, value))
    return row


def _put(connection: sqlite3.Connection, root: str, task: Task, facts: tuple[object, ...]) -> int:
    if task.row:
        places = ", ".join(f"{name} = ?" for name in _FACTS)
        connection.execute(f"UPDATE files SET {places} WHERE id = ?", (*facts, task.row))  # noqa: S608
        return task.row
    names, places = ", ".join(_FACTS), ", ".join("?" * len(facts))
    insert = f"INSERT INTO files ({names}, path) VALUES ({places}, ?)"  # noqa: S608
    return connection.execute(insert, (*facts, stored.key_of(task.file.path, root))).lastrowid or 0


_FACTS = (
    "size", "modified", "device", "inode", "digest", "zone", "summary", "closed", "lines"
)  # fmt: skip

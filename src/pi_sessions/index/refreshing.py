"""Reading what has changed into the cache: one process writes, all cores read."""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.index import stored
from pi_sessions.meter import Spent
from pi_sessions.store import Read, StoredFile
from pi_sessions.summarising import go_on, summarise
from pi_sessions.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.index.database import Cache

_FEW = 12_000_000
"""Bytes that one process reads in less time than others need to start."""
_SHARE = 4_000_000
"""Bytes one process is given at a time."""
_MOST = 64
"""Files one process is given at a time."""


class Task(msgspec.Struct, frozen=True):
    """A file that has to be read, and where."""

    file: StoredFile
    begin: int
    """Byte from which on it has to be read."""
    state: bytes
    """What `go_on` gave when it was read as far as there."""
    is_single: bool
    """Whether its single entries are asked for."""


class Taken(msgspec.Struct):
    """What was read of a file."""

    task: Task
    summary: Summary | None
    spent: list[Spent] | None
    state: bytes
    digest: bytes
    modified: int
    """Time of change to keep (`stored.settled`)."""


class _At(msgspec.Struct):
    """How far a state reaches."""

    lines: int
    offset: int


_decode_at = msgspec.msgpack.Decoder(_At).decode


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
            tasks, kept = _tasks(connection, files, str(zone), singly)
            yield from kept
            read = partial(_take_share, zone=zone, clock=cache.clock)
            for share in in_shares(tasks, read, workers):
                for taken in share:
                    _keep(connection, taken, str(zone))
                    yield Read(taken.task.file, taken.summary, taken.spent)
            connection.execute("COMMIT")
    except (sqlite3.Error, msgspec.MsgspecError):
        return


def _tasks(
    connection: sqlite3.Connection,
    files: Sequence[StoredFile],
    zone: str,
    singly: Container[str],
) -> tuple[list[Task], list[Read]]:
    """Find out what has to be read of files; what was kept under another name is given, too."""
    rows = stored.rows(connection)
    gone = {(row.device, row.inode): row for path, row in rows.items() if not _is_there(path)}
    tasks, kept = [], []
    for file in files:
        is_single = file.path in singly
        row = rows.get(file.path)
        moved = gone.get((file.device, file.inode))
        if row is None and moved is not None and moved.is_of(file, zone):
            del gone[file.device, file.inode]
            path = os.fsencode(file.path)
            connection.execute("UPDATE files SET path = ? WHERE id = ?", (path, moved.id))
            if not is_single:
                kept.append(Read(file, moved.summarised(file.path)))
                continue
        tasks.append(_task(connection, file, row, zone, is_single=is_single))
    for row in gone.values():
        _forget(connection, row.id)
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
) -> Task:
    """Find out from where on a file has to be read."""
    if row is not None and row.zone == zone and not is_single and stored.has_grown(row, file):
        kept = connection.execute("SELECT state FROM states WHERE file = ?", (row.id,)).fetchone()
        if kept is not None:
            return Task(file, row.closed, kept[0], is_single=False)
    return Task(file, 0, b"", is_single=is_single)


def _forget(connection: sqlite3.Connection, row: int) -> None:
    for table, column in (("files", "id"), ("states", "file"), ("spent", "file")):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,))  # noqa: S608


def in_shares(
    tasks: Sequence[Task], read: Callable[[list[Task]], list[Taken]], workers: int
) -> Iterator[list[Taken]]:
    """Read files, the larger ones first, on several cores where that is worth it."""
    ordered = sorted(tasks, key=lambda task: task.begin - task.file.size)
    shares: list[list[Task]] = [[]]
    given = 0
    for task in ordered:
        shares[-1].append(task)
        given += task.file.size - task.begin
        if given >= _SHARE or len(shares[-1]) >= _MOST:
            shares.append([])
            given = 0
    if workers < 2 or sum(task.file.size - task.begin for task in tasks) < _FEW:
        yield from map(read, shares)
        return
    from multiprocessing import get_context  # noqa: PLC0415 - start-up

    with get_context().Pool(min(workers, len(shares)), _begin_worker) as pool:
        yield from pool.imap_unordered(read, shares)


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that asks, and clean up now and then."""
    import gc  # noqa: PLC0415 - start-up
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.enable()
    gc.set_threshold(100_000)


def _take_share(tasks: list[Task], zone: tzinfo, clock: Callable[[], int]) -> list[Taken]:
    return [_take(task, zone, clock()) for task in tasks]


def _take(task: Task, zone: tzinfo, now: int) -> Taken:
    """Read a file."""
    path, size = task.file.path, task.file.size
    spent: list[Spent] | None = [] if task.is_single else None
    if spent is None:
        summary, state = go_on(path, zone, task.state)
    else:
        summary, state = summarise(path, zone, spent), b""
    settled = stored.settled(task.file.modified, now)
    return Taken(task, summary, spent, state, stored.digest_of(path, size), settled)


def _keep(connection: sqlite3.Connection, taken: Taken, zone: str) -> None:
    """Put what was read of a file in the place of what was kept of it."""
    file, path = taken.task.file, os.fsencode(taken.task.file.path)
    summary = None if taken.summary is None else stored.packed(taken.summary)
    if taken.summary is not None and summary is None:
        return
    at = _decode_at(taken.state) if taken.state else _At(0, 0)
    identity = (file.size, taken.modified, file.device, file.inode, taken.digest)
    facts = (*identity, zone, summary, at.offset, at.lines)
    kept = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if kept is None:
        places = ", ".join("?" * 10)
        row = connection.execute(
            f"INSERT INTO files ({_FACTS}, path) VALUES ({places})",  # noqa: S608
            (*facts, path),
        ).lastrowid
    else:
        row = kept[0]
        places = ", ".join(f"{name} = ?" for name in _FACTS.split(", "))
        connection.execute(f"UPDATE files SET {places} WHERE id = ?", (*facts, row))  # noqa: S608
    for table, column, value in (
        ("states", "state", taken.state or None),
        ("spent", "entries", None if taken.spent is None else stored.packed(taken.spent)),
    ):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (row,))  # noqa: S608
        if value is not None:
            connection.execute(
                f"INSERT INTO {table} (file, {column}) VALUES (?, ?)",  # noqa: S608
                (row, value),
            )


_FACTS = "size, modified, device, inode, digest, zone, summary, closed, lines"

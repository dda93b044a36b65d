"""The cache of one store: a SQLite file, a lock for the one process that writes, and a seal.

The seal says what the file was like when it was last written. A file that is not like that has
been damaged or was left half written: it is thrown away. So damage never reaches an answer.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAMAGE = (sqlite3.Error, msgspec.MsgspecError, TypeError, ValueError, LookupError)
"""What using a damaged cache can raise; whoever asks one does without it then."""
VERSION = 1
"""Part of the name: another version of this package makes a cache of its own."""
_PATIENCE = 0.2
"""Seconds a reader waits for a writer before it does without the cache."""
_SCHEMA = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB UNIQUE, size INTEGER, modified INTEGER,
    device INTEGER, inode INTEGER, digest BLOB, zone TEXT, summary BLOB, closed INTEGER,
    lines INTEGER, indexed INTEGER DEFAULT 0, is_odd INTEGER DEFAULT 0
);
CREATE TABLE states (file INTEGER PRIMARY KEY, state BLOB);
CREATE TABLE spent (file INTEGER PRIMARY KEY, entries BLOB);
CREATE TABLE parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER, first INTEGER, begin INTEGER, lengths BLOB
);
CREATE INDEX parts_of ON parts (file, first);
CREATE TABLE vocabulary (kind TEXT, words BLOB);
CREATE TABLE waste (bytes INTEGER);
INSERT INTO waste VALUES (0);
CREATE VIRTUAL TABLE held USING fts5(
    words, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE said USING fts5(
    words, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '_'"
);
INSERT INTO held (held, rank) VALUES ('hashsize', 33554432);
INSERT INTO said (said, rank) VALUES ('hashsize', 33554432);
"""


class Cache(msgspec.Struct, frozen=True):
    """Where the cache of a store is, and what tells the time."""

    folder: str
    """Directory of caches; made when something is written."""
    root: str
    """The store."""
    clock: Callable[[], int]
    """Gives nanoseconds since 1970."""

    @property
    def path(self) -> str:
        """Path of the SQLite file."""
        name = blake2b(os.fsencode(os.path.realpath(self.root)), digest_size=12).hexdigest()
        return os.path.join(self.folder, f"{name}-{VERSION}.sqlite")  # noqa: PTH118 - start-up

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection that sees one state of the cache; None where there is none to use.

        Nothing is written and no error leaves: damage found by the block itself ends the block
        with a sqlite3.Error, which `guarded` takes.
        """
        try:
            connection = _connect(self.path, "ro")
        except sqlite3.Error:
            yield None
            return
        try:
            is_sound = self._is_sound(connection)
            yield connection if is_sound else None
        finally:
            connection.close()

    def _is_sound(self, connection: sqlite3.Connection) -> bool:
        """Say whether the file is as it was sealed, and hold it so while the block runs."""
        try:
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM files LIMIT 1").fetchone()
        except sqlite3.Error:
            return False
        return is_sealed(self.path)

    @contextmanager
    def writing(self, patience: float = 0) -> Iterator[sqlite3.Connection | None]:
        """Give the one connection that writes; None where another process has it, or none can.

        What the block leaves uncommitted is taken back; what it committed is sealed.

        Args:
            patience: seconds to wait for another process.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - start-up: few write

        lock = FileLock(f"{self.path}.lock", timeout=patience)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)  # noqa: PTH103 - start-up
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):
            yield None
            return
        connection = self._open()
        try:
            yield connection
        except DAMAGE:
            # Whatever it was: without a seal the file is thrown away by the next one who writes.
            with suppress(OSError):
                os.unlink(_seal_of(self.path))  # noqa: PTH108 - start-up
            raise
        finally:
            if connection is not None:
                connection.close()
                with suppress(OSError):
                    self._seal_again()
            lock.release()

    def _seal_again(self) -> None:
        """Seal the file, unless what was written to it went wrong."""
        if os.path.exists(_seal_of(self.path)):  # noqa: PTH110 - start-up
            with open(_seal_of(self.path), "wb") as file:  # noqa: PTH123 - start-up
                file.write(_likeness(self.path))

    def _open(self) -> sqlite3.Connection | None:
        """Open the file for writing, a new one if there is none or it is not as it was sealed."""
        try:
            if not is_sealed(self.path):
                discard(self.path)
            connection = _connect(self.path, "rwc")
            try:
                connection.execute("PRAGMA busy_timeout = 10000")
                connection.execute("PRAGMA synchronous = NORMAL")
                if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                    connection.executescript(_SCHEMA)
                    with open(_seal_of(self.path), "wb"):  # noqa: PTH123 - start-up
                        pass
            except sqlite3.Error:
                connection.close()
                raise
        except (sqlite3.Error, OSError):
            return None
        return connection


def _connect(path: str, mode: str) -> sqlite3.Connection:
    from urllib.parse import quote  # noqa: PLC0415 - start-up

    connection = sqlite3.connect(
        f"file:{quote(path)}?mode={mode}", uri=True, isolation_level=None, timeout=_PATIENCE
    )
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def discard(path: str) -> None:
    """Throw a cache away; those who read it go on with what they have open.

    Raises:
        OSError: it cannot be.
    """
    for name in (_seal_of(path), path, f"{path}-journal", f"{path}-wal", f"{path}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108 - start-up


def _seal_of(path: str) -> str:
    return f"{path}.seal"


def _likeness(path: str) -> bytes:
    """Say what a file is like from outside.

    Raises:
        OSError: it is not there.
    """
    status = os.stat(path)  # noqa: PTH116 - start-up
    return b"%d %d %d" % (status.st_ino, status.st_size, status.st_mtime_ns)


def is_sealed(path: str) -> bool:
    """Say whether a cache is as it was when it was last written."""
    try:
        with open(_seal_of(path), "rb") as file:  # noqa: PTH123 - start-up
            return file.read(200) == _likeness(path)
    except OSError:
        return False

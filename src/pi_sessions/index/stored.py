"""What the cache keeps of a file, and whether that is still true."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.meter import Spent
from pi_sessions.summary import Summary

if TYPE_CHECKING:
    import sqlite3

    from pi_sessions.store import StoredFile

_EDGE = 4096
"""Bytes of head and tail that tell a file that grew from one that was written anew."""
_TICK = 50_000_000
"""Nanoseconds within which a file can change without another time of change."""
COLUMNS = (
    "id, path, size, modified, device, inode, digest, zone, summary, closed, lines, indexed, is_odd"
)


class Row(msgspec.Struct):
    """A row of the table of files."""

    id: int
    path: bytes
    size: int
    modified: int
    """Nanoseconds since 1970; 0 if the file may have changed after it was read in the same tick."""
    device: int
    inode: int
    digest: bytes
    """Of head and tail, as far as `size`."""
    zone: str
    summary: bytes | None
    """A `Summary`; None for a file that is no session."""
    closed: int
    """Bytes of whole lines of a session in which nothing is odd; 0 for all others."""
    lines: int
    """How many lines these are."""
    indexed: int
    """Bytes whose words are in the index: as many as are closed, or as an odd file has."""
    is_odd: int
    """Whether it may hold words that are not in the index."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a session in which nothing is odd, up to its last whole line."""
        return self.closed > 0

    @property
    def is_foreign(self) -> bool:
        """Whether it is no session."""
        return self.summary is None

    @property
    def is_indexed(self) -> bool:
        """Whether the words are in the index that can be in it."""
        return self.summary is None or self.indexed == (self.closed or self.size)

    @property
    def is_whole(self) -> bool:
        """Whether all words are in the index, those behind the last newline too."""
        return self.is_indexed and self.closed in (0, self.size)

    def is_of(self, file: StoredFile, zone: str) -> bool:
        """Say whether what is kept is true of a file as it is now."""
        return self.is_same(file) and self.zone == zone

    def is_same(self, file: StoredFile) -> bool:
        """Say whether a file, wherever it stands now, was not changed since it was read."""
        return (self.size, self.modified, self.device, self.inode) == (
            file.size,
            file.modified,
            file.device,
            file.inode,
        )

    def summarised(self, path: str) -> Summary | None:
        """Give the summary.

        Raises:
            msgspec.MsgspecError: it is none.
        """
        if self.summary is None:
            return None
        summary = _decode_summary(self.summary)
        summary.path = path
        return summary


def rows(
    connection: sqlite3.Connection, root: str, *, with_summaries: bool = True
) -> dict[str, Row]:
    """Give all rows by path.

    Args:
        connection: of the cache.
        root: the store, as it is named now; its files are kept by what follows that.
        with_summaries: otherwise b"" stands for each.

    Raises:
        sqlite3.Error: they cannot be read.
    """
    columns = COLUMNS
    if not with_summaries:
        columns = columns.replace("summary", "CASE WHEN summary IS NULL THEN NULL ELSE x'' END")
    found = (Row(*row) for row in connection.execute(f"SELECT {columns} FROM files"))  # noqa: S608
    begin = os.path.join(root, "")  # noqa: PTH118 - thousands of them
    return {begin + os.fsdecode(row.path): row for row in found}


def key_of(path: str, root: str) -> bytes:
    """Give what a file in a store is kept by."""
    return os.fsencode(path[len(os.path.join(root, "")) :])  # noqa: PTH118 - thousands of them


_decode_summary = msgspec.msgpack.Decoder(Summary).decode
_decode_spent = msgspec.msgpack.Decoder(list[Spent]).decode


def spent_of(connection: sqlite3.Connection, row: int) -> list[Spent] | None:
    """Give what the single entries of a file report, None where it is not kept.

    Raises:
        sqlite3.Error: it cannot be read.
        msgspec.MsgspecError: it is not what it should be.
    """
    kept = connection.execute("SELECT entries FROM spent WHERE file = ?", (row,)).fetchone()
    return None if kept is None else _decode_spent(kept[0])


def packed(value: object) -> bytes | None:
    """Pack values for the cache, None if they hold what only JSON can."""
    try:
        return msgspec.msgpack.encode(value)
    except (TypeError, ValueError, OverflowError):
        return None


def digest_of(path: str, size: int) -> bytes:
    """Digest head and tail of the first `size` bytes of a file; b"" if it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - thousands of them
            head = file.read(min(size, _EDGE))
            file.seek(max(0, size - _EDGE))
            tail = file.read(min(size, _EDGE))
    except OSError:
        return b""
    return blake2b(head + tail, digest_size=16).digest()


def has_grown(row: Row, file: StoredFile) -> bool:
    """Say whether a file is what it was, with more behind it."""
    return (
        row.closed > 0
        and row.modified > 0
        and (row.device, row.inode) == (file.device, file.inode)
        and row.size < file.size
        and row.digest == digest_of(file.path, row.size)
    )


def settled(modified: int, now: int) -> int:
    """Give a time of change to keep, 0 if the file may still change within the same tick."""
    return modified if modified + _TICK < now else 0

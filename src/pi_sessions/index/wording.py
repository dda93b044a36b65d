"""The words of the cache: written part by part, and asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from pi_sessions.index.reading import Words

_RANK, _FILE = 50, 26
"""Bits of a row of `said`: below 26 the line, below 50 the file, above them the rank."""
_MOST_LINES = 1 << _FILE
_MOST_FILES = 1 << (_RANK - _FILE)
_BLOBS = 16
"""Lists of words that may stand side by side before they are made one."""
MANY = 1500
"""Words that hold a stretch, from which on the stretch tells nothing."""


def row_of(rank: int, file: int, line: int) -> int:
    """Make the id of a row of `said`; in their order, what counts most comes first."""
    return rank << _RANK | file << _FILE | line


def parts_of(row: int) -> tuple[int, int, int]:
    """Give rank, file and line of a row of `said`."""
    return row >> _RANK, row >> _FILE & (_MOST_FILES - 1), row & (_MOST_LINES - 1)


class Pending(msgspec.Struct):
    """What waits to be written."""

    size: int = 0
    """Bytes of the files it came from."""
    said: list[tuple[int, str]] = msgspec.field(default_factory=list)
    vocabulary: dict[str, set[str]] = msgspec.field(
        default_factory=lambda: {"held": set(), "said": set()}
    )
    """Words of what was taken in since the last writing."""
    known: dict[str, set[str]] = msgspec.field(
        default_factory=lambda: {"held": set(), "said": set()}
    )
    """Words that were written before."""

    def add(self, connection: sqlite3.Connection, file: int, words: Words) -> None:
        """Take in the words of a part of a file.

        Raises:
            sqlite3.Error: they cannot be written.
        """
        if file >= _MOST_FILES or words.line + len(words.lengths) // 4 >= _MOST_LINES:
            return
        part = connection.execute(
            "INSERT INTO parts (file, first, begin, lengths) VALUES (?, ?, ?, ?)",
            (file, words.line, words.begin, words.lengths),
        ).lastrowid
        connection.execute("INSERT INTO held (rowid, words) VALUES (?, ?)", (part, words.held))
        self.vocabulary["said"] |= words.spoken
        self.vocabulary["held"].update(words.held.split(" "))
        for said in words.said:
            self.said.append((row_of(said.rank, file, said.line), said.words))
        update = "UPDATE files SET indexed = ?, is_odd = is_odd OR ? WHERE id = ?"
        connection.execute(update, (words.end, words.is_odd, file))
        self.size += words.end - words.begin

    def write(self, connection: sqlite3.Connection) -> None:
        """Write what is said, in order.

        Raises:
            sqlite3.Error: it cannot be written.
        """
        self.said.sort()
        connection.executemany("INSERT INTO said (rowid, words) VALUES (?, ?)", self.said)
        self.said.clear()
        self.size = 0
        for kind, words in self.vocabulary.items():
            if fresh := words - self.known[kind]:
                _put(connection, kind, [word.encode() for word in fresh])
                self.known[kind] |= fresh
            words.clear()


def _put(connection: sqlite3.Connection, kind: str, words: Collection[bytes]) -> None:
    blob = b"\n" + b"\n".join(words) + b"\n"
    connection.execute("INSERT INTO vocabulary VALUES (?, ?)", (kind, blob))


def join_vocabulary(connection: sqlite3.Connection) -> None:
    """Make one list of the words where there are many lists.

    Raises:
        sqlite3.Error: it cannot be written.
    """
    for kind in ("held", "said"):
        blobs = vocabulary(connection, kind)
        if len(blobs) > _BLOBS:
            words = {word for blob in blobs for word in blob.split(b"\n") if word}
            connection.execute("DELETE FROM vocabulary WHERE kind = ?", (kind,))
            _put(connection, kind, words)


def vocabulary(connection: sqlite3.Connection, kind: str) -> list[bytes]:
    """Give the lists of words of `held` or `said`, each word between newlines.

    Raises:
        sqlite3.Error: they cannot be read.
    """
    found = connection.execute("SELECT words FROM vocabulary WHERE kind = ?", (kind,))
    return [blob for (blob,) in found]


def reached(connection: sqlite3.Connection, file: int) -> tuple[int, int]:
    """Say how far the words of a file are kept: the byte, and the line that begins there.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    found = connection.execute(
        "SELECT indexed, (SELECT max(first + length(lengths) / 4) FROM parts WHERE file = files.id)"
        " FROM files WHERE id = ?",
        (file,),
    ).fetchone()
    return (found[0], found[1]) if found and found[1] else (0, 1)


def clear_waste(connection: sqlite3.Connection) -> None:
    """Drop all words if most of them are of files that are no longer there.

    Raises:
        sqlite3.Error: they cannot be dropped.
    """
    waste, used = connection.execute(
        "SELECT bytes, (SELECT coalesce(sum(indexed), 0) FROM files) FROM waste"
    ).fetchone()
    if waste <= used + _SLACK:
        return
    for table in ("held", "said"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608
    for table in ("parts", "vocabulary"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
    connection.execute("UPDATE files SET indexed = 0, is_odd = 0")
    connection.execute("UPDATE waste SET bytes = 0")


_SLACK = 20_000_000
"""Bytes of files that may have gone before words are dropped."""


def holding(blobs: list[bytes], piece: bytes) -> list[str] | None:
    """Give the words that hold a stretch; None if they are too many to tell anything."""
    found: set[bytes] = set()
    for blob in blobs:
        at = blob.find(piece)
        while at >= 0:
            begin, end = blob.rfind(b"\n", 0, at) + 1, blob.find(b"\n", at)
            found.add(blob[begin:end])
            if len(found) > MANY:
                return None
            at = blob.find(piece, end)
    return [word.decode() for word in found]


def matching(blobs: list[bytes], pieces: list[bytes]) -> list[str] | None:
    """Give expressions of which a text fits all if it may hold all stretches.

    Returns:
        None if some stretch stands in no word at all.
    """
    asked = []
    for piece in pieces:
        words = holding(blobs, piece)
        if words is None:
            continue
        if not words:
            return None
        asked.append(" OR ".join(f'"{word}"' for word in words))
    return asked

"""Single lines of files in which nothing is odd, read and searched without the rest."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, scan
from pi_sessions._lines import BytesSource, FileSource
from pi_sessions.errors import UnreadableError

if TYPE_CHECKING:
    import sqlite3

    from pi_sessions.finding import Hit, Search
    from pi_sessions.store import StoredFile


class _Opened(msgspec.Struct, frozen=True):
    source: FileSource
    header: dict[str, Any]
    firsts: list[int]
    """The first line of each part."""
    parts: list[tuple[int, array[int]]]
    """Where each part begins, and the bytes of its lines."""


class Lines:
    """Lines that the index names."""

    def __init__(
        self, connection: sqlite3.Connection, files: dict[int, StoredFile], search: Search
    ) -> None:
        self._connection, self._files, self._search = connection, files, search
        self._opened: dict[int, _Opened] = {}

    def hits(self, file: int, line: int) -> list[Hit]:
        """Search a line.

        Args:
            file: id of its row.
            line: its number.

        Raises:
            UnreadableError: the file cannot be read.
            sqlite3.Error: the index cannot.
        """
        opened = self._opened.get(file)
        if opened is None:
            if len(self._opened) >= _MOST:
                self._opened.clear()
            opened = self._opened[file] = self._open(file)
        number = bisect_right(opened.firsts, line) - 1
        begin, lengths = opened.parts[number]
        index = line - opened.firsts[number]
        data = opened.source.read(begin + sum(lengths[:index]), lengths[index])
        source = BytesSource(data, opened.source.name)
        table = scan.read_part(source, opened.header, [(0, data)])
        return list(self._search.hits(table, 1, line))

    def _open(self, file: int) -> _Opened:
        firsts, parts = [], []
        rows = self._connection.execute(
            "SELECT first, begin, lengths FROM parts WHERE file = ? ORDER BY first", (file,)
        )
        for first, begin, lengths in rows:
            firsts.append(first)
            parts.append((begin, array("I", lengths)))
        stored = self._files[file]
        source = FileSource(stored.path)
        status = os.stat(stored.path)  # noqa: PTH116 - many of them
        if (status.st_ino, status.st_size, status.st_mtime_ns) != (
            stored.inode,
            stored.size,
            stored.modified,
        ):
            raise UnreadableError(stored.path, "has changed meanwhile")
        header = _json.loads(source.read(0, parts[0][1][0]))
        return _Opened(source, header, firsts, parts)


_MOST = 200
"""Files that are open at once."""

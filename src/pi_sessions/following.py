"""Following a session that is being written: what came since the last look, without reading again.

Whole lines at the end are added to the table that is there. Where the file is no longer what was
seen (Pi rewrites old versions, a person repairs), or a line is odd, it is read anew.
"""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import scan
from pi_sessions._lines import BLOCK, FileSource, open_source
from pi_sessions.errors import NotASessionError, UnreadableError
from pi_sessions.session import Session
from pi_sessions.writer import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAIL = 64
"""Last bytes of what was seen that are compared before the rest is believed."""


class Growth(msgspec.Struct, frozen=True):
    """What came in one look."""

    session: Session
    """The session with all that is there now; use none of an earlier look any more."""
    first: int
    """First line that is new."""
    last: int
    """Last line."""
    is_anew: bool = False
    """Whether the file is another one than before, so that every line is new."""


class Follower:
    """Looks again and again at one session file.

    Args:
        path: the file.
        zone: in which times without a zone are read.
        workers: processes that may read a large file; see `load`.

    Raises:
        UnreadableError: it cannot be opened or read.
        NotASessionError: the first JSON value in it is no header.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, zone: tzinfo = UTC, workers: int = 1
    ) -> None:
        self.path = os.fspath(path)
        self._zone = zone
        self._workers = workers
        self.session = self._read()

    @classmethod
    def of(cls, session: Session) -> Follower | None:
        """Go on from a session that was read already, None if its file cannot grow.

        Its last line must be whole.
        """
        follower = cls.__new__(cls)
        return follower if follower._takes(session) else None  # noqa: SLF001 - one of its own

    def _takes(self, session: Session) -> bool:
        source = session.table.source
        if not isinstance(source, FileSource):
            return False
        self.path, self.session = source.name, session
        self._zone, self._workers = session.zone, session.workers
        self._source = source
        self._see(session.table.offsets[-1])
        return True

    def _read(self) -> Session:
        source = open_source(self.path)
        if not isinstance(source, FileSource):
            raise UnreadableError(self.path, "is no file that can grow")
        source.size = _end_of_lines(source) or source.size
        table = scan.read(source, self._workers)
        self._source = source
        self._see(table.offsets[-1])
        return Session(table, zone=self._zone, workers=self._workers)

    def _see(self, end: int) -> None:
        """Take the file up to `end` as seen."""
        self._start = max(0, end - _TAIL)
        self._tail = self._source.read(self._start, end - self._start)
        self._source.size = self._end = end

    def look(self) -> Growth | None:
        """Give what came since the last look; None if nothing did.

        A line that is not yet whole is waited for. So is a file that cannot be read at the moment,
        as when it is being written anew: `session` stays what it was.
        """
        try:
            now = self._source.again()
            if now is None or now.read(self._start, len(self._tail)) != self._tail:
                return self._anew(1)
            new = now.read(self._end, now.size - self._end)
        except (UnreadableError, NotASessionError):
            return None
        whole = new[: new.rfind(b"\n") + 1]
        return self._extended(whole) if whole else None

    def _extended(self, new: bytes) -> Growth | None:
        table = self.session.table
        known = len(table)
        if not self._tail.endswith(b"\n"):
            return self._anew(1)
        if not rows.extend(table, new):
            rows.forget(table, known)
            return self._anew(known + 1)
        self._see(self._end + len(new))
        self.session = Session(table, zone=self._zone, workers=self._workers)
        return Growth(self.session, known + 1, len(table))

    def _anew(self, first: int) -> Growth | None:
        try:
            self.session = self._read()
        except (UnreadableError, NotASessionError):
            return None
        return Growth(self.session, first, len(self.session.table), is_anew=first == 1)


def _end_of_lines(source: FileSource) -> int:
    """Give the place behind the last newline, 0 if there is none."""
    end = source.size
    while end:
        start = max(0, end - BLOCK)
        found = source.read(start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def follow(
    path: str | os.PathLike[str], ticks: Iterable[object], *, zone: tzinfo = UTC, workers: int = 1
) -> Iterator[Growth]:
    """Follow a session file: first all of it, then what comes.

    Args:
        path: the file.
        ticks: anything that yields when it is time to look, such as `watchfiles.watch(folder)`; it
            ends when the ticks do.
        zone: in which times without a zone are read.
        workers: processes that may read a large file; see `load`.

    Raises:
        UnreadableError: it cannot be opened or read at the start.
        NotASessionError: it is no session at the start.
    """
    follower = Follower(path, zone=zone, workers=workers)
    yield Growth(follower.session, 1, len(follower.session.table), is_anew=True)
    for _ in ticks:
        growth = follower.look()
        if growth is not None:
            yield growth

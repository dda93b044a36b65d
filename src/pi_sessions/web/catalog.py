"""The sessions there are to look at: each under a key of its own, never under its path."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import store, summarising
from pi_sessions.summary import Summary
from pi_sessions.web.opened import Opened

if TYPE_CHECKING:
    from pi_sessions.web.site import Site

_PLAIN = re.compile(r"(?!file-)[A-Za-z0-9_-]{1,80}\Z")
_OPEN = 6
"""Sessions that are held open; the one not asked for longest is closed first."""


class Listed(msgspec.Struct, frozen=True):
    """A session of the list."""

    key: str
    found: store.Found
    size: int
    """Bytes of the file."""
    written: float
    """When it was, in seconds since 1970."""
    stamp: tuple[int, int, int]


class _Known(msgspec.Struct, frozen=True):
    """A summary, and what the file was like then."""

    stamp: tuple[int, int, int]
    header: dict[str, Any]
    summary: Summary | None
    state: bytes
    """Where reading goes on once the file has grown."""


class Catalog:
    """Keys of sessions, and the sessions that are open.

    Args:
        site: what is shown.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lock = Lock()
        self._paths: dict[str, Path] = {}
        self._opened: dict[Path, Opened] = {}
        self._headers: dict[Path, tuple[int, int, store.Found | None]] = {}
        self._summaries: dict[Path, _Known] = {}

    def look(self) -> list[tuple[str, store.Found]]:
        """Look at the store anew: key and header of every session; a file is read when it is new.

        The key is the session's id where that is plain and only one file has it.
        """
        with self.lock:
            found = [each for path in self._files() if (each := self._header(path))]
            found.sort(key=lambda each: str(each.path))
            keyed: dict[str, store.Found] = {}
            for each in found:
                key = each.id if _PLAIN.match(each.id) and each.id not in keyed else ""
                keyed[key or f"file-{sha256(bytes(each.path)).hexdigest()[:16]}"] = each
            self._paths = {key: each.path for key, each in keyed.items()}
            return list(keyed.items())

    def listed(self) -> list[Listed]:
        """Look at the store anew: every session with what its file tells from outside."""
        rows = []
        for key, found in self.look():
            try:
                status = found.path.stat()
            except OSError:
                continue
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
            rows.append(Listed(key, found, status.st_size, status.st_mtime, stamp))
        return rows

    def summary(self, listed: Listed) -> Summary | None:
        """Give what a list tells of a session; a file that has grown costs what is new in it."""
        path, stamp = listed.found.path, listed.stamp
        known = self._summaries.get(path)
        if known is None or known.stamp != stamp:
            state = b""
            if known and known.header == listed.found.header:
                # Whoever writes a file anew makes another one, or changes its header.
                has_grown = known.stamp[0] == stamp[0] and known.stamp[1] <= stamp[1]
                state = known.state if has_grown else b""
            summary, state = summarising.go_on(path, self.site.zone, state)
            known = _Known(stamp, listed.found.header, summary, state)
            self._summaries[path] = known
        return known.summary

    def title(self, listed: Listed) -> str:
        """Give what a session is called, as far as that is known without reading it."""
        known = self._summaries.get(listed.found.path)
        if known and known.summary:
            return known.summary.name or known.summary.first_message or listed.found.id
        return listed.found.id

    def names(self) -> dict[str, str]:
        """Give the keys of the sessions by their paths: a fork names its parent so."""
        return {str(path): key for key, path in self._paths.items()}

    def _files(self) -> list[Path]:
        files = list(store.session_files(self.site.root)) if self.site.root else []
        if self.site.session and self.site.session not in files:
            files.insert(0, self.site.session)
        return files

    def _header(self, path: Path) -> store.Found | None:
        try:
            status = path.stat()
        except OSError:
            return None
        known = self._headers.get(path)
        if known is None or known[:2] != (status.st_mtime_ns, status.st_ino):
            header = store.read_header(path)
            found = None if header is None else store.Found(path, header)
            self._headers[path] = known = (status.st_mtime_ns, status.st_ino, found)
        return known[2]

    def key_of(self, path: Path) -> str | None:
        """Give the key of a session file."""
        self.look()
        return next((key for key, each in self._paths.items() if each == path), None)

    def open(self, key: str) -> Opened | None:
        """Open a session, or give the one that is open; None if no session has the key.

        Raises:
            UnreadableError: it cannot be read.
            NotASessionError: it is no session any more.
        """
        path = self._paths.get(key)
        if path is None:
            self.look()
            path = self._paths.get(key)
        if path is None:
            return None
        with self.lock:
            opened = self._opened.pop(path, None) or Opened(key, path, self.site)
            self._opened[path] = opened
            while len(self._opened) > _OPEN:
                self._opened.pop(next(iter(self._opened)))
        opened.refresh()
        return opened

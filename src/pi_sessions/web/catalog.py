"""The sessions there are to look at: each under a key of its own, never under its path."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pi_sessions import store
from pi_sessions.web.opened import Opened

if TYPE_CHECKING:
    from pi_sessions.web.site import Site

_PLAIN = re.compile(r"(?!file-)[A-Za-z0-9_-]{1,80}\Z")
_OPEN = 6
"""Sessions that are held open; the one not asked for longest is closed first."""


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

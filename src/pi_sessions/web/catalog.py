"""The sessions there are to look at: each under a key of its own, never under its path."""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import index, store, summarising
from pi_sessions.summary import Summary
from pi_sessions.web.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.web.site import Site

_PLAIN = re.compile(r"(?!file-)[A-Za-z0-9_-]{1,80}\Z")
_OPEN = 6
"""Sessions that are held open; the one not asked for longest is closed first."""


class Listed(msgspec.Struct, frozen=True):
    """A session of the list."""

    key: str
    found: store.Found
    file: store.StoredFile

    @property
    def name(self) -> str:
        """Name of the file: it tells a session also after its folder was moved."""
        return self.found.path.name

    @property
    def parent(self) -> str:
        """Name of the file of the session it was forked from, "" where it was not."""
        parent = self.found.header.get("parentSession", self.found.header.get("branchedFrom"))
        return parent.replace("\\", "/").rpartition("/")[2] if isinstance(parent, str) else ""


class _Known(msgspec.Struct, frozen=True):
    """A summary, and what the file was like then."""

    file: store.StoredFile
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
        self._headers: dict[str, tuple[tuple[int, int], store.Found | None]] = {}
        self._summaries: dict[Path, _Known] = {}

    def look(self) -> list[Listed]:
        """Look at the store anew: key and header of every session; a file is read when it is new.

        The key is the session's id where that is plain and only one file has it.
        """
        with self.lock:
            seen = [
                (file, found) for file in self._files() if (found := self._header(file)) is not None
            ]
            seen.sort(key=lambda pair: pair[0].path)
            keyed: dict[str, Listed] = {}
            for file, found in seen:
                is_own = _PLAIN.match(found.id) and found.id not in keyed
                key = found.id if is_own else f"file-{sha256(bytes(found.path)).hexdigest()[:16]}"
                keyed[key] = Listed(key, found, file)
            self._paths = {key: each.found.path for key, each in keyed.items()}
            return list(keyed.values())

    def summaries(self, listed: Sequence[Listed]) -> dict[str, Summary]:
        """Give what a list tells of sessions, by their keys; only what has changed is read."""
        stale = [each for each in listed if not self._is_known(each)]
        if stale and self.site.cache is not None:
            by_path = {each.file.path: each for each in stale}
            files = [each.file for each in stale]
            for read in index.summaries([self.site.cache], files, self.site.zone):
                each = by_path[read.file.path]
                self._summaries[each.found.path] = _Known(
                    each.file, each.found.header, read.summary, b""
                )
        found = ((each.key, self.summary(each)) for each in listed)
        return {key: summary for key, summary in found if summary is not None}

    def summary(self, listed: Listed) -> Summary | None:
        """Give what a list tells of a session; a file that has grown costs what is new in it."""
        path, file = listed.found.path, listed.file
        known = self._summaries.get(path)
        if known is None or known.file != file:
            state = b""
            if known and known.header == listed.found.header:
                # Whoever writes a file anew makes another one, or changes its header.
                has_grown = known.file.inode == file.inode and known.file.size <= file.size
                state = known.state if has_grown else b""
            summary, state = summarising.go_on(path, self.site.zone, state)
            known = _Known(file, listed.found.header, summary, state)
            self._summaries[path] = known
        return known.summary

    def _is_known(self, listed: Listed) -> bool:
        known = self._summaries.get(listed.found.path)
        return known is not None and known.file == listed.file

    def title(self, listed: Listed) -> str:
        """Give what a session is called, as far as that is known without reading it."""
        known = self._summaries.get(listed.found.path)
        if known and known.summary:
            return known.summary.name or known.summary.first_message or listed.found.id
        return listed.found.id

    def _files(self) -> list[store.StoredFile]:
        files = store.look(self.site.root).files if self.site.root else []
        known = {file.path for file in files}
        for path in self.site.alone:
            if str(path) not in known:
                with suppress(OSError):
                    status = path.stat()
                    stamp = (status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
                    files.insert(0, store.StoredFile(str(path), *stamp))
        return files

    def _header(self, file: store.StoredFile) -> store.Found | None:
        stamp = (file.modified, file.inode)
        known = self._headers.get(file.path)
        if known is None or known[0] != stamp:
            path = Path(file.path)
            header = store.read_header(path)
            found = None if header is None else store.Found(path, header)
            self._headers[file.path] = known = (stamp, found)
        return known[1]

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

"""Sessions under a directory: which files there are, what their headers say, a summary of each.

Grouping folders are named `--…--` by the reference; the name is never trusted, the `cwd` in a
header decides what belongs to a project. Nothing here reads the environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import truthy
from pi_sessions.errors import SessionNotFoundError
from pi_sessions.summarising import summarise
from pi_sessions.summary import Summary, iso

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "SUFFIX",
    "Found",
    "Summary",
    "find",
    "iso",
    "newest",
    "read_header",
    "session_files",
    "sessions",
    "summarise",
]

SUFFIX = ".jsonl"
_HEADER_LIMIT = 1 << 20
"""A header longer than this is not seen when sessions are looked up, as in the reference."""


class Found(msgspec.Struct, frozen=True):
    """A session file and its header."""

    path: Path
    header: dict[str, Any]

    @property
    def id(self) -> str:
        """Id of the session."""
        return str(self.header["id"])

    @property
    def cwd(self) -> str | None:
        """Working directory of the session, None where the header has none."""
        cwd = self.header.get("cwd")
        return cwd if isinstance(cwd, str) and cwd else None


def session_files(root: Path, suffix: str = SUFFIX) -> Iterator[Path]:
    """Give the session files of a store: those in it and in its `--X--` folders, nothing deeper.

    Args:
        root: the store, or an archive of the same form.
        suffix: how their names end.
    """
    try:
        children = sorted(os.scandir(root), key=lambda child: child.name)
    except OSError:
        return
    for child in children:
        if child.name.endswith(suffix) and _is_file(child):
            yield Path(child.path)
        elif child.name.startswith("--") and child.name.endswith("--"):
            try:
                inner = sorted(os.scandir(child.path), key=lambda entry: entry.name)
            except OSError:
                continue
            yield from (
                Path(entry.path)
                for entry in inner
                if entry.name.endswith(suffix) and _is_file(entry)
            )


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def read_header(path: Path) -> dict[str, Any] | None:
    """Read the header of a session file, None if it is no session or cannot be read."""
    try:
        with path.open("rb") as file:
            scanned = 0
            while scanned < _HEADER_LIMIT:
                line = file.readline(_HEADER_LIMIT - scanned)
                if not line:
                    return None
                scanned += len(line)
                try:
                    value = _json.loads(line.removeprefix(b"\xef\xbb\xbf"))
                except _json.JSONError:
                    continue
                if truthy(value):
                    is_header = isinstance(value, dict) and value.get("type") == "session"
                    return value if is_header and isinstance(value.get("id"), str) else None
    except OSError:
        return None
    return None


def sessions(root: Path, cwd: str | None = None) -> Iterator[Found]:
    """Give the sessions of a store, of one working directory if one is named."""
    wanted = None if cwd is None else os.path.normpath(cwd)
    for path in session_files(root):
        header = read_header(path)
        if header is not None:
            found = Found(path, header)
            if wanted is None or (found.cwd and os.path.normpath(found.cwd) == wanted):
                yield found


def newest(root: Path, cwd: str) -> Path:
    """Give the session of a working directory that was written last.

    Raises:
        SessionNotFoundError: there is none.
    """
    files = [found.path for found in sessions(root, cwd)]
    if not files:
        raise SessionNotFoundError("newest", where=f"{root} for {cwd}")
    return max(files, key=_written)


def _written(path: Path) -> float:
    """Give the time a file was last written, 0 if it has gone meanwhile."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def find(root: Path, query: str) -> Path:
    """Find a session by its id or a unique prefix of it.

    Raises:
        SessionNotFoundError: no id begins so, or several do; then `.candidates` has the files.
    """
    by_prefix = []
    for found in sessions(root):
        if found.id == query:
            return found.path
        if query and found.id.startswith(query):
            by_prefix.append(found.path)
    if len(by_prefix) == 1:
        return by_prefix[0]
    raise SessionNotFoundError(query, [str(path) for path in by_prefix], str(root))

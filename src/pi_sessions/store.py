"""Sessions under directories: which files there are, what their headers say, a summary of each.

Grouping folders are named `--…--` by the reference; the name is never trusted, the `cwd` in a
header decides what belongs to a project. Nothing here reads the environment.
"""

from __future__ import annotations

import os
import stat
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import truthy
from pi_sessions._pool import in_shares
from pi_sessions.errors import SessionNotFoundError
from pi_sessions.summarising import summarise
from pi_sessions.summary import Summary, iso

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.meter import Spent

__all__ = [
    "SUFFIX",
    "Contents",
    "Foreign",
    "Found",
    "Read",
    "StoredFile",
    "Summary",
    "find",
    "iso",
    "look",
    "newest",
    "read_all",
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


class StoredFile(msgspec.Struct, frozen=True):
    """A file of a store, as the system tells of it."""

    path: str
    size: int
    """Bytes."""
    modified: int
    """When it was last written, in nanoseconds since 1970."""
    device: int
    inode: int


class Foreign(msgspec.Struct, frozen=True):
    """What stands in a store and is no session."""

    path: str
    why: str


class Contents(msgspec.Struct, frozen=True):
    """What stores hold: each file once, however many ways lead to it."""

    files: list[StoredFile]
    """Files that are named like sessions, store by store, each in the order of names."""
    foreign: list[Foreign]
    """Files and folders that are not, and what cannot be looked at."""


def look(roots: Path | Iterable[Path], suffix: str = SUFFIX) -> Contents:
    """Look into stores: the files in them and in their `--X--` folders, nothing deeper.

    Links to files and to folders are followed. Of a file that is reached twice the first way that
    is no link counts.

    Args:
        roots: the stores, or archives of the same form.
        suffix: how the names of their files end.
    """
    files: dict[tuple[int, int], tuple[bool, StoredFile]] = {}
    foreign: list[Foreign] = []
    for root in [roots] if isinstance(roots, Path) else roots:
        for child, is_inner in _children(root, foreign):
            if not child.name.endswith(suffix):
                foreign.append(Foreign(child.path, "not named like a session"))
                continue
            try:
                status = child.stat()
            except OSError as error:  # a link to nowhere, or to itself
                foreign.append(Foreign(child.path, _why(error)))
                continue
            if not stat.S_ISREG(status.st_mode):
                foreign.append(Foreign(child.path, "no regular file"))
                continue
            key = (status.st_dev, status.st_ino)
            is_link = is_inner or child.is_symlink()
            if key in files and (is_link or not files[key][0]):
                continue
            file = StoredFile(child.path, status.st_size, status.st_mtime_ns, *key)
            files[key] = (is_link, file)
    return Contents([file for _, file in files.values()], foreign)


def _children(root: Path, foreign: list[Foreign]) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Give the files of a store, and whether they were reached by a link to their folder."""
    try:
        children = sorted(os.scandir(root), key=lambda child: child.name)
    except FileNotFoundError:
        return
    except OSError as error:
        foreign.append(Foreign(os.fspath(root), _why(error)))
        return
    for child in children:
        if not _is_folder(child):
            yield child, False
        elif child.name.startswith("--") and child.name.endswith("--"):
            is_link = child.is_symlink()
            try:
                inner = sorted(os.scandir(child.path), key=lambda entry: entry.name)
            except OSError as error:
                foreign.append(Foreign(child.path, _why(error)))
                continue
            for entry in inner:
                if _is_folder(entry):
                    foreign.append(Foreign(entry.path, "a folder inside a folder of sessions"))
                else:
                    yield entry, is_link
        else:
            foreign.append(Foreign(child.path, "not named like a folder of sessions"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _why(error: OSError) -> str:
    return (error.strerror or "cannot be read").lower()


def session_files(roots: Path | Iterable[Path], suffix: str = SUFFIX) -> Iterator[Path]:
    """Give the session files of stores (`look`)."""
    return (Path(file.path) for file in look(roots, suffix).files)


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


def sessions(roots: Path | Iterable[Path], cwd: str | None = None) -> Iterator[Found]:
    """Give the sessions of stores, of one working directory if one is named."""
    wanted = None if cwd is None else os.path.normpath(cwd)
    for path in session_files(roots):
        header = read_header(path)
        if header is not None:
            found = Found(path, header)
            if wanted is None or (found.cwd and os.path.normpath(found.cwd) == wanted):
                yield found


def newest(roots: Path | Iterable[Path], cwd: str) -> Path:
    """Give the session of a working directory that was written last.

    Raises:
        SessionNotFoundError: there is none.
    """
    roots = [roots] if isinstance(roots, Path) else list(roots)
    files = [found.path for found in sessions(roots, cwd)]
    if not files:
        raise SessionNotFoundError("newest", where=f"{_named(roots)} for {cwd}")
    return max(files, key=_written)


def _named(roots: Sequence[Path]) -> str:
    return ", ".join(map(str, roots))


def _written(path: Path) -> float:
    """Give the time a file was last written, 0 if it has gone meanwhile."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def find(roots: Path | Iterable[Path], query: str) -> Path:
    """Find a session by its id or a unique prefix of it.

    Raises:
        SessionNotFoundError: no id begins so, or several do; then `.candidates` has the files.
    """
    roots = [roots] if isinstance(roots, Path) else list(roots)
    by_prefix = []
    for found in sessions(roots):
        if found.id == query:
            return found.path
        if query and found.id.startswith(query):
            by_prefix.append(found.path)
    if len(by_prefix) == 1:
        return by_prefix[0]
    raise SessionNotFoundError(query, [str(path) for path in by_prefix], _named(roots))


class Read(msgspec.Struct, frozen=True):
    """What was read of a file."""

    file: StoredFile
    summary: Summary | None
    """None for a file that is no session or cannot be read."""
    spent: list[Spent] | None = None
    """What its single entries report, where they were asked for."""


def read_all(
    files: Sequence[StoredFile],
    zone: tzinfo = UTC,
    *,
    workers: int = 1,
    singly: Container[str] = (),
) -> Iterator[Read]:
    """Summarise files, what changed last first, on several cores where that is worth it.

    Args:
        files: what `look` found.
        zone: in which times without one are read, and days told.
        workers: processes that may share the work.
        singly: paths of the files whose single entries are asked for, too.

    Yields:
        What each file tells, as it is read, in no particular order.
    """
    tasks = [(file, file.path in singly) for file in sorted(files, key=lambda file: -file.modified)]
    read = partial(_read_share, zone=zone)
    for share in in_shares(tasks, lambda task: task[0].size, read, workers):
        yield from share


def _read_share(tasks: list[tuple[StoredFile, bool]], zone: tzinfo) -> list[Read]:
    reads = []
    for file, is_single in tasks:
        spent: list[Spent] | None = [] if is_single else None
        reads.append(Read(file, summarise(file.path, zone, spent), spent))
    return reads

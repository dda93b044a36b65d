"""Sessions get another working directory or another folder; those forked from them are told.

Only the header changes, and of it only the values that must; every other byte stays.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, rewriting, store
from pi_sessions._javascript import truthy
from pi_sessions._lines import FileSource
from pi_sessions.errors import (
    NotASessionError,
    SessionNotFoundError,
    VersionNotWritableError,
    WouldOverwriteError,
    WriteRefusedError,
)
from pi_sessions.migrations import CURRENT, version_number
from pi_sessions.repair.keys import replaced
from pi_sessions.tidy.children import PARENT_KEYS, children, names
from pi_sessions.writer.forks import folder_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_sessions.store import Found

_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


class Relink(msgspec.Struct, frozen=True):
    """A session whose header names a file that moves."""

    path: Path
    keys: dict[str, str]


class Move(msgspec.Struct, frozen=True):
    """What becomes of one session."""

    path: Path
    target: Path
    session_id: str
    cwd: str | None
    """The working directory from then on."""
    keys: dict[str, str]
    """Values of the header that change."""
    children: tuple[Relink, ...]

    @property
    def is_empty(self) -> bool:
        """Whether all is as it is to be."""
        return self.path == self.target and not self.keys


def plan(
    found: Found, stores: Sequence[Path], cwd: str | None, folder: Path | None, *, force: bool = False
) -> Move:
    """Decide how one session moves.

    Args:
        found: the session.
        stores: where sessions forked from it are looked for.
        cwd: its new working directory, absolute; None leaves it.
        folder: where its file goes; None leaves it where it is, unless it lies in the folder that Pi
            has for its project: then it goes into that of the new one, beside it.
        force: also a session of a newer format version.

    Raises:
        VersionNotWritableError: the version is newer, and `force` is not set.
        WriteRefusedError: it is a link to a session.
    """
    path = found.path.absolute()
    version = found.header.get("version")
    if version_number(version) > CURRENT and not force:
        raise VersionNotWritableError(str(path), version, newer=True)
    if path.is_symlink():
        raise WriteRefusedError(str(path), "is a link; name the file itself to move it")
    if folder is None:
        folder = path.parent
        is_own = found.cwd is not None and folder.name == folder_name(found.cwd)
        if cwd is not None and is_own:
            folder = folder.parent / folder_name(cwd)
    target = folder / path.name
    keys = {} if cwd is None or cwd == found.cwd else {"cwd": cwd}
    told: list[Relink] = []
    if target != path:
        real = os.path.realpath(path)
        for child in children(path, stores):
            of_it = [key for key in PARENT_KEYS if names(child, key, real)]
            told.append(Relink(child.path, dict.fromkeys(of_it, str(target))))
    return Move(path, target, found.id, cwd or found.cwd, keys, tuple(told))


def of_project(stores: Iterable[Path], old: str) -> list[tuple[Found, str]]:
    """Find the sessions of a directory and of those below it.

    Returns:
        Each with the path from the directory to its own, "" for the directory itself.

    Raises:
        SessionNotFoundError: there is none.
    """
    wanted = os.path.normpath(old)
    sessions: dict[str, tuple[Found, str]] = {}
    for root in stores:
        for found in store.sessions(root):
            below = _below(found.cwd, wanted)
            if below is not None:
                sessions.setdefault(os.path.realpath(found.path), (found, below))
    if not sessions:
        raise SessionNotFoundError(old, where=", ".join(map(str, stores)))
    return list(sessions.values())


def _below(cwd: str | None, wanted: str) -> str | None:
    if cwd is None:
        return None
    cwd = os.path.normpath(cwd)
    if cwd == wanted:
        return ""
    start = wanted.rstrip(os.sep) + os.sep
    return cwd.removeprefix(start) if cwd.startswith(start) else None


def apply(moves: Sequence[Move]) -> None:
    """Move sessions, one after another; children are told as soon as there is a file to name.

    Raises:
        WouldOverwriteError: something else is at a target.
        SessionChangedError: a session is no longer what it was.
        SessionLockedError: another writer of ours has one.
        UnreadableError: one is gone, or may not be read.
        NotWrittenError: the system did not let us write.
    """
    for move in moves:
        if move.path != move.target and move.target.exists() and not _is_same(move):
            raise WouldOverwriteError(str(move.target), "exists and is not overwritten")
    targets = {move.path: move.target for move in moves}
    # A child that moves as well may have moved before its parent does.
    done: set[Path] = set()
    for move in moves:
        if move.path == move.target:
            if move.keys:
                _replace_header(move.path, move.keys)
        else:
            _move(move, targets, done)
        done.add(move.path)


def _is_same(move: Move) -> bool:
    """Say whether what is at a target may be of a run that was killed; `rewriting` looks closer."""
    header = store.read_header(move.target)
    return header is not None and header["id"] == move.session_id


def _move(move: Move, targets: dict[Path, Path], done: set[Path]) -> None:
    def tell_children() -> None:
        for child in move.children:
            path = child.path.absolute()
            _replace_header(targets[path] if path in done else path, child.keys)

    path = str(move.path)
    before = rewriting.snapshot(path)
    chunks = _Rewritten(path, move.keys)
    rewriting.move(path, str(move.target), chunks.read, before, tell_children)
    _leave(move.path.parent)


def _leave(folder: Path) -> None:
    """Take away the folder of a project in which no session is left."""
    if folder.name.startswith("--") and folder.name.endswith("--"):
        try:
            folder.rmdir()
        except OSError:
            return


def _replace_header(path: Path, keys: dict[str, str]) -> None:
    before = rewriting.snapshot(str(path))
    rewriting.replace(str(path), _Rewritten(str(path), keys).read(), before, backup=False)


class _Rewritten:
    """A session file in whose header some values are others."""

    def __init__(self, path: str, keys: dict[str, str]) -> None:
        self._source = FileSource(path)
        offset = 0
        for line in self._source.lines():
            body = line.removesuffix(b"\n")
            value = _value(body.removeprefix(_BOM))
            if truthy(value):
                if not isinstance(value, dict) or value.get("type") != "session":
                    break
                self._start, self._end = offset, offset + len(body)
                self._header = replaced(body, keys) if keys else body
                return
            offset += len(line)
        raise NotASessionError(path, 1, 0, "it has no header")

    def read(self) -> Iterator[bytes]:
        """Give the bytes, piece by piece."""
        yield self._source.read(0, self._start) + self._header
        size = self._source.size
        for place in range(self._end, size, _BLOCK):
            yield self._source.read(place, min(_BLOCK, size - place))


def _value(data: bytes) -> Any:
    try:
        return _json.loads(data)
    except _json.JSONError:
        return None

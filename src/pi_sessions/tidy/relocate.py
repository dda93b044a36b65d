"""Sessions get another working directory or another store; those forked from them are told.

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
    VersionNotWritableError,
    WriteRefusedError,
)
from pi_sessions.migrations import CURRENT, version_number
from pi_sessions.repair.keys import replaced
from pi_sessions.rewriting import Snapshot
from pi_sessions.tidy.kin import Kin
from pi_sessions.tidy.still import is_grouping, leave
from pi_sessions.writer.ids import folder_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_PARENT_KEYS = ("parentSession", "branchedFrom")
"""Where a header names the parent; the second in files of version 1."""


class Move(msgspec.Struct, frozen=True):
    """What becomes of one session."""

    path: str
    new_path: str
    cwd: str | None
    """The working directory from then on."""
    children: tuple[str, ...]
    """Files of the sessions that were forked from it, if it gets another name."""
    before: Snapshot
    """The file as it was when this was decided."""


def plan(
    path: str,
    root: Path,
    *,
    cwd: str | None = None,
    to: Path | None = None,
    kin: Kin | None = None,
) -> Move:
    """Decide how a session moves.

    A file in the folder that Pi has for a project goes into that of the new one; any other one
    keeps its folder.

    Args:
        path: the session.
        root: the store in which sessions forked from it are looked for.
        cwd: its new working directory, absolute; None leaves it.
        to: the store it goes to; None leaves it in its own.
        kin: the sessions of the store, where somebody knows them already.

    Raises:
        UnreadableError: there is no such file.
        NotASessionError: it has no header.
        VersionNotWritableError: it is of a newer version than is known here.
        WriteRefusedError: it is a link to a session.
    """
    file = Path(path).absolute()
    before = rewriting.snapshot(str(file))
    header = store.read_header(file)
    if file.suffix == ".zst":
        raise WriteRefusedError(path, "is packed; give it back first")
    if header is None:
        raise NotASessionError(path, 1, 0, "it has no header")
    if version_number(header.get("version")) > CURRENT:
        raise VersionNotWritableError(path, header.get("version"), newer=True)
    if file.is_symlink():
        raise WriteRefusedError(path, "is a link; name the file itself to move it")
    old = header.get("cwd")
    new = cwd or (old if isinstance(old, str) else None)
    folder = file.parent
    if is_grouping(folder.name):
        name = folder.name if cwd is None else folder_name(cwd)
        folder = (to or folder.parent) / name
    else:
        folder = to or folder
    target = folder / file.name
    try:
        os.fsencode(target)
    except ValueError:
        raise WriteRefusedError(path, "cannot go to a folder that no system can name") from None
    told = [] if target == file else (kin or Kin(store.sessions(root))).children(str(file))
    return Move(str(file), str(target), new, tuple(str(found.path) for found in told), before)


def of_project(sessions: Iterable[store.Found], directory: str) -> list[str]:
    """Give the files of the sessions of a working directory."""
    wanted = os.path.normpath(directory)
    return [
        str(found.path)
        for found in sessions
        if found.cwd is not None and os.path.normpath(found.cwd) == wanted
    ]


def do(move: Move) -> None:
    """Move a session.

    The new file is whole, and the children know it, before the old one goes. Of a process that is
    killed both may be left; moving once more goes on from there.

    Raises:
        WouldOverwriteError: something else is at its new place.
        SessionChangedError: it is no longer what it was.
        SessionLockedError: another writer of ours has it.
        UnreadableError: it is gone, or may not be read.
        NotWrittenError: the system did not let us write; all is as it was.
    """
    rewritten = _Rewritten(move.path)
    keys = {} if move.cwd is None or move.cwd == rewritten.header.get("cwd") else {"cwd": move.cwd}
    if move.path == move.new_path:
        if keys:
            rewriting.replace(move.path, rewritten.read(keys), move.before, backup=False)
        return
    rewriting.move(
        move.path,
        move.new_path,
        lambda: rewritten.read(keys),
        move.before,
        lambda: _tell(move.children, move.path, move.new_path),
    )
    leave(Path(move.path).parent)


def _tell(files: Iterable[str], old: str, new: str) -> None:
    """Let the headers of sessions name another parent; all of them, or none."""
    told = []
    try:
        for path in files:
            before = rewriting.snapshot(path)
            child = _Rewritten(path)
            keys = dict.fromkeys((key for key in _PARENT_KEYS if key in child.header), new)
            rewriting.replace(path, child.read(keys), before, backup=False)
            told.append(path)
    except BaseException:
        _tell(told, new, old)
        raise


class _Rewritten:
    """A session file in whose header some values are to be others."""

    def __init__(self, path: str) -> None:
        self._source = FileSource(path)
        self.header: dict[str, Any] = {}
        offset = 0
        for line in self._source.lines():
            self._start, self._end = offset, offset + len(line.removesuffix(b"\n"))
            offset += len(line)
            value = _value(line.removeprefix(_BOM))
            if truthy(value):
                if isinstance(value, dict) and value.get("type") == "session":
                    self.header = value
                break
        if not self.header:
            raise NotASessionError(path, 1, 0, "it has no header")

    def read(self, keys: Mapping[str, Any]) -> Iterator[bytes]:
        """Give the bytes, piece by piece, with other values for some keys of the header."""
        source = self._source
        header = source.read(self._start, self._end - self._start)
        yield source.read(0, self._start) + (replaced(header, keys) if keys else header)
        for place in range(self._end, source.size, _BLOCK):
            yield source.read(place, min(_BLOCK, source.size - place))


def _value(data: bytes) -> Any:
    try:
        return _json.loads(data)
    except _json.JSONError:
        return None

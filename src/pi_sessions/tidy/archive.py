"""Sessions put away in an archive: packed, whole, and given back byte for byte.

An archive is a folder beside the store with the same folders in it and a file `NAME.jsonl.zst` for
each session; Pi does not look there. The head of each file tells where the session was, its mode
and time, and the digest of its bytes. A session goes only when what was packed has been read back
and is the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import msgspec

from pi_sessions import _frames, rewriting, store
from pi_sessions.errors import (
    NotWrittenError,
    SessionChangedError,
    SessionError,
    UnreadableError,
    WouldOverwriteError,
    WriteRefusedError,
)
from pi_sessions.reader import load
from pi_sessions.tidy.appearing import appear, digest, pieces, same
from pi_sessions.tidy.still import is_grouping, leave
from pi_sessions.writer.creating import create, take_away

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from pi_sessions._lines import Source
    from pi_sessions.rewriting import Snapshot
    from pi_sessions.session import Session

PACKED = _frames.SUFFIX
"""What is added to the name of a session."""
SUFFIX = store.SUFFIX + PACKED
_BLOCK = 1 << 20
_FORM = 1
"""Of the head; a greater one would be of a later release of ours."""
_MOST = 1 << 62
_MODES = 0o777
"""What of a mode is given back: nothing that lets a program run as somebody else."""


class Archived(msgspec.Struct, frozen=True):
    """A session in an archive."""

    path: Path
    """The packed file."""
    place: str
    """Where it was in its store: `NAME.jsonl`, perhaps in a folder `--X--`."""
    was_at: str | None
    """Its whole path then; None where nobody noted it."""
    id: str
    cwd: str | None
    name: str | None
    size: int
    """Bytes of the session."""
    packed: int
    """Bytes of the packed file."""
    modified: int
    """When the session was last written to, in nanoseconds since 1970."""
    mode: int
    digest: str | None
    """SHA-256 of its bytes; None where nobody noted it."""

    def source(self) -> Source:
        """Open its bytes.

        Raises:
            UnreadableError: the file is gone or damaged.
        """
        return _frames.open_packed(self.path)

    def session(self, zone: tzinfo) -> Session:
        """Open it as a session.

        Raises:
            UnreadableError: the file is gone or damaged.
            NotASessionError: it holds no session.
        """
        return load(self.path, zone=zone)


def folder_of(root: Path) -> Path:
    """Name the archive of a store: a folder beside it."""
    whole = root.absolute()
    return whole.parent / f"{whole.name}-archive"


def archived(folder: Path) -> Iterator[Archived]:
    """Give what is in an archive, in the order of names; what cannot be read is left out."""
    for path in store.session_files(folder, SUFFIX):
        with contextlib.suppress(SessionError):
            yield look(path)


def look(path: Path) -> Archived:
    """Look at a packed file; one that another program has packed is read whole.

    Raises:
        UnreadableError: it cannot be read.
        NotASessionError: it holds no session.
    """
    found = rewriting.snapshot(str(path))
    head = _frames.head_of(path)
    if head is None or head.get("form") != _FORM:
        return _of_others(path, found)
    try:
        told = msgspec.convert(head, _Head)
    except msgspec.ValidationError:
        raise UnreadableError(str(path), "its head is none of an archive") from None
    return Archived(
        path=path,
        place=told.place,
        was_at=told.path,
        id=told.id,
        cwd=told.cwd,
        name=told.name,
        size=told.size,
        packed=found.size,
        modified=told.modified,
        mode=told.mode & _MODES,
        digest=told.sha256,
    )


def _of_others(path: Path, found: Snapshot) -> Archived:
    """Look at a session that another program has packed."""
    session = load(path)
    folder = path.parent.name
    name = path.name.removesuffix(_frames.SUFFIX)
    return Archived(
        path=path,
        place=f"{folder}/{name}" if is_grouping(folder) else name,
        was_at=None,
        id=session.id,
        cwd=session.cwd,
        name=session.name,
        size=session.table.source.size,
        packed=found.size,
        modified=found.modified,
        mode=path.stat().st_mode & _MODES,
        digest=None,
    )


class _Head(msgspec.Struct, frozen=True):
    """What stands in front of a packed session."""

    form: int
    path: str
    place: str
    id: str
    cwd: str | None
    name: str | None
    size: Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
    modified: Annotated[int, msgspec.Meta(ge=-_MOST, le=_MOST)]
    mode: int
    sha256: str


def put_away(path: str, before: Snapshot, root: Path, folder: Path) -> Archived:
    """Put a session into an archive, and take it out of the store.

    Whatever stops it, the session is there or the whole packed file is, perhaps both; doing it once
    more goes on from there.

    Args:
        path: the session.
        before: the file as it was when it was decided that it goes.
        root: the store, to note its place in it.
        folder: the archive.

    Raises:
        WriteRefusedError: it is a link, or packed already.
        NotASessionError: it is no session.
        SessionChangedError: it was written to since.
        SessionLockedError: another writer of ours has it.
        UnreadableError: it is gone, or may not be read.
        NotWrittenError: the system did not let us write; the session is as it was.
    """
    check(path)
    with rewriting.locked(path, patience=0) as descriptor:
        rewriting.ensure_same(path, before)
        made = _pack(descriptor, _head(path, descriptor, before, root), folder)
        try:
            rewriting.ensure_same(path, before)
            os.unlink(path)  # noqa: PTH108
        except (OSError, SessionError) as error:
            # Nothing else may take the packed file away: whoever interrupts us just behind the
            # removal must find it, and so must who has lost the session by other hands.
            if made.is_new and os.path.lexists(path):
                take_away(str(made.path))
            if isinstance(error, SessionError):
                raise
            why = error.strerror or str(error)
            raise NotWrittenError(path, f"cannot be taken away: {why.lower()}") from None
        after = None
        with contextlib.suppress(OSError):
            after = os.fstat(descriptor)
        if after is not None and after.st_size != before.size:
            _put_back(path, descriptor, after, str(made.path))
    rewriting.sync_folder(path)
    leave(Path(path).parent)
    return look(made.path)


def check(path: str) -> None:
    """Refuse what is no session file of its own.

    Raises:
        UnreadableError: it is not there.
        WriteRefusedError: it is a link, packed already, or no file.
    """
    if path.endswith(_frames.SUFFIX):
        raise WriteRefusedError(path, "is packed already")
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError) as error:
        raise UnreadableError(path, getattr(error, "strerror", None) or str(error)) from None
    if stat.S_ISLNK(mode):
        raise WriteRefusedError(path, "is a link; name the file itself to archive it")
    if not stat.S_ISREG(mode):
        raise WriteRefusedError(path, "is no file")


class _Packed(msgspec.Struct, frozen=True):
    path: Path
    is_new: bool
    """Not of an earlier run that was stopped."""


def _head(path: str, descriptor: int, before: Snapshot, root: Path) -> _Head:
    session = load(path)
    found = hashlib.sha256()
    try:
        for block in _blocks(descriptor, before.size):
            found.update(block)
        mode = os.fstat(descriptor).st_mode & _MODES
    except OSError as error:
        raise UnreadableError(path, error.strerror or str(error)) from None
    file = Path(path).absolute()
    return _Head(
        form=_FORM,
        path=str(file),
        place=place_in(root, file),
        id=session.id,
        cwd=session.cwd,
        name=session.name,
        size=before.size,
        modified=before.modified,
        mode=mode,
        sha256=found.hexdigest(),
    )


def place_in(root: Path, file: Path) -> str:
    """Name the place of a session in a store; of one elsewhere, its folder if it is a project's."""
    folder = file.parent.name
    return f"{folder}/{file.name}" if is_grouping(folder) and file.parent != root else file.name


def _blocks(descriptor: int, size: int) -> Iterator[bytes]:
    place = 0
    while place < size:
        block = os.pread(descriptor, min(_BLOCK, size - place), place)
        if not block:
            return
        place += len(block)
        yield block


def _pack(descriptor: int, head: _Head, folder: Path) -> _Packed:
    """Make the packed file and read it back; under another name where there is another session."""
    stem = head.place.removesuffix(store.SUFFIX)
    number = 1
    while True:
        path = folder / (stem + (f".{number}" if number > 1 else "") + SUFFIX)
        if not os.path.lexists(path):
            break
        if _holds(path, head):
            take_away(f"{path}{rewriting.NEW}")
            return _Packed(path, is_new=False)
        number += 1
    chunks = _frames.packed(_blocks(descriptor, head.size), msgspec.to_builtins(head))
    appear(str(path), chunks, head.mode, head.modified, lambda new: _holds(Path(new), head))
    return _Packed(path, is_new=True)


def _holds(path: Path, head: _Head) -> bool:
    """Say whether a packed file has just these bytes, mode and time; all of it is unpacked."""
    try:
        return _frames.head_of(path) == msgspec.to_builtins(head) and (
            digest(_frames.open_packed(path)) == head.sha256
        )
    except UnreadableError:
        return False


def _put_back(path: str, descriptor: int, now: os.stat_result, packed: str) -> None:
    """Give a session its name again, to which Pi has appended in the last moment."""
    kept, number = path, 0
    while True:
        try:
            chunks = _blocks(descriptor, now.st_size)
            create(kept, chunks, durable=True, mode=now.st_mode & _MODES)
            break
        except WouldOverwriteError:
            number += 1
            kept = f"{path}{rewriting.BACKUP}{number}"
        except NotWrittenError as error:
            why = f"{error.why}; all but what was appended at the last moment is in {packed}"
            raise NotWrittenError(path, why) from None
    if kept != path:
        why = f"it was written to at the last moment; all it was before is in {kept}"
        raise NotWrittenError(path, why)
    take_away(packed)
    raise SessionChangedError(path, "it was written to meanwhile")


def destination(item: Archived, root: Path, to: Path | None = None) -> Path:
    """Say where a session is given back.

    Args:
        item: the session.
        root: the store; it goes back to its place there.
        to: another folder, for it alone.

    Raises:
        WriteRefusedError: the packed file names a place that no session of a store has.
    """
    parts = PurePosixPath(item.place).parts
    is_name = bool(parts) and parts[-1].endswith(store.SUFFIX) and "\0" not in item.place
    is_folder = len(parts) == 1 or (len(parts) == 2 and is_grouping(parts[0]))
    if not (is_name and is_folder):
        raise WriteRefusedError(str(item.path), f"names a place outside any store: {item.place!r}")
    if to is not None:
        return to / parts[-1]
    return root.joinpath(*parts)


def restore(item: Archived, path: Path, *, keep: bool = False) -> None:
    """Give a session back, with its mode and time, and take it out of the archive.

    Args:
        item: the session.
        path: where it goes; see `destination`.
        keep: whether it stays in the archive as well.

    Raises:
        WouldOverwriteError: something else is there.
        UnreadableError: the packed file is gone, or damaged.
        NotASessionError: it holds no session.
        NotWrittenError: the system did not let us write.
    """
    before = rewriting.snapshot(str(item.path))
    source = item.source()
    if item.digest is not None and digest(source) != item.digest:
        raise UnreadableError(str(item.path), "is damaged: its bytes are not those put into it")
    load(item.path)  # refuses what is none
    if os.path.lexists(path) and same(source, str(path)):
        take_away(f"{path}{rewriting.NEW}")
    else:
        appear(str(path), pieces(source), item.mode, item.modified, lambda new: same(source, new))
    if not keep:
        rewriting.ensure_same(str(item.path), before)
        with contextlib.suppress(OSError):
            item.path.unlink()
        rewriting.sync_folder(str(item.path))
        leave(item.path.parent)

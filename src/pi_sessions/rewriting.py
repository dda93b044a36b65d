"""A whole file is replaced by another one, or not at all; nothing anybody appended is lost.

The new file is written beside the old one, read back, and takes its name in one step. The old one
stays as a backup. Links are followed and stay; mode and owner are kept, and so is the time of the
last change, by which Pi tells the newest session.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.errors import NotWrittenError, SessionChangedError, UnreadableError
from pi_sessions.writer.creating import create, take_away
from pi_sessions.writer.locking import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_BLOCK = 1 << 20
NEW = ".pi-sessions-new"
"""What is added to the name of a file for the one that will replace it; only a process that was
killed leaves one, and the next rewriting takes it away."""
BACKUP = ".bak"
"""What is added to the name of the old file; a number follows where that is taken."""
_LATER = 1000
"""Nanoseconds by which the time of a new file differs, so that who compares times sees it."""


class Snapshot(msgspec.Struct, frozen=True):
    """Which file a path named, and how far it reached."""

    device: int
    inode: int
    size: int
    modified: int
    """Time of the last change, in nanoseconds."""


class Replaced(msgspec.Struct, frozen=True):
    """A file that was replaced."""

    path: str
    """The file itself, links resolved."""
    backup: str | None
    """Where the old one is now; None if none was wanted."""


def snapshot(path: str) -> Snapshot:
    """Look at a file, to be able to tell later whether it is still the same.

    Raises:
        UnreadableError: it is not there.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - as all else here
    except (OSError, ValueError) as error:
        raise UnreadableError(path, getattr(error, "strerror", None) or str(error)) from None
    return Snapshot(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def ensure_same(path: str, before: Snapshot) -> None:
    """Refuse a file that is no longer what it was.

    Raises:
        SessionChangedError: somebody has written to it, or put another one in its place.
        UnreadableError: it is gone.
    """
    if snapshot(path) != before:
        raise SessionChangedError(path, "it was written to meanwhile")


def write_new(path: str, chunks: Iterable[bytes], mode: int | None = None) -> None:
    """Write a new file, read it back, and wait until the disk has it.

    Args:
        path: its name.
        chunks: its bytes.
        mode: who may do what with it; by default what the process gives.

    Raises:
        WouldOverwriteError: there is something of that name.
        NotWrittenError: it cannot be written, or is not what was written; nothing is left of it.
    """
    digest = hashlib.sha256()
    create(path, _noted(chunks, digest), durable=True, mode=mode)
    try:
        _verify(path, digest.digest())
    except OSError as error:
        take_away(path)
        raise _told(path, error) from None


def replace(
    path: str, chunks: Iterable[bytes], before: Snapshot, *, backup: bool = True
) -> Replaced:
    """Put a new file in the place of an old one.

    Args:
        path: the old file, or a link to it.
        chunks: the bytes of the new one; they may be read from the old one meanwhile.
        before: the old one as it was when `chunks` was decided.
        backup: whether the old one stays, under another name.

    Raises:
        SessionChangedError: the old one is no longer what it was.
        SessionLockedError: another writer of ours has it.
        UnreadableError: it is gone, or may not be read.
        NotWrittenError: the system did not let us write; all is as it was.
    """
    real = os.path.realpath(path)
    new = real + NEW
    with locked(real) as descriptor:
        ensure_same(real, before)
        take_away(new)  # of a run that was killed
        write_new(new, chunks)
        kept = None
        try:
            _take_after(new, os.fstat(descriptor))
            kept = _keep(real)
            ensure_same(real, before)
            os.replace(new, real)  # noqa: PTH105
        except BaseException as error:
            # Whoever interrupts us just behind the replacement must find the backup.
            if kept is not None and os.path.lexists(new):
                take_away(kept)
            take_away(new)
            if isinstance(error, OSError):
                raise _told(real, error) from None
            raise
        _carry_over(descriptor, before.size, real, kept)
        if not backup:
            take_away(kept)
        sync_folder(real)
    return Replaced(real, kept if backup else None)


def move(
    path: str,
    target: str,
    chunks: Callable[[], Iterable[bytes]],
    before: Snapshot,
    between: Callable[[], None] = lambda: None,
) -> None:
    """Write a file anew under another name, and take the old one away.

    A process that is killed may leave both; moving once more goes on from there.

    Args:
        path: the old file, no link.
        target: the new one, which must not be there unless it is what would be written.
        chunks: gives the bytes of the new one.
        before: the old one as it was when `chunks` was decided.
        between: called when both are there.

    Raises:
        WouldOverwriteError: something else is at the target.
        SessionChangedError: the old one is no longer what it was.
        SessionLockedError: another writer of ours has it.
        UnreadableError: it is gone, or may not be read.
        NotWrittenError: the system did not let us write; all is as it was.
    """
    with locked(path) as descriptor:
        ensure_same(path, before)
        is_there = _holds(target, chunks())
        if not is_there:
            write_new(target, chunks())
        try:
            _take_after(target, os.fstat(descriptor))
            between()
            ensure_same(path, before)
            os.unlink(path)  # noqa: PTH108
        except BaseException as error:
            # Whoever interrupts us just behind the removal must find the new file.
            if not is_there and os.path.lexists(path):
                take_away(target)
            if isinstance(error, OSError):
                raise _told(path, error) from None
            raise
        _carry_over(descriptor, before.size, target, path)
    sync_folder(target)
    sync_folder(path)


def _holds(path: str, chunks: Iterable[bytes]) -> bool:
    """Say whether a file is there and has just these bytes."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return all(file.read(len(chunk)) == chunk for chunk in chunks) and not file.read(1)
    except OSError:
        return False


@contextlib.contextmanager
def locked(path: str, patience: float | None = None) -> Iterator[int]:
    """Keep writers of ours out of a file for a `with` block; gives a descriptor to read it.

    Raises:
        UnreadableError: it cannot be opened.
        SessionLockedError: another writer of ours has it, for longer than `patience` seconds.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableError(path, error.strerror or str(error)) from None
    try:
        if patience is None:
            lock(descriptor, path)
        else:
            lock(descriptor, path, patience)
        yield descriptor
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _told(path: str, error: OSError) -> OSError:
    known = isinstance(error, NotWrittenError | UnreadableError)
    return error if known else NotWrittenError(path, error.strerror or str(error))


def _noted(chunks: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """Hand on chunks of a size that is worth a write, and add them to a digest."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size >= _BLOCK:
            yield _joined(waiting, digest)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting, digest)


def _joined(waiting: list[bytes], digest: hashlib._Hash) -> bytes:
    block = b"".join(waiting)
    digest.update(block)
    return block


def _verify(path: str, expected: bytes) -> None:
    """Read a file back."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.digest() != expected:
        raise NotWrittenError(path, "what was read back is not what was written")


def _take_after(path: str, old: os.stat_result) -> None:
    """Give a file the mode and time and, where that is allowed, the owner of another."""
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.chown(path, old.st_uid, old.st_gid)
    os.chmod(path, old.st_mode & 0o7777)  # noqa: PTH101
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns + _LATER))


def _keep(path: str) -> str:
    """Give a file a second name under which it stays."""
    number = 1
    while True:
        name = path + BACKUP + (str(number) if number > 1 else "")
        try:
            os.link(path, name)
        except FileExistsError:
            if os.path.samefile(path, name):  # noqa: PTH121 - of a run that was killed
                return name
            number += 1
        except OSError:
            # A file system without links gets a copy.
            with open(path, "rb") as file:  # noqa: PTH123
                create(name, iter(lambda: file.read(_BLOCK), b""), durable=True)
            return name
        else:
            return name


def _carry_over(descriptor: int, size: int, path: str, kept: str) -> None:
    """Append what Pi, which takes no lock, has appended to the old file at the last moment."""
    try:
        grown = os.fstat(descriptor).st_size - size
        if grown > 0:
            with open(path, "ab") as file:  # noqa: PTH123
                file.write(os.pread(descriptor, grown, size))
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        why = f"{error.strerror}; what was appended at the last moment is in {kept} alone"
        raise NotWrittenError(path, why) from None


def sync_folder(path: str) -> None:
    """Wait until the disk has the names in the folder of a file, as far as it can be waited for."""
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)  # noqa: PTH120
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""A whole file is replaced by another one, or not at all; nothing anybody appended is lost.

The new file is written beside the old one, read back, and takes its name in one step. The old one
stays as a backup. Links are followed and stay; mode and owner are kept.
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
    from collections.abc import Iterable, Iterator

_BLOCK = 1 << 20
NEW = ".new"
"""What is added to the name of a file while the one that will replace it is being written."""
BACKUP = ".bak"
"""What is added to the name of the old file; a number follows where that is taken."""


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
    return _of(found)


def _of(found: os.stat_result) -> Snapshot:
    return Snapshot(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


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
        NotWrittenError: the system did not let us write; all is as it was.
    """
    real = os.path.realpath(path)
    new = real + NEW
    with _locked(real) as descriptor:
        _ensure_same(real, before)
        take_away(new)  # of a run that was killed
        digest = hashlib.sha256()
        create(new, _noted(chunks, digest), durable=True)
        try:
            _verify(new, digest.digest())
            _take_after(new, os.fstat(descriptor))
            _ensure_same(real, before)
            kept = _keep(real) if backup else None
            os.replace(new, real)  # noqa: PTH105
        except OSError as error:
            take_away(new)
            if isinstance(error, NotWrittenError):
                raise
            raise NotWrittenError(real, error.strerror or str(error)) from None
        except BaseException:
            take_away(new)
            raise
        _carry_over(descriptor, before.size, real)
        _sync_folder(real)
    return Replaced(real, kept)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableError(path, error.strerror or str(error)) from None
    try:
        lock(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def _ensure_same(path: str, before: Snapshot) -> None:
    if snapshot(path) != before:
        raise SessionChangedError(path, "it was written to meanwhile")


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
    """Give a file the mode and, where that is allowed, the owner of another."""
    os.chmod(path, old.st_mode & 0o7777)  # noqa: PTH101
    with contextlib.suppress(PermissionError):
        os.chown(path, old.st_uid, old.st_gid)


def _keep(path: str) -> str:
    """Give a file a second name under which it stays."""
    number = 1
    while True:
        name = path + BACKUP + (str(number) if number > 1 else "")
        try:
            os.link(path, name)
        except FileExistsError:
            number += 1
        except OSError:
            # A file system without links gets a copy.
            with open(path, "rb") as file:  # noqa: PTH123
                create(name, iter(lambda: file.read(_BLOCK), b""), durable=True)
            return name
        else:
            return name


def _carry_over(descriptor: int, size: int, path: str) -> None:
    """Append what Pi, which takes no lock, has appended to the old file at the last moment."""
    grown = os.fstat(descriptor).st_size - size
    if grown > 0:
        with open(path, "ab") as file:  # noqa: PTH123
            file.write(os.pread(descriptor, grown, size))
            file.flush()
            os.fsync(file.fileno())


def _sync_folder(path: str) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)  # noqa: PTH120
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

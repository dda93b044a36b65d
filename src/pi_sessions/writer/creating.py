"""A new file appears whole or not at all, and never in the place of another."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_sessions.errors import NotWrittenError, WouldOverwriteError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MODE = 0o666
_OWN = 0o600
"""What its owner may do with a file that is not whole yet and is not meant for everybody."""
_DESCRIPTORS = "/proc/self/fd"
_NO_UNNAMED = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""What a file system answers that has no files without a name."""


def create(
    path: str, chunks: Iterable[bytes], *, durable: bool = False, mode: int | None = None
) -> None:
    """Write a new file.

    Where the system can, the file gets its name only when all of it is written, so that a process
    that is killed leaves nothing behind. Elsewhere it is taken away again if writing fails.

    Args:
        path: its name; the folder is made if it is not there.
        chunks: its bytes.
        durable: wait until the disk has the file and its name.
        mode: who may do what with it once it has its name; by default what the process gives.

    Raises:
        WouldOverwriteError: there is something of that name.
        NotWrittenError: it cannot be written; nothing is left of it.
    """
    folder = Path(path).parent
    if os.path.lexists(path):
        raise WouldOverwriteError(path, "exists and is not overwritten")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _open_unnamed(folder)
        if descriptor is None:
            _create_named(path, chunks, durable=durable, mode=mode)
        else:
            _create_unnamed(descriptor, path, chunks, durable=durable, mode=mode)
    except FileExistsError:
        raise WouldOverwriteError(path, "exists and is not overwritten") from None
    except OSError as error:
        raise NotWrittenError(path, error.strerror or str(error)) from None


def _open_unnamed(folder: Path) -> int | None:
    unnamed = getattr(os, "O_TMPFILE", 0)
    if not unnamed or not Path(_DESCRIPTORS).is_dir():
        return None
    try:
        return os.open(folder, unnamed | os.O_WRONLY | os.O_CLOEXEC, _MODE)
    except OSError as error:
        if error.errno in _NO_UNNAMED:
            return None
        raise


def _create_unnamed(
    descriptor: int, path: str, chunks: Iterable[bytes], *, durable: bool, mode: int | None
) -> None:
    try:
        _write_all(descriptor, chunks, durable=durable, mode=mode)
        # The link in /proc is followed only where some descriptor of a folder is given.
        os.link(f"{_DESCRIPTORS}/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)
    finally:
        _close(descriptor)
    if durable:
        _sync_folder(path)


def _create_named(path: str, chunks: Iterable[bytes], *, durable: bool, mode: int | None) -> None:
    first = _MODE if mode is None else mode & _OWN
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, first)
    try:
        _write_all(descriptor, chunks, durable=durable, mode=mode)
    except BaseException:
        take_away(path)
        raise
    finally:
        _close(descriptor)
    if durable:
        _sync_folder(path)


def _write_all(
    descriptor: int, chunks: Iterable[bytes], *, durable: bool, mode: int | None
) -> None:
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    if mode is not None:
        os.fchmod(descriptor, mode)
    if durable:
        os.fsync(descriptor)


def _close(descriptor: int) -> None:
    # What could fail here is a write that was put off; `durable` has waited for that already.
    with contextlib.suppress(OSError):
        os.close(descriptor)


def take_away(path: str) -> None:
    """Remove a file that was just made."""
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - as all else here


def _sync_folder(path: str) -> None:
    """Wait until the disk has the name of a new file; without that there shall be no file."""
    try:
        descriptor = os.open(Path(path).parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            _close(descriptor)
    except OSError:
        take_away(path)
        raise

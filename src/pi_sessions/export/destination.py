"""Writing an export to a file: whole or not at all, and over nothing that was not meant."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_sessions.errors import WouldOverwriteError

if TYPE_CHECKING:
    from collections.abc import Iterable


def check(path: str, *, source: str, force: bool = False) -> None:
    """Refuse a place that is taken, before any work is done.

    Args:
        path: the file to be written.
        source: the session that is exported; it is never written over.
        force: whether another file may be replaced.

    Raises:
        WouldOverwriteError: something is there already.
    """
    if not os.path.lexists(path):
        return
    if _is_same(path, source):
        raise WouldOverwriteError(path, "is the session itself")
    if Path(path).is_dir():
        raise WouldOverwriteError(path, "is a directory")
    if not force:
        raise WouldOverwriteError(path, "is there already; --force replaces it")


def _is_same(path: str, source: str) -> bool:
    try:
        return Path(path).samefile(source)
    except (OSError, ValueError):
        return False


def write(path: str, chunks: Iterable[bytes], *, source: str, force: bool = False) -> int:
    """Write chunks to a file and count the bytes; a reader sees all of them or no file.

    They go to a nameless neighbour first, which takes the name when it is whole. Whatever stops the
    work leaves the place as it was.

    Raises:
        WouldOverwriteError: something is there already.
        OSError: the file cannot be written.
    """
    check(path, source=source, force=force)
    if force:
        path = os.path.realpath(path)  # a link is followed, not replaced
    folder = Path(path).parent
    descriptor, draft = tempfile.mkstemp(prefix=f".{Path(path).name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            size = sum(map(file.write, chunks))
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), _mode())
        _name(draft, path, force=force)
    finally:
        with suppress(FileNotFoundError):
            Path(draft).unlink()
    return size


def check_folder(path: str, *, source: str) -> None:
    """Refuse a place for a folder that is taken.

    Raises:
        WouldOverwriteError: something is there already; a folder is replaced by nothing.
    """
    if _is_same(path, source):
        raise WouldOverwriteError(path, "is the session itself")
    if os.path.lexists(path):
        raise WouldOverwriteError(path, "is there already; a folder needs a name of its own")


def write_folder(path: str, files: Iterable[tuple[str, Iterable[bytes]]], *, source: str) -> int:
    """Write files into a new folder and count the bytes; it appears when it is whole.

    Raises:
        WouldOverwriteError: something is there already.
        OSError: it cannot be written.
    """
    check_folder(path, source=source)
    place = Path(path)
    draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
    size = 0
    try:
        for name, chunks in files:
            with (draft / name).open("xb") as file:
                size += sum(map(file.write, chunks))
                file.flush()
                os.fsync(file.fileno())
        draft.chmod(0o777 & (_mode() | 0o111))
        check_folder(path, source=source)
        draft.rename(place)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return size


def _mode() -> int:
    """Give the mode that a new file has here."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _name(draft: str, path: str, *, force: bool) -> None:
    if force:
        Path(draft).replace(path)
        return
    try:
        # A link, other than a rename, replaces nothing that came meanwhile.
        os.link(draft, path)
    except FileExistsError:
        raise WouldOverwriteError(path, "is there already; --force replaces it") from None
    except OSError:
        if os.path.lexists(path):
            raise WouldOverwriteError(path, "is there already; --force replaces it") from None
        Path(draft).replace(path)

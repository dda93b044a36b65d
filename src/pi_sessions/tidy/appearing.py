"""A file appears at once: read back, with its mode and time, and never in the place of another."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from pi_sessions import rewriting
from pi_sessions._lines import FileSource
from pi_sessions.errors import (
    NotWrittenError,
    SessionError,
    UnreadableError,
    WouldOverwriteError,
)
from pi_sessions.writer.creating import take_away

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_sessions._lines import Source

_BLOCK = 1 << 20


def appear(
    path: str,
    chunks: Iterable[bytes],
    mode: int,
    modified: int,
    holds: Callable[[str], bool],
) -> None:
    """Let a file appear at once, whole, with its mode and time, when it has been looked through.

    Raises:
        WouldOverwriteError: there is something of that name.
        NotWrittenError: the system did not let us; nothing is left.
    """
    new = path + rewriting.NEW
    take_away(new)  # of a run that was killed
    rewriting.write_new(new, chunks, mode)
    try:
        os.utime(new, ns=(modified, modified))
        if not holds(new):
            raise NotWrittenError(path, "what was read back is not what was to be kept")
        _name(new, path)
    except FileExistsError:
        raise WouldOverwriteError(path, "exists and is not overwritten") from None
    except (OSError, OverflowError) as error:
        if isinstance(error, SessionError):
            raise
        raise NotWrittenError(path, getattr(error, "strerror", None) or str(error)) from None
    finally:
        take_away(new)
    rewriting.sync_folder(path)


def _name(new: str, path: str) -> None:
    """Give a file its name, unless there is something of that name."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(new, path)  # noqa: PTH104


def digest(source: Source) -> str:
    """Give the SHA-256 of all bytes, in hexadecimal."""
    found = hashlib.sha256()
    for chunk in pieces(source):
        found.update(chunk)
    return found.hexdigest()


def pieces(source: Source) -> Iterator[bytes]:
    """Give all bytes, a megabyte at a time."""
    for place in range(0, source.size, _BLOCK):
        yield source.read(place, min(_BLOCK, source.size - place))


def same(source: Source, path: str) -> bool:
    """Say whether a file has these bytes already: of a run that was stopped."""
    try:
        other = FileSource(path)
        return other.size == source.size and all(
            a == b for a, b in zip(pieces(source), pieces(other), strict=True)
        )
    except UnreadableError:
        return False

"""Opening a session file for reading. Nothing here writes, and a defect never hides the rest."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from pi_sessions import scan
from pi_sessions._lines import BytesSource, open_source
from pi_sessions.session import Session

if TYPE_CHECKING:
    import os


def load(
    path: str | os.PathLike[str],
    *,
    strict: bool = False,
    zone: tzinfo = UTC,
    workers: int = 1,
) -> Session:
    """Open a session file.

    The file is held open while the session lives, so that it is read as it was even when it is
    replaced meanwhile. Bytes, times and directory stay as they are.

    Args:
        path: the file; a pipe or device is read whole.
        strict: refuse a file with defects instead of reporting them in `Session.diagnostics`.
        zone: in which times without a zone are read.
        workers: processes that may read a large file; the second is forked, so leave it at one
            in a program with threads.

    Raises:
        UnreadableError: it cannot be opened or read.
        NotASessionError: the first JSON value in it is no header.
        FormatError: strict, and there are defects; all of them are in `.diagnostics`.
    """
    return _checked(
        Session(scan.read(open_source(path), workers), zone=zone, workers=workers), strict=strict
    )


def loads(
    data: bytes, *, name: str = "<bytes>", strict: bool = False, zone: tzinfo = UTC
) -> Session:
    """Read a session from bytes; as `load` in everything else.

    Args:
        data: the bytes of the file.
        name: what to call it in messages.
        strict: refuse defects instead of reporting them.
        zone: in which times without a zone are read.

    Raises:
        NotASessionError: the first JSON value in it is no header.
        FormatError: strict, and there are defects.
    """
    return _checked(Session(scan.read(BytesSource(data, name)), zone=zone), strict=strict)


def _checked(session: Session, *, strict: bool) -> Session:
    if strict:
        session.ensure_strict()
    return session

"""Whether a session lies still, so that it may be taken away, and the folder it leaves behind."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pi_sessions.errors import WriteRefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_sessions.rewriting import Snapshot

QUIET = 600
"""Seconds for which nobody must have written to a session. Pi keeps no lock, and opens a file anew
for each entry: that it was written to of late is all that shows that it is at work."""


def is_grouping(name: str) -> bool:
    """Say whether a folder of this name is that of a project in a store."""
    return name.startswith("--") and name.endswith("--")


def is_busy(before: Snapshot, now: float) -> bool:
    """Say whether a session was written to of late; `now` in seconds since 1970."""
    return 0 <= now - before.modified / 1e9 < QUIET


def ensure_still(path: str, before: Snapshot, now: float) -> None:
    """Refuse a session that was written to of late.

    Raises:
        WriteRefusedError: it was.
    """
    if is_busy(before, now):
        seconds = round(now - before.modified / 1e9)
        why = f"was written to {seconds} seconds ago: close Pi first, or say --force"
        raise WriteRefusedError(path, why)


def leave(folder: Path) -> None:
    """Take away the folder of a project in which nothing is left."""
    if is_grouping(folder.name):
        with contextlib.suppress(OSError):
            folder.rmdir()

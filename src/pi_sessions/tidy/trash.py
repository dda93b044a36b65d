"""Taking a session away: into the trash, as Pi does, or for good.

Pi calls the program `trash` where there is one. Elsewhere the trash of the system is used.
"""

from __future__ import annotations

import os
import subprocess
from shutil import which
from typing import TYPE_CHECKING

from pi_sessions import store
from pi_sessions.errors import NotWrittenError, SessionChangedError
from pi_sessions.rewriting import Snapshot, locked, snapshot
from pi_sessions.tidy.kin import Kin

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 60
"""Seconds that the program may take."""


def children(path: str, root: Path) -> list[store.Found]:
    """Give the sessions of a store that were made from a session: their headers name its file."""
    return Kin(store.sessions(root)).children(path)


def take_away(path: str, before: Snapshot, *, permanently: bool = False) -> str:
    """Take a session file away; says how: `trash`, `system trash` or `deleted`.

    Args:
        path: the file; of a link, the link.
        before: the file as it was when it was shown.
        permanently: delete it.

    Raises:
        SessionChangedError: it was written to since.
        SessionLockedError: another writer of ours has it.
        UnreadableError: it is gone.
        NotWrittenError: the system did not let us.
    """
    with locked(path, patience=0):
        if snapshot(path) != before:
            raise SessionChangedError(path, "it was written to meanwhile")
        return _take_away(path, permanently=permanently)


def _take_away(path: str, *, permanently: bool) -> str:
    try:
        if permanently:
            os.unlink(path)  # noqa: PTH108 - as all else here
            return "deleted"
        if program := which("trash"):
            done = subprocess.run(  # noqa: S603 - the program Pi calls as well
                [program, "--", os.path.abspath(path)],  # noqa: PTH100
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            )
            if done.returncode == 0 and not os.path.lexists(path):
                return "trash"
        from send2trash import send2trash  # type: ignore[import-untyped]  # noqa: PLC0415

        send2trash(os.path.abspath(path))  # noqa: PTH100
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise NotWrittenError(path, f"cannot be taken away: {why}") from None
    return "system trash"

"""Projects whose folder is no longer where their sessions say, and where it may be now."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_sessions.store import Found

_LOOKED_AT = 2000
"""Folders beside a missing one in which it is looked for."""
_TOLD = 5
"""Places that are told."""


class Missing(msgspec.Struct, frozen=True):
    """A working directory of sessions that is not there."""

    cwd: str
    sessions: tuple[str, ...]
    """Files of its sessions."""
    maybe: tuple[str, ...]
    """Folders of the same name near by."""


def missing(sessions: Iterable[Found]) -> list[Missing]:
    """Find the working directories that are not there, those with most sessions first."""
    files: dict[str, list[str]] = {}
    for found in sessions:
        if found.cwd is not None:
            files.setdefault(os.path.normpath(found.cwd), []).append(os.fspath(found.path))
    lost = [
        Missing(cwd, tuple(paths), tuple(islice(near(cwd), _TOLD)))
        for cwd, paths in files.items()
        if not is_folder(cwd)
    ]
    return sorted(lost, key=lambda each: (-len(each.sessions), each.cwd))


def is_folder(path: str) -> bool:
    """Say whether a folder is there; a name that no folder can have is none."""
    try:
        return os.path.isdir(path)  # noqa: PTH112 - texts of headers, not paths of ours
    except ValueError:
        return False


def near(cwd: str) -> Iterator[str]:
    """Look for a folder that was moved: its last names, in folders beside the way to it."""
    if not Path(cwd).is_absolute() or "\0" in cwd:
        return
    above, rest = cwd, list[str]()
    while not is_folder(above):
        above, name = os.path.split(above)
        rest.insert(0, name)
    tails = [Path(*rest[first:]) for first in range(len(rest))]
    seen = {cwd}
    for place in dict.fromkeys((above, str(Path(above).parent))):
        try:
            with os.scandir(place) as entries:
                folders = sorted(each.path for each in islice(entries, _LOOKED_AT) if _is(each))
        except OSError:
            continue
        for tail in tails:
            for folder in folders:
                found = str(Path(folder) / tail)
                if found not in seen and is_folder(found):
                    seen.add(found)
                    yield found


def _is(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def below(sessions: Iterable[Found], old: str, new: str) -> list[tuple[str, str]]:
    """Give the files of sessions of a directory and of those below it, each with its new one."""
    old = os.path.normpath(old)
    moved = []
    for found in sessions:
        cwd = None if found.cwd is None else os.path.normpath(found.cwd)
        if cwd == old:
            moved.append((os.fspath(found.path), new))
        elif cwd is not None and cwd.startswith(old.rstrip(os.sep) + os.sep):
            rest = cwd[len(old.rstrip(os.sep)) + 1 :]
            moved.append((os.fspath(found.path), os.path.join(new, rest)))  # noqa: PTH118
    return moved

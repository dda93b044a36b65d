"""Stores to put in order, and people who may not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from pi_sessions.testing import SessionBuilder
from writer.surviving import forked, read_all

OLD = 1_700_000_000
"""When the sessions of a store were written to last, in seconds since 1970."""
NOBODY = 65534


def session(
    root: Path, name: str, *, cwd: str = "/work/orchard", turns: int = 2, parent: Path | None = None
) -> Path:
    """Write a session of a project into a store; it has lain still since 2023."""
    folder = root / f"--{cwd.strip('/').replace('/', '-')}--"
    folder.mkdir(parents=True, exist_ok=True)
    made = SessionBuilder(id=name, cwd=cwd)
    for number in range(turns):
        made.user(f"Question {number} of {name} \u2028. " * (1 + number % 40))
        made.assistant(f"Answer {number} of {name}. " * (1 + number % 90))
    data = made.data
    if parent is not None:
        data = data.replace(b"}", f',"parentSession":{json.dumps(str(parent))}}}'.encode(), 1)
    path = folder / f"{name}.jsonl"
    path.write_bytes(data)
    path.chmod(0o640)
    os.utime(path, (OLD, OLD))
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Give what is in a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def as_nobody(work: Callable[[], None]) -> str:
    """Run work as a person who owns nothing here; gives "done" or what went wrong."""

    def child(out: int) -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()
        os.write(out, b"done")

    process, pipe = forked(child)
    told = read_all(pipe)
    os.waitpid(process, 0)
    return told

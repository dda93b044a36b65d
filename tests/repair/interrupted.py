"""Ways in which writing a file anew may go wrong, each with a count of what it did.

The suite runs small numbers of each, `figures.py` large ones.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from types import ModuleType
from typing import Any

from pi_sessions import NotWrittenError, SessionError, load, rewriting
from pi_sessions.repair import applying
from pi_sessions.repair.applying import Patient
from pi_sessions.testing import SessionBuilder
from pi_sessions.writer import creating
from repair.conftest import Numbers, clock
from writer.surviving import Added, failing, forked, full, read_all

NAME = "session.jsonl"
BACKUP = NAME + rewriting.BACKUP
NEW = NAME + rewriting.NEW
WAYS = ("upgrade", "repair")


class Count(Added):
    """What happened."""

    runs: int = 0
    kills: int = 0
    faults: int = 0
    done: int = 0
    """Runs after which the file was the new one."""
    half: int = 0
    """Files that were neither the old one nor the new one."""
    strays: int = 0
    """Files of unknown names, or backups that are not the old file."""


def to_upgrade(turns: int) -> bytes:
    """Make a session of version 1."""
    made = SessionBuilder(version=1)
    for number in range(turns):
        made.user(f"Question {number}. " * (1 + number % 40))
        made.assistant(f"Answer {number}. " * (1 + number % 90))
    return made.data


def to_repair(turns: int) -> bytes:
    """Make a session with a fused line, a raw newline, a double id, a result without its call."""
    made = SessionBuilder()
    for number in range(turns):
        made.user(f"Question {number}. " * (1 + number % 40))
        made.assistant(f"Answer {number}. " * (1 + number % 90))
    parent = made.user("and now", id="aaaaaaaa")
    made.user("again", id="aaaaaaaa", parent=parent)
    made.tool_result("call-9", "of nobody")
    made.assistant("done")
    data = made.data.replace(b"and now", b"and\nnow")
    lines = data.split(b"\n")
    return b"\n".join([lines[0], lines[1][:40] + lines[2], *lines[1:]])


def make(way: str, turns: int) -> bytes:
    return to_upgrade(turns) if way == "upgrade" else to_repair(turns)


def mend(path: Path, way: str) -> None:
    """Do it, with the same clock and ids at each time."""
    patient = Patient(str(path), UTC)
    if way == "upgrade":
        patient.upgrade()
        return
    planned = patient.plan()
    if not planned.is_empty:
        patient.repair(planned, clock=clock, random=Numbers())


def outcomes(folder: Path, way: str, data: bytes) -> list[bytes]:
    """Give what a file may be: the old one, the new one, and that with what is appended to it."""
    path = folder / NAME
    path.write_bytes(data)
    mend(path, way)
    last = path.read_bytes()
    found = [data, last]
    if way == "repair":
        path.write_bytes(data)
        found.insert(1, b"".join(Patient(str(path), UTC).plan().lines()))
    empty(folder)
    return found


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def check(folder: Path, way: str, outcomes: list[bytes], count: Count) -> None:
    """Look at what is there, and mend what is not mended yet."""
    path = folder / NAME
    now = path.read_bytes()
    count.runs += 1
    count.half += now not in outcomes
    count.done += now == outcomes[-1]
    for file in folder.iterdir():
        if file.name == BACKUP:
            count.strays += file.read_bytes() != outcomes[0]
        elif file.name not in (NAME, NEW):
            count.strays += 1
    mend(path, way)
    count.half += path.read_bytes() != outcomes[-1] and way == "upgrade"
    assert not load(path).table.shadowed
    assert Patient(str(path), UTC).plan().is_empty
    left = {file.name for file in folder.iterdir()}
    count.strays += len(left - {NAME, BACKUP, *([NEW] if now == outcomes[-1] else [])})


def kill(folder: Path, times: int, seed: int) -> Count:
    """Kill children that upgrade and repair at random moments."""
    count, chance = Count(), random.Random(seed)
    for way in WAYS:
        data = make(way, 400)
        known = outcomes(folder, way, data)
        path = folder / NAME
        takes = 0.0
        for number in range(times // len(WAYS)):
            path.write_bytes(data)

            def work(out: int, way: str = way, path: Path = path) -> None:
                os.write(out, b"now\n")
                mend(path, way)

            child, pipe = forked(work)
            os.read(pipe, 4)
            start = time.perf_counter()
            if number < 3:
                os.waitpid(child, 0)
                takes = max(takes, time.perf_counter() - start)
            else:
                time.sleep(chance.random() * takes * 1.1)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                count.kills += 1
            assert not (told := read_all(pipe)), told
            check(folder, way, known, count)
            empty(folder)
    return count


@contextlib.contextmanager
def unnamed_files(*, possible: bool) -> Iterator[None]:
    """Let the system have files without a name, or not."""
    before = creating._open_unnamed
    if not possible:
        creating._open_unnamed = lambda _: None
    try:
        yield
    finally:
        creating._open_unnamed = before


def fail_every_call(folder: Path, way: str) -> Count:
    """Let the n-th call of every function of the system fail, once for each n."""
    count = Count()
    data = make(way, 2)
    known = outcomes(folder, way, data)
    for module, names in (
        (
            rewriting,
            ("open", "stat", "fstat", "link", "chmod", "utime", "replace", "fsync", "close"),
        ),
        (creating, ("open", "write", "fsync", "link", "close")),
        (applying, ("open", "write", "close")),
    ):
        for name in names:
            for number in range(1, 40):
                if not _fail_nth(folder, way, known, module, name, number, count):
                    break
    return count


def _fail_nth(
    folder: Path,
    way: str,
    known: list[bytes],
    module: ModuleType,
    name: str,
    number: int,
    count: Count,
) -> int:
    (folder / NAME).write_bytes(known[0])
    calls = faults = 0

    def call(*args: Any, **more: Any) -> Any:
        nonlocal calls, faults
        calls += 1
        if calls == number:
            faults += 1
            if name == "close":
                os.close(*args)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return getattr(os, name)(*args, **more)

    with failing(module, **{name: call}), contextlib.suppress(SessionError):
        mend(folder / NAME, way)
    count.faults += faults
    assert not (folder / NEW).exists(), (module, name, number)
    check(folder, way, known, count)
    empty(folder)
    return faults


def cut_every_write(folder: Path, way: str, step: int = 1) -> Count:
    """Fail each write of the new file at every byte."""
    count = Count()
    data = make(way, 1)
    known = outcomes(folder, way, data)
    for place in range(0, len(known[1]), step):

        def write(descriptor: int, chunk: bytes, place: int = place) -> int:
            if place:
                os.write(descriptor, bytes(chunk)[:place])
            return full()  # type: ignore[no-any-return]

        (folder / NAME).write_bytes(data)
        with failing(creating, write=write):
            try:
                mend(folder / NAME, way)
            except NotWrittenError:
                count.faults += 1
            else:
                raise AssertionError("a cut write was taken for a whole one")
        assert [file.name for file in folder.iterdir()] == [NAME]
        check(folder, way, known, count)
        empty(folder)
    return count


def fill_the_disk(folder: Path, way: str, room: int) -> Count:
    """Let a child mend while no file may be longer than this."""
    count = Count()
    data = make(way, 3)
    known = outcomes(folder, way, data)
    path = folder / NAME
    path.write_bytes(data)

    def work(out: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            mend(path, way)
        except NotWrittenError:
            os.write(out, b"refused")

    child, pipe = forked(work)
    told = read_all(pipe)
    os.waitpid(child, 0)
    assert told in ("", "refused"), told
    assert told or room >= len(known[-1])
    count.faults += told == "refused"
    assert not (folder / NEW).exists()
    check(folder, way, known, count)
    empty(folder)
    return count


def run_all(
    folder: Callable[[], contextlib.AbstractContextManager[Path]], kills: int
) -> dict[str, Count]:
    """Run each of them at length."""
    found = {}
    with folder() as place:
        found["killed at a random moment"] = kill(place, kills, 1)
    calls, cut, room = Count(), Count(), Count()
    for way in WAYS:
        for possible in (True, False):
            with folder() as place, unnamed_files(possible=possible):
                calls += fail_every_call(place, way)
                cut += cut_every_write(place, way)
        with folder() as place:
            longest = len(outcomes(place, way, make(way, 3))[-1])
            for size in range(0, longest + 100, 50):
                room += fill_the_disk(place, way, size)
    found["each call to the system failing once"] = calls
    found["each write cut at every byte"] = cut
    found["no room left on the disk"] = room
    return found

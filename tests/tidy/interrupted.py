"""Ways in which putting a session away and giving it back may go wrong, each with a count.

The suite runs small numbers of each, `figures.py` large ones. Whatever happens, the session is
where it was, or whole where it goes, and doing it once more ends as if nothing had happened.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from types import ModuleType
from typing import Any

from pi_sessions import NotWrittenError, SessionError, rewriting
from pi_sessions.rewriting import snapshot
from pi_sessions.tidy import appearing, archive, pruning
from pi_sessions.writer import creating
from repair.interrupted import unnamed_files
from tidy.stores import OLD, session
from writer.surviving import Added, failing, forked, full, read_all

WAYS = ("archive", "restore", "prune")
NAMES = ("apples", "barley", "cherries")
MODE = 0o640


class Count(Added):
    """What happened."""

    runs: int = 0
    kills: int = 0
    faults: int = 0
    done: int = 0
    """Sessions that had got to where they were to go."""
    both: int = 0
    """Sessions that were in both places."""
    lost: int = 0
    """Sessions that were whole in neither."""
    strays: int = 0
    """Files of other names, or not whole, or of another mode or time."""


class Place:
    """A store with some sessions, and its archive."""

    def __init__(self, folder: Path, way: str, turns: int) -> None:
        self.way = way
        self.folder = folder
        self.store = folder / "store"
        self.archive = folder / "store-archive"
        self.data: dict[str, bytes] = {}
        for name in NAMES if way == "prune" else NAMES[:1]:
            path = session(self.store, name, turns=turns)
            self.data[name] = path.read_bytes()
        self.packed: dict[str, bytes] = {}
        if way == "restore":
            self.do_archive()
            self.packed = {name: self.away(name).read_bytes() for name in self.data}

    def here(self, name: str) -> Path:
        return self.store / "--work-orchard--" / f"{name}.jsonl"

    def away(self, name: str) -> Path:
        return self.archive / "--work-orchard--" / f"{name}.jsonl.zst"

    def prepare(self) -> None:
        """Put everything where it is at first."""
        for file in [*self.store.rglob("*"), *self.archive.rglob("*")]:
            if file.is_file():
                file.unlink()
        of = self.away if self.packed else self.here
        for name, data in (self.packed or self.data).items():
            path = of(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(MODE)
            os.utime(path, (OLD, OLD))

    def do(self) -> None:
        if self.way == "archive":
            self.do_archive()
        elif self.way == "restore":
            for item in archive.archived(self.archive):
                archive.restore(item, archive.destination(item, self.store))
        else:
            plan = pruning.choose(self.store, pruning.Wish(), now=time.time(), zone=UTC)
            for each in plan.chosen:
                pruning.take(each, pruning.How.ARCHIVED, self.store, self.archive)

    def do_archive(self) -> None:
        for name in self.data:
            if self.here(name).exists():
                path = str(self.here(name))
                archive.put_away(path, snapshot(path), self.store, self.archive)

    def check(self, count: Count) -> None:
        """Look at what is there, and do what is not done yet."""
        count.runs += 1
        known = set()
        for name, data in self.data.items():
            here, away = self.here(name), self.away(name)
            is_here = here.exists() and here.read_bytes() == data and _is_kept(here)
            is_away = away.exists() and _unpacked(away) == data and _is_kept(away)
            count.lost += not (is_here or is_away)
            count.both += is_here and is_away
            count.strays += here.exists() != is_here or away.exists() != is_away
            count.done += is_here if self.way == "restore" else is_away
            known |= {here, away, *(Path(f"{file}{rewriting.NEW}") for file in (here, away))}
        count.strays += len(self.files() - known)
        self.do()
        of = self.here if self.way == "restore" else self.away
        last = {of(name) for name in self.data}
        assert last <= self.files()
        assert all(_is_kept(file) for file in last)

    def files(self) -> set[Path]:
        return {file for file in self.folder.rglob("*") if file.is_file()}


def _is_kept(path: Path) -> bool:
    found = path.stat()
    return (found.st_mode & 0o777, found.st_mtime) == (MODE, OLD)


def _unpacked(path: Path) -> bytes:
    try:
        source = archive.look(path).source()
        return source.read(0, source.size)
    except SessionError:
        return b""


def kill(place: Place, times: int, seed: int) -> Count:
    """Kill children at random moments."""
    count, chance, takes = Count(), random.Random(seed), 0.0
    for number in range(times):
        place.prepare()

        def work(out: int) -> None:
            os.write(out, b"now\n")
            place.do()

        child, pipe = forked(work)
        os.read(pipe, 4)
        start = time.perf_counter()
        if number < 2:
            os.waitpid(child, 0)
            takes = max(takes, time.perf_counter() - start)
        else:
            time.sleep(chance.random() * takes * 1.1)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            count.kills += os.WIFSIGNALED(status)
        assert not (told := read_all(pipe)), told
        place.check(count)
    return count


def fail_every_call(place: Place) -> Count:
    """Let the n-th call of every function of the system fail, once for each n."""
    count = Count()
    for module, names in (
        (archive, ("unlink", "fstat", "pread", "lstat")),
        (appearing, ("link", "utime")),
        (rewriting, ("open", "stat", "fstat", "fsync", "close")),
        (creating, ("open", "write", "fchmod", "fsync", "link", "close")),
    ):
        for name in names:
            for number in range(1, 60):
                if not _fail_nth(place, module, name, number, count):
                    break
    return count


def _fail_nth(place: Place, module: ModuleType, name: str, number: int, count: Count) -> int:
    place.prepare()
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
        place.do()
    count.faults += faults
    place.check(count)
    return faults


def cut_every_write(place: Place, step: int = 1) -> Count:
    """Fail each write of the new file at every byte."""
    count = Count()
    sizes = [len(data) for data in place.data.values()]
    for at in range(0, sum(sizes), step):
        left = at

        def write(descriptor: int, chunk: bytes) -> int:
            nonlocal left
            if left >= len(chunk):
                left -= len(chunk)
                return os.write(descriptor, chunk)
            if left:
                os.write(descriptor, bytes(chunk)[:left])
            return full()  # type: ignore[no-any-return]

        place.prepare()
        with failing(creating, write=write):
            try:
                place.do()
            except NotWrittenError:
                count.faults += 1
            else:
                place.check(count)
                break
        assert not any(file.name.endswith(rewriting.NEW) for file in place.files())
        place.check(count)
    return count


def fill_the_disk(place: Place, room: int) -> Count:
    """Let a child do it while no file may be longer than this."""
    count = Count()
    place.prepare()

    def work(out: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            place.do()
        except NotWrittenError:
            os.write(out, b"refused")

    child, pipe = forked(work)
    told = read_all(pipe)
    os.waitpid(child, 0)
    assert told in ("", "refused"), told
    count.faults += told == "refused"
    place.check(count)
    return count


def run_all(
    folder: Callable[[], contextlib.AbstractContextManager[Path]], kills: int
) -> dict[str, Count]:
    """Run each of them at length."""
    killed, calls, cut, room = Count(), Count(), Count(), Count()
    for number, way in enumerate(WAYS):
        for possible in (True, False):
            with unnamed_files(possible=possible):
                with folder() as name:
                    killed += kill(Place(name, way, 300), kills // 6 + 1, number)
                with folder() as name:
                    calls += fail_every_call(Place(name, way, 2))
                with folder() as name:
                    cut += cut_every_write(Place(name, way, 2))
        with folder() as name:
            place = Place(name, way, 3)
            for size in range(0, 2000, 25):
                room += fill_the_disk(place, size)
    return {
        "killed at a random moment": killed,
        "each call to the system failing once": calls,
        "each write cut at every byte": cut,
        "no room left on the disk": room,
    }

"""Ways in which appending may go wrong, each with a count of what it did.

The suite runs small numbers of each, `python -m tests.writer.figures` large ones.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import msgspec

from pi_sessions import (
    NotWrittenError,
    SessionChangedError,
    SessionLockedError,
    SessionWriter,
    WriteRefusedError,
    load,
    loads,
)
from pi_sessions.writer import appending, creating
from writer.messages import turn

TURNS = 10
"""Of a session in which one call fails."""


class Added(msgspec.Struct):
    """Counts that are added up one by one."""

    def __add__(self, other: Self) -> Self:
        mine, its = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return type(self)(*(a + b for a, b in zip(mine, its, strict=True)))


class Count(Added):
    """What happened."""

    appends: int = 0
    """Appends that were acknowledged."""
    refused: int = 0
    """Appends that were refused with an error."""
    kills: int = 0
    faults: int = 0
    lost: int = 0
    """Acknowledged lines that are not in the file."""
    torn: int = 0
    """Lines that are no JSON, of those who write whole lines."""
    siblings: int = 0
    """Lines that began a branch by accident."""


def ids_in(data: bytes) -> list[str]:
    """Give the ids of the whole lines of a file."""
    found = []
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            found.append(json.loads(line)["id"])
    return found


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Run work in a child process; give its id and a pipe with what the work writes to its."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    code = 1
    try:
        os.close(read)
        work(write)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the parent tells it
        os.write(write, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def read_all(pipe: int) -> str:
    """Read what a child wrote, to its end."""
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts).decode()


# Killed in the middle


def append_until_killed(path: Path | None, folder: Path, seed: int) -> Callable[[int], None]:
    """Append turns of all sizes for ever, and tell of each that was acknowledged."""

    def work(out: int) -> None:
        chance = random.Random(seed)
        writer = SessionWriter.open(path) if path else SessionWriter.create(folder, "/")
        for number in range(1_000_000):
            text = "x" * chance.choices((1, 100, 10_000, 1_000_000), (40, 40, 18, 2))[0]
            if chance.random() < 0.2:
                with writer.batch():
                    made = [writer.append_message({**turn(n), "more": text}) for n in range(3)]
            else:
                made = [writer.append_message({**turn(number), "more": text})]
            os.write(out, "".join(f"{entry} {writer.path}\n" for entry in made).encode())

    return work


def kill(folder: Path, times: int, seed: int) -> Count:
    """Kill children that append at random moments; new sessions and one that goes on and on."""
    count, chance = Count(), random.Random(seed)
    going_on: Path | None = None
    for _ in range(times):
        path = going_on if chance.random() < 0.7 else None
        child, pipe = forked(append_until_killed(path, folder, chance.getrandbits(32)))
        if chance.random() < 0.8:
            select.select([pipe], [], [], 10)
        time.sleep(chance.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = [line.split(" ", 1) for line in read_all(pipe).split("\n") if line]
        assert all(made != "!" for made, *_ in told), told
        count.kills += 1
        # The last line of the pipe may be cut as well.
        count.appends += len(told)
        for name in {where for _, where in told if where.endswith(".jsonl")}:
            here = set(ids_in(Path(name).read_bytes()))
            count.lost += sum(made not in here for made, where in told if where == name)
            going_on = Path(name)
        if going_on and going_on.stat().st_size > 5_000_000:
            going_on = None
        check_folder(folder)
        for file in folder.iterdir():
            if file != going_on:
                file.unlink()
    return count


def check_folder(folder: Path) -> None:
    """All that is there is sessions that load and can be gone on with."""
    for file in folder.iterdir():
        assert file.suffix == ".jsonl", file
        before = load(file)
        with SessionWriter.open(file) as writer:
            made = writer.append_message(turn(0))
        after = load(file)
        assert after.entry(made).parent is not None
        assert len(after.entries) == len(before.entries) + 1
        assert len(after.branch()) == len(after.entries)


# A system that fails


class Faulty:
    """Stands for `os` in one module and lets the n-th call of some functions fail."""

    def __init__(self, calls: dict[str, Callable[..., Any]]) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return self._calls.get(name) or getattr(os, name)


@contextlib.contextmanager
def failing(module: ModuleType, **calls: Callable[..., Any]) -> Iterator[None]:
    """Put functions in the place of those of `os` that a module calls."""
    module.os = Faulty(calls)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.os = os  # type: ignore[attr-defined]


def full(*_: Any, **__: Any) -> Any:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def cut_every_write(path: Path, *, take_back: bool) -> Count:
    """Cut a write at every byte, silently and with an error; the file may refuse to be cut."""
    count = Count()
    acknowledged: list[str] = []

    def cut(place: int, error: bool) -> Callable[..., int]:
        def write(descriptor: int, data: bytes) -> int:
            written = os.write(descriptor, data[:place]) if place else 0
            return full() if error else written

        return write

    more = {} if take_back else {"ftruncate": full}
    with SessionWriter.open(path) as writer:
        length = len(path.read_bytes())
        writer.append_message(turn(0))
        length = len(path.read_bytes()) - length
        for place in range(length):
            for error in (True, False):
                before, leaf = path.read_bytes(), writer.leaf
                with failing(appending, write=cut(place, error), **more):
                    try:
                        writer.append_message(turn(0))
                    except NotWrittenError:
                        count.faults += 1
                    else:
                        raise AssertionError("a cut write was taken for a whole one")
                if take_back:
                    assert path.read_bytes() == before
                assert writer.leaf == leaf
                try:
                    acknowledged.append(writer.append_message(turn(0)))
                except SessionChangedError:
                    # All but the newline was written and could not be taken back.
                    assert not take_back
                    assert place == length - 1
                    count.refused += 1
                    writer.refresh()
                    acknowledged.append(writer.append_message(turn(0)))
                count.appends += 1
    here = ids_in(path.read_bytes())
    count.lost = sum(made not in here for made in acknowledged)
    session = load(path)
    assert len(session.branch()) == len(session.entries)
    return count


def fail_every_call(folder: Path) -> Count:
    """Let the n-th call of every function of the system fail, once for each n."""
    count = Count()
    for module, names in (
        (appending, ("write", "fsync", "pread", "open", "fstat", "stat", "lseek")),
        (creating, ("open", "write", "fsync", "link", "close")),
    ):
        for name in names:
            for number in range(1, 40):
                faults = fail_nth(folder, module, name, number, count)
                count.faults += faults
                if not faults:
                    break
    return count


def fail_nth(folder: Path, module: ModuleType, name: str, number: int, count: Count) -> int:
    """Write a session of a few turns while one call fails; give how many failed."""
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

    writer = SessionWriter.create(folder, "/", durable=True)
    acknowledged = []
    with failing(module, **{name: call}):
        for n in range(TURNS):
            try:
                acknowledged.append(writer.append_message(turn(n)))
            except (WriteRefusedError, OSError):
                count.refused += 1
    made = [writer.append_message(turn(TURNS))]
    count.appends += len(acknowledged) + 1
    _, *here = ids_in(Path(writer.path or "").read_bytes())
    count.lost += sum(entry not in here for entry in acknowledged + made)
    assert set(here) <= {*acknowledged, *made}, "something that was refused is there"
    writer.close()
    check_folder(folder)
    for file in folder.iterdir():
        file.unlink()
    return faults


def fill_the_disk(folder: Path, room: int) -> Count:
    """Let a child write until its files must not be longer, then let it go on."""
    count = Count()

    def work(out: int) -> None:
        writer = SessionWriter.create(folder, "/")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        acknowledged, refused = [], 0
        for number in range(12):
            try:
                acknowledged.append(writer.append_message(turn(number)))
            except NotWrittenError:
                refused += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        acknowledged.append(writer.append_message(turn(12)))
        assert refused
        os.write(out, json.dumps([acknowledged, refused, writer.path]).encode())

    child, pipe = forked(work)
    told = read_all(pipe)
    os.waitpid(child, 0)
    assert not told.startswith("!"), told
    acknowledged, refused, path = json.loads(told)
    here = ids_in(Path(path).read_bytes())
    count.appends, count.refused, count.faults = len(acknowledged), refused, refused
    count.lost = sum(made not in here for made in acknowledged)
    check_folder(folder)
    for file in folder.iterdir():
        file.unlink()
    return count


# Many writers


def many_writers(path: Path, processes: int, appends: int, *, kind: str, pi: bool = False) -> Count:
    """Let processes append to one file at once.

    Args:
        path: the file, a session.
        processes: how many of ours.
        appends: of each.
        kind: `end` (all go on with the conversation, and look again when refused), `branches` (each
            on one of its own), or `names`.
        pi: whether a program that takes no lock appends as many lines as well.
    """
    work = [_writing(path, appends, kind, number) for number in range(processes)]
    if pi:
        work.append(_writing_like_pi(path, appends))
    children = [forked(each) for each in work]
    told = [json.loads(_answer(pipe)) for _, pipe in children]
    for child, _ in children:
        assert os.waitpid(child, 0)[1] == 0
    lines = path.read_bytes().split(b"\n")[:-1]
    here = ids_in(b"\n".join(lines))
    count = Count(
        appends=sum(len(made) for made, _ in told), refused=sum(refused for _, refused in told)
    )
    acknowledged = [entry for made, _ in told for entry in made]
    known = set(here)
    count.lost = sum(entry not in known for entry in acknowledged)
    count.torn = len(lines) - len(here)
    assert len(here) == len(known), "a line is there twice"
    session = load(path)
    assert not session.table.shadowed
    if kind != "branches":
        count.siblings = len(session.entries) - len(session.branch())
    return count


def _answer(pipe: int) -> str:
    told = read_all(pipe)
    assert not told.startswith("!"), told
    return told


def _writing(path: Path, appends: int, kind: str, number: int) -> Callable[[int], None]:
    def work(out: int) -> None:
        acknowledged, refused = [], 0
        with SessionWriter.open(path) as writer:
            if kind == "branches":
                writer.branch_from("00000001")
            while len(acknowledged) < appends:
                try:
                    if kind == "names":
                        made = writer.append_name(f"name {number} {len(acknowledged)}")
                    else:
                        made = writer.append_message(turn(len(acknowledged)))
                except SessionChangedError:
                    refused += 1
                    writer.refresh()
                except SessionLockedError:
                    refused += 1
                else:
                    acknowledged.append(made)
                os.sched_yield()
        os.write(out, json.dumps([acknowledged, refused]).encode())

    return work


def _writing_like_pi(path: Path, appends: int) -> Callable[[int], None]:
    """Append without a lock and without a look, each line behind the one before."""

    leaf = loads(path.read_bytes()).leaf
    assert leaf is not None

    def work(out: int) -> None:
        parent = leaf.id
        acknowledged = []
        for number in range(appends):
            made = os.urandom(4).hex()
            entry = {"type": "message", "id": made, "parentId": parent, "message": turn(number)}
            with path.open("ab", buffering=0) as file:
                file.write(json.dumps(entry).encode() + b"\n")
            acknowledged.append(made)
            parent = made
            time.sleep(0.0005)
        os.write(out, json.dumps([acknowledged, 0]).encode())

    return work

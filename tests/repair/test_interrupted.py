"""A file is the old one or the new one, whatever happens; `figures.py` runs the same at length."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from pi_sessions import NotWrittenError, SessionChangedError, SessionWriter, load, rewriting
from pi_sessions.errors import SessionLockedError
from pi_sessions.repair.applying import Patient
from repair import interrupted
from repair.interrupted import BACKUP, NAME, WAYS, mend, to_repair, to_upgrade
from writer.surviving import failing, forked, read_all

KILLS = int(os.environ.get("PI_SESSIONS_KILLS", "40"))
NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    place = tmp_path / "sessions"
    place.mkdir()
    return place


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach."""
    with tempfile.TemporaryDirectory(prefix="repair-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_killed(folder: Path) -> None:
    count = interrupted.kill(folder, KILLS, seed=KILLS)

    assert count.kills > KILLS * 0.8
    assert (count.half, count.strays) == (0, 0)
    assert 0 < count.done < count.runs


@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_every_call_fails_once(folder: Path, way: str, possible: bool) -> None:
    with interrupted.unnamed_files(possible=possible):
        count = interrupted.fail_every_call(folder, way)

    assert count.faults > 15
    assert (count.half, count.strays) == (0, 0)


@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_every_write_is_cut(folder: Path, way: str, possible: bool) -> None:
    with interrupted.unnamed_files(possible=possible):
        count = interrupted.cut_every_write(folder, way, step=11)

    assert count.faults > 40
    assert (count.half, count.strays, count.done) == (0, 0, 0)


@pytest.mark.parametrize("way", WAYS)
def test_the_disk_is_full(folder: Path, way: str) -> None:
    counts = [interrupted.fill_the_disk(folder, way, room) for room in (0, 10, 500, 1100, 1 << 20)]

    assert [count.faults for count in counts] == [1, 1, 1, 1, 0]
    assert not any(count.half or count.strays for count in counts)


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_may_not_be_written(open_folder: Path, way: str) -> None:
    place = open_folder / "sessions"
    place.mkdir()
    path = place / NAME
    data = interrupted.make(way, 2)
    path.write_bytes(data)
    place.chmod(0o555)

    def work(out: int) -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with pytest.raises(NotWrittenError, match="permission denied"):
            mend(path, way)
        os.write(out, b"done")

    child, pipe = forked(work)
    assert read_all(pipe) == "done"
    os.waitpid(child, 0)
    assert [file.name for file in place.iterdir()] == [NAME]
    assert path.read_bytes() == data


def test_mode_owner_and_time_are_kept_and_links_followed(folder: Path) -> None:
    path, link = folder / NAME, folder / "link.jsonl"
    data = to_upgrade(3)
    path.write_bytes(data)
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    link.symlink_to(path)
    before = path.stat()
    mend(link, "upgrade")
    after = path.stat()

    assert link.is_symlink()
    assert load(path).version == 3
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert after.st_mtime_ns - before.st_mtime_ns == 1000
    assert (folder / BACKUP).read_bytes() == data


def test_backups_have_numbers(folder: Path) -> None:
    path = folder / NAME
    for number in ("", "2", "3"):
        data = to_upgrade(1 + len(number))
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        mend(path, "upgrade")
        assert (folder / (BACKUP + number)).read_bytes() == data
    assert len(list(folder.iterdir())) == 4


def during(module: Any, name: str, act: Callable[[], None]) -> Any:
    """Do something just before a function of the system is called."""

    def call(*args: Any, **more: Any) -> Any:
        act()
        return getattr(os, name)(*args, **more)

    return failing(module, **{name: call})


@pytest.mark.parametrize("way", WAYS)
def test_a_line_that_pi_appends_meanwhile_is_refused_or_carried_over(
    folder: Path, way: str
) -> None:
    line = b'{"type":"custom","id":"cccccccc","parentId":null,"timestamp":"","customType":"x"}\n'
    path = folder / NAME
    data = interrupted.make(way, 3)

    def append() -> None:
        with path.open("ab") as file:
            file.write(line)

    # While the new file is written: refused.
    path.write_bytes(data)
    with during(rewriting, "chmod", append), pytest.raises(SessionChangedError):
        mend(path, way)
    assert path.read_bytes() == data + line
    assert [file.name for file in folder.iterdir()] == [NAME]
    # Between the last look and the change of names: carried over.
    path.write_bytes(data)
    with during(rewriting, "replace", append):
        patient = Patient(str(path), UTC)
        lines = patient.plan().lines() if way == "repair" else None
        rewriting.replace(str(path), lines or [data], patient.before)
    assert path.read_bytes().endswith(b"\n" + line)


def test_a_change_since_the_plan_is_refused(folder: Path) -> None:
    path = folder / NAME
    path.write_bytes(to_repair(2))
    patient = Patient(str(path), UTC)
    planned = patient.plan()
    path.write_bytes(path.read_bytes() + b"{}\n")
    before = path.read_bytes()
    with pytest.raises(SessionChangedError):
        patient.repair(planned, clock=lambda: 1, random=os.urandom)

    assert path.read_bytes() == before


def test_a_writer_of_ours_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / NAME
    path.write_bytes(to_repair(2))
    monkeypatch.setattr("pi_sessions.writer.locking.lock.__defaults__", (0.05,))
    with SessionWriter.open(path) as writer, writer.held(), pytest.raises(SessionLockedError):
        mend(path, "repair")

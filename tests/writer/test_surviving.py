"""Nothing that was acknowledged is lost, whatever happens; `figures.py` runs the same at length."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_sessions import NotWrittenError, SessionLockedError, SessionWriter, WouldOverwriteError
from pi_sessions.testing import SessionBuilder
from pi_sessions.writer import creating, locking
from writer import surviving
from writer.messages import turn, user

KILLS = int(os.environ.get("PI_SESSIONS_KILLS", "40"))
APPENDS = int(os.environ.get("PI_SESSIONS_APPENDS", "60"))
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small session in a file."""
    made = SessionBuilder()
    made.user("Name an apple.")
    file = tmp_path / "session.jsonl"
    file.write_bytes(made.data)
    return file


@pytest.fixture
def unnamed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether files can be made before they have a name."""
    if not request.param:
        monkeypatch.setattr(creating, "_open_unnamed", lambda _: None)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach."""
    with tempfile.TemporaryDirectory(prefix="writer-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_killed(tmp_path: Path) -> None:
    """Every line a killed process had acknowledged is there, and no other file."""
    count = surviving.kill(tmp_path, KILLS, seed=KILLS)

    assert count.kills == KILLS
    assert count.appends > KILLS
    assert count.lost == 0


@pytest.mark.parametrize("take_back", [True, False])
def test_every_write_is_cut_at_every_byte(path: Path, take_back: bool) -> None:
    """Also where what was written cannot be taken back."""
    count = surviving.cut_every_write(path, take_back=take_back)

    assert count.faults > 300
    assert count.lost == 0


@pytest.mark.parametrize("unnamed", [True, False], indirect=True)
@pytest.mark.usefixtures("unnamed")
def test_every_call_fails_once(tmp_path: Path) -> None:
    """A session of a few turns, with each call to the system failing in turn."""
    count = surviving.fail_every_call(tmp_path)

    assert count.faults > 40
    assert count.lost == 0


@pytest.mark.parametrize("room", [0, 10, 120, 300, 301, 302, 303, 1000, 2048])
def test_the_disk_is_full(tmp_path: Path, room: int) -> None:
    """What found no room was refused, and when there is room again appending goes on."""
    count = surviving.fill_the_disk(tmp_path, room)

    assert count.refused
    assert count.lost == 0


@pytest.mark.parametrize("unnamed", [True, False], indirect=True)
@pytest.mark.usefixtures("unnamed")
def test_read_only(open_folder: Path) -> None:
    """A folder or a file that may not be written: one sentence, and nothing is there."""
    folder, file = open_folder / "sessions", open_folder / "session.jsonl"
    folder.mkdir()
    made = SessionBuilder()
    made.user("Name an apple.")
    file.write_bytes(made.data)
    file.chmod(0o444)
    folder.chmod(0o555)

    def work(out: int) -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        writer = SessionWriter.create(folder, "/")
        for _ in range(2):
            with pytest.raises(NotWrittenError, match="permission denied"):
                writer.append_message(user())
        assert writer.leaf is None
        assert not writer.has_file
        with pytest.raises(NotWrittenError, match="permission denied"):
            SessionWriter.open(file)
        os.write(out, b"done")

    child, pipe = surviving.forked(work)
    assert surviving.read_all(pipe) == "done"
    os.waitpid(child, 0)
    assert not list(folder.iterdir())
    assert file.read_bytes() == made.data


@pytest.mark.parametrize("unnamed", [True, False], indirect=True)
@pytest.mark.usefixtures("unnamed")
def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    """Not even if it came between the look and the write."""
    writer = SessionWriter.create(tmp_path, "/")
    there = Path(writer.path or "")
    there.write_bytes(b"mine")
    with pytest.raises(WouldOverwriteError):
        writer.append_message(user())
    assert there.read_bytes() == b"mine"
    there.unlink()

    def appears(*_: object) -> bool:
        there.write_bytes(b"mine")
        return False

    late = type("path", (), {"lexists": appears})
    with surviving.failing(creating, path=late), pytest.raises(WouldOverwriteError):
        writer.append_message(user())
    assert there.read_bytes() == b"mine"
    assert [file.name for file in tmp_path.iterdir()] == [there.name]


@pytest.mark.parametrize("kind", ["end", "branches", "names"])
@pytest.mark.parametrize("pi", [False, True])
def test_many_at_once(path: Path, kind: str, pi: bool) -> None:
    """Eight processes, alone and beside a program that takes no lock."""
    count = surviving.many_writers(path, 8, APPENDS, kind=kind, pi=pi)

    assert count.appends == (8 + pi) * APPENDS
    assert (count.lost, count.torn) == (0, 0)
    if not pi:
        assert count.siblings == 0
    if kind != "end":
        assert count.refused == 0


def test_a_writer_that_does_not_let_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait for a while and then say so."""
    monkeypatch.setattr(locking, "PATIENCE", 0.05)
    monkeypatch.setattr(locking.lock, "__defaults__", (0.05,))
    with SessionWriter.open(path) as one, SessionWriter.open(path) as other:
        with one.held():
            one.append_message(turn(1))
            with pytest.raises(SessionLockedError, match="by another program"):
                other.append_message(turn(2))
        other.refresh()
        other.append_message(turn(2))

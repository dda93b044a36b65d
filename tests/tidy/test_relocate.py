"""Moving a session goes on where it was stopped, and undoes what it cannot finish."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pi_sessions import NotWrittenError, SessionWriter, WouldOverwriteError, load, rewriting
from pi_sessions.errors import WriteRefusedError
from pi_sessions.testing import SessionBuilder
from pi_sessions.tidy import relocate

NEW = "--new--"


def session(
    folder: Path, name: str, parent: Path | None = None, key: str = "parentSession"
) -> Path:
    """Write a session of a project, forked from another if one is named."""
    folder.mkdir(parents=True, exist_ok=True)
    made = SessionBuilder(id=name, cwd="/old")
    made.user("hi \u2028")
    data = made.data.replace(b'"hi', b'"\xff hi')
    if parent is not None:
        data = data.replace(b"}", f',"{key}":{json.dumps(str(parent))}}}'.encode(), 1)
    path = folder / f"{name}.jsonl"
    path.write_bytes(data)
    path.chmod(0o640)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A session and two that were forked from it, one of them of the old key."""
    folder = tmp_path / "store" / "--old--"
    parent = session(folder, "parent")
    session(folder, "one", parent)
    session(folder, "two", parent, "branchedFrom")
    return tmp_path / "store"


def test_mode_time_and_bytes_stay(store: Path) -> None:
    path = store / "--old--" / "parent.jsonl"
    data = path.read_bytes()
    relocate.do(relocate.plan(str(path), store, cwd="/new"))
    new = store / NEW / "parent.jsonl"

    assert new.read_bytes() == data.replace(b'"/old"', b'"/new"', 1)
    assert new.stat().st_mode & 0o777 == 0o640
    assert int(new.stat().st_mtime) == 1_700_000_000
    for name, key in (("one", "parentSession"), ("two", "branchedFrom")):
        assert load(store / "--old--" / f"{name}.jsonl").header.raw[key] == str(new)


def test_the_folder_goes_with_its_last_session(store: Path) -> None:
    for name in ("one", "two", "parent"):
        path = store / "--old--" / f"{name}.jsonl"
        relocate.do(relocate.plan(str(path), store, cwd="/new"))

    assert [each.name for each in store.iterdir()] == [NEW]
    assert len(list((store / NEW).iterdir())) == 3


def test_a_move_that_was_killed_goes_on(store: Path) -> None:
    """Both files are there; the new one is what would be written."""
    path = store / "--old--" / "parent.jsonl"
    data = path.read_bytes()
    relocate.do(relocate.plan(str(path), store, cwd="/new"))
    path.write_bytes(data)
    relocate.do(relocate.plan(str(path), store, cwd="/new"))

    assert not path.exists()
    assert load(store / NEW / "parent.jsonl").cwd == "/new"


def test_another_session_at_the_new_place(store: Path) -> None:
    path = store / "--old--" / "parent.jsonl"
    there = session(store / NEW, "parent")
    before = there.read_bytes()
    with pytest.raises(WouldOverwriteError):
        relocate.do(relocate.plan(str(path), store, cwd="/new"))

    assert there.read_bytes() == before
    assert path.exists()


def test_a_child_that_cannot_be_told(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the others are told nothing, and nothing has moved."""
    path = store / "--old--" / "parent.jsonl"
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    replace, calls = rewriting.replace, []

    def second_fails(*args: object, **more: object) -> object:
        calls.append(args)
        if len(calls) == 2:
            raise NotWrittenError(str(args[0]), "no space left on device")
        return replace(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(rewriting, "replace", second_fails)
    with pytest.raises(NotWrittenError):
        relocate.do(relocate.plan(str(path), store, cwd="/new"))

    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
    assert not list((store / NEW).iterdir())


def test_a_link_is_not_moved(store: Path) -> None:
    path = store / "--old--" / "parent.jsonl"
    link = store / "link.jsonl"
    link.symlink_to(path)
    with pytest.raises(WriteRefusedError, match="is a link"):
        relocate.plan(str(link), store, cwd="/new")


def test_a_writer_that_had_it_open_is_refused(store: Path) -> None:
    path = store / "--old--" / "parent.jsonl"
    with SessionWriter.open(path) as writer:
        relocate.do(relocate.plan(str(path), store, cwd="/new"))
        with pytest.raises(WriteRefusedError):
            writer.append_name("apples")
    assert not path.exists()

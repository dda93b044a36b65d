"""`move`: the header's directory, the folder, and the way back of what was forked; nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Run
from pi_sessions import load
from pi_sessions.errors import SessionChangedError
from pi_sessions.testing import SessionBuilder
from pi_sessions.tidy import relocate


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two sessions of one project in its folder, the second forked from the first."""
    folder = tmp_path / "store" / "--old-place--"
    folder.mkdir(parents=True)
    for name in ("parent", "child"):
        made = SessionBuilder(id=name, cwd="/old/place")
        made.user(f"hi from {name}, with 1.0 and \u2028")
        data = made.data
        if name == "child":
            parent = json.dumps(str(folder / "parent.jsonl"))
            data = data.replace(b"}", f',"parentSession":{parent}}}'.encode(), 1)
        (folder / f"{name}.jsonl").write_bytes(data)
    return tmp_path / "store"


def test_a_session_goes_to_its_new_directory(store: Path, run: Run) -> None:
    old = store / "--old-place--" / "parent.jsonl"
    before = old.read_bytes()
    done = run("move", "parent", "--cwd", "/new/home", "--session-dir", store, "--json")
    new = store / "--new-home--" / "parent.jsonl"

    assert done.json["moved"][0]["newPath"] == str(new)
    assert not old.exists()
    assert load(new).cwd == "/new/home"
    assert new.read_bytes() == before.replace(b"/old/place", b"/new/home")
    child = load(store / "--old-place--" / "child.jsonl")
    assert child.header.raw["parentSession"] == str(new)
    assert sorted(path.name for path in store.rglob("*") if path.is_file()) == [
        "child.jsonl",
        "parent.jsonl",
    ]


def test_a_whole_project(store: Path, run: Run) -> None:
    words = ("--project", "/old/place", "--cwd", "/new/home", "--session-dir", store)
    shown = run("move", *words, "--dry-run", "--json").json["moved"]
    assert len(shown) == 2
    assert load(store / "--old-place--" / "child.jsonl").cwd == "/old/place"
    assert run("move", *words).code == 0

    assert {load(path).cwd for path in store.rglob("*.jsonl")} == {"/new/home"}
    child = load(store / "--new-home--" / "child.jsonl")
    assert child.header.raw["parentSession"] == str(store / "--new-home--" / "parent.jsonl")


def test_another_store_and_a_flat_one(store: Path, run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("move", "child", "--to", other, "--session-dir", store).code == 0
    assert (other / "--old-place--" / "child.jsonl").exists()
    flat = tmp_path / "flat.jsonl"
    flat.write_bytes((other / "--old-place--" / "child.jsonl").read_bytes())
    assert run("move", flat, "--cwd", "/elsewhere", "--session-dir", other).code == 0

    assert load(flat).cwd == "/elsewhere"


def test_nothing_is_overwritten_and_nothing_that_changed_is_moved(store: Path, run: Run) -> None:
    new = store / "--new-home--" / "parent.jsonl"
    new.parent.mkdir()
    new.write_bytes(b"mine")
    done = run("move", "parent", "--cwd", "/new/home", "--session-dir", store)
    assert done.code == 4
    assert new.read_bytes() == b"mine"
    path = store / "--old-place--" / "child.jsonl"
    move = relocate.plan(str(path), store, cwd="/new/home")
    path.write_bytes(path.read_bytes() + b"{}\n")

    with pytest.raises(SessionChangedError):
        relocate.do(move)
    assert path.exists()
    assert not (store / "--new-home--" / "child.jsonl").exists()


def test_wrong_use(store: Path, run: Run) -> None:
    for words in (["--cwd", "/x"], ["parent"], ["parent", "--project", "/x", "--cwd", "/y"]):
        assert run("move", *words, "--session-dir", store).code == 2

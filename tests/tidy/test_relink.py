"""`relink`: projects that were moved are told, and their sessions follow."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cli.conftest import Run
from pi_sessions import load
from pi_sessions.store import sessions
from pi_sessions.tidy import relink, relocate
from pi_sessions.tidy.kin import Kin
from tidy.stores import OLD, files, session


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store, and a project that went from `code/orchard` to `projects/orchard`."""
    (tmp_path / "store").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "projects" / "orchard" / "apples").mkdir(parents=True)
    return tmp_path


def test_it_is_found_and_put_right(place: Path, run: Run) -> None:
    store, old, new = place / "store", place / "code/orchard", place / "projects/orchard"
    parent = session(store, "parent", cwd=str(old))
    child = session(store, "child", cwd=f"{old}/apples", parent=parent)
    other = session(store, "other", cwd=f"{old}-of-others", parent=child)
    session(store, "here", cwd=str(place))
    words = ("--session-dir", store)
    told = run("relink", *words, "--json").json["missing"]
    assert [(row["cwd"], len(row["sessions"])) for row in told] == [
        (str(old), 1),
        (f"{old}-of-others", 1),
        (f"{old}/apples", 1),
    ]
    assert told[0]["maybe"] == [str(new)]
    assert told[2]["maybe"] == [f"{new}/apples"]

    before = files(store)
    shown = run("relink", old, new, *words, "--json").json
    assert shown["dryRun"]
    assert files(store) == before
    done = run("relink", old, new, *words, "--yes", "--json")
    assert [{**row, "children": None} for row in done.json["moved"]] == [
        {**row, "children": None} for row in shown["moved"]
    ]
    found = {each.id: each for each in sessions(store)}
    assert {name: each.cwd for name, each in found.items()} == {
        "parent": str(new),
        "child": f"{new}/apples",
        "other": f"{old}-of-others",
        "here": str(place),
    }
    assert found["child"].header["parentSession"] == str(found["parent"].path)
    assert load(other).header.raw["parentSession"] == str(found["child"].path)
    assert str(new).replace("/", "-") in str(found["parent"].path)
    assert json.loads(run("relink", *words, "--json").out)["missing"] == [
        {"cwd": f"{old}-of-others", "sessions": [str(other)], "maybe": []}
    ]


def test_what_is_refused(place: Path, run: Run) -> None:
    store, old, new = place / "store", place / "code/orchard", place / "projects/orchard"
    path = session(store, "apples", cwd=str(old))
    words = ("--session-dir", store, "--yes")
    assert run("relink", old, place / "nowhere", *words).code == 4
    assert run("relink", old, *words).code == 2
    os.utime(path, (time.time(), time.time()))
    done = run("relink", old, new, *words)
    assert (done.code, path.exists()) == (4, True)
    assert "close Pi first" in done.err
    old.mkdir()
    done = run("relink", old, new, *words)
    assert (done.code, path.exists()) == (4, True)
    assert "still there" in done.err
    assert run("relink", old, new, *words, "--force").code == 0
    assert not path.exists()


def test_an_empty_store(place: Path, run: Run) -> None:
    for store in (place / "store", place / "none"):
        assert run("relink", "--session-dir", store, "--json").json["missing"] == []
        done = run("relink", "/a", place, "--session-dir", store, "--yes")
        assert (done.code, b"no session" in done.out) == (0, True)


@pytest.mark.parametrize("cwd", ["relative/x", "/\0", "", "/" + "x" * 5000, "/a\n\x1b[31m", "//"])
def test_odd_directories(place: Path, run: Run, cwd: str) -> None:
    """A header may name anything."""
    header = json.dumps({"type": "session", "version": 3, "id": "odd", "cwd": cwd})
    (place / "store" / "odd.jsonl").write_text(header + "\n")
    done = run("relink", "--session-dir", place / "store")
    assert done.code == 0
    assert b"\x1b" not in done.out


def test_a_folder_that_no_system_can_name(place: Path, run: Run) -> None:
    header = r'{"type":"session","version":3,"id":"odd","cwd":"/gone/\ud800"}'
    folder = place / "store" / "--gone--"
    folder.mkdir()
    (folder / "odd.jsonl").write_text(header + "\n")
    os.utime(folder / "odd.jsonl", (OLD, OLD))
    done = run("relink", "/gone", place, "--session-dir", place / "store", "--yes")
    assert done.code == 4
    assert "no system can name" in done.err
    assert (folder / "odd.jsonl").exists()


def test_roots() -> None:
    assert relink.below([], "/", "/x") == []
    assert relink.is_folder("/")
    assert not relink.is_folder("/\0")


def test_kin_follow_as_they_move(place: Path) -> None:
    """Moving one after another with one look at the store ends as with a look for each."""
    store = place / "store"
    paths = [session(store, "a", cwd="/old")]
    for name in "bcd":
        paths.append(session(store, name, cwd="/old", parent=paths[-1]))
    kin = Kin(sessions(store))
    for path in (paths[2], paths[0], paths[1], paths[3]):
        move = relocate.plan(str(path), store, cwd="/new", kin=kin)
        relocate.do(move)
        kin.moved(move.path, move.new_path)
        fresh = Kin(sessions(store))
        for each in sessions(store):
            mine, its = (one.children(str(each.path)) for one in (kin, fresh))
            assert {child.path for child in mine} == {child.path for child in its}
    parents = {each.id: each.header.get("parentSession") for each in sessions(store)}
    folder = store / "--new--"
    assert parents == {"a": None} | {
        name: str(folder / f"{before}.jsonl") for before, name in ("ab", "bc", "cd")
    }

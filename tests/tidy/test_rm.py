"""`rm`: into the trash, or for good; never what changed meanwhile, never a parent unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.conftest import Run
from pi_sessions.errors import SessionChangedError
from pi_sessions.rewriting import locked, snapshot
from pi_sessions.testing import SessionBuilder
from pi_sessions.tidy.trash import take_away


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A session and one that was forked from it."""
    root = tmp_path / "store"
    root.mkdir()
    made = SessionBuilder(id="parent")
    made.user("hi")
    (root / "parent.jsonl").write_bytes(made.data)
    header = (
        f'{{"type":"session","version":3,"id":"child","parentSession":"{root}/parent.jsonl"}}\n'
    )
    (root / "child.jsonl").write_text(header)
    return root


def test_for_good(store: Path, run: Run) -> None:
    done = run("rm", store / "child.jsonl", "--permanently", "--session-dir", store, "--json")

    assert (done.code, done.json["how"], done.json["children"]) == (0, "deleted", [])
    assert not (store / "child.jsonl").exists()


def test_into_the_trash(store: Path, run: Run, tmp_path: Path) -> None:
    """A program of that name is asked first; it gets the file behind `--`."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "trash").write_text('#!/bin/sh\nmv "$2" "$TRASH"\n')
    (programs / "trash").chmod(0o755)
    (tmp_path / "can").mkdir()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = run("rm", "child", "--session-dir", store, PATH=path, TRASH=str(tmp_path / "can"))

    assert done.code == 0
    assert (tmp_path / "can" / "child.jsonl").exists()
    assert b"is in the trash" in done.out


def test_the_trash_of_the_system(store: Path, run: Run, tmp_path: Path) -> None:
    before = (store / "child.jsonl").read_bytes()
    done = run(
        "rm", "child", "--session-dir", store, "--json", PATH="", XDG_DATA_HOME=str(tmp_path)
    )

    assert (done.code, done.json["how"]) == (0, "system trash")
    kept = [path for path in tmp_path.rglob("child*.jsonl") if path.read_bytes() == before]
    assert kept


def test_what_others_were_forked_from(store: Path, run: Run) -> None:
    refused = run("rm", "parent", "--session-dir", store, "--permanently")
    assert refused.code == 4
    assert "a session was forked from (child)" in refused.err
    shown = run("rm", "parent", "--session-dir", store, "--dry-run", "--json").json
    assert [row["id"] for row in shown["children"]] == ["child"]
    assert (store / "parent.jsonl").exists()

    assert run("rm", "parent", "--session-dir", store, "--permanently", "--force").code == 0
    assert not (store / "parent.jsonl").exists()


def test_what_changed_meanwhile_stays(store: Path) -> None:
    path = store / "child.jsonl"
    before = snapshot(str(path))
    path.write_bytes(path.read_bytes() + b"{}\n")

    with pytest.raises(SessionChangedError):
        take_away(str(path), before, permanently=True)
    assert path.exists()


def test_what_is_being_written_stays(store: Path, run: Run) -> None:
    path = store / "child.jsonl"
    with locked(str(path)):
        done = run("rm", path, "--permanently", "--session-dir", store)

    assert done.code == 4
    assert "is being written" in done.err
    assert path.exists()

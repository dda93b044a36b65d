"""`prune`: shows first, takes only what it showed, and into the archive unless told otherwise."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

import pytest

from cli.conftest import Run
from pi_sessions import SessionWriter
from pi_sessions.errors import SessionChangedError, UnreadableError
from pi_sessions.index import Cache, summaries
from pi_sessions.store import Read, StoredFile, iso
from pi_sessions.testing import SessionBuilder
from pi_sessions.tidy import archive
from pi_sessions.tidy.pruning import How, Wish, choose, take
from tidy.stores import OLD, files, session

DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An empty store."""
    root = tmp_path / "store"
    root.mkdir()
    return root


def chosen(store: Path, **wish: object) -> list[str]:
    plan = choose(store, Wish(**wish), now=time.time(), zone=UTC)
    return sorted(each.id for each in plan.chosen)


def write(store: Path, name: str, made: SessionBuilder) -> Path:
    path = store / f"{name}.jsonl"
    path.write_bytes(made.data)
    os.utime(path, (OLD, OLD))
    return path


def test_what_a_wish_means(store: Path) -> None:
    small = session(store, "small", turns=1)
    session(store, "large", cwd="/work/barn", turns=20)
    named = SessionBuilder(id="named")
    named.user("hi")
    named.name("pears")
    write(store, "named", named)
    stamp = 1_700_000_000_000
    late = SessionBuilder(id="late")
    late.user("hi", timestamp=iso(stamp))
    late.assistant("ho", timestamp=iso(stamp + 5000))
    write(store, "late", late)
    size = small.stat().st_size

    assert chosen(store, larger=size) == ["large"]
    assert "small" in chosen(store, larger=size - 1)
    assert chosen(store, project="/work/barn/") == ["large"]
    assert chosen(store, project="/work") == []
    assert chosen(store, before=stamp + 5000) == []
    assert chosen(store, before=stamp + 5001) == ["late"]
    assert chosen(store, empty=True) == ["named"]
    assert chosen(store, empty=True, unnamed=True) == []
    assert chosen(store) == ["large", "late", "named", "small"]


def test_emptiness(store: Path) -> None:
    """Without a user message, or without a reply, on any branch; what cannot be read stays."""
    nothing, asked, told = (SessionBuilder(id=name) for name in ("nothing", "asked", "told"))
    asked.user("anybody there?")
    asked.model_change("birch", "birch-1")
    told.assistant("hello")
    whole = SessionBuilder(id="whole")
    first = whole.user("hi")
    whole.assistant("ho")
    whole.at(first)
    whole.user("again")
    for name, made in zip(
        ("nothing", "asked", "told", "whole"), (nothing, asked, told, whole), strict=True
    ):
        write(store, name, made)
    (store / "junk.jsonl").write_bytes(b"junk\n")
    (store / "zero.jsonl").write_bytes(b"")
    plan = choose(store, Wish(empty=True), now=time.time(), zone=UTC)

    assert {each.id: each.lacks for each in plan.chosen} == {
        "nothing": ("user message", "reply"),
        "asked": ("reply",),
        "told": ("user message",),
    }
    assert plan.sessions == 4


def test_the_index_tells_the_same(store: Path, tmp_path: Path) -> None:
    paths = [session(store, f"s{number}", turns=1 + number) for number in range(12)]
    cache = Cache(str(tmp_path / "cache"), str(store), time.time_ns)

    def read(files: Sequence[StoredFile]) -> Iterator[Read]:
        return summaries([cache], files, UTC)

    for wish in (Wish(), Wish(empty=True), Wish(before=0), Wish(unnamed=True), Wish(larger=3000)):
        one = choose(store, wish, now=time.time(), zone=UTC)
        for _ in range(2):
            assert choose(store, wish, now=time.time(), zone=UTC, read=read) == one
    grown = choose(store, Wish(), now=time.time(), zone=UTC, read=read)
    with paths[3].open("ab") as file:
        file.write(b"\n")
    late = choose(store, Wish(), now=time.time(), zone=UTC, read=read)

    assert len(grown.chosen) == 12
    assert grown.id != late.id
    assert [each.path for each in late.kept] == [str(paths[3])]


def test_links_and_what_is_at_work_stay(store: Path) -> None:
    session(store, "apples")
    (store / "link.jsonl").symlink_to(session(store.parent / "other", "pears"))
    fresh = session(store, "fresh")
    os.utime(fresh, (time.time(), time.time()))
    plan = choose(store, Wish(), now=time.time(), zone=UTC)

    assert [each.id for each in plan.chosen] == ["apples"]
    assert sorted(Path(each.path).name for each in plan.kept) == ["fresh.jsonl", "link.jsonl"]


def test_forks_are_named(store: Path) -> None:
    parent = session(store, "parent", turns=5)
    child = session(store, "child", turns=1, parent=parent)
    session(store, "other", turns=5, parent=parent)
    plan = choose(store, Wish(larger=child.stat().st_size), now=time.time(), zone=UTC)

    assert {each.id: each.forks for each in plan.chosen} == {
        "parent": ((str(child), "child"),),
        "other": (),
    }


@pytest.mark.parametrize("how", list(How))
def test_what_changed_since_stays(store: Path, how: How) -> None:
    """Appended to, replaced by a file of the same size, touched, or gone."""
    path = session(store, "apples")
    folder = archive.folder_of(store)

    def appended() -> None:
        path.write_bytes(path.read_bytes() + b"{}\n")

    def replaced() -> None:
        other = path.with_suffix(".new")
        other.write_bytes(path.read_bytes())
        other.replace(path)

    for change in (appended, replaced, path.touch, path.unlink):
        plan = choose(store, Wish(), now=time.time(), zone=UTC)
        (each,) = plan.chosen
        change()
        there = files(store)
        with pytest.raises((SessionChangedError, UnreadableError)):
            take(each, how, store, folder)
        assert files(store) == there
        os.utime(path, (OLD, OLD)) if path.exists() else None
    assert files(folder) == {}


def test_each_way(store: Path, run: Run, tmp_path: Path) -> None:
    words = ("--session-dir", store, "--empty", "--yes", "--json")
    for number, (more, how) in enumerate(
        (([], "archived"), (["--trash"], "system trash"), (["--permanently"], "deleted"))
    ):
        made = SessionBuilder(id=f"s{number}")
        path = write(store, f"s{number}", made)
        done = run("prune", *words, *more, PATH="", XDG_DATA_HOME=str(tmp_path / "data"))
        (row,) = done.json["chosen"]
        assert (done.code, row["how"], path.exists()) == (0, how, False)
        assert done.json["freed"] == row["size"] - (row["packed"] or 0)
    (item,) = archive.archived(archive.folder_of(store))
    assert item.id == "s0"
    assert any("s1" in path.name for path in (tmp_path / "data").rglob("*"))
    assert run("archive", "--restore", "s0", "--session-dir", store).code == 0
    assert [path.name for path in store.iterdir()] == ["s0.jsonl"]


def test_nothing_happens_unasked(store: Path, run: Run) -> None:
    session(store, "apples")
    before = files(store)
    for more in ([], ["--dry-run"], ["--dry-run", "--yes"], ["--permanently"], ["--trash"]):
        done = run("prune", "--larger-than", "1B", "--session-dir", store, *more)
        assert done.code == 0
        assert b"Nothing was done" in done.out
        assert files(store) == before
    assert not archive.folder_of(store).exists()


def test_a_plan_holds(store: Path, run: Run) -> None:
    words = ("prune", "--larger-than", "1B", "--session-dir", store)
    path = session(store, "apples")
    plan = run(*words, "--json").json["plan"]
    assert run(*words, "--json").json["plan"] == plan
    session(store, "pears")
    done = run(*words, "--yes", "--plan", plan)
    assert done.code == 4
    assert "no longer as it was" in done.err
    assert path.exists()
    plan = run(*words, "--json").json["plan"]
    assert run(*words, "--yes", "--plan", plan).code == 0
    assert files(store) == {}


def test_one_that_is_written_stays_and_the_rest_goes(store: Path, run: Run) -> None:
    path, other = session(store, "apples"), session(store, "pears")
    with SessionWriter.open(path) as writer, writer.batch():
        done = run("prune", "--larger-than", "1B", "--session-dir", store, "--yes", "--json")

    assert done.code == 4
    assert [row["path"] for row in done.json["refused"]] == [str(path)]
    assert {row["id"]: row["how"] for row in done.json["chosen"]} == {
        "apples": None,
        "pears": "archived",
    }
    assert path.exists()
    assert not other.exists()


def test_wrong_use_and_an_empty_store(store: Path, run: Run) -> None:
    for wrong in (
        [],
        ["--unnamed"],
        ["--older-than", "soon"],
        ["--larger-than", "much"],
        ["--empty", "--trash", "--permanently"],
    ):
        assert run("prune", *wrong, "--session-dir", store).code == 2, wrong
    for root in (store, store / "none"):
        done = run("prune", "--empty", "--session-dir", root, "--yes", "--json")
        assert (done.code, done.json["chosen"], done.json["total"]) == (0, [], 0)


def test_ages(store: Path, run: Run) -> None:
    made = SessionBuilder(id="apples")
    made.user("hi", timestamp=iso((time.time() - 100 * DAY) * 1000))
    made.assistant("ho", timestamp=iso((time.time() - 50 * DAY) * 1000))
    write(store, "apples", made)
    for age, count in (
        ("49d", 1),
        ("7w", 1),
        ("51d", 0),
        ("2000h", 0),
        ("2026-01-01", 0),
        ("1y", 0),
    ):
        found = run("prune", "--older-than", age, "--session-dir", store, "--json").json
        assert len(found["chosen"]) == count, age

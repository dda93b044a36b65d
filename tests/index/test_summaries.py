"""Summaries from the cache are those that reading gives, whatever happens to files and cache."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from index.changing import STEPS, operations, session
from pi_sessions import store
from pi_sessions.index import Cache, reading, refreshing, summaries
from pi_sessions.store import Read


def answers(cache: Cache, singly: bool = False) -> tuple[list[Read], list[Read]]:
    files = store.look(Path(cache.root)).files
    paths = {file.path for file in files} if singly else ()
    key: Callable[[Read], str] = lambda read: read.file.path  # noqa: E731
    with_cache = sorted(summaries([cache], files, UTC, singly=paths), key=key)
    return with_cache, sorted(store.read_all(files, UTC, singly=paths), key=key)


@pytest.mark.parametrize("seed", range(3))
def test_every_answer_is_that_of_reading(cache: Cache, seed: int) -> None:
    rnd = random.Random(seed)
    for step, _ in zip(range(STEPS), operations(cache, rnd), strict=False):
        if step % 3 == 2:
            kept, read = answers(cache, singly=rnd.random() < 0.3)
            assert kept == read


def test_what_has_not_changed_is_not_read(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(cache.root) / "one.jsonl"
    path.write_bytes(session("one"))
    first, _ = answers(cache)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("read again")

    with monkeypatch.context() as patched:
        patched.setattr(refreshing, "refresh", refuse)
        assert list(summaries([cache], [read.file for read in first], UTC)) == first
    moved = path.rename(path.with_name("two.jsonl"))
    with monkeypatch.context() as patched:
        patched.setattr(reading, "go_on", refuse)
        kept = list(summaries([cache], store.look(Path(cache.root)).files, UTC))
    assert kept[0].summary is not None
    assert kept[0].summary.path == str(moved)


def test_what_grew_is_read_from_where_it_ended(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(cache.root) / "one.jsonl"
    path.write_bytes(session("one"))
    answers(cache)
    begun: list[bool] = []
    real = reading.go_on

    def watched(path: str, _: object, state: bytes) -> object:
        begun.append(bool(state))
        return real(path, UTC, state)

    monkeypatch.setattr(reading, "go_on", watched)
    with path.open("ab") as out:
        out.write(
            b'{"type":"session_info","id":"last","parentId":null,"timestamp":"2026-01-01T00:00:00Z",'
            b'"name":"named"}\n'
        )
    kept, read = answers(cache)
    assert kept == read
    assert kept[0].summary is not None
    assert kept[0].summary.name == "named"
    assert begun == [True]


def test_without_a_place_to_write(cache: Cache, tmp_path: Path) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("one"))
    (tmp_path / "cache").write_text("a file stands where the directory should be")
    kept, read = answers(cache)
    assert kept == read


def test_a_file_that_changes_within_a_tick(cache: Cache) -> None:
    path = Path(cache.root) / "one.jsonl"
    path.write_bytes(session("one", 40))
    when = path.stat().st_mtime_ns
    young = Cache(cache.folder, cache.root, lambda: when + 1000)
    answers(young)
    with path.open("r+b") as file:
        file.seek(6000)
        rest = file.read().replace(b"the answer", b"The Answer").replace(b"one 3", b"two 3")
        file.seek(6000)
        file.write(rest)
    os.utime(path, ns=(when, when))
    kept, read = answers(young)
    assert kept == read


def test_another_zone_is_another_answer(cache: Cache) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("one"))
    answers(cache)
    files = store.look(Path(cache.root)).files
    far = ZoneInfo("Pacific/Kiritimati")
    assert list(summaries([cache], files, far)) == list(store.read_all(files, far))


def test_a_store_may_be_named_in_other_words(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("one"))
    answers(cache)
    monkeypatch.chdir(cache.root)
    monkeypatch.setattr(reading, "go_on", None)
    here = Cache(cache.folder, ".", cache.clock)
    files = store.look(Path()).files
    assert [read.summary and read.summary.path for read in summaries([here], files, UTC)] == [
        "./one.jsonl"
    ]

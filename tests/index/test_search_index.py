"""A search with the index finds what a search without it finds, in the same order."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cli.conftest import Run
from index.changing import STEPS, WORDS, damage, operations, session
from pi_sessions import index, store
from pi_sessions.context.passage import Where
from pi_sessions.errors import UnreadableError
from pi_sessions.finding import Query
from pi_sessions.index import Cache, wording, words
from pi_sessions.testing import SessionBuilder, thinking_block
from property import strategies

QUERIES = [
    *(Query(word, is_exact=exact) for word in WORDS for exact in (True, False)),
    Query("the answer"),
    Query("answer", roles=("assistant",)),
    Query("kelvin"),
    Query("本語"),
    Query("strasse"),
    Query("needle"),
    Query("src/grown", where=(Where.ARGUMENTS,)),
    Query("next", branch="live"),
    Query("in a result", seen=False),
    Query(r"w[al]+rus\b", is_regex=True),
    Query("read", tools=("read",)),
    Query("named", models=("nothing",)),
    Query("no JSON"),
    Query("->"),
    Query("half"),
]


def compare(cache: Cache, query: Query, limit: int | None) -> index.Answer:
    files = store.look(Path(cache.root)).files
    found = index.search([cache], files, query, UTC, limit=limit)
    assert found == index.search([], files, query, UTC, limit=limit)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_files_and_cache(cache: Cache, seed: int) -> None:
    rnd = random.Random(seed)
    for step, _ in zip(range(STEPS), operations(cache, rnd), strict=False):
        if step % 3 == 2:
            for query in rnd.sample(QUERIES, 3):
                compare(cache, query, rnd.choice([None, 1, 3, 40]))


@given(
    st.lists(strategies.damaged_sessions() | strategies.sessions(), min_size=1, max_size=3),
    st.sampled_from(["plum", "PLUM", "Two\nLINES", "kiss", "😀", "É", "1", "text"])
    | st.text(max_size=3),
    st.booleans(),
    st.sampled_from([None, 1, 2, 5]),
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_file(
    cache: Cache, files: list[bytes], text: str, is_exact: bool, limit: int | None
) -> None:
    for path in Path(cache.root).glob("*.jsonl"):
        path.unlink()
    for number, data in enumerate(files):
        (Path(cache.root) / f"{number}.jsonl").write_bytes(data)
    compare(cache, Query(text, is_exact=is_exact), limit)


@given(
    st.from_regex(r"[abW_. \\*+?\[\]^${}|()0-9é日-]{1,12}", fullmatch=True), st.text(max_size=40)
)
@example(r"a{0,2}b", "b")
@example(r"[ab]c", "bc")
@example(r"a\x41", "aA")
@example(r"\\b", "\\b")
def test_stretches_stand_in_what_an_expression_finds(expression: str, text: str) -> None:
    query = Query(expression, is_regex=True)
    try:
        pattern = query.pattern()
    except (re.error, OverflowError):
        return
    text += expression.replace("\\", "") + "bW_aab0é日-"
    if pattern.search(text):
        found = words.words_of(text.encode())
        for piece in words.pieces_of(query):
            assert any(piece in word for word in found)


def test_long_words_are_found_by_any_part_of_them() -> None:
    word = "".join(f"{number:03}" for number in range(200))
    found = words.words_of(word.encode())
    for begin in range(0, 560, 7):
        (piece,) = words.pieces_of(Query(word[begin : begin + 33]))
        assert any(piece in each for each in found)


def test_rows_hold_rank_file_and_line() -> None:
    assert wording.parts_of(wording.row_of(5999, 12345, 678)) == (5999, 12345, 678)
    assert wording.row_of(1, 1 << 23, 1 << 25) < wording.row_of(2, 0, 0)


def test_few_lines_are_read_for_the_best_finds(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (Path(cache.root) / f"{number}.jsonl").write_bytes(session("walrus", 8))
    compare(cache, Query("walrus"), None)
    compare(cache, Query("walrus"), 5)
    with monkeypatch.context() as patched:
        patched.setattr(index.looking.finding, "find", None)
        files = store.look(Path(cache.root)).files
        found = index.search([cache], files, Query("walrus"), UTC, limit=5)
    assert len(found.hits) == 5
    assert found.is_cut


def test_signatures_and_images_are_not_looked_into(cache: Cache) -> None:
    made = SessionBuilder()
    made.user("a picture")
    made.assistant("seen", thinking=thinking_block("thought", signature="c2lnbmF0dXJl" * 9))
    (Path(cache.root) / "one.jsonl").write_bytes(made.data)
    assert not compare(cache, Query("c2lnbmF0dXJl"), None).hits
    assert [hit.where for hit in compare(cache, Query("thought"), None).hits] == ["thinking"]


def test_a_cache_that_cannot_be_written(cache: Cache) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    (Path(cache.root) / "one.jsonl").write_bytes(session("walrus"))
    compare(cache, Query("walrus"), 5)
    Path(cache.folder).chmod(0o500)
    try:
        compare(cache, Query("walrus"), 5)
        (Path(cache.root) / "two.jsonl").write_bytes(session("walrus"))
        compare(cache, Query("walrus"), 5)
    finally:
        Path(cache.folder).chmod(0o700)


def test_a_full_disk(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("walrus", 400))
    real = sqlite3.connect

    def small(*args: object, **options: object) -> sqlite3.Connection:
        connection = real(*args, **options)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", small)
        compare(cache, Query("walrus"), 5)
    compare(cache, Query("walrus"), 5)
    assert index.database.is_sealed(cache.path)


WORKER = """
import random, sys
from datetime import UTC
from pathlib import Path
from pi_sessions import index, store
from pi_sessions.finding import Query
from pi_sessions.index import Cache

folder, root, seed = sys.argv[1:]
rnd = random.Random(int(seed))
cache = Cache(folder, root, lambda: 1 << 62)
for turn in range(8):
    query, limit = Query(rnd.choice(["walrus", "next", "kelvin", "needle"])), rnd.choice([None, 3])
    for attempt in range(50):
        before = store.look(Path(root)).files
        found = index.search([cache], before, query, UTC, limit=limit)
        plain = index.search([], before, query, UTC, limit=limit)
        if store.look(Path(root)).files == before:
            assert found == plain, (query, limit)
            break
print("equal")
"""


def test_four_processes_at_once(cache: Cache, tmp_path: Path) -> None:
    rnd = random.Random(4)
    for number in range(8):
        (Path(cache.root) / f"s{number}.jsonl").write_bytes(session("walrus", number))
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    words_of_command = [sys.executable, str(script), cache.folder, cache.root]
    processes = [
        subprocess.Popen(
            [*words_of_command, str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for seed in range(4)
    ]
    changes = operations(cache, rnd)
    while any(process.poll() is None for process in processes):
        try:
            next(changes)
        except OSError:  # another process was quicker
            changes = operations(cache, rnd)
        try:
            processes[0].wait(0.15)
        except subprocess.TimeoutExpired:
            continue
    for process in processes:
        out, err = process.communicate()
        assert (process.returncode, out) == (0, b"equal\n"), err.decode()


def test_the_command(cache: Cache, run: Run) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("walrus", 60))

    def rows(*options: str) -> object:
        words = ("search", "walrus", "--session-dir", cache.root, "--json", *options)
        return run(*words, PI_SESSIONS_CACHE_DIR=cache.folder).json

    assert rows("--no-index") == rows() == rows()
    assert rows("--no-index", "--limit", "7") == rows("--limit", "7")
    assert list(Path(cache.folder).glob("*.sqlite"))
    damage(next(Path(cache.folder).glob("*.sqlite")), random.Random(1))
    assert rows("--no-index") == rows()
    told = run("search", "walrus", "--session-dir", cache.root, PI_SESSIONS_CACHE_DIR=cache.folder)
    assert b"there is more" in told.out
    assert run("search", "narwhal", "--session-dir", cache.root).code == 1


def test_filters_of_lines(cache: Cache, run: Run) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("walrus", 2))

    def lines(*options: str) -> list[int]:
        words = ("search", *options, "--session-dir", cache.root, "--json")
        return sorted({row["line"] for row in run(*words).json})

    assert lines("walrus", "--tool", "read") == [3, 4, 6, 7]
    assert lines("walrus", "--tool", "write") == []
    assert lines("answer", "--model", "birch") == [3, 6]
    assert lines("walrus", "--since", "2030-01-01") == []
    assert lines("walrus", "--until", "2026-01-05") == lines("walrus")


def test_what_cannot_be_read_is_named(cache: Cache, run: Run) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    path = Path(cache.root) / "one.jsonl"
    path.write_bytes(session("walrus", 2))
    path.chmod(0)
    for _ in range(2):
        done = run("search", "narwhal", "--session-dir", cache.root)
        assert done.code == 3
        assert str(path) in done.err


def test_a_miss_is_not_proven_by_what_cannot_be_read(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path(cache.root) / "one.jsonl").write_bytes(session("walrus", 2))

    def refuse(path: str, *_: object) -> None:
        raise UnreadableError(path, "permission denied")

    monkeypatch.setattr(index.looking.finding, "find", refuse)
    files = store.look(Path(cache.root)).files
    found = index.search([], files, Query("walrus"), UTC)
    assert found.hits == []
    assert "permission denied" in found.unread[0]

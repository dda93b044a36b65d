"""`search` finds what is there, whatever it was written as, and a miss is proven."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.conftest import Run
from pi_sessions import loads
from pi_sessions.errors import NotASessionError
from pi_sessions.finding import Query, find, texts
from pi_sessions.needle import file_may_hold, may_hold
from pi_sessions.testing import SessionBuilder, tool_call
from property import strategies


@given(
    strategies.damaged_sessions(),
    st.one_of(
        st.sampled_from(["plum", "PLUM", "Two\nLINES", "kiss", "😀", "É"]), st.text(max_size=3)
    ),
    st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_decoding_everything_finds_is_found(
    tmp_path: Path, data: bytes, text: str, is_exact: bool
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    query = Query(text, is_exact=is_exact)
    pattern = query.pattern()
    try:
        session = loads(data)
    except NotASessionError:
        return
    lines = range(1, len(session.table) + 1)
    expected = [
        line
        for line in lines
        if any(pattern.search(passage.text) for passage in texts(session.table, line))
    ]
    found = find(str(path), query, UTC)

    assert list(dict.fromkeys(hit.line for hit in found)) == expected
    assert set(expected) <= set(may_hold(session.table, text, ignore_case=not is_exact))
    if expected:
        assert file_may_hold(session.table.source, text, ignore_case=not is_exact)


@pytest.mark.parametrize(
    "stored", ["Kelvin", "\\u212Aelvin", "\u212aelvin", "\\u006Belvin", "KELVIN"]
)
def test_letters_of_many_forms(tmp_path: Path, stored: str) -> None:
    path = tmp_path / "session.jsonl"
    header = '{"type":"session","version":3,"id":"s"}'
    entry = '{"type":"message","id":"a","message":{"role":"user","content":"TEXT"}}'
    path.write_text(f"{header}\n{entry.replace('TEXT', stored)}\n", "utf-8")

    assert [hit.line for hit in find(str(path), Query("kelvin"), UTC)] == [2]


@pytest.mark.parametrize("letter", "kis")
@pytest.mark.parametrize("form", ["{}", "\\u{:04x}", "\\u{:04X}"])
def test_every_form_of_a_letter_wherever_it_stands(letter: str, form: str) -> None:
    others = [chr(n) for n in range(128, 0x3000) if re.match(letter, chr(n), re.IGNORECASE)]
    for char in (letter, letter.upper(), *others):
        stored = form.format(char if form == "{}" else ord(char))
        entry = '{"type":"message","id":"a","message":{"role":"user","content":"%s"}}'
        for before in (0, *range((1 << 18) - 160, (1 << 18) + 10, 6)):
            said = f"{'é' * (before // 2)}xx{stored}yy"
            data = f'{{"type":"session","version":3,"id":"s"}}\n{entry % said}\n'.encode()
            table = loads(data).table

            assert list(may_hold(table, f"X{letter}Y", ignore_case=True)) == [2]
            assert file_may_hold(table.source, f"X{letter}Y", ignore_case=True)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of two sessions."""
    root = tmp_path / "store"
    (root / "--a--").mkdir(parents=True)
    for name, folder in (("one", "--a--"), ("two", "")):
        made = SessionBuilder()
        first = made.user(f"the {name} Walrus")
        made.assistant("on a branch that was left: walrus")
        made.at(first)
        made.assistant(calls=[tool_call("read", {"path": f"src/{name}.py"})])
        made.tool_result("call-1", "a walrus in a result")
        made.label(first, "walrus label")
        path = root / folder / f"{name}.jsonl"
        path.write_bytes(made.data.replace(b'"id":"', b'"id":"', 1))
    (root / "foreign.jsonl").write_bytes(b"walrus, but no session\n")
    return root


def test_filters(store: Path, run: Run) -> None:
    def lines(*words: str) -> list[tuple[str, int]]:
        found = run("search", *words, "--session-dir", store, "--json")
        return sorted((Path(row["path"]).stem, row["line"]) for row in found.json)

    both: Callable[..., list[tuple[str, int]]] = lambda *n: sorted(  # noqa: E731
        (name, line) for name in ("one", "two") for line in n
    )
    assert lines("walrus") == both(2, 3, 5, 6)
    assert lines("walrus", "--exact") == both(3, 5, 6)
    assert lines("w.lrus$", "--regex", "--role", "assistant") == both(3)
    assert lines("walrus", "--branch", "abandoned") == both(3)
    assert lines("walrus", "--branch", "live", "--in", "result") == both(5)
    assert lines("walrus", "--never-seen") == both(3, 5, 6)
    assert lines("walrus", "--seen") == both(2)
    assert lines("src/one.py", "--files") == [("one", 4)]
    assert len(lines("walrus", "--limit", "3")) == 3


def test_a_miss_is_proven(store: Path, run: Run) -> None:
    done = run("search", "narwhal", "--session-dir", store)

    assert done.code == 1
    assert done.out == b"nothing in 3 files\n"


def test_for_a_person(store: Path, run: Run) -> None:
    out = run("search", "one walrus", "--session-dir", store).out.decode()

    assert "one.jsonl" in out
    assert "the one Walrus" in out
    assert "pi-sessions lines" in out


def test_wrong_use(store: Path, run: Run) -> None:
    for words in ([" "], ["(", "--regex"], ["x", "--in", "nowhere"]):
        done = run("search", *words, "--session-dir", store)
        assert done.code == 2
        assert done.err.count("\n") == 1


def test_archived_sessions_are_searched_where_that_is_asked(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    root.mkdir()
    for number in range(2):
        session = SessionBuilder(id=f"pear-{number}", cwd=f"/work/{number}")
        session.user("A pear in the archive")
        (root / f"{number}.jsonl").write_bytes(session.data)
    assert run("archive", root / "0.jsonl", "--session-dir", root, "--force").code == 0

    without = run("search", "pear in", "--session-dir", root, "--json")
    assert [row["id"] for row in without.json] == ["pear-1"]
    found = run("search", "pear in", "--session-dir", root, "--json", "--archived")
    assert {row["id"] for row in found.json} == {"pear-0", "pear-1"}
    mine = run(
        "search", "pear in", "--session-dir", root, "--json", "--archived", "--cwd", "/work/0"
    )
    assert [row["id"] for row in mine.json] == ["pear-0"]
    assert run("search", "zucchini", "--session-dir", root, "--archived").code == 1

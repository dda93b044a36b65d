"""Every defect that can be mended is, nothing else is touched, and twice is as good as once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.conftest import Run
from conftest import SHARED, need
from pi_sessions import Code, load, loads
from pi_sessions.errors import NotASessionError
from pi_sessions.repair.applying import Patient
from pi_sessions.repair.catalogue import MENDED, REMEDIES, Way
from pi_sessions.repair.planning import plan
from pi_sessions.testing import SessionBuilder, tool_call
from property import strategies
from repair.conftest import Mend, Numbers, clock

ROOT = Path(__file__).parent.parent
HEALTHY = [
    *sorted((ROOT / "recordings").glob("*/session*.jsonl")),
    *sorted((SHARED / "wire").glob("*/session*.jsonl")),
    *sorted((SHARED / "real").glob("*.jsonl")),
]


def codes(path: Path) -> set[Code]:
    return {item.code for item in load(path).check()}


@pytest.fixture
def case(tmp_path: Path) -> Callable[[str], Path]:
    """Copy the session of a reported case."""

    def copy(number: str) -> Path:
        found = next(need(SHARED / "cases").glob(f"{number}-*"))
        path = tmp_path / "session.jsonl"
        shutil.copy(found / "session.jsonl", path)
        return path

    return copy


def told(path: Path) -> list[str]:
    """Give the texts of the next request's conversation."""
    texts = []
    for message in load(path).context(stage="llm").messages:
        content = message["content"]
        blocks = [{"text": content}] if isinstance(content, str) else content
        texts += [block.get("text", "") for block in blocks]
    return texts


def test_every_defect_is_in_the_catalogue() -> None:
    assert set(REMEDIES) == set(Code)
    assert {code for code, known in REMEDIES.items() if known.way is Way.APPEND} < MENDED


def test_two_entries_on_one_line(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("42")
    before = path.read_bytes()
    mend(path)

    assert load(path).entry("a0000031").line == 5
    assert len(load(path).context().messages) == 4
    assert Code.FUSED_LINE not in codes(path)
    # The torn text stays, on a line of its own.
    assert b"".join(path.read_bytes().split(b"\n")) == b"".join(before.split(b"\n"))
    assert path.with_name("session.jsonl.bak").read_bytes() == before


def test_an_entry_over_several_lines(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("43")
    mend(path)

    assert told(path)[-2:] == ["A\nB\nC", "after"]
    assert load(path).check() == ()


def test_a_cut_header_is_made_anew_in_a_new_file(
    case: Callable[[str], Path], run: Run, tmp_path: Path
) -> None:
    path = case("45")
    before = path.read_bytes()
    refused = run("repair", path)
    assert refused.code == 2
    assert "--out" in refused.err
    out = tmp_path / "new.jsonl"
    done = run("repair", path, "--out", out, "--json")

    assert done.code == 1
    assert told(out) == ["recover me"]
    assert load(out).id == done.json["header"]["id"]
    assert path.read_bytes() == before


def test_an_entry_that_is_its_own_parent(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("32")
    before = load(path).context().messages
    mend(path)

    assert load(path).context().messages == before
    assert Code.SELF_PARENT not in codes(path)


def test_ids_that_stand_twice(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("31")
    before = load(path).context().messages
    mend(path)

    assert load(path).context().messages == before
    assert Code.DUPLICATE_ID not in codes(path)
    assert len({entry.id for entry in load(path).entries}) == len(load(path).entries)


def test_a_result_without_its_call_is_edited_out(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("33")
    before = path.read_bytes()
    mend(path)

    assert path.read_bytes().startswith(before)
    assert [entry.type for entry in load(path).entries][-1] == "context_edit"
    assert not any(m["role"] == "toolResult" for m in load(path).context().messages)


def test_a_byte_order_mark(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("47")
    before = path.read_bytes()
    mend(path)

    assert path.read_bytes() == before.removeprefix(b"\xef\xbb\xbf")


def test_a_missing_parent_is_found_only_where_that_is_asked(
    case: Callable[[str], Path], mend: Mend
) -> None:
    path = case("25")
    before = path.read_bytes()
    assert mend(path).is_empty
    assert path.read_bytes() == before
    mend(path, relink=True)

    assert Code.ORPHAN not in codes(path)
    assert len(load(path).tree.roots) == 1


def test_a_leaf_on_an_old_branch_is_moved(tmp_path: Path, mend: Mend) -> None:
    made = SessionBuilder()
    first = made.user("one")
    made.assistant("two")
    made.user("three")
    last = made.assistant("four")
    made.label(last, "kept")
    made.at(first)
    made.name("a name, written by a window that was open still")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    assert Code.LEAF_ON_DEAD_BRANCH in codes(path)
    mend(path)

    assert path.read_bytes().startswith(made.data)
    assert told(path) == ["one", "two", "three", "four"]
    assert load(path).labels == {last: "kept"}
    assert load(path).name == "a name, written by a window that was open still"


def test_a_missing_newline_is_added(case: Callable[[str], Path], mend: Mend) -> None:
    path = case("49")
    before = path.read_bytes()
    mend(path)

    assert path.read_bytes() == before + b"\n"


def test_a_circle_ends_where_the_leaf_s_walk_does(tmp_path: Path, mend: Mend) -> None:
    made = SessionBuilder()
    one = made.user("one", id="aaaaaaaa", parent="cccccccc")
    made.user("two", id="bbbbbbbb", parent=one)
    made.user("three", id="cccccccc", parent="bbbbbbbb")
    made.user("four", parent="bbbbbbbb")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    before = told(path)
    mend(path)

    assert told(path) == before
    assert Code.CYCLE not in codes(path)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_healthy_file_is_never_changed(path: Path) -> None:
    session = load(path)
    planned = plan(session.table, UTC)
    found = {item.code for item in session.check()}

    assert not planned.changes
    assert planned.is_empty or found & MENDED or not session.table.ends_with_newline


def damaged() -> st.SearchStrategy[bytes]:
    """Make a session, and put into it what crashes and copies do."""

    @st.composite
    def make(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(strategies.sessions()))
        for _ in range(draw(st.integers(1, 3))):
            place = draw(st.integers(0, max(0, len(data) - 1)))
            what = draw(st.sampled_from(["cut", "fuse", "newline", "flip", "mark", "twice"]))
            if what == "cut":
                del data[place:]
            elif what == "fuse":
                end = data.find(b"\n", place)
                if end >= 0:
                    del data[max(0, end - draw(st.integers(0, 20))) : end + 1]
            elif what == "newline":
                data[place:place] = b"\n"
            elif what == "flip" and data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            elif what == "mark":
                data[:0] = b"\xef\xbb\xbf"
            elif what == "twice":
                data += data[-200:]
        return bytes(data)

    return make()


@given(damaged())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_random_damage(tmp_path: Path, data: bytes) -> None:
    """Afterwards nothing mendable is left, all that could be read is there, and once is enough."""
    path = tmp_path / "session.jsonl"
    for stale in tmp_path.iterdir():
        stale.unlink()
    path.write_bytes(data)
    try:
        before = loads(data)
    except NotASessionError:
        return
    patient = Patient(str(path), UTC)
    planned = patient.plan(force=True)
    if not planned.is_empty:
        patient.repair(planned, clock=clock, random=Numbers())
    after = load(path)
    texts = [entry.raw for entry in after.entries]
    for entry in before.entries:
        keys = {"id", "parentId"}
        raw = {key: value for key, value in entry.raw.items() if key not in keys}
        assert raw in [{k: v for k, v in text.items() if k not in keys} for text in texts]
    again = Patient(str(path), UTC).plan(force=True)
    assert again.is_empty, [c.what for c in again.changes] + [a.what for a in again.appends]


def test_dry_run_shows_and_writes_nothing(case: Callable[[str], Path], run: Run) -> None:
    path = case("42")
    before = path.read_bytes()
    done = run("repair", path, "--dry-run", "--json")

    assert done.json["changed"][0]["line"] == 4
    assert len(done.json["changed"][0]["after"]) == 2
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.glob("session*")] == ["session.jsonl"]


def test_newer_versions_are_refused(tmp_path: Path, run: Run) -> None:
    made = SessionBuilder(version=9)
    made.user("hi")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data[:-1])

    assert run("repair", path).code == 4
    assert run("repair", path, "--force", "--json").code == 1
    assert path.read_bytes() == made.data


def test_a_call_without_result_is_left_to_pi(tmp_path: Path, run: Run) -> None:
    made = SessionBuilder()
    made.user("hi")
    made.assistant(calls=[tool_call("read", {})])
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    done = run("repair", path, "--json")

    assert (done.code, [row["code"] for row in done.json["left"]]) == (1, ["unanswered-call"])
    assert path.read_bytes() == made.data

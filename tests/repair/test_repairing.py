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
from pi_sessions import Code, Entry, Session, _json, load, loads
from pi_sessions.errors import NotASessionError
from pi_sessions.repair.applying import Patient
from pi_sessions.repair.catalogue import MENDED, REMEDIES, Way
from pi_sessions.repair.planning import plan, repairable
from pi_sessions.repair.values import STAND_IN, Guesses
from pi_sessions.testing import USAGE, SessionBuilder, tool_call
from property import strategies
from repair.conftest import Mend, Numbers, clock

ROOT = Path(__file__).parent.parent


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
    assert all(known.cause and known.consequence and known.remedy for known in REMEDIES.values())


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


def test_a_header_that_is_fused_with_an_entry(tmp_path: Path, run: Run) -> None:
    made = SessionBuilder(id="s-9", cwd="/work/orchard")
    made.user("one")
    made.user("two")
    path, out = tmp_path / "session.jsonl", tmp_path / "new.jsonl"
    path.write_bytes(made.data.replace(b"\n", b"", 1))
    shown = run("repair", path, "--out", out, "--dry-run", "--json")

    assert shown.json["header"]["id"] == "s-9"
    assert not out.exists()
    assert run("repair", path, "--out", out).code == 1
    assert (load(out).id, load(out).cwd) == ("s-9", "/work/orchard")
    assert told(out) == ["one", "two"]


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


def test_a_message_entry_without_its_message(case: Callable[[str], Path], mend: Mend) -> None:
    """Pi fails on it; in its place comes an entry that it leaves out."""
    path = case("39")
    before = path.read_bytes()
    mend(path)

    assert told(path) == ["before", "after"]
    assert load(path).check() == ()
    assert [entry.raw.get("customType") for entry in load(path).entries[1:3]] == [STAND_IN] * 2
    assert len(load(path).branch()) == 4
    assert path.with_name("session.jsonl.bak").read_bytes() == before


def test_replies_without_usage_are_completed_where_that_is_asked(
    case: Callable[[str], Path], mend: Mend
) -> None:
    path = case("40")
    assert mend(path).is_empty
    lines = path.read_bytes().split(b"\n")
    mend(path, Guesses(usage=True))

    assert load(path).check() == ()
    after = path.read_bytes().split(b"\n")
    assert [n for n, line in enumerate(lines) if after[n] != line] == [2, 3]
    costs = [e.raw["message"]["usage"]["cost"]["total"] for e in load(path).responses]
    assert sum(costs) == 1.0


def test_a_last_line_that_is_no_entry(tmp_path: Path, mend: Mend) -> None:
    """For Pi it is the leaf, and the next request empty; an entry behind it is the leaf again."""
    made = SessionBuilder()
    made.user("one")
    last = made.assistant("two")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data + b"42\n")
    mend(path)

    assert path.read_bytes().startswith(made.data + b"42\n")
    label = load(path).entries[-1].raw
    assert (label["type"], label["parentId"], label["targetId"]) == ("label", last, last)
    assert told(path) == ["one", "two"]


def test_two_writers_are_told_and_left(case: Callable[[str], Path], run: Run) -> None:
    path = case("52")
    before = path.read_bytes()
    done = run("repair", path, "--json")

    assert "interleaved-writers" in {row["code"] for row in done.json["left"]}
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "number", ["08", "30", "41", "44", "48", "50", "53", "55", "57", "59", "74"]
)
def test_what_does_no_harm_or_cannot_be_known_stays(
    case: Callable[[str], Path], mend: Mend, number: str
) -> None:
    path = case(number)
    before = path.read_bytes()

    assert mend(path).is_empty
    assert path.read_bytes() == before
    assert repairable(load(path)) == 0


def test_mixed_line_ends_are_told(tmp_path: Path, mend: Mend) -> None:
    made = SessionBuilder()
    made.user("one")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data.replace(b"\n", b"\r\n"))
    assert load(path).check() == ()
    made.user("two")
    path.write_bytes(made.data.replace(b"\n", b"\r\n", 1))

    (found,) = load(path).check()
    assert (found.code, found.line) == (Code.MIXED_LINE_ENDS, 2)
    assert mend(path).is_empty


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
    mend(path, Guesses(relink=True))

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
    before = path.read_bytes().removesuffix(b"\n")
    path.write_bytes(before)
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


NOT_HEALTHY = {"e-context-edit-responses"}
"""A recording in which a reply was edited out and the result of its call was not."""


@pytest.mark.parametrize("folder", ["wire", "releases", "real", "recordings"])
def test_a_healthy_file_is_never_changed(folder: str) -> None:
    """Whatever Pi itself has written, in any release."""
    root = ROOT / folder if folder == "recordings" else need(SHARED / folder)
    files = [path for path in root.rglob("*.jsonl") if not path.name.startswith("requests")]
    sessions = 0
    for path in files:
        if path.parent.name in NOT_HEALTHY:
            continue
        try:
            session = load(path)
        except NotASessionError:
            continue
        planned = plan(session.table, UTC)
        sessions += 1
        assert not planned.changes, path
        assert not planned.appends, path
        assert planned.closes_tail != session.table.ends_with_newline, path
    assert sessions


def damaged() -> st.SearchStrategy[bytes]:
    """Make a session, and put into it what crashes and copies do."""

    @st.composite
    def make(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(strategies.sessions()))
        for _ in range(draw(st.integers(1, 3))):
            place = draw(st.integers(0, max(0, len(data) - 1)))
            ways = ["cut", "fuse", "newline", "flip", "mark", "twice", "zeros"]
            what = draw(st.sampled_from(ways))
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
            elif what == "zeros":
                place = data.rfind(b"\n", 0, place) + 1
                data[place:place] = bytes(40)
            elif what == "twice":
                data += data[-200:]
        return bytes(data)

    return make()


@given(damaged(), st.builds(Guesses, st.booleans(), st.booleans()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_random_damage(tmp_path: Path, data: bytes, guesses: Guesses) -> None:
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
    planned = patient.plan(guesses, force=True)
    if not planned.is_empty:
        patient.repair(planned, clock=clock, random=Numbers())
    after = load(path)
    texts = [without_links(after, entry) for entry in after.entries]
    changed = {n for c in planned.changes for n in range(c.line, c.line + len(c.before))}
    completed = {c.line for c in planned.changes if c.code is Code.INCOMPLETE_USAGE}
    readable = [entry for entry in before.entries if entry.line not in completed]
    assert all(without_links(before, entry) in texts for entry in readable)
    again = Patient(str(path), UTC).plan(guesses, force=True)
    assert again.is_empty, [c.what for c in again.changes] + [a.what for a in again.appends]
    assert repairable(after) == 0
    # What was no change is there with its bytes.
    kept = iter(path.read_bytes().split(b"\n"))
    assert all(line in kept for n, line in enumerate(data.split(b"\n"), 1) if n not in changed)


def without_links(session: Session, entry: Entry) -> dict[str, object]:
    """Give an entry as it is stored, but for its id and parent."""
    stored = _json.loads(session.table.bytes(entry.line))
    return {key: value for key, value in stored.items() if key not in ("id", "parentId")}


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
    usage = {**USAGE, "cost": {"total": 0}}
    made.assistant(calls=[tool_call("read", {})], usage=usage)
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    done = run("repair", path, "--json")

    assert (done.code, [row["code"] for row in done.json["left"]]) == (1, ["unanswered-call"])
    assert path.read_bytes() == made.data

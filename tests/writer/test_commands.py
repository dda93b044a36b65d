"""The commands that write: what they write, what they say, and when they refuse."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cli.conftest import ROOT, Run, run, write
from conftest import SHARED, need
from pi_sessions import load
from pi_sessions.testing import SessionBuilder, tool_call

__all__ = ["run", "write"]

DEMO = ROOT / "examples" / "demo" / "session.jsonl"
REPLY = "7c3ce700"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the demo."""
    path = tmp_path / "session.jsonl"
    shutil.copyfile(DEMO, path)
    return path


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A session with a reply that failed, a call and a large result."""
    made = SessionBuilder()
    made.user("What is in the list?")
    made.assistant("", stop_reason="error")
    made.assistant("I look.", calls=[tool_call("read", {"path": "list"}, id="call-1")])
    made.tool_result("call-1", "Cox " * 20_000)
    made.assistant("Apples.")
    path = tmp_path / "failing.jsonl"
    path.write_bytes(made.data)
    return path


def test_name(run: Run, demo: Path) -> None:
    """One entry; the id is printed, and told in the document."""
    told = run("name", demo, "apples\nand pears", "--json").json
    assert set(told) == {"path", "sessionId", "entries", "dryRun"}
    assert told["entries"] == [
        {"line": 47, "id": load(demo).entries[-1].id, "type": "session_info"}
    ]
    assert load(demo).name == "apples and pears"
    done = run("name", demo, "--clear")
    assert done.code == 0
    assert done.out.decode().startswith(f"{load(demo).entries[-1].id}  line 48")
    assert load(demo).name is None


def test_label(run: Run, demo: Path) -> None:
    """The beginning of an id is enough."""
    assert run("label", demo, REPLY[:4], "the answer").code == 0
    assert load(demo).labels[REPLY] == "the answer"
    assert run("label", demo, REPLY, "--clear").code == 0
    assert REPLY not in load(demo).labels
    done = run("label", demo, "nobody", "x")
    assert (done.code, done.err) == (
        2,
        "pi-sessions: no entry has the id 'nobody', nor one that begins so\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        ["name", "{}", "apples"],
        ["label", "{}", REPLY, "x"],
        ["edit", "{}", "--omit", REPLY],
        ["fork", "{}"],
        ["fork", "{}", "--leaf", REPLY],
        ["clone", "{}"],
    ],
)
def test_a_dry_run_writes_nothing(run: Run, demo: Path, words: list[str]) -> None:
    """And says what would be written."""
    filled = [word.format(demo) for word in words]
    told = run(*filled, "--dry-run", "--json").json
    assert told["dryRun"] is True
    assert run(*filled, "--dry-run").out.startswith(b"would" if words[0] != "edit" else b"the next")
    assert demo.read_bytes() == DEMO.read_bytes()
    assert sorted(file.name for file in demo.parent.iterdir()) == ["home", "session.jsonl"]
    if words[0] in ("fork", "clone"):
        assert told["path"] is None
    else:
        assert [entry["id"] for entry in told["entries"]] == [None]


def test_edit_omits_and_replaces_in_one_write(run: Run, demo: Path) -> None:
    """What is said before is what is so after."""
    result = next(entry for entry in load(demo).entries if entry.line == 45)
    told = run(
        "edit", demo, "--omit", REPLY, "--replace", str(result.id), "It keeps.", "--json"
    ).json

    assert [entry["targetId"] for entry in told["entries"]] == [REPLY, result.id]
    assert told["out"] == [{"line": 46, "id": REPLY}]
    assert told["changed"] == [{"line": 45, "id": result.id}]
    assert told["in"] == []
    assert told["contentBytes"][0] > told["contentBytes"][1]
    session = load(demo)
    assert session.context().messages[-1]["content"] == [{"type": "text", "text": "It keeps."}]
    assert [entry.id for entry in session.entries[-2:]] == [e["id"] for e in told["entries"]]

    again = run("edit", demo, "--restore", REPLY, "--json").json
    assert again["in"] == [{"line": 46, "id": REPLY}]
    assert (
        load(demo).context().messages[-1]["content"] == load(DEMO).context().messages[-1]["content"]
    )


def test_edit_for_a_person(run: Run, demo: Path, tmp_path: Path) -> None:
    """The text from a file; what the request loses, then the new entry."""
    text = tmp_path / "text"
    text.write_text("Boskoop.\n\x1b[31mred")
    done = run("edit", demo, "--replace", REPLY, "--file", text)
    first, *rest = done.out.decode().splitlines()
    assert first.startswith("the next request: ")
    assert rest[0].split()[:3] == ["46", "~", "changes"]
    assert rest[-1].startswith(f"{load(demo).entries[-1].id}  line 47")
    assert "\x1b" not in done.out.decode()
    content = load(demo).context().messages[-1]["content"]
    assert content == [{"type": "text", "text": "Boskoop.\n\x1b[31mred"}]


def test_edit_by_what_entries_are(run: Run, failing: Path) -> None:
    """Replies that failed, results that are large."""
    told = run("edit", failing, "--failed-replies", "--tool-results-over", "50kB", "--json").json

    assert [(e["targetId"], e["replacement"] is None) for e in told["entries"]] == [
        ("00000002", True),
        ("00000004", False),
    ]
    assert told["out"] == []
    assert told["changed"] == [{"line": 5, "id": "00000004"}]
    assert told["contentBytes"][1] < 1000 < told["contentBytes"][0]
    assert told["diagnostics"] == []
    nothing = run("edit", failing, "--tool-results-over", "1MB")
    assert nothing.out == b"there is nothing of that kind to edit\n"
    assert nothing.code == 0


def test_edit_tells_what_no_longer_matches(run: Run, failing: Path) -> None:
    """A result whose call was omitted."""
    told = run("edit", failing, "--omit", "00000003", "--dry-run", "--json").json
    assert [found["code"] for found in told["diagnostics"]] == ["orphan-result"]
    assert b"orphan-result" in run("edit", failing, "--omit", "00000003", "--dry-run").out


@pytest.mark.parametrize(
    "words",
    [
        ["edit", "{}"],
        ["edit", "{}", "--omit", "nobody"],
        ["edit", "{}", "--omit", REPLY, "--restore", REPLY],
        ["edit", "{}", "--replace", REPLY],
        ["edit", "{}", "--replace", REPLY, "a", "b"],
        ["edit", "{}", "--file", "x"],
        ["edit", "{}", "--replace", REPLY, "--file", "/nowhere/at/all"],
        ["edit", "{}", "--tool-results-over", "much"],
        ["name", "{}"],
        ["name", "{}", "  "],
        ["name", "{}", "x", "--clear"],
        ["label", "{}", REPLY],
        ["label", "{}", REPLY, ""],
        ["fork", "{}", "--leaf", REPLY, "--before", REPLY],
        ["fork", "{}", "--leaf", "nobody"],
    ],
)
def test_wrong_use(run: Run, demo: Path, words: list[str]) -> None:
    """One sentence, exit code 2, nothing written."""
    done = run(*(word.format(demo) for word in words))
    assert done.code == 2
    assert done.err.startswith("pi-sessions: ")
    assert done.err.count("\n") == 1
    assert demo.read_bytes() == DEMO.read_bytes()


def test_what_cannot_be_edited(run: Run, demo: Path) -> None:
    """A system message; an entry of another branch."""
    session = load(demo)
    on_branch = {entry.id for entry in session.branch()}
    system = next(e for e in session.entries if e.role == "system" and e.id in on_branch)
    other = next(e for e in session.entries if e.id not in on_branch)
    for entry, why in ((system, "neither a user"), (other, "on the branch of the leaf")):
        done = run("edit", demo, "--omit", str(entry.id))
        assert done.code == 2
        assert why in done.err
    assert demo.read_bytes() == DEMO.read_bytes()


def test_fork_and_clone(run: Run, demo: Path, tmp_path: Path) -> None:
    """All branches, one branch, the branch before an entry; the session stays as it is."""
    run("label", demo, REPLY, "the answer")
    before = demo.read_bytes()
    whole = run("fork", demo, "--json").json
    assert set(whole) == {
        "path", "sessionId", "parentSession", "cwd", "leaf", "entries", "dryRun",
    }  # fmt: skip
    assert Path(whole["path"]).parent == tmp_path
    assert whole["parentSession"] == os.fspath(demo)
    assert Path(whole["path"]).read_bytes().split(b"\n")[1:] == before.split(b"\n")[1:]

    clone = load(run("clone", demo).out.decode().strip())
    assert clone.labels[REPLY] == "the answer"
    assert clone.context().messages == load(demo).context().messages
    assert len(clone.branch()) == len(clone.entries)

    told = run("fork", demo, "--before", REPLY, "--cwd", "/work/pears", "--json").json
    made = Path(told["path"])
    assert made.parent == tmp_path / "home" / ".pi" / "agent" / "sessions" / "--work-pears--"
    assert told["cwd"] == load(made).cwd == "/work/pears"
    parent = load(demo).entry(REPLY).parent
    assert parent is not None
    assert [e.id for e in load(made).entries if e.type != "label"][-1] == parent.id
    assert run("fork", demo, "--to", tmp_path / "out").code == 0
    assert len(list((tmp_path / "out").iterdir())) == 1
    assert demo.read_bytes() == before


def test_fork_of_nothing(run: Run, tmp_path: Path) -> None:
    """A session in which nothing was said leaves no file."""
    made = SessionBuilder()
    made.model_change("birch", "birch-1")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    done = run("fork", path, "--to", tmp_path / "out")
    assert (done.code, done.out) == (2, b"")
    assert not (tmp_path / "out").exists()
    path.write_bytes(SessionBuilder().data)
    assert run("clone", path).code == 2


def test_versions(run: Run, tmp_path: Path) -> None:
    """Old ones are forked, not appended to; newer ones only by force."""
    old = tmp_path / "old.jsonl"
    shutil.copyfile(need(SHARED / "wire" / "l-legacy-v1" / "original.jsonl"), old)
    before = old.read_bytes()
    done = run("name", old, "x")
    assert done.code == 4
    assert "pi-sessions upgrade" in done.err
    assert load(run("fork", old).out.decode().strip()).version == 3
    assert old.read_bytes() == before
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes(DEMO.read_bytes().replace(b'"version":3', b'"version":4', 1))
    for words in (["name", newer, "x"], ["fork", newer]):
        assert run(*words).code == 4
    assert run("name", newer, "x", "--force").code == 0
    assert load(newer).name == "x"


@pytest.mark.parametrize("data", [b"", b"\n", b"apples\n", b'{"type":"session"}\n'])
def test_no_session(run: Run, tmp_path: Path, data: bytes) -> None:
    """Exit code 3, one sentence, the file as it was."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    for words in (["name", path, "x"], ["edit", path, "--omit", "x"], ["fork", path]):
        done = run(*words)
        assert done.code == 3
        assert done.err.count("\n") == 1
    assert path.read_bytes() == data
    assert run("name", tmp_path / "none.jsonl", "x").code == 3


def test_odd_names_of_files_and_sessions(run: Run, demo: Path) -> None:
    """What is printed acts on no terminal; what is stored is what was said."""
    done = run("name", demo, "\x1b[31mred \u202e")
    assert "\x1b" not in done.out.decode()
    assert load(demo).name == "\x1b[31mred \u202e".strip()
    line = json.loads(demo.read_bytes().splitlines()[-1])
    assert line["type"] == "session_info"

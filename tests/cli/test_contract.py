"""What scripts rely on: the JSON of each command, points, the choice of a session, exit codes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import ROOT, Run, Write
from pi_sessions import Reason, Verdict
from pi_sessions.cli.main import COMMANDS
from pi_sessions.testing import SessionBuilder

DEMO = ROOT / "examples" / "demo" / "session.jsonl"
REPLY = "7c3ce700"


def test_lines(run: Run) -> None:
    """One element for every physical line; offsets and lengths slice the file."""
    told = run("lines", DEMO, "--json").json
    data = DEMO.read_bytes()

    assert set(told) == {
        "path", "sessionId", "version", "cwd", "leaf", "response", "counts", "lines",
        "synthetic", "unknown", "diagnostics",
    }  # fmt: skip
    assert told["counts"] == {"sent": 11, "changed": 10, "not_sent": 25}
    assert told["leaf"] == REPLY
    assert told["response"] is None
    assert [row["line"] for row in told["lines"]] == list(range(1, 47))
    for row, line in zip(told["lines"], data.split(b"\n"), strict=False):
        assert set(row) - {"inForce"} == {
            "line", "offset", "length", "type", "id", "role", "verdict", "reason", "because",
            "excerpt",
        }  # fmt: skip
        assert data[row["offset"] :][: row["length"]] == line
        assert Reason(row["reason"]).verdict == Verdict(row["verdict"])
    assert told["synthetic"] == [
        {"kind": "stand-in-result", "text": "No result provided", "because": [38]}
    ]
    assert {row["code"] for row in told["diagnostics"]} == {"unanswered-call"}


@pytest.mark.parametrize("stage", ["projection", "llm", "replay"])
@pytest.mark.parametrize("tail", [False, True])
def test_context(run: Run, stage: str, tail: bool) -> None:
    """Sources run parallel to messages, null for what stands in no line."""
    words = ["--tail"] if tail else []
    told = run("context", DEMO, "--json", "--stage", stage, *words).json

    assert {"leaf", "messages", "sources", "model", "thinkingLevel"} <= set(told)
    assert len(told["messages"]) == len(told["sources"]) > 20
    assert told["model"] == {"provider": "cedar", "modelId": "cedar-1"}
    assert (None in told["sources"]) == (stage == "replay")


def test_context_from_the_end_and_from_the_start_agree(run: Run) -> None:
    """The short cut for the file's own leaf changes nothing."""
    assert run("context", DEMO, "--json").out == run("context", DEMO, "--json", "--leaf", REPLY).out


def test_context_entries(run: Run) -> None:
    """The ids of the context entries, the compaction first."""
    told = run("context", DEMO, "--json", "--stage", "entries").json

    assert list(told) == ["entries"]
    assert told["entries"][-1] == REPLY


def test_prompt_tree_show_check(run: Run) -> None:
    """The shapes of the other documents."""
    prompt = run("prompt", DEMO, "--json").json
    tree = run("tree", DEMO, "--json").json
    check = run("check", DEMO, "--json")

    assert set(prompt) == {"text", "content", "sections", "tools", "sources"}
    assert prompt["sources"]["style"] == 42
    assert set(tree) == {"leaf", "roots", "entries"}
    assert len(tree["entries"]) == 45
    assert set(tree["entries"][0]) == {
        "line", "lines", "id", "parentId", "children", "type", "role", "label", "excerpt",
        "onBranch",
    }  # fmt: skip
    assert set(check.json) == {"diagnostics", "repairable"}
    assert check.code == 1
    assert run("show", DEMO, "--json").json[0]["entry"]["type"] == "message"


def test_request(run: Run) -> None:
    """The body is that which was recorded, and its parts are traced."""
    models = DEMO.parent / "models.json"
    settings = DEMO.parent / "settings.json"
    words = ("--json", "--response", REPLY, "--models", models, "--settings", settings)
    told = run("request", DEMO, *words).json
    turns = [
        json.loads(line)
        for line in (DEMO.parent / "requests.jsonl").read_text("utf-8").splitlines()
    ]

    assert set(told) == {
        "api", "provider", "model", "thinkingLevel", "body", "provenance", "synthetic", "unknown",
        "remarks", "estimatedTokens", "reportedTokens",
    }  # fmt: skip
    assert json.dumps(told["body"]) == json.dumps(turns[-1]["body"])
    assert all(isinstance(lines, list) for lines in told["provenance"].values())


def test_points(run: Run) -> None:
    """A unique prefix is enough; an unknown id is an error, and so are two points at once."""
    by_prefix = run("lines", DEMO, "--json", "--response", REPLY[:4]).json

    assert by_prefix["response"] == REPLY
    assert by_prefix["leaf"] != REPLY
    assert run("lines", DEMO, "--leaf", "nowhere").code == 2
    assert run("lines", DEMO, "--leaf", REPLY, "--response", REPLY).code == 2
    not_a_reply = by_prefix["lines"][4]["id"]
    refused = run("lines", DEMO, "--response", not_a_reply)
    assert refused.code == 2
    assert "not a reply" in refused.err


def test_another_target(run: Run) -> None:
    """--as takes three parts, and changes what is left of other models' replies."""
    told = run("lines", DEMO, "--json", "--as", "anthropic-messages/larch/larch-1").json
    reasons = {row["line"]: row["reason"] for row in told["lines"]}

    assert reasons[11] == "as-stored"
    assert reasons[44] == "trimmed"
    assert run("lines", DEMO, "--as", "anthropic-messages").code == 2


def store(tmp_path: Path, *names: str) -> Path:
    """Make a store with a session for each id, of the working directory `tmp_path`."""
    folder = tmp_path / "store"
    folder.mkdir()
    for name in names:
        session = SessionBuilder()
        session.user("hi")
        head, _, rest = session.data.partition(b"\n")
        header = json.loads(head) | {"id": name, "cwd": os.fspath(tmp_path)}
        (folder / f"x_{name}.jsonl").write_bytes(json.dumps(header).encode() + b"\n" + rest)
    return folder


def test_a_session_is_found_by_id_and_prefix(run: Run, tmp_path: Path) -> None:
    """An exact id wins at once; an ambiguous prefix lists the candidates."""
    folder = store(tmp_path, "abc-1", "abc-12", "xyz")

    assert run("lines", "xy", "--session-dir", folder, "--json").json["sessionId"] == "xyz"
    assert run("lines", "abc-1", "--session-dir", folder, "--json").json["sessionId"] == "abc-1"
    ambiguous = run("lines", "abc", "--session-dir", folder)
    assert ambiguous.code == 2
    assert "x_abc-12.jsonl" in ambiguous.err
    assert run("lines", "nope", "--session-dir", folder).code == 2


def test_the_newest_of_the_directory_is_the_default(run: Run, tmp_path: Path) -> None:
    """Without SESSION, the header's cwd decides; the directory may come from the environment."""
    folder = store(tmp_path, "old", "new")
    os.utime(folder / "x_old.jsonl", (1, 1))

    told = run("lines", "--json", PI_CODING_AGENT_SESSION_DIR=os.fspath(folder)).json

    assert told["sessionId"] == "new"
    assert run("lines", "--session-dir", folder, cwd=ROOT).code == 2


def test_ls(run: Run, tmp_path: Path) -> None:
    """The rows of a list, and what belongs to this directory."""
    folder = store(tmp_path, "one", "two")
    rows = run("ls", "--json", "--session-dir", folder).json

    assert {row["id"] for row in rows} == {"one", "two"}
    assert set(rows[0]) == {
        "path", "id", "cwd", "name", "parentSession", "created", "modified", "messageCount",
        "firstMessage", "size", "version", "tokens", "cost", "models", "branches", "compactions",
        "defects", "parent", "children", "resume",
    }  # fmt: skip
    assert rows[0]["firstMessage"] == "hi"
    assert run("ls", "--json", "--session-dir", folder, cwd=ROOT).json == []
    assert len(run("ls", "--all", "--json", "--session-dir", folder, cwd=ROOT).json) == 2


def test_words_that_are_off(run: Run) -> None:
    """Wrong use is one sentence and exit code 2."""
    for words in (["nonsense"], ["lines", DEMO, "--stage", "x"], ["context", DEMO, "--bogus"]):
        done = run(*words)
        assert done.code == 2
        assert "Traceback" not in done.err
        assert done.out == b""


def test_plain_in_a_pipe_and_quiet_when_it_closes() -> None:
    """No codes without a terminal; a closed pipe ends the command without a word."""
    first = subprocess.run(
        f"{sys.executable} -m pi_sessions lines --all {DEMO} | head -1",
        shell=True,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert first.stdout.startswith(b"46 lines:")
    assert b"\x1b" not in first.stdout
    assert first.stderr == b""


# Points


def test_an_exact_id_wins_and_a_prefix_must_be_unique(run: Run, write: Write) -> None:
    """No id falls back in silence, an empty one neither."""
    session = SessionBuilder()
    session.user("hi", id="ab")
    session.user("hi", id="abc")
    session.user("hi", id="abd")
    path = write(session.data)

    assert run("lines", path, "--json", "--leaf", "ab").json["leaf"] == "ab"
    assert run("lines", path, "--json", "--leaf", "abd").json["leaf"] == "abd"
    for command in ("lines", "context", "prompt", "tree", "show", "request"):
        for entry_id in ("nowhere", ""):
            refused = run(command, path, "--json", "--leaf", entry_id)
            assert (refused.code, refused.out) == (2, b""), command
            assert refused.err.count("\n") == 1
    session.user("hi", id="xy1")
    session.user("hi", id="xy2")
    ambiguous = run("lines", write(session.data), "--leaf", "xy")
    assert ambiguous.code == 2
    assert "xy1, xy2" in ambiguous.err


@pytest.mark.parametrize("command", ["lines", "context", "prompt", "tree", "show", "request"])
def test_two_points_are_one_too_many(run: Run, command: str) -> None:
    """--leaf and --response exclude each other, in one sentence."""
    done = run(command, DEMO, "--leaf", REPLY, "--response", REPLY)

    assert done.code == 2
    assert done.err.count("\n") == 1


def test_tail_takes_no_point(run: Run) -> None:
    """The end of the file has the file's own leaf only, and gives messages."""
    for words in (["--leaf", REPLY], ["--leaf", ""], ["--response", REPLY], ["--stage", "entries"]):
        assert run("context", DEMO, "--tail", *words).code == 2


# JSON


@pytest.mark.parametrize("stage", ["projection", "llm", "replay"])
def test_a_tail_says_what_it_did_not_read(run: Run, write: Write, stage: str) -> None:
    """The messages are those of the whole file; what hangs on the head may be null."""
    session = SessionBuilder()
    for n in range(3000):
        session.user(f"{n} " + "long ago " * 20)
        session.assistant("yes")
    session.compaction(first_kept=session.tip)
    session.user("now")
    path = write(session.data)
    whole = run("context", path, "--json", "--stage", stage, "--leaf", session.tip).json
    short = run("context", path, "--json", "--stage", stage).json
    tail = run("context", path, "--json", "--stage", stage, "--tail").json

    assert short == whole
    assert tail["messages"] == whole["messages"]
    assert tail["head"] == "not read"
    assert 0 < tail["skippedBytes"] < len(session.data)
    assert [source and source["id"] for source in tail["sources"]] == [
        source and source["id"] for source in whole["sources"]
    ]


def test_a_replay_from_the_end_knows_what_the_head_tells(run: Run, write: Write) -> None:
    """The API of a model that only a reply in the head names, and the level set there."""
    session = SessionBuilder()
    session.thinking_level("high")
    reply: Any = {"api": "anthropic-messages", "provider": "larch", "model": "larch-1"}
    for _ in range(3000):
        session.user("long ago " * 20)
        session.assistant("yes", **reply)
    session.compaction(first_kept=session.user("kept"))
    session.user("now")
    session.assistant("yes", thinking={"type": "thinking", "thinking": "hm"})
    session.model_change("larch", "larch-1")
    session.user("go on")
    path = write(session.data)
    for stage in ("projection", "replay"):
        words = ("context", path, "--json", "--stage", stage)
        assert run(*words).json == run(*words, "--leaf", session.tip).json
    assert run("context", path, "--json").json["thinkingLevel"] == "high"


def test_lines_of_ids_that_are_odd(run: Run, write: Write) -> None:
    """NUL, lone surrogates and numbers stay what they are, in one valid document."""
    session = SessionBuilder(id="\0", cwd="\0")
    ids: list[Any] = ["\ud800x", 5, 1e22, 12345678901234567890123]
    for entry_id in ids:
        session.custom(id=entry_id)
    session.add("we\ud800ird", {})
    session.user("x", message={"role": "nar\udc00rator"})
    told = run("lines", write(session.data), "--json").json

    assert (told["sessionId"], told["cwd"]) == ("\0", "\0")
    assert [row["id"] for row in told["lines"]][1:5] == [*ids[:3], float(ids[3])]
    assert told["lines"][5]["type"] == "we\ud800ird"
    assert told["lines"][6]["role"] == "nar\udc00rator"


def test_a_tree_shows_each_id_once(run: Run, write: Write) -> None:
    """With all the lines that have it."""
    session = SessionBuilder()
    root = session.user("root")
    session.user("one", id="a", parent=root)
    session.user("two", id="a", parent=root)
    told = run("tree", write(session.data), "--json").json

    assert [(row["id"], row["lines"], row["line"]) for row in told["entries"]] == [
        (root, [2], 2), ("a", [3, 4], 4)
    ]  # fmt: skip
    assert told["entries"][0]["children"] == ["a"]
    assert told["roots"] == [root]


def test_stage_projection(run: Run) -> None:
    """Pi's own context: no reason of the replay, nothing that stands in no line."""
    told = run("lines", DEMO, "--json", "--stage", "projection").json

    assert told["synthetic"] == []
    assert {row["reason"] for row in told["lines"] if row["verdict"] == "changed"} <= {"edited"}


def test_check_of_a_good_file(run: Run, write: Write) -> None:
    """Exit code 0 where nothing is wrong."""
    session = SessionBuilder()
    session.user("hi")
    done = run("check", write(session.data), "--json")

    assert (done.code, done.json) == (0, {"diagnostics": [], "repairable": 0})


# The store


def test_where_sessions_are_looked_for(run: Run, tmp_path: Path) -> None:
    """--session-dir > environment > the project's settings > the agent's > its sessions."""
    project, agent = tmp_path / "project", tmp_path / "agent"
    (project / ".pi").mkdir(parents=True)
    (agent / "sessions").mkdir(parents=True)
    folders = {}
    for name in ("flag", "variable", "project-settings", "agent-settings", "default"):
        folders[name] = folder = agent / "sessions" if name == "default" else tmp_path / name
        folder.mkdir(exist_ok=True)
        session = SessionBuilder(id=name, cwd=os.fspath(project))
        session.user("hi")
        (folder / "s.jsonl").write_bytes(session.data)

    def settings(folder: Path, name: str) -> None:
        told = {"sessionDir": os.fspath(folders[name])}
        (folder / "settings.json").write_text(json.dumps(told), "utf-8")

    def found(*words: str | Path, **more: str) -> str:
        done = run(
            "lines", "--json", *words, cwd=project, PI_CODING_AGENT_DIR=os.fspath(agent), **more
        )
        name: str = done.json["sessionId"]
        return name

    assert found() == "default"
    settings(agent, "agent-settings")
    assert found() == "agent-settings"
    settings(project / ".pi", "project-settings")
    assert found() == "project-settings"
    variable = {"PI_CODING_AGENT_SESSION_DIR": os.fspath(folders["variable"])}
    assert found(**variable) == "variable"
    assert found("--session-dir", folders["flag"], **variable) == "flag"
    (project / ".pi" / "settings.json").write_text("{broken", "utf-8")
    assert found() == "agent-settings"


def test_the_folders_of_a_store_are_read_one_level_down(run: Run, tmp_path: Path) -> None:
    """`--X--` and nothing deeper; the header's cwd decides, not the name of the folder."""
    root = tmp_path / "store"
    places = {"flat": root, "grouped": root / "--a-b--", "other": root / "plain"}
    places["deep"] = places["grouped"] / "--c--"
    for name, folder in places.items():
        folder.mkdir(parents=True, exist_ok=True)
        session = SessionBuilder(id=name, cwd="/a/b" if name != "flat" else "/a-b")
        session.user("hi")
        (folder / f"{name}.jsonl").write_bytes(session.data)
    (root / "notes.txt").write_bytes(b"hi")
    (root / "foreign.jsonl").write_bytes(b'{"type":"event"}\n')
    (root / "empty.jsonl").write_bytes(b"")
    (root / "loop.jsonl").symlink_to("loop.jsonl")
    words = ("ls", "--json", "--session-dir", root)

    assert {row["id"] for row in run(*words, "--all").json} == {"flat", "grouped"}
    assert {row["id"] for row in run(*words, "--cwd", "/a/b").json} == {"grouped"}
    assert {row["id"] for row in run(*words, "--cwd", "/a-b").json} == {"flat"}


def test_ls_sorts_and_filters(run: Run, tmp_path: Path) -> None:
    """Every order, and those with a name."""
    root = tmp_path / "store"
    root.mkdir()
    for n, name in enumerate(("c", "a", "b")):
        session = SessionBuilder(id=name, timestamp=f"2026-01-0{n + 1}T00:00:00.000Z")
        for _ in range(3 - n):
            session.user("hi", timestamp=f"2026-02-0{5 - n}T00:00:00.000Z")
        if name == "b":
            session.name("the one " + "long " * 200)
        cost = {"total": "bca".index(name)}
        session.usage({"input": 1, "cost": cost}, timestamp="2026-02-01T00:00:00.000Z")
        (root / f"{name}.jsonl").write_bytes(session.data)

    def order(*words: str) -> str:
        rows = run("ls", "--all", "--json", "--session-dir", root, *words).json
        return "".join(row["id"] for row in rows)

    assert order() == order("--sort", "modified") == "cab"
    assert order("--sort", "created") == "bac"
    assert order("--sort", "messages") == "cab"
    assert order("--sort", "size") == "bca"
    assert order("--sort", "cost") == "acb"
    told = run("ls", "--all", "--session-dir", root).out.decode()
    assert "the one long" in told
    assert f"pi --session {root / 'c.jsonl'} goes on with the first" in told
    assert order("--named") == "b"


def test_ls_survives_what_is_in_a_session(run: Run, tmp_path: Path) -> None:
    """Times beyond all dates, and texts that would act on a terminal."""
    root = tmp_path / "store"
    root.mkdir()
    hostile = "\x1b[31m\u202ered\x07\ud800\n"
    session = SessionBuilder(id="\x1b[2J", cwd=hostile, timestamp="yesterday")
    for stamp in (1e300, -1e300, 9e15, 300_000_000_000_000):
        session.user(hostile, message={"timestamp": stamp})
    session.name(hostile)
    (root / "s.jsonl").write_bytes(session.data)
    rows = run("ls", "--all", "--json", "--session-dir", root).json
    told = run("ls", "--all", "--session-dir", root)

    assert rows[0]["created"] is None
    assert rows[0]["modified"] == "+011476-08-15T05:20:00.000Z"
    assert rows[0]["firstMessage"] == hostile
    assert told.code == 0
    assert not {"\x1b", "\u202e", "\x07"} & set(told.out.decode())


# The terminal


def terminal(*words: str | Path, **environment: str) -> bytes:
    """Give what a command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "pi_sessions", *map(os.fspath, words)],
        stdout=theirs,
        env={"HOME": "/nonexistent", "PATH": os.environ["PATH"], "TERM": "xterm", **environment},
    ):
        os.close(theirs)
        parts = []
        while True:
            try:
                parts.append(os.read(ours, 1 << 16))
            except OSError:
                break
            if not parts[-1]:
                break
    os.close(ours)
    return b"".join(parts)


def test_colour_is_for_terminals_that_want_it() -> None:
    """NO_COLOR and --no-color give plain text."""
    assert b"\x1b[" in terminal("lines", DEMO)
    for command in ("lines", "context", "tree", "show", "prompt", "check"):
        assert b"\x1b" not in terminal(command, DEMO, NO_COLOR="1")
        assert b"\x1b" not in terminal(command, DEMO, "--no-color")


def test_a_terminal_without_the_signs(run: Run) -> None:
    """What cannot be shown gives way to a question mark."""
    done = run("lines", DEMO, PYTHONIOENCODING="ascii")

    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()


def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    """Without a traceback."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [sys.executable, "-m", "pi_sessions", "lines", pipe],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # It has opened the pipe when a writer can.
        deadline = time.monotonic() + 20
        writer = -1
        while writer < 0 and time.monotonic() < deadline:
            try:
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        os.close(writer)

    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize("words", ["--help", "lines --help", "lines --json", "tree", "show --full"])
def test_a_reader_that_has_gone(words: str) -> None:
    """A closed pipe ends every command without a word."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "pi_sessions", *words.split()]
    command += [] if "--help" in words else [os.fspath(DEMO)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_told_in_a_sentence() -> None:
    """Nothing is lost in silence, and no traceback is printed."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    for words in (["lines", "--json"], ["tree"]):
        with full.open("wb") as out:
            done = subprocess.run(
                [sys.executable, "-m", "pi_sessions", *words, DEMO],
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=60,
                check=False,
            )
        assert done.returncode == 3
        assert done.stderr == b"pi-sessions: cannot write: no space left on device\n"


def test_help_and_version(run: Run) -> None:
    """Every command tells its options."""
    assert run("--version").out.startswith(b"pi-sessions ")
    overview = run("--help").out.decode()
    for command in COMMANDS:
        assert f"  {command} " in overview
        done = run(command, "--help")
        assert (done.code, done.err) == (0, "")
        assert b"--json" in done.out


def test_a_name_too_long_for_a_file_is_an_unknown_session(run: Run) -> None:
    """What the system cannot look up is not there."""
    done = run("lines", "x" * 5000)

    assert done.code == 2
    assert "Traceback" not in done.err


def test_a_working_directory_that_has_gone(tmp_path: Path) -> None:
    """A sentence, as for everything the system refuses."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m pi_sessions lines"
    done = subprocess.run(
        script, shell=True, capture_output=True, timeout=60, check=False,
        env={"HOME": os.fspath(tmp_path), "PATH": os.environ["PATH"],
             "PYTHONPATH": os.fspath(ROOT / "src")},
    )  # fmt: skip

    assert done.returncode in (2, 3)
    assert b"Traceback" not in done.stderr


def test_without_a_command(run: Run, tmp_path: Path) -> None:
    """The newest session of this directory is explained; where there is none, the help."""
    root = tmp_path / "store"
    root.mkdir()
    assert b"commands:" in run(PI_CODING_AGENT_SESSION_DIR=str(root)).out
    made = SessionBuilder(cwd=str(tmp_path))
    made.user("hi")
    (root / "a.jsonl").write_bytes(made.data)
    out = run(cwd=tmp_path, PI_CODING_AGENT_SESSION_DIR=str(root)).out

    assert out.startswith(b"2 lines: 1 sent, 0 changed, 1 not sent")

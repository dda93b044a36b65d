"""What scripts rely on: the JSON of each command, points, the choice of a session, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import ROOT, Run
from pi_sessions import Reason, Verdict
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
        "firstMessage", "size",
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

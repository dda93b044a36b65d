"""`context --tokens`: what a request weighs, by part and by block."""

from __future__ import annotations

from cli.conftest import ROOT, Run
from pi_sessions.testing import SessionBuilder, tool, tool_call

DEMO = ROOT / "examples" / "demo" / "session.jsonl"


def test_every_part_has_its_name(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    session = SessionBuilder()
    session.system("base", sections={"tone": "k" * 35}, tools_added=[tool("look")])
    session.user(
        [
            {"type": "text", "text": "u" * 70},
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
        ]
    )
    session.assistant("a" * 7, thinking="t" * 14, calls=[tool_call("look", {"at": "x"})])
    session.tool_result("call-1", "r" * 350)
    session.bash("ls", "files")
    session.custom_message("c" * 21)
    session.branch_summary("s" * 10)
    last = session.assistant(
        "end", usage={"input": 5, "output": 1, "cacheRead": 2, "cacheWrite": 3}
    )
    path = write(session.data)
    told = run("context", path, "--tokens", "--json", "--response", last).json
    parts = {row["part"]: row["tokens"] for row in told["parts"]}

    assert list(parts) == [
        "prompt", "section tone", "tools", "user", "images", "thinking", "assistant", "calls",
        "result look", "shell", "custom", "summary",
    ]  # fmt: skip
    assert (parts["section tone"], parts["user"], parts["result look"]) == (10, 20, 100)
    assert (parts["thinking"], parts["assistant"], parts["custom"]) == (4, 2, 6)
    assert told["reported"] == 10
    rows = told["blocks"]  # each is rounded
    assert abs(told["counted"] - sum(row["tokens"] for row in rows)) <= len(rows) / 2
    assert [row["line"] for row in told["blocks"] if row["part"] == "images"] == [3]


def test_for_a_person(run: Run) -> None:
    out = run("context", DEMO, "--tokens", COLUMNS="100").out.decode()
    rows = out.splitlines()

    assert rows[0].startswith("about ")
    assert len(rows[1]) == 60
    assert sum("%" in row for row in rows) == len(
        run("context", DEMO, "--tokens", "--json").json["parts"]
    )
    assert len(rows) - rows.index("the largest blocks") == 11


def test_it_goes_with_the_whole_request_only(run: Run) -> None:
    assert run("context", DEMO, "--tokens", "--stage", "llm").code == 2
    assert run("context", DEMO, "--tokens", "--tail").code == 2

"""`saw`: where a text stands, which replies had it, and why the others had not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run
from pi_sessions.testing import SessionBuilder, tool_call

Write = Callable[[bytes], Path]


@pytest.fixture
def told(run: Run, write: Write) -> Callable[..., Any]:
    """Look for a text in one session that has every kind of fate."""
    made = SessionBuilder()
    made.system(sections={"tone": "be kind, said the walrus"})
    first = made.user("an early zebra")
    made.assistant("noted")
    left = made.user("a lonely heron")
    made.assistant("heron, I see")
    made.at(first)
    made.assistant(calls=[tool_call("write", {"content": "an otter"})])
    made.message(
        {
            "role": "toolResult",
            "toolCallId": "call-1",
            "toolName": "write",
            "content": [{"type": "text", "text": "done"}],
            "details": {"diff": "only a badger"},
        }
    )
    edited = made.user("the old marmot")
    made.assistant("a marmot it is, by the lynx")
    made.edit(edited, {"content": "the new weasel"})
    kept = made.user("go on")
    made.assistant("gone on")
    made.compaction("they spoke of a zebra-like thing", first_kept=kept)
    made.assistant("what was it")
    path = write(made.data)
    assert left

    def ask(*words: str) -> Any:
        done = run("saw", path, *words, "--json")
        return done.code, done.json

    return ask


def saw(answer: Any) -> list[int]:
    return [row["line"] for row in answer["responses"] if row["saw"]]


def test_a_text_that_was_summarised(told: Callable[..., Any]) -> None:
    code, answer = told("an early zebra")

    assert code == 0
    assert [(m["line"], m["where"], m["standing"]) for m in answer["matches"]] == [
        (3, "text", "seen-then-gone")
    ]
    assert saw(answer) == [4, 6, 7, 10, 13]
    assert answer["responses"][-1]["because"] == [{"line": 3, "reason": "summarised"}]


def test_a_text_of_a_branch_that_was_left(told: Callable[..., Any]) -> None:
    code, answer = told("lonely heron")

    assert (code, answer["matches"][0]["standing"], saw(answer)) == (0, "abandoned", [6])
    assert {row["because"][0]["reason"] for row in answer["responses"] if not row["saw"]} == {
        "later",
        "other-branch",
    }


def test_arguments_details_and_the_prompt(told: Callable[..., Any]) -> None:
    assert told("an otter")[1]["matches"][0]["where"] == "arguments"
    code, hidden = told("badger")
    assert (code, hidden["matches"][0]["where"], saw(hidden)) == (1, "stored", [])
    assert hidden["matches"][0]["standing"] == "never-seen"
    prompt = told("the walrus")[1]
    assert prompt["matches"][0]["where"] == "section tone"
    assert saw(prompt) == [4, 6, 7, 10, 13]


def test_an_edit_takes_one_text_out_and_puts_another_in(told: Callable[..., Any]) -> None:
    old, new = told("old marmot")[1], told("new weasel")[1]

    assert saw(old) == [10]
    assert old["responses"][-2]["because"] == [{"line": 9, "reason": "edited"}]
    assert (saw(new), new["matches"][0]["where"]) == ([13], "replacement")


def test_summaries_expressions_and_entries(told: Callable[..., Any]) -> None:
    assert saw(told("--regex", "zebra.like")[1]) == [15]
    assert saw(told("ZEBRA", "--ignore-case")[1]) == [4, 6, 7, 10, 13, 15]
    code, answer = told("--entry", "00000002")
    assert (code, answer["matches"][0]["where"], saw(answer)) == (0, "entry", [4, 6, 7, 10, 13])


def test_what_stands_nowhere(told: Callable[..., Any], run: Run, write: Write) -> None:
    code, answer = told("unicorn")

    assert (code, answer["matches"], saw(answer)) == (1, [], [])
    made = SessionBuilder()
    made.user("hi")
    path = write(made.data)
    assert run("saw", path, "unicorn").out == b"it stands nowhere in this file\n"
    assert run("saw", path, "hi").code == 1


def test_wrong_use(run: Run, write: Write) -> None:
    made = SessionBuilder()
    made.user("hi")
    path = write(made.data)

    for words in (
        (),
        (path, " "),
        (path, "a", "b"),
        (path, "--regex", "("),
        (path, "--entry", "x"),
    ):
        done = run("saw", *words)
        assert done.code == 2
        assert done.err.startswith("pi-sessions: ")
        assert done.err.count("\n") == 1


def test_for_a_person(run: Run, write: Write) -> None:
    made = SessionBuilder()
    made.user("the \x1b[31mred\x1b[0m text")
    made.assistant("seen")
    made.user("more")
    made.assistant("seen too")
    out = run("saw", write(made.data), "red").out.decode()

    assert "\x1b" not in out
    assert "2 of 2 replies had it in front of them: lines 3-5" in out

"""The next request of a long file is built from its end, and equals what all of it gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Run
from pi_sessions import load
from pi_sessions.testing import SessionBuilder


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """A session whose head is longer than what is read at once."""
    made = SessionBuilder()
    made.system(sections={"tone": "kind"})
    made.thinking_level("high")
    for number in range(400):
        made.user(f"question {number} " + "x" * 4000)
        made.assistant(f"answer {number}")
    kept = made.user("kept")
    prompt = {"role": "system", "content": "", "sections": {"tone": "brief"}}
    made.compaction("all that", first_kept=kept, system_message=prompt)
    made.thinking_level("low")
    made.user("now?")
    path = tmp_path / "long.jsonl"
    path.write_bytes(made.data)
    return path


def test_it_equals_the_request_of_the_whole_file(run: Run, long_file: Path) -> None:
    told = run("request", long_file, "--json").json
    leaf = load(long_file).leaf
    assert leaf is not None
    whole = run("request", long_file, "--json", "--leaf", leaf.id).json

    assert told == whole
    assert json.dumps(told["body"]).count("question") == 0
    assert min(line for lines in told["provenance"].values() for line in lines) > 800


def test_a_level_or_a_model_in_the_head_is_not_missed(run: Run, tmp_path: Path) -> None:
    made = SessionBuilder()
    made.thinking_level("high")
    made.assistant("first", api="anthropic-messages", provider="p", model="m")
    for _ in range(400):
        made.user("x" * 4000)
    kept = made.user("kept")
    made.compaction("all that", first_kept=kept)
    path = tmp_path / "long.jsonl"
    path.write_bytes(made.data)
    told = run("request", path, "--json").json

    assert (told["api"], told["model"], told["thinkingLevel"]) == (
        "anthropic-messages",
        "m",
        "high",
    )

"""What holds of every body: each part is traced, each line has an outcome, nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from payload import wire
from pi_sessions import _json
from pi_sessions.context.message import Reason
from pi_sessions.context.payload import Payload

FOLDERS = sorted(path.parent for path in wire.RECORDINGS.glob("*/requests.jsonl"))

CONTENT = ("content", "tool_calls", "output", "tools")
"""Keys of messages and blocks that hold blocks, or a text in their place."""


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def built(request: pytest.FixtureRequest) -> list[tuple[wire.Turn, Payload]]:
    folder: Path = request.param
    return [(turn, wire.build(turn)) for turn in wire.turns(folder)]


Built = list[tuple[wire.Turn, Payload]]


def pointers(body: dict[str, Any]) -> Iterator[str]:
    """Give the pointer of every message, block, tool call and tool of a body."""
    for key in ("messages", "input", "system", "tools"):
        for place, message in enumerate(body.get(key, ())):
            yield f"/{key}/{place}"
            yield from inner(f"/{key}/{place}", message)


def inner(pointer: str, value: Any) -> Iterator[str]:
    for key in CONTENT if isinstance(value, dict) else ():
        content = value.get(key)
        if content is None or content == []:
            continue
        if isinstance(content, list):
            for place, block in enumerate(content):
                yield f"{pointer}/{key}/{place}"
                yield from inner(f"{pointer}/{key}/{place}", block)
        else:
            yield f"{pointer}/{key}"


def test_every_part_is_traced(built: Built) -> None:
    for turn, payload in built:
        missing = [p for p in pointers(payload.body) if p not in payload.provenance]
        assert not missing, turn.name
        synthetic = {text.text for text in payload.synthetic}
        for pointer in pointers(payload.body):
            assert payload.provenance[pointer] or synthetic, (turn.name, pointer)


def test_lines_are_those_of_the_context(built: Built) -> None:
    for turn, payload in built:
        _, _, messages = wire.context(turn)
        known = {line for m in messages for line in (m.line, *m.because) if line is not None}
        for pointer, lines in payload.provenance.items():
            assert known.issuperset(lines), (turn.name, pointer)


def test_every_line_has_an_outcome(built: Built) -> None:
    for turn, payload in built:
        _, _, messages = wire.context(turn)
        assert payload.outcomes.keys() == {message.line for message in messages}, turn.name


def test_a_line_is_in_the_body_exactly_if_its_outcome_says_so(built: Built) -> None:
    for turn, payload in built:
        traced = {line for lines in payload.provenance.values() for line in lines}
        edits = {line for outcome in payload.outcomes.values() for line in outcome.because}
        for line, outcome in payload.outcomes.items():
            is_sent = outcome.leading.verdict != "not_sent"
            if not is_sent and line in edits:
                continue
            # A failed call's stand-in names the reply that made the call, which is sent.
            removed_only = outcome.leading is Reason.FOLDED and line not in traced
            assert is_sent == (line in traced) or removed_only, (turn.name, line, outcome)


def test_building_changes_nothing_and_is_repeatable(built: Built) -> None:
    for turn, payload in built:
        _, _, messages = wire.context(turn)
        before = [_json.dumps(message.value) for message in messages]
        again = wire.build(turn)
        assert _json.dumps(again.body) == _json.dumps(payload.body)
        assert [_json.dumps(message.value) for message in messages] == before

"""What holds of every body: each part is traced, each line has an outcome, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from payload import random_requests, wire
from payload.generated import APIS
from pi_sessions import _json
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.payload import Payload

FOLDERS = sorted(path.parent for path in wire.RECORDINGS.glob("*/requests.jsonl"))
GENERATED = 200
"""Random requests of each API."""

CONTENT = ("content", "tool_calls", "output", "tools")
"""Keys of messages and blocks that hold blocks, or a text in their place."""


@dataclass(frozen=True)
class Case:
    name: str
    messages: Sequence[ContextMessage]
    build: Callable[[], Payload]


def recorded(folder: Path) -> Iterator[Case]:
    for turn in wire.turns(folder):
        yield Case(turn.name, wire.context(turn)[2], partial(wire.build, turn))


def generated(api: str) -> Iterator[Case]:
    for number, case in enumerate(random_requests.cases(api, 2, GENERATED)):
        messages = random_requests.messages(case)
        yield Case(f"{api}#{number}", messages, partial(random_requests.build, case))


Built = list[tuple[Case, Payload]]


@pytest.fixture(
    scope="module", params=[*FOLDERS, *APIS], ids=lambda source: getattr(source, "name", source)
)
def built(request: pytest.FixtureRequest) -> Built:
    source = request.param
    found = recorded(source) if isinstance(source, Path) else generated(source)
    return [(case, case.build()) for case in found]


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
    for case, payload in built:
        missing = [p for p in pointers(payload.body) if p not in payload.provenance]
        assert not missing, case.name
        synthetic = {text.text for text in payload.synthetic}
        for pointer in pointers(payload.body):
            assert payload.provenance[pointer] or synthetic, (case.name, pointer)


def test_lines_are_those_of_the_context(built: Built) -> None:
    for case, payload in built:
        known = {line for m in case.messages for line in (m.line, *m.because) if line is not None}
        for pointer, lines in payload.provenance.items():
            assert known.issuperset(lines), (case.name, pointer)


def test_every_line_has_an_outcome(built: Built) -> None:
    for case, payload in built:
        assert payload.outcomes.keys() == {message.line for message in case.messages}, case.name


def test_a_line_is_in_the_body_exactly_if_its_outcome_says_so(built: Built) -> None:
    for case, payload in built:
        traced = {line for lines in payload.provenance.values() for line in lines}
        edits = {line for outcome in payload.outcomes.values() for line in outcome.because}
        # What stands in no line names the lines that caused it, sent or not.
        causes = {line for text in payload.synthetic for line in text.because}
        for line, outcome in payload.outcomes.items():
            is_sent = outcome.leading.verdict != "not_sent"
            if not is_sent and line in edits | causes:
                continue
            # A failed call's stand-in names the reply that made the call, which is sent.
            removed_only = outcome.leading is Reason.FOLDED and line not in traced
            assert is_sent == (line in traced) or removed_only, (case.name, line, outcome)


def test_building_changes_nothing_and_is_repeatable(built: Built) -> None:
    for case, payload in built:
        before = [_json.dumps(message.value) for message in case.messages]
        again = case.build()
        assert _json.dumps(again.body) == _json.dumps(payload.body)
        assert [_json.dumps(message.value) for message in case.messages] == before

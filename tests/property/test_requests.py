"""Laws of requests: what they weigh, what lies between two, and all of them in a row."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from payload.flags import FLAGS
from pi_sessions import load, loads
from pi_sessions.context.difference import differ
from pi_sessions.context.message import Verdict
from pi_sessions.context.model import Model
from pi_sessions.context.payload.limits import estimate
from pi_sessions.context.prompt import Prompt
from pi_sessions.context.target import Target
from pi_sessions.context.tokens import weigh
from pi_sessions.session import Session
from property import strategies


def told_lines(asked: Any) -> dict[int, str]:
    """Give what a request tells, by line."""
    told: dict[int, str] = {}
    explanation = asked.explanation
    for part in asked.messages:
        if part.line is not None and part.role != "system":
            told[part.line] = told.get(part.line, "") + repr(part.value.get("content"))
    for line in range(1, len(explanation.reasons)):
        if explanation.verdict(line) is Verdict.NOT_SENT:
            told.pop(line, None)
        else:
            told.setdefault(line, "")
    return told


@given(strategies.sessions())
def test_a_difference_leads_from_the_older_to_the_newer(data: bytes) -> None:
    session = loads(data)
    replies = list(session.responses)[-4:]
    requests = [session.asked(reply) for reply in replies]
    for older in requests:
        for newer in requests:
            found = differ(older, newer)
            before, after = told_lines(older), told_lines(newer)
            # Apply it: what went goes, what came or changed is taken from the newer.
            built = dict(before)
            for gone in found.went:
                del built[gone.line]
            for line in (*found.came, *found.changed):
                built[line] = after[line]

            assert built == after
            sections = dict(older.prompt.sections)
            for name in found.sections:
                sections.pop(name, None)
                if name in newer.prompt.sections:
                    sections[name] = newer.prompt.sections[name]
            assert sections == newer.prompt.sections
            tools = {tool["name"]: tool for tool in older.prompt.tools}
            kept = [tool for name, tool in tools.items() if name not in found.tools]
            new = [tool for tool in newer.prompt.tools if tool["name"] in found.tools]
            assert sorted(map(repr, kept + new)) == sorted(map(repr, newer.prompt.tools))
            if older is newer:
                assert found.is_empty


@given(strategies.sessions())
def test_blocks_weigh_what_the_estimate_of_their_message_says(data: bytes) -> None:
    """Where a message has the form Pi writes, its blocks add up to its estimate."""
    session = loads(data)
    for part in session.context(stage="llm").parts:
        content = part.value.get("content")
        if part.role == "system" or not isinstance(content, list):
            continue
        size = sum(weight.characters for weight in weigh(session.table, [part], Prompt()))

        assert math.ceil(size / 3.5) == estimate(part.value)


def told(payload: Any) -> tuple[Any, ...] | None:
    """Give all that a request says, as it is now: later ones must not change it."""
    if payload is None:
        return None
    outcomes = {line: (o.reasons, o.because) for line, o in payload.outcomes.items()}
    said = (payload.synthetic, payload.unknown, payload.estimated_tokens)
    return json.dumps(payload.body), dict(payload.provenance), outcomes, *said


def compare(session: Session, model_of: Callable[[Target], Model]) -> None:
    """All requests in a row are what each is by itself, also when all are there."""
    rows = list(session.requests(model_of=model_of))
    for reply, request in rows:
        model = model_of(session.target(response=reply))
        assert told(request) == told(session.request(response=reply, model=model)), reply.line


def random_model(target: Target, number: int) -> Model:
    """Give a model of that name with flags drawn by a number."""
    random = Random(number)
    flags = FLAGS.get(target.api, {})
    compat = {
        name: random.choice(values) for name, values in flags.items() if random.random() < 0.5
    }
    return Model(
        api=target.api,
        provider=target.provider,
        id=target.model,
        input=random.choice((("text",), ("text", "image"))),
        reasoning=random.random() < 0.7,
        compat=compat,
    )


@given(strategies.sessions(), st.integers(0, 10_000))
def test_all_requests_are_those_that_are_built_one_by_one(data: bytes, number: int) -> None:
    session = loads(data)
    compare(session, lambda target: random_model(target, number))


@given(strategies.sessions(), st.sampled_from(strategies.MODELS), st.integers(0, 10_000))
def test_as_if_all_were_asked_of_one_model(
    data: bytes, names: tuple[str, str, str], number: int
) -> None:
    compare(loads(data), lambda _: random_model(Target(*names), number))


FILES = [
    *sorted((Path(__file__).parent.parent / "recordings").glob("*/session*.jsonl")),
    *sorted((SHARED / "wire").glob("*/session*.jsonl"))[::3],
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_of_recorded_sessions(path: Path) -> None:
    session = load(path)
    for number in range(3):
        compare(session, lambda target, number=number: random_model(target, number))

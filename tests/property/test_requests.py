"""Laws of requests: what they weigh, what lies between two, and all of them in a row."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given

from pi_sessions import loads
from pi_sessions.context.difference import differ
from pi_sessions.context.message import Verdict
from pi_sessions.context.payload.limits import estimate
from pi_sessions.context.prompt import Prompt
from pi_sessions.context.tokens import weigh
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


@given(strategies.sessions())
def test_all_requests_are_those_that_are_built_one_by_one(data: bytes) -> None:
    session = loads(data)
    found = [(reply.line, request and request.body) for reply, request in session.requests()]

    assert found == [
        (reply.line, session.request(response=reply).body) for reply in session.responses
    ]

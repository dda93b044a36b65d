"""Random requests: our bodies and estimates are those of the live reference.

What the reference fails to build is named as unknown here, and nothing else is.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance import reference
from conftest import REQUIRED
from payload.generated import APIS
from payload.random_requests import build, cases
from pi_sessions import _json
from pi_sessions.context.payload.trace import FAILS

CASES = int(os.environ.get("PI_SESSIONS_CASES", "400"))
"""Requests of each API."""
ORACLE = Path(__file__).with_name("oracle.mjs")


def answers(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask the reference for the bodies of cases."""
    node = reference.find_node()
    assert node is not None
    told = b"".join(_json.encode(case) + b"\n" for case in cases)
    done = subprocess.run([node, os.fspath(ORACLE)], input=told, capture_output=True, check=True)
    return [_json.loads(line) for line in done.stdout.splitlines()]


def difference(case: dict[str, Any], answer: dict[str, Any]) -> str:
    """Say in what ours is another body, "" if it is the same."""
    built = build(case)
    fails = [unknown.why for unknown in built.unknown if unknown.why.startswith(FAILS)]
    if "error" in answer:
        return "" if fails else f"the reference fails: {answer['error']}"
    if fails:
        return f"ours fails: {fails}"
    ours = _json.dumps(built.body)
    if ours != answer["body"]:
        return f"ours:      {ours}\nreference: {answer['body']}"
    if answer["tokens"] is not None and built.estimated_tokens != answer["tokens"]:
        return f"tokens {built.estimated_tokens}, reference {answer['tokens']}"
    return ""


@pytest.mark.parametrize("api", APIS)
def test_random_requests(api: str) -> None:
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    asked = cases(api, 1, CASES)
    told = answers(asked)
    assert len(told) == len(asked)
    sent = sum("body" in answer for answer in told)
    assert sent > CASES * 0.7
    for number, (case, answer) in enumerate(zip(asked, told, strict=True)):
        why = difference(case, answer)
        assert not why, f"case {number}: {why}"

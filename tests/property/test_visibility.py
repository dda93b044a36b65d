"""Visibility is what a rebuild of every context gives, for every reply and every line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from pi_sessions import load, loads
from pi_sessions.context.message import Verdict
from pi_sessions.context.model import Model
from pi_sessions.context.target import Target
from pi_sessions.errors import NotASessionError
from pi_sessions.session import Session
from property import strategies

ROOT = Path(__file__).parent.parent
FILES = [
    *sorted((ROOT / "conformance" / "inputs").glob("**/*.jsonl"))[::7],
    *sorted((ROOT / "recordings").glob("*/session*.jsonl")),
    *sorted((SHARED / "wire").glob("*/session*.jsonl")),
    *sorted((SHARED / "cases").glob("*/*.jsonl")),
]


IN_PLACE = {
    "supportsMidConvoSystemMessages": True,
    "supportsMidConvoToolChanges": True,
    "supportsMidConvoToolAdditions": True,
}


def assumed(target: Target) -> Model:
    return Model(api=target.api, provider=target.provider, id=target.model, input=target.input)


def taking_changes(target: Target) -> Model:
    """Give a model that is told of later system messages in their places, and sees no pictures."""
    names = {"api": target.api, "provider": target.provider, "id": target.model}
    return Model(**names, reasoning=True, compat=IN_PLACE)


def compare(
    session: Session, replies: int = 40, model_of: Callable[[Target], Model] = assumed
) -> None:
    """Compare with the verdicts of each reply, rebuilt one by one."""
    found = session.visibility(model_of=model_of)
    lines = range(1, len(session.table) + 1)
    seen = {line: set(found.of(line)) for line in lines}
    asked = list(session.responses)[-replies:]
    for reply in asked:
        model = model_of(session.target(response=reply))
        explanation = session.explain(response=reply, target=model)
        for line in lines:
            told = explanation.verdict(line) is not Verdict.NOT_SENT
            expected = None if told else explanation.reason(line)

            assert found.reason(reply.line, line) == expected, (reply.line, line)
            assert (reply.line in seen[line]) == told, (reply.line, line)
    replies_there = {reply.line for reply in session.responses}
    assert all(of <= replies_there for of in seen.values())


@given(strategies.sessions())
def test_a_sweep_is_as_good_as_a_rebuild(data: bytes) -> None:
    compare(loads(data))


@given(strategies.sessions())
def test_for_models_that_take_changes_in_place(data: bytes) -> None:
    compare(loads(data), model_of=taking_changes)


@given(strategies.sessions(), st.sampled_from(strategies.MODELS))
def test_as_if_all_replies_were_of_one_model(data: bytes, names: tuple[str, str, str]) -> None:
    session = loads(data)
    target = Target(*names)
    found = session.visibility(target=target)
    for reply in session.responses:
        explanation = session.explain(response=reply, target=target)
        for line in range(1, len(session.table) + 1):
            told = explanation.verdict(line) is not Verdict.NOT_SENT
            assert (found.reason(reply.line, line) is None) == told


@given(strategies.damaged_sessions())
def test_of_damaged_files_too(data: bytes) -> None:
    try:
        session = loads(data)
    except NotASessionError:
        return
    compare(session)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_of_real_files(path: Path) -> None:
    try:
        session = load(path)
    except NotASessionError:
        return
    compare(session, replies=12)

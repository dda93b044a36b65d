"""Whatever is taken out of a session, its tree and all its verdicts stay."""

from __future__ import annotations

import os
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import assume, given, settings

from conftest import ROOT, SHARED, need
from pi_sessions import load, loads
from pi_sessions.errors import NotASessionError
from pi_sessions.redact import Redaction
from pi_sessions.session import Session
from property import strategies

EXAMPLES = int(os.environ.get("PI_SESSIONS_REDACTIONS", "40"))
WAYS: list[dict[str, Any]] = [{}, {"pictures": False}, {"structure_only": True}]
WIRE = sorted(
    [
        *ROOT.glob("examples/*/session.jsonl"),
        *ROOT.glob("tests/recordings/*/session*.jsonl"),
        *SHARED.glob("wire/*/session*.jsonl"),
        *SHARED.glob("wire/*/original.jsonl"),
    ]
)


def assert_same_structure(before: Session, after: Session) -> None:
    """Compare ids, parents, kinds, tree and, at all points, the verdicts."""
    left, right = before.table, after.table
    assert left.kinds == right.kinds
    assert left.parents == right.parents
    texts = [(a, b) for a, b in zip_longest(left.ids, right.ids) if not isinstance(a, dict | list)]
    assert all(a == b and type(a) is type(b) for a, b in texts)
    assert left.leaf == right.leaf
    assert left.shadowed == right.shadowed
    assert before.tree.roots == after.tree.roots
    assert before.tree.children_of == after.tree.children_of
    ids = [e for e in before.entries if e.line not in left.shadowed and e.id is not None]
    points: list[dict[str, Any]] = [{}]
    points += [{"leaf": e.line} for e in ids[:: max(len(ids) // 5, 1)]]
    points += [{"response": e.line} for e in before.responses]
    for point in points:
        place = next(iter(point), None)
        line = point[place] if place else 0
        one = before.explain(**({place: before.at(line)} if place else {}))
        two = after.explain(**({place: after.at(line)} if place else {}))
        assert one.reasons == two.reasons, point
        for n in range(1, len(left) + 1):
            assert one.because(n) == two.because(n), (point, n)
        assert one.edits == two.edits
        assert [(p.kind, p.because) for p in one.synthetic] == [
            (p.kind, p.because) for p in two.synthetic
        ]


def loaded(data: bytes) -> Session:
    try:
        return loads(data)
    except NotASessionError:
        assume(False)
        raise


@pytest.mark.parametrize("way", WAYS, ids=["secrets", "pictures", "structure"])
def test_generated_sessions(way: dict[str, Any]) -> None:
    @settings(max_examples=EXAMPLES)
    @given(strategies.sessions())
    def run(data: bytes) -> None:
        session = loaded(data)
        assert_same_structure(session, Redaction(session, **way).result())

    run()


@pytest.mark.parametrize("way", WAYS, ids=["secrets", "pictures", "structure"])
def test_damaged_sessions(way: dict[str, Any]) -> None:
    @settings(max_examples=EXAMPLES)
    @given(strategies.damaged_sessions())
    def run(data: bytes) -> None:
        session = loaded(data)
        assert_same_structure(session, Redaction(session, **way).result())

    run()


@pytest.mark.parametrize("way", WAYS[1:], ids=["secrets", "structure"])
def test_recorded_sessions(way: dict[str, Any]) -> None:
    need(SHARED / "wire")
    for path in WIRE:
        session = load(path)
        after = Redaction(session, **way).result()
        try:
            assert_same_structure(session, after)
        except AssertionError as error:
            raise AssertionError(path) from error

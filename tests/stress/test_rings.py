"""Rings of parents, which Pi never ends on, are answered like any other file."""

from __future__ import annotations

from time import process_time

from pi_sessions import Reason, loads
from pi_sessions.testing import SessionBuilder


def ring(turns: int) -> bytes:
    """Make a session whose first entry hangs below its last."""
    session = SessionBuilder()
    for number in range(turns):
        session.user(f"Pear {number}", **({"parent": f"{2 * turns:08x}"} if number == 0 else {}))
        session.assistant("Yes.")
    return session.data


def test_small_rings_are_explained() -> None:
    session = loads(ring(20))
    visibility = session.visibility()
    replies = [entry.line for entry in session.responses]
    assert len(visibility.circular) == len(replies) == 20
    for reply in replies[:3]:
        explanation = session.explain(response=session.at(reply))
        for line in range(1, len(session.table) + 1):
            reason = visibility.reason(reply, line)
            told = explanation.reason(line)
            assert reason == (told if told.verdict.value == "not_sent" else None)


def test_large_rings_end() -> None:
    """No reply on them is said to have had anything."""
    start = process_time()
    session = loads(ring(4000))
    visibility = session.visibility()
    found = session.look_for("Pear 7", visibility=visibility)
    assert not any(saw for _, saw in found.replies())
    assert visibility.reason(5, 2) is Reason.UNREACHABLE
    assert visibility.of(2) == []
    assert process_time() - start < 20

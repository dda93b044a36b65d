"""What releases of old did that a file does not show, told with the request it touches."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import need
from pi_sessions import Code, Session, load, loads
from pi_sessions.context.remarks import remarks
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.testing import SessionBuilder
from releases import recorded


def _codes(session: Session, reply: str, rules: Rules) -> dict[str, list[int]]:
    context = session.context(response=reply, stage="llm")
    leaf = context.leaf.line if context.leaf else 0
    assert context.response
    where = (leaf, context.response.line)
    found: list[dict[str, Any]] = remarks(session.table, where, context.parts, (0, None), rules)
    return {remark["code"]: remark["lines"] for remark in found}


def _cut() -> tuple[Session, str]:
    file = SessionBuilder()
    first = file.user("a")
    file.assistant("b", stop_reason="length")
    file.compaction("A summary.", first_kept=first)
    reply = file.assistant("c")
    return loads(file.data), reply


def test_replies_left_out_in_memory() -> None:
    session, reply = _cut()
    assert _codes(session, reply, Rules.of("0.86.1"))["left-out-in-memory"] == [3]
    assert "left-out-in-memory" not in _codes(session, reply, CURRENT)
    kept = session.context(response=reply, release="0.83.0").sources
    left = session.context(response=reply, release="0.84.0").sources
    assert [entry and entry.line for entry in kept] == [4, 2, 3]
    assert [entry and entry.line for entry in left] == [4, 2]


def test_a_cut_reply_that_the_user_answered_stays() -> None:
    file = SessionBuilder()
    first = file.user("a")
    file.assistant("b", stop_reason="length")
    file.compaction("A summary.", first_kept=first)
    file.user("go on")
    reply = file.assistant("c")
    session = loads(file.data)
    assert "left-out-in-memory" not in _codes(session, reply, Rules.of("0.86.1"))
    left = session.context(response=reply, release="0.84.0").sources
    assert [entry and entry.line for entry in left] == [4, 2, 3, 5]


def test_requests_sent_again() -> None:
    file = SessionBuilder()
    file.user("a")
    reply = file.assistant("", stop_reason="error")
    session = loads(file.data)
    assert "sent-again" in _codes(session, reply, Rules.of("0.75.5"))
    assert "sent-again" not in _codes(session, reply, Rules.of("0.76.0"))


def test_sessions_continued_without_being_loaded() -> None:
    usage = {"input": 9000, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 9001}
    file = SessionBuilder(version=1)
    file.user("a")
    file.assistant("b", usage=usage)
    file.user("c")
    file.assistant("d", usage={**usage, "input": 700})
    session = loads(file.data)
    reply = str(session.responses[1].id)
    assert _codes(session, reply, Rules.of("0.13.2"))["not-loaded"] == [3, 5]
    assert "not-loaded" not in _codes(session, reply, Rules.of("0.15.0"))


def test_rules_of_old_are_told() -> None:
    session, reply = _cut()
    assert _codes(session, reply, Rules.of("0.49.3"))["old-rules"] == [5]
    assert "old-rules" not in _codes(session, reply, CURRENT)


def test_an_index_of_zero_kept_everything() -> None:
    """A version 1 compaction whose index is the header's."""
    need(recorded.RELEASES)
    session = load(recorded.RELEASES / "0.13.2" / "compact" / "session.jsonl")
    compaction = next(entry for entry in session.entries if entry.type == "compaction")
    context = session.context(compaction)
    assert [entry.line for entry in context.entries] == [
        compaction.line,
        *(line for line in range(2, compaction.line)),
    ]


def test_a_migrated_compaction_without_a_boundary() -> None:
    file = SessionBuilder()
    file.user("a")
    file.assistant("b")
    file.compaction("A summary.")
    file.user("c")
    reply = file.assistant("d")
    session = loads(file.data)
    then = session.context(response=reply, release="0.13.2").entries
    now = session.context(response=reply, release="0.31.0").entries
    assert [entry.line for entry in then] == [4, 2, 3, 5]
    assert [entry.line for entry in now] == [4, 5]


@pytest.mark.parametrize("release", recorded.releases())
def test_forks_that_have_lost_their_turns(release: str) -> None:
    """Recorded with every release; the turns after a fork are in the parent's file up to 0.51."""
    for path in sorted((recorded.RELEASES / release / "fork").glob("session*.jsonl")):
        session = load(path)
        told = [item for item in session.check() if item.code is Code.STALE_FORK]
        is_copy = "parentSession" in session.header.raw
        lost = not Rules.of(release).forks_have_their_turns
        assert bool(told) == (is_copy and lost), path

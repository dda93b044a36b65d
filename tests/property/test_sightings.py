"""A reply saw a text exactly if its request holds it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_sessions import _json, loads
from pi_sessions.context.passage import strings
from pi_sessions.errors import NotASessionError
from pi_sessions.needle import may_hold
from pi_sessions.session import Session
from property import strategies

WORDS = ("plum", "lines", "😀")


IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""What ties a result to its call: the model is told it, and nobody means it by a text."""


def without_ids(value: Any) -> Any:
    """Leave out the ids of calls."""
    if isinstance(value, dict):
        return {key: without_ids(inner) for key, inner in value.items() if key not in IDS}
    return [without_ids(inner) for inner in value] if isinstance(value, list) else value


def asked(session: Session, word: str) -> dict[int, bool]:
    """Say for each reply, by a rebuild of its request, whether the word is in it."""
    found = {}
    for reply in session.responses:
        body = session.request(response=reply).body
        parts = [without_ids(body.get(key)) for key in ("messages", "input", "system", "tools")]
        found[reply.line] = any(word in text for text in strings(parts))
    return found


def compare(data: bytes) -> None:
    try:
        session = loads(data)
    except NotASessionError:
        return
    visibility = session.visibility()
    for word in WORDS:
        sightings = session.look_for(word, visibility=visibility)
        told = dict(sightings.replies())

        assert told == asked(session, word)
        for reply, saw in told.items():
            reasons = [sightings.why_not(reply, match) for match in sightings.matches]
            assert (None in reasons) == saw


@given(strategies.sessions())
def test_a_text_was_seen_where_the_request_holds_it(data: bytes) -> None:
    compare(data)


@given(strategies.damaged_sessions())
def test_of_damaged_files_too(data: bytes) -> None:
    compare(data)


@given(strategies.sessions(), st.text(min_size=1, max_size=4))
def test_the_search_of_the_bytes_overlooks_nothing(data: bytes, text: str) -> None:
    """Every line whose decoded values hold the text is among those that may."""
    session = loads(data)
    lines = set(may_hold(session.table, text))
    for entry in session.entries:
        # As it is stored: what an old version is given in reading stands in no file.
        stored = _json.loads(session.table.bytes(entry.line))
        if any(text in value for value in strings(stored)):
            assert entry.line in lines


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (rb"\u00e9t\u00e9", "été"),
        (rb"\u4F60\u597d", "你好"),
        (rb"\uD83D\uDE00 yes", "😀"),
        (rb"a\/b", "a/b"),
        (rb"\u0061bc", "abc"),
        (b"\\u0068\\u0069 there", "hi there"),
        ("grüß".encode(), "grüß"),
        (b"tab\\there", "tab\there"),
    ],
)
def test_a_text_is_found_however_it_was_written(stored: bytes, text: str) -> None:
    lines = [
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}',
        b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"'
        + stored
        + b'"}}',
        b'{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[]}}',
    ]
    session = loads(b"\n".join(lines))

    assert session.look_for(text).replies() == [(3, True)]
    assert session.look_for(re.compile(re.escape(text))).replies() == [(3, True)]

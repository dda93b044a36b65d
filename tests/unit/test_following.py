"""A session that is followed is at each look what it would be if it were read anew."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_sessions import NotASessionError, Session, UnreadableError, load
from pi_sessions.following import Follower, follow
from property import strategies

DEMO = Path(__file__).parent.parent.parent / "examples/demo/session.jsonl"


def told(session: Session) -> list[Any]:
    """What a reader can tell of a session."""
    table, explanation = session.table, session.explain()
    rows = [
        (
            table.kinds[line],
            str(table.ids[line]),
            table.parents[line],
            table.offsets[line],
            table.bytes(line),
            explanation.reason(line),
        )
        for line in range(1, len(table) + 1)
    ]
    return [*rows, table.leaf, session.name, session.labels, session.context().messages]


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.one_of(strategies.sessions(), strategies.damaged_sessions()), st.data())
def test_grown_equals_read(tmp_path: Path, data: bytes, draw: st.DataObject) -> None:
    """Whatever comes, in whatever pieces."""
    head = data.find(b"\n") + 1
    cuts = draw.draw(st.lists(st.integers(head, len(data)), max_size=6))
    path = tmp_path / "session.jsonl"
    places = [head, *sorted(cuts), len(data)]
    path.write_bytes(data[:head])
    try:
        follower = Follower(path)
    except NotASessionError:
        return
    seen = 1
    for start, end in pairwise(places):
        with path.open("ab") as file:
            file.write(data[start:end])
        growth = follower.look()
        if growth is not None:
            assert growth.first == seen + 1
            assert growth.last == len(growth.session.table) > seen
            assert not growth.is_anew
        seen = len(follower.session.table)
        whole = tmp_path / "whole.jsonl"
        whole.write_bytes(data[: data.rfind(b"\n", 0, end) + 1])
        assert told(follower.session) == told(load(whole))


def test_a_piece_of_a_line_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = DEMO.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:10]))
    follower = Follower(path)
    for piece in (lines[10][:1], lines[10][1:-1]):
        with path.open("ab") as file:
            file.write(piece)
        assert follower.look() is None
    with path.open("ab") as file:
        file.write(b"\n" + lines[11][:30])
    growth = follower.look()
    assert growth is not None
    assert (growth.first, growth.last) == (11, 11)
    assert follower.look() is None


def test_a_file_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    """By another one under its name, by a shorter one, by one with another end."""
    path, other = tmp_path / "session.jsonl", tmp_path / "other.jsonl"
    lines = DEMO.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:20]))
    follower = Follower(path)
    for data in (b"".join(lines[:20]), b"".join(lines[:9]), b"".join(lines[:8] + lines[30:31])):
        other.write_bytes(data)
        other.replace(path)
        growth = follower.look()
        assert growth is not None
        assert growth.is_anew
        assert told(growth.session) == told(load(path))
    path.write_bytes(b"".join(lines[:5]))
    growth = follower.look()
    assert growth is not None
    assert growth.is_anew


def test_what_cannot_be_read_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    """As while Pi brings a file to a new version: it cuts it to nothing first."""
    path = tmp_path / "session.jsonl"
    data = DEMO.read_bytes()
    path.write_bytes(data)
    follower = Follower(path)
    path.write_bytes(b"")
    assert follower.look() is None
    path.unlink()
    assert follower.look() is None
    assert len(follower.session.table) == 46
    path.write_bytes(data)
    growth = follower.look()
    assert growth is not None
    assert growth.last == 46


def test_what_cannot_grow_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(UnreadableError):
            Follower(path)


def test_follow_begins_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = DEMO.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    with path.open("ab") as file:

        def ticks() -> Any:
            for line in lines[1:]:
                file.write(line)
                file.flush()
                yield

        seen = [(growth.first, growth.last) for growth in follow(path, ticks())]
    assert seen == [(number, number) for number in range(1, len(lines) + 1)]


def test_the_entries_are_those_of_the_file(tmp_path: Path) -> None:
    """Also for who asks the session of the last look for its entries."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(DEMO.read_bytes())
    follower = Follower(path)
    leaf = follower.session.entries[-1]
    entry = {"type": "session_info", "id": "feedbead", "parentId": leaf.id, "name": "Grown"}
    with path.open("ab") as file:
        file.write(json.dumps({**entry, "timestamp": "2026-10-01T00:00:00.000Z"}).encode() + b"\n")
    growth = follower.look()
    assert growth is not None
    assert growth.session.name == "Grown"
    assert [found.line for found in growth.session.entries][-1] == 47

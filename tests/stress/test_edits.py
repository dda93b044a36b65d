"""The cost of an answer follows the replies that an edit can concern, not all replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from pi_sessions import loads
from pi_sessions.context.visibility import Span, Visibility, parted

if TYPE_CHECKING:
    import pytest

TURNS = 150
DAY = "2026-11-25T10:00:00.000Z"


def _entry(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    parent = f"{number - 1:08x}" if number else None
    return {"type": kind, "id": f"{number:08x}", "parentId": parent, "timestamp": DAY, **fields}


def _message(number: int) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "user", "content": "needle", "timestamp": 1}
    if number % 2:
        said = {
            "role": "assistant",
            "content": [{"type": "text", "text": "reply"}],
            "api": "openai-completions",
            "provider": "p",
            "model": "m",
            "stopReason": "stop",
            "timestamp": 1,
        }
    return _entry(number, "message", message=said)


def _session() -> bytes:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": DAY, "cwd": "/w"}
    count = 2 * TURNS
    targets = [f"{n:08x}" for n in range(0, count, 2)]
    edits = [
        _entry(count + n, "context_edit", targetId=target, replacement=None)
        for n, target in enumerate(targets)
    ]
    last = count + len(edits)
    last += last % 2
    ending = [_entry(n, "label", targetId="0", label="x") for n in range(count + len(edits), last)]
    lines = [header, *map(_message, range(count)), *edits, *ending]
    lines += [_message(last), _message(last + 1)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_edits_at_the_end_are_weighed_for_the_replies_behind_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = loads(_session())
    asked = 0
    plain = Visibility.edit

    def counted(self: Visibility, line: int, leaf: int) -> int:
        nonlocal asked
        asked += 1
        return plain(self, line, leaf)

    monkeypatch.setattr(Visibility, "edit", counted)
    found = session.look_for("needle")
    replies = list(session.responses)
    assert len(found.matches) == TURNS + 1
    assert [saw for _, saw in found.replies()] == [True] * len(replies)
    assert asked < 10 * TURNS, "each match was weighed for each reply"


@given(st.lists(st.booleans(), max_size=30), st.lists(st.booleans(), max_size=30))
def test_parted_runs_are_the_runs_and_tell_who_is_inside(
    some: list[bool], others: list[bool]
) -> None:
    def runs(flags: list[bool]) -> list[Span]:
        starts = [n for n, flag in enumerate(flags) if flag and not (n and flags[n - 1])]
        stops = [n + 1 for n, flag in enumerate(flags) if flag and not any(flags[n + 1 : n + 2])]
        return [Span(*ends) for ends in zip(starts, stops, strict=True)]

    def places(spans: list[Span]) -> list[int]:
        return [n for span in spans for n in range(span.start, span.stop)]

    inside, outside = parted(runs(some), runs(others))
    within = set(places(runs(others)))
    assert places(inside) == [n for n in places(runs(some)) if n in within]
    assert places(outside) == [n for n in places(runs(some)) if n not in within]

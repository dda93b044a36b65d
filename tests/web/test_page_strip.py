"""The strip of a whole session: its parts are those of the requests, and it is cheap."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from pi_sessions import load, loads, testing
from pi_sessions._lines import open_source
from pi_sessions.meter import Spent, spent
from pi_sessions.render.composition import KEYS, Composition
from pi_sessions.render.saw import group_of
from pi_sessions.render.strip import HEIGHT, WIDTH, place_of, strip
from pi_sessions.session import Session
from pi_sessions.table import Kind
from web.conftest import DEMO

SHARED = Path(os.environ.get("PI_SESSIONS_SHARED", "/work/shared"))
WIRE = sorted(SHARED.glob("wire/*/session.jsonl"))
_OF_GROUP = {"thinking": "talk", "others": "talk"}
OFF = 0.12
"""Of all, by which an estimated share may miss."""


def shares_of(session: Session, line: int) -> dict[str, float]:
    """Weigh the request of a reply exactly, by the parts of the strip."""
    found = dict.fromkeys(KEYS, 0.0)
    kinds = session.table.kinds
    for weight in session.weigh(response=session.at(line)).weights:
        group = group_of(weight.part)
        is_result = weight.line and kinds[weight.line] in (Kind.TOOL_RESULT, Kind.BASH)
        found["results" if is_result else _OF_GROUP.get(group, group)] += weight.tokens
    return found


def furthest(session: Session) -> float:
    """Give by how much the estimate misses a share at most; tiny contexts say nothing."""
    composition, worst = Composition(session.table), 0.0
    for reply in session.responses[:: max(1, len(session.responses) // 12)]:
        exact = shares_of(session, reply.line)
        guessed = composition.at(reply.line)
        total, sum_ = sum(exact.values()), sum(guessed)
        if total > 100 and sum_:
            pairs = zip(exact.values(), guessed, strict=True)
            worst = max(worst, *(abs(a / total - b / sum_) for a, b in pairs))
    return worst


def test_the_parts_of_the_demo() -> None:
    assert furthest(load(DEMO)) < OFF


@pytest.mark.skipif(not WIRE, reason="there are no recordings on this machine")
def test_the_parts_of_recordings() -> None:
    """Compactions, checkpoints, branches, edits, pictures: as the requests themselves."""
    off = {path.parent.name: furthest(load(path)) for path in WIRE}
    wide = {name for name, by in off.items() if by >= OFF}
    # A prompt that grew by patches, and thinking that another model does not get.
    assert wide <= {"b-chat-compat-flags", "l-legacy-v1"}, off


def test_an_edit_and_a_compaction_are_seen() -> None:
    """What an edit takes out and what a compaction tells again weighs nothing any more."""
    session = testing.SessionBuilder()
    session.user("q" * 350)
    session.assistant("a" * 350)
    result = session.tool_result("call-1", "r" * 7000)
    before = session.assistant("b")
    session.edit(result, None)
    after = session.assistant("c")
    kept = session.user("k" * 350)
    session.compaction("s" * 700, first_kept=kept)
    last = session.assistant("d")
    read = loads(session.data)
    composition = Composition(read.table)
    first, second, third = (
        dict(zip(KEYS, composition.at(read.entry(entry).line), strict=True))
        for entry in (before, after, last)
    )
    assert first["results"] > 1900
    assert second["results"] < 100
    assert third["summary"] == pytest.approx(200, abs=20)
    assert third["talk"] == pytest.approx(100, abs=30)


def long_session(replies: int) -> bytes:
    """Make a session with figures, compactions and a branch."""
    session = testing.SessionBuilder()
    first = session.user("Begin")
    for number in range(replies):
        session.assistant(
            "An answer", message={"usage": {"input": 100 + number % 900, "output": 20}}
        )
        if number % 1000 == 999:
            session.compaction("So far", first_kept=session.user("Go on"))
    session.at(first)
    session.assistant("Another way")
    return session.data


def opened(path: Path, replies: int) -> tuple[Session, list[int], list[Spent]]:
    """Give a long session, its replies, and what they report."""
    path.write_bytes(long_session(replies))
    session = load(path)
    told = list(spent(open_source(path), session.zone))
    return session, [entry.line for entry in session.responses], told


def test_the_picture_has_few_parts(tmp_path: Path) -> None:
    """However long the session: outlines of some hundred steps, two hundred columns."""
    session, replies, told = opened(tmp_path / "long.jsonl", 3000)
    drawn = strip(session.table, replies, told)
    assert drawn
    assert drawn.replies == 3001
    assert len(drawn.columns) <= 200
    assert drawn.columns[-1].x + drawn.columns[-1].width == pytest.approx(WIDTH)
    kinds = [mark.kind for mark in drawn.marks]
    assert kinds.count("compaction") == 3
    assert "branch" in kinds
    assert 0 < place_of(drawn, 1) < place_of(drawn, 3001) < WIDTH
    for band in drawn.bands:
        assert band.path.count("V") < 1300
        heights = [float(number) for number in re.findall(r"V(-?[\d.]+)", band.path)]
        assert all(0 <= height <= HEIGHT for height in heights)
    assert strip(session.table, replies[:1], []) is None


def test_fifty_thousand_replies_take_a_second(tmp_path: Path) -> None:
    """By processor time; a tenth of them here, the whole of them in `bench/page.py`."""
    session, replies, told = opened(tmp_path / "long.jsonl", 5500)
    times = []
    for _ in range(3):
        start = time.process_time()
        strip(session.table, replies, told)
        times.append(time.process_time() - start)
    assert min(times) < 0.2

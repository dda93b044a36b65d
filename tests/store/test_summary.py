"""Summaries: the fold, and reading with care, come to the same; what grew is read on."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from pi_sessions import summarising
from pi_sessions._lines import BytesSource, open_source
from pi_sessions.errors import SessionError
from pi_sessions.fold import Fold
from pi_sessions.summarising import go_on, summarise
from pi_sessions.summary import Summary
from pi_sessions.testing import SessionBuilder

ROOT = Path(__file__).parent.parent
FILES = [
    *sorted((ROOT / "recordings").glob("*/session*.jsonl")),
    *sorted((ROOT / "conformance/inputs").glob("*.jsonl")),
    *sorted((ROOT / "conformance/vectors").glob("*.jsonl")),
    *sorted((SHARED / "wire").glob("*/session*.jsonl")),
    *sorted((SHARED / "cases").glob("*/*.jsonl")),
    *sorted((SHARED / "real").glob("*.jsonl")),
]


def with_care(path: Path) -> Summary | None:
    try:
        return summarising._with_care(open_source(path), UTC)
    except SessionError:
        return None


def test_a_fold_says_what_careful_reading_says() -> None:
    """For every file it takes; and it takes most of those that Pi wrote."""
    taken = 0
    for path in FILES:
        fold = Fold()
        if fold.feed(open_source(path).lines()):
            taken += 1
            assert fold.summary(str(path), summarising.written(path)) == with_care(path), path
        assert summarise(path) == with_care(path), path

    assert taken > 50
    recorded = [path for path in FILES if "recordings" in path.parts]
    assert all(Fold().feed(open_source(path).lines()) for path in recorded)


def usage(n: int) -> dict[str, object]:
    cost = {"input": n / 8, "output": 0, "cacheRead": n / 64, "cacheWrite": 0, "total": n / 4}
    return {"input": n, "output": 1, "cacheRead": 500 * n, "cacheWrite": 3000, "cost": cost}


@st.composite
def replies(draw: st.DrawFn, n: int) -> dict[str, object]:
    """Draw what a reply reports: by one of two models, often as the one before it, at times odd."""
    spent = draw(st.sampled_from([usage(n), usage(n), usage(2), usage(0), {}, None]))
    if spent and draw(st.booleans()):
        key = draw(st.sampled_from(["input", "cacheRead", "cacheWrite", "output", "cost"]))
        odd = [None, True, -5, 0, 1.5, "7", {"total": 1}, {"total": 1, "cacheRead": 0.5}, 90_000]
        spent = {**spent, key: draw(st.sampled_from(odd))}
    message: dict[str, object] = {"usage": spent}
    if draw(st.integers(0, 4)) == 0:
        stamps = [0, 1_767_600_000_000 + 600_000 * n, 9e15, 1e3, "1", None, 253_402_300_800_000]
        message["timestamp"] = draw(st.sampled_from(stamps))
    if draw(st.integers(0, 5)) == 0:
        message["responseModel"] = draw(st.sampled_from(["birch-1", "birch-2", "", 7]))
    return {"model": draw(st.sampled_from(["birch-1", "birch-2"])), "message": message}


@st.composite
def made(draw: st.DrawFn) -> bytes:
    """Draw a session with branches, names, compactions, usage, and sometimes something odd."""
    session = SessionBuilder()
    ids = [session.user("first")]
    for n in range(draw(st.integers(1, 20))):
        if draw(st.booleans()) and draw(st.booleans()):
            session.at(draw(st.sampled_from(ids)))
        target = draw(st.sampled_from(ids))
        match draw(st.integers(0, 9)):
            case 0:
                ids.append(session.user(f"said {n}"))
            case 1:
                ids.append(session.add("session_info", {"name": draw(st.sampled_from("ab "))}))
            case 2:
                fields = {"summary": "s", "firstKeptEntryId": target, "usage": usage(n)}
                ids.append(session.add("compaction", fields))
            case 3:
                ids.append(session.add("label", {"targetId": target, "label": "x"}))
            case 4:
                ids.append(session.usage(usage(n)))
            case 5:
                ids.append(session.add("branch_summary", {"summary": "s", "fromId": target}))
            case 6:
                ids.append(session.add("context_edit", {"targetId": target, "replacement": None}))
            case _:
                ids.append(session.assistant(f"told {n}", **draw(replies(n))))
    data = bytearray(session.data)
    if draw(st.integers(0, 4)) == 0:
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


@given(made(), st.data())
def test_reading_on_is_reading(tmp_path_factory: pytest.TempPathFactory, data, draw) -> None:  # type: ignore[no-untyped-def]
    """Wherever a file stood when it was read first, and was cut: the answer is that of one pass."""
    path = tmp_path_factory.mktemp("grown") / "session.jsonl"
    state = b""
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=3).map(sorted))
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        told, state = go_on(path, UTC, state)
        assert told == with_care(path)
        assert told == summarise(path)


def test_rows_can_be_kept() -> None:
    """A summary survives an encoder that knows nothing of it."""
    for path in FILES[:40]:
        if (told := summarise(path)) is not None:
            assert msgspec.json.decode(msgspec.json.encode(told), type=Summary) == told


def test_a_state_that_is_none_is_not_used(tmp_path: Path) -> None:
    session = SessionBuilder()
    session.user("one")
    path = tmp_path / "a.jsonl"
    path.write_bytes(session.data)
    for state in (b"", b"x", b"\xc1", b"\x90"):
        assert go_on(path, UTC, state) == go_on(path, UTC)
    with pytest.raises(msgspec.DecodeError):
        Fold.resumed(b"nothing")
    assert not Fold().feed(BytesSource(b"").lines())

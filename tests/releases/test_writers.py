"""Who wrote this: the range holds the release that really did, in every recorded session."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import need
from payload import wire
from pi_sessions import Session, load, loads
from pi_sessions.context.clues import Surety
from pi_sessions.context.writers import Writer
from pi_sessions.testing import SessionBuilder
from releases import recorded

WIRE = recorded.RELEASES.parent / "wire"
ODD: frozenset[str] = frozenset()
"""Replies of a form no release writes."""
REAL = recorded.RELEASES.parent / "real"


@pytest.mark.parametrize("release", recorded.releases())
def test_the_range_holds_the_true_release(release: str) -> None:
    widths: list[int] = []
    told: set[str] = set()
    for folder in recorded.scenarios(release):
        for path in sorted(folder.glob("session*.jsonl")):
            for stretch in recorded.session(path).writers():
                assert stretch.writer is not None, path
                assert release in stretch.writer, (path, stretch)
                assert stretch.clues, path
                widths.append(stretch.writer.count)
                told.add(str(stretch.writer))
    widths.sort()
    middle = widths[len(widths) // 2]
    print(f"{release}: {len(told)} ranges, {middle} releases wide in the middle, {widths[-1]} most")
    print("   ", "; ".join(sorted(told)))


def test_replies_of_today() -> None:
    """Every reply that 1.6.0 was recorded to write, upgraded sessions of old among them."""
    for folder in sorted(need(WIRE).iterdir()):
        if not (folder / "requests.jsonl").exists():
            continue
        for turn in wire.turns(folder):
            session = load(folder / turn.session)
            line = session.entry(turn.answered).line
            (stretch,) = (s for s in session.writers() if s.first <= line <= s.last)
            assert stretch.writer is None or "1.6.0" in stretch.writer, turn.name
            assert stretch.writer is not None or turn.name in ODD, turn.name


def test_time_narrows() -> None:
    """Sessions of last winter, really used: the days leave a few releases."""
    session = load(need(REAL / "before-compaction.jsonl"))
    assert all(s.writer and s.writer.newest <= "0.18.1" for s in session.writers())
    clues = [clue for stretch in session.writers() for clue in stretch.clues]
    assert any(clue.surety is Surety.CLOCK for clue in clues)


def _upgraded(*paths: Path) -> Session:
    """Put sessions together as one that was resumed by other releases."""
    lines: list[bytes] = []
    for path in paths:
        lines += path.read_bytes().splitlines(keepends=True)[1 if lines else 0 :]
    return loads(b"".join(lines))


def test_a_file_that_was_upgraded_and_resumed() -> None:
    need(recorded.RELEASES)
    old, new = (
        recorded.RELEASES / release / "plain-resp/session.jsonl" for release in ("0.37.8", "1.0.3")
    )
    stretches = _upgraded(old, new).writers()
    assert [str(s.writer) for s in stretches] == ["0.31.0 to 0.56.1", "0.99.0 to 1.2.0"]
    assert stretches[0].first == 1
    assert stretches[1].first == stretches[0].last + 1


def test_somebody_went_back() -> None:
    need(recorded.RELEASES)
    old, new = (
        recorded.RELEASES / release / "plain-resp/session.jsonl" for release in ("0.37.8", "1.0.3")
    )
    stretches = _upgraded(new, old).writers()
    assert len(stretches) == 2
    assert "1.0.3" in (stretches[0].writer or ())
    assert "0.37.8" in (stretches[1].writer or ())


def test_replies_of_other_programs_have_no_writer() -> None:
    file = SessionBuilder()
    file.user("a")
    file.assistant("b")
    (stretch,) = loads(file.data).writers()
    assert stretch.writer is None
    assert loads(file.data).context(response=file_reply(file)).parts


def file_reply(file: SessionBuilder) -> str:
    return str(loads(file.data).responses[0].id)


def test_ranges() -> None:
    writer = Writer("0.80.3", "0.82.1")
    assert str(writer) == "0.80.3 to 0.82.1"
    assert "0.80.10" in writer
    assert "0.83.0" not in writer
    assert str(Writer("1.6.0", "1.6.0")) == "1.6.0"
    assert Writer("1.6.0", "1.6.0").count == 1

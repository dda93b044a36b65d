"""Laws of reading, of verdicts and of cutting, on generated sessions and on our vectors."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_sessions import NotASessionError, Reason, Verdict, _json, loads
from pi_sessions._lines import BytesSource, split
from pi_sessions.context.prompt import replay_prompt
from property import strategies

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "examples" / "demo" / "session.jsonl"
VECTORS = sorted((ROOT / "tests" / "conformance" / "vectors").glob("*/*.jsonl"))


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_any_split_of_the_bytes_gives_the_same_lines(data: bytes, cuts: list[int]) -> None:
    """Chunks make no difference, and joining the lines gives the bytes back."""
    data = data.replace(b"\x07", b"\n")
    places = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    chunks = [data[a:b] for a, b in itertools.pairwise(places)]

    lines = list(split(chunks))

    assert list(split([data])) == lines
    assert data == b"".join(lines)
    assert all(line.endswith(b"\n") for line in lines[:-1])


@given(strategies.damaged_sessions())
def test_lines_cover_the_file(data: bytes) -> None:
    """Offsets and lengths slice the file into its physical lines, newline apart."""
    try:
        table = loads(data).table
    except NotASessionError:
        return

    pieces = [data[table.offsets[n] :][: table.length(n)] for n in range(1, len(table) + 1)]

    assert [line.removesuffix(b"\n") for line in BytesSource(data).lines()] == pieces
    assert pieces == [table.bytes(n) for n in range(1, len(table) + 1)]


@given(strategies.damaged_sessions())
def test_every_line_has_one_verdict_and_the_sent_ones_make_the_request(data: bytes) -> None:
    """Counts add up; sent and changed lines are exactly those the messages come from."""
    try:
        session = loads(data)
    except NotASessionError:
        return
    points = [{"leaf": entry} for entry in session.entries] + [
        {"response": reply} for reply in session.responses
    ]
    for where in points[:12]:
        explanation = session.explain(**where)
        context = session.context(**where, stage="replay", target=session.target(**where))
        told = {
            line
            for line in range(1, len(session.table) + 1)
            if explanation.verdict(line) is not Verdict.NOT_SENT
        }
        prompt = replay_prompt(context.parts)
        sources = {part.line for part in context.parts if part.line and part.role != "system"}

        assert sum(explanation.counts.values()) == len(session.table)
        empty = {n for n in sources if explanation.reason(n) is Reason.EMPTY}

        assert (sources - empty) | prompt.lines == told


@given(strategies.sessions())
def test_projection_verdicts_follow_the_messages(data: bytes) -> None:
    """At Pi's own context, the lines told sent or changed are those messages come from."""
    session = loads(data)
    for entry in list(session.entries)[-4:]:
        explanation = session.explain(entry, stage="projection")
        context = session.context(entry)
        told = {
            line
            for line in range(1, len(session.table) + 1)
            if explanation.verdict(line) is not Verdict.NOT_SENT
        }

        assert told <= {part.line for part in context.parts}
        assert {p.line for p in context.parts if p.role != "system"} <= told


CUT = [DEMO, *(path for path in VECTORS[::25] if path.stat().st_size < 4000)]


@pytest.mark.parametrize("path", CUT, ids=lambda path: path.stem)
def test_cut_at_every_byte(path: Path) -> None:
    """Each complete line is kept as it was, and at most one diagnostic is new."""
    data = path.read_bytes()
    try:
        whole = loads(data).table
    except NotASessionError:
        return
    step = 1 if len(data) < 4000 else 7
    for end in range(whole.offsets[whole.header_line + 1], len(data), step):
        table = loads(data[:end]).table
        complete = data[:end].count(b"\n")
        before = [d for d in whole.diagnostics if d.line <= complete]
        after = [d for d in table.diagnostics if d.line <= complete]

        assert table.kinds[: complete + 1] == whole.kinds[: complete + 1]
        assert list(table.ids[: complete + 1]) == list(whole.ids[: complete + 1])
        assert before == after
        assert len(table.diagnostics) <= len(after) + 1


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_json_round_trip(path: Path) -> None:
    """What is read is written so that reading it again gives the same text."""
    for line in BytesSource(path.read_bytes()).lines():
        try:
            value = _json.loads(line.removesuffix(b"\n"))
        except _json.JSONError:
            continue
        text = _json.dumps(value)

        assert _json.dumps(_json.loads(text.encode())) == text
        assert _json.encode(value) == text.encode()

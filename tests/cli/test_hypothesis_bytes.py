"""Any bytes are a session or a NotASessionError, and a session answers every question."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_sessions import NotASessionError, Session, Target, loads
from pi_sessions.testing import SessionBuilder

VECTORS = Path(__file__).parent.parent / "conformance" / "vectors"
HEADER = b'{"type":"session","version":3,"id":"s","cwd":"/p"}\n'
TARGETS = (
    None,
    Target("openai-completions", "birch", "birch-1"),
    Target("anthropic-messages", "larch", "larch-1", ("text",)),
    Target("openai-responses", "cedar", "cedar-1"),
    Target("unheard-of", "x", "y"),
)
VALUES = (
    b"null", b"1", b"-0.5", b'""', b"[]", b"{}", b"true", b'"\\ud800"', b"1e999", b"[[1]]",
    b"123456789012345678901", b'"\\u0000"', b"[null]", b'["x"]', b"[{}]",
    b'[{"type":"text"}]', b'[{"type":"toolCall"}]', b'[{"type":"thinking","thinking":5}]',
    b'{"content":5}', b'"user"', b'"assistant"', b'"session"',
)  # fmt: skip
"""What is put in the place of a value."""
VALUE = re.compile(rb':("(?:[^"\\]|\\.)*"|-?\d+|null|true|false|\[[^\[\]]*\]|\{[^{}]*\})')


def ask_everything(session: Session) -> None:
    """Ask a session all there is; nothing may be raised."""
    lines = range(1, len(session.table) + 1)
    offsets = [session.table.offsets[line] for line in lines]
    assert offsets == sorted(offsets)
    for item in session.check():
        assert 1 <= item.line <= len(session.table)
        assert 0 <= item.offset <= session.table.source.size
    assert (session.name, session.labels, session.header, session.cwd) is not None
    assert sum(1 for _ in session.tree.walk()) <= len(session.table)
    for entry in session.entries:
        assert entry.value is not None
    points: list[dict[str, object]] = [{}, *({"response": r} for r in session.responses[:2])]
    for point in points:
        prompt = session.prompt(**point)  # type: ignore[arg-type]
        assert set(prompt.section_lines) == set(prompt.sections)
        for stage in ("projection", "llm", "replay"):
            context = session.context(stage=stage, **point)  # type: ignore[arg-type]
            assert len(context.messages) == len(context.sources)
        told = [session.explain(stage="projection", **point)]  # type: ignore[arg-type]
        told += [session.explain(target=target, **point) for target in TARGETS]  # type: ignore[arg-type]
        for explanation in told:
            assert sum(explanation.counts.values()) == len(session.table)
            for line in lines:
                assert all(1 <= n <= len(session.table) for n in explanation.because(line))


def read(data: bytes) -> None:
    """Read bytes, and ask what is a session."""
    try:
        session = loads(data)
    except NotASessionError as error:
        refused = error
    else:
        ask_everything(session)
        return
    assert refused.line >= 1
    assert 0 <= refused.offset <= len(data)


def vectors() -> list[bytes]:
    """Give the small vectors."""
    files = (path.read_bytes() for path in sorted(VECTORS.rglob("*.jsonl")))
    return [data for data in files if len(data) < 8_000]


def sample() -> bytes:
    """Make a session with something of everything, in case there are no vectors."""
    s = SessionBuilder()
    s.system("kind", sections={"a": "A"})
    s.user("hi")
    s.assistant("Cox.", thinking="hm")
    return s.data


INPUTS = st.sampled_from(vectors() or [sample()])
QUICK = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@QUICK
@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes(data: bytes, headed: bool) -> None:
    read(HEADER + data if headed else data)


@QUICK
@given(
    st.lists(
        st.sampled_from([b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\n", b"\r", b"\xff",
                         b'"type"', b'"message"', b'"id"', b'"parentId"', b'"a"', b"null", b" "]),
        max_size=60,
    )
)  # fmt: skip
def test_pieces_of_json(pieces: list[bytes]) -> None:
    read(HEADER + b"".join(pieces))


@QUICK
@given(INPUTS, st.data())
def test_cut_flipped_and_spliced(data: bytes, draw: st.DataObject) -> None:
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, max(len(damaged) - 1, 0)))
        how = draw.draw(st.sampled_from(["cut", "flip", "splice", "end"]))
        if how == "cut":
            del damaged[at : at + draw.draw(st.integers(1, 60))]
        elif how == "flip" and damaged:
            damaged[at] = draw.draw(st.integers(0, 255))
        elif how == "splice":
            other = draw.draw(INPUTS)
            start = draw.draw(st.integers(0, max(len(other) - 1, 0)))
            damaged[at:at] = other[start : start + draw.draw(st.integers(1, 400))]
        elif how == "end":
            del damaged[at:]
    read(bytes(damaged))


@settings(QUICK, max_examples=150)
@given(INPUTS, st.lists(st.tuples(st.floats(0, 0.999), st.sampled_from(VALUES)), max_size=4))
def test_values_of_other_types(data: bytes, changes: list[tuple[float, bytes]]) -> None:
    for where, value in changes:
        places = list(VALUE.finditer(data))
        if places:
            start, end = places[int(where * len(places))].span(1)
            data = data[:start] + value + data[end:]
    read(data)


@QUICK
@given(INPUTS, st.randoms(use_true_random=False))
def test_lines_in_another_order(data: bytes, random: object) -> None:
    head, _, body = data.partition(b"\n")
    rest = body.split(b"\n")
    random.shuffle(rest)  # type: ignore[attr-defined]
    read(b"\n".join([head, *rest, *rest[:2]]))

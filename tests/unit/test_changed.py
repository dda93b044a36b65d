"""A file that is changed in place under its reader: an answer, or a sentence about the file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_sessions import Session, load
from pi_sessions.errors import SessionError

BUNDLED = Path(__file__).parent.parent.parent / "examples" / "demo" / "session.jsonl"
QUESTIONS: dict[str, Callable[[Session], object]] = {
    "entries": lambda session: [entry.raw for entry in session.entries],
    "branch": lambda session: [entry.raw for entry in session.branch()],
    "tree": lambda session: session.tree,
    "labels": lambda session: session.labels,
    "name": lambda session: session.name,
    "context": lambda session: session.context(),
    "prompt": lambda session: session.prompt(),
    "requests": lambda session: list(session.requests()),
    "explain": lambda session: session.explain(),
    "visibility": lambda session: [session.visibility().of(n) for n in range(1, 20)],
    "writers": lambda session: session.writers(),
    "weigh": lambda session: session.weigh(),
    "look_for": lambda session: session.look_for("the"),
    "check": lambda session: session.check(),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("seed", range(12))
def test_it_is_told(tmp_path: Path, question: str, seed: int) -> None:
    rnd = random.Random(seed)
    data = BUNDLED.read_bytes()
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    session = load(path)
    changed = bytearray(data)
    for _ in range(rnd.choice([1, 5, 400])):
        changed[rnd.randrange(len(data))] = rnd.choice([0, 10, 34, 91, 123, 125, 255])
    if seed % 4 == 0:
        del changed[rnd.randrange(len(data)) :]
    with path.open("r+b") as file:
        file.write(changed)
        file.truncate()

    told = str(path)
    try:
        QUESTIONS[question](session)
    except SessionError as error:
        told = str(error)

    assert str(path) in told

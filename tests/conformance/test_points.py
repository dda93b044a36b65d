"""The leaf behind a reply, against the leaf that was recorded when its request was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, SHARED, need
from pi_sessions import load


def turns(folder: Path) -> Iterator[dict[str, Any]]:
    """Give the recorded turns that have both a leaf and an answer."""
    for line in (folder / "requests.meta.jsonl").read_text("utf-8").split("\n"):
        turn = json.loads(line) if line else {}
        if turn.get("kind") == "turn" and turn.get("answered") and turn.get("leaf"):
            yield turn


def leaves(folder: Path) -> tuple[int, list[str]]:
    """Compare every turn of a recording; gives how many there are and which are wrong."""
    count, wrong = 0, []
    for turn in turns(folder):
        session = load(folder / (turn.get("session_file") or "session.jsonl"))
        leaf = session.context(response=turn["answered"]).leaf
        count += 1
        if leaf is None or leaf.id != turn["leaf"]:
            wrong.append(turn["answered"])
    return count, wrong


def test_every_turn_of_the_recordings() -> None:
    """The rule finds the recorded leaf of all 436 turns, in-flight entries included."""
    need(SHARED / "wire")
    found = {folder.name: leaves(folder) for folder in sorted((SHARED / "wire").glob("*/"))}

    assert sum(count for count, _ in found.values()) == 436
    assert not {name: wrong for name, (_, wrong) in found.items() if wrong}


@pytest.mark.parametrize(
    "folder", sorted((ROOT / "tests" / "recordings").glob("*/")), ids=lambda folder: folder.name
)
def test_our_own_recordings(folder: Path) -> None:
    """The same on the recordings that come with the project."""
    count, wrong = leaves(folder)

    assert count > 0
    assert not wrong

"""Every vector against what the reference made of it. Needs no Node and always runs."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.compare import Difference, compare
from pi_sessions import _json

HERE = Path(__file__).parent
VECTORS = {
    f"{path.parent.name}/{path.stem}": path for path in sorted(HERE.glob("vectors/*/*.jsonl"))
}
DIVERGENCES: list[dict[str, Any]] = tomllib.loads((HERE / "divergences.toml").read_text("utf-8"))[
    "divergence"
]


def allowed(name: str) -> set[str]:
    """Give the aspects in which a vector may differ."""
    rows = (row for row in DIVERGENCES if name in row["vectors"])
    return {aspect for row in rows for aspect in row["aspects"]}


def aspect_of(difference: Difference) -> str:
    """Give the aspect of a difference without the entry it is about."""
    words = difference.aspect.split(" ")
    return words[2] if words[0] in ("leaf", "response") and len(words) > 2 else words[0]


def differences(name: str) -> list[Difference]:
    """Compare one vector."""
    expected = _json.loads((HERE / "expected" / f"{name}.json").read_bytes())
    found, count = compare(VECTORS[name].read_bytes(), expected)
    assert count > 0
    return found


def test_there_are_vectors_enough() -> None:
    """A lost folder must not look like success."""
    assert len(VECTORS) >= 500
    assert len({name.split("/")[0] for name in VECTORS}) >= 12


@pytest.mark.parametrize("name", VECTORS)
def test_agrees_with_the_reference(name: str) -> None:
    """All stages at every leaf and every response, but for the divergences by name."""
    unexpected = [d for d in differences(name) if aspect_of(d) not in allowed(name)]

    assert not unexpected, "\n".join(map(str, unexpected[:3]))


@pytest.mark.parametrize("row", DIVERGENCES, ids=lambda row: row["id"])
def test_divergence_still_differs(row: dict[str, Any]) -> None:
    """A row that has become untrue is removed, vector by vector and aspect by aspect."""
    seen = {name: {aspect_of(d) for d in differences(name)} for name in row["vectors"]}

    assert not [name for name, aspects in seen.items() if not aspects & set(row["aspects"])]
    assert set(row["aspects"]) <= set().union(*seen.values())


def test_divergences_are_told_in_full() -> None:
    """Each row says what the reference does, what we do, and why; ids are unique."""
    counted = Counter(row["id"] for row in DIVERGENCES)

    assert {"id", "vectors", "aspects", "reference", "ours", "why"} == {
        key for row in DIVERGENCES for key in row
    }
    assert set(counted.values()) == {1}

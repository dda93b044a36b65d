"""Recorded and reported sessions against the live reference.

Our own recordings, the recordings and cases of the shared folder, and two real old sessions: every
stage at every leaf and every response (of the real ones: at every response).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import reference as live
from conformance.compare import compare
from conftest import ROOT, SHARED, need

OURS = sorted(
    [*ROOT.glob("tests/recordings/*/session*.jsonl"), *ROOT.glob("examples/*/session.jsonl")]
)
WIRE = sorted([*SHARED.glob("wire/*/session*.jsonl"), *SHARED.glob("wire/*/original.jsonl")])
CASES = sorted(SHARED.glob("cases/*/*.jsonl"))
REAL = sorted(SHARED.glob("real/*.jsonl"))
DIFFERENT = {
    "41-non-object-json-lines": {"roots"},
    "46-empty-and-header-only-files": {"error"},
    "47-utf8-bom": {"error"},
    "62-subagent-artifacts-and-foreign-jsonl-in-dir": {"error"},
}
"""Cases where we answer otherwise on purpose, each a row of `divergences.toml`."""


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def test_the_shared_folder_is_whole() -> None:
    """Where the folder is, nothing of it is missing."""
    need(SHARED / "wire")

    assert len(WIRE) >= 80
    assert len(CASES) >= 55
    assert len(REAL) == 2


@pytest.mark.parametrize("path", [*OURS, *WIRE], ids=name_of)
def test_recordings(path: Path, oracle: live.Reference) -> None:
    """What the real Pi wrote is read as the real Pi reads it."""
    data = path.read_bytes()
    differences, count = compare(data, oracle.describe(data))

    assert not differences, "\n".join(map(str, differences[:3]))
    assert count > 5


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_cases(path: Path, oracle: live.Reference) -> None:
    """Inputs behind reports: the same answer, but where the reference is known to be wrong."""
    data = path.read_bytes()
    differences, count = compare(data, oracle.describe(data, leaves=len(data) < 300_000))
    expected = DIFFERENT.get(path.parent.name, set())

    assert {d.aspect for d in differences} <= expected, "\n".join(map(str, differences[:3]))
    assert count > 0


@pytest.mark.parametrize("path", REAL, ids=name_of)
def test_real_sessions(path: Path, oracle: live.Reference) -> None:
    """Two old sessions of version 1, at every response."""
    data = path.read_bytes()
    differences, count = compare(data, oracle.describe(data, leaves=False))

    assert not differences, "\n".join(map(str, differences[:3]))
    assert count > 400

"""The exports of a few sessions are what they were."""

from __future__ import annotations

from export.golden import GOLDEN, made


def test_golden_exports() -> None:
    """The same input gives the same bytes, today as yesterday, and twice in a row."""
    found = dict(made())
    assert found == dict(made())
    assert sorted(found) == sorted(path.name for path in GOLDEN.iterdir())
    for name, content in found.items():
        assert content.decode() == (GOLDEN / name).read_bytes().decode(), name

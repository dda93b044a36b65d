"""Generated sessions: ours and the live reference agree on every stage.

2,000 sessions in an ordinary run. A failure that shrinks to something new becomes a vector.
"""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings

from conformance import reference as live
from conformance.compare import compare
from property import strategies

PARTS = 8
EXAMPLES = 250


def agree(data: bytes, oracle: live.Reference) -> None:
    """Compare both readings of a file."""
    differences, _ = compare(data, oracle.describe(data))

    assert not differences, "\n".join(map(str, differences[:3]))


@pytest.mark.parametrize("part", range(PARTS // 2))
def test_whole_sessions(part: int, oracle: live.Reference) -> None:
    """Branches, compactions, edits, prompt patches, calls and results, odd content."""

    @seed(part)
    @settings(max_examples=EXAMPLES, database=None)
    @given(strategies.sessions())
    def run(data: bytes) -> None:
        agree(data, oracle)

    run()


@pytest.mark.parametrize("part", range(PARTS // 2))
def test_damaged_sessions(part: int, oracle: live.Reference) -> None:
    """The same with blank, broken, doubled and cut lines, odd line ends and bytes."""

    @seed(part)
    @settings(max_examples=EXAMPLES, database=None)
    @given(strategies.damaged_sessions())
    def run(data: bytes) -> None:
        agree(data, oracle)

    run()

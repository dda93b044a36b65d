"""Questions to a session that no command asks."""

from __future__ import annotations

from pi_sessions import loads
from pi_sessions.testing import SessionBuilder


def test_the_common_ancestor_is_where_two_branches_part() -> None:
    builder = SessionBuilder()
    root = builder.user("one")
    shared = builder.assistant("two")
    left = builder.user("left")
    right = builder.user("right", parent=shared)
    alone = builder.user("alone", parent=None)
    session = loads(builder.data)
    for one, other, expected in ((left, right, shared), (root, right, root), (left, left, left)):
        found = session.common_ancestor(one, other)
        assert found is not None
        assert found.id == expected
    assert session.common_ancestor(left, alone) is None

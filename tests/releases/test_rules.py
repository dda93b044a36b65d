"""The table of rules: what each release had, and that today's is what the stages have anyway."""

from __future__ import annotations

import msgspec
import pytest

from pi_sessions.context import releases, rules
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.errors import UnknownReleaseError


def test_the_table_ends_with_the_defaults() -> None:
    values = {change.rule: change.new[0] for change in rules.changes()}
    assert values == {
        name: getattr(CURRENT, name) for name in Rules.__struct_fields__ if name != "release"
    }
    assert releases.names()[-1] == CURRENT.release
    assert Rules.of(CURRENT.release) is CURRENT


def test_every_change_lies_between_known_releases() -> None:
    for change in rules.changes():
        assert releases.version(change.after) < releases.version(change.release), change
        assert change.after in releases.names(), change
        assert change.old[0] != change.new[0], change
        assert change.kind in ("saw", "ids", "form", "param"), change
        assert all((change.what, change.old[1], change.new[1], change.seen)), change


def test_the_values_of_a_rule_follow_one_another() -> None:
    seen: dict[str, rules.Change] = {}
    for change in rules.changes():
        if before := seen.get(change.rule):
            assert change.old == before.new
            assert releases.version(before.release) <= releases.version(change.after)
        seen[change.rule] = change


@pytest.mark.parametrize(
    ("release", "field", "value"),
    [
        ("0.7.6", "unsigned_thinking", "signed"),
        ("0.24.5", "unanswered", "removed"),
        ("0.25.0", "unanswered", "stand-in"),
        ("0.38.0", "foreign_thinking", "tagged"),
        ("0.39.0", "foreign_thinking", "text"),
        ("1.2.0", "foreign_thinking", "text"),
        ("1.3.0", "foreign_thinking", "dropped"),
        ("0.49.1", "drops_aborted", False),
        ("0.49.2", "drops_aborted", True),
        ("0.83.0", "drops_cut_replies", False),
        ("0.86.1", "drops_cut_replies", True),
        ("0.87.0", "drops_cut_replies", False),
        ("1.5.2", "developer_by_default", True),
    ],
)
def test_values(release: str, field: str, value: object) -> None:
    assert getattr(Rules.of(release), field) == value


def test_every_release_has_rules() -> None:
    known = [Rules.of(name) for name in releases.names()]
    assert len({msgspec.structs.replace(value, release="") for value in known}) > 30


@pytest.mark.parametrize("name", ["", "9.9.9", "one", "1.6", "0.7.5"])
def test_unknown_releases(name: str) -> None:
    with pytest.raises(UnknownReleaseError):
        Rules.of(name)


def test_changes_between() -> None:
    assert {change.rule for change in rules.between("1.5.2", "1.6.0")} == {"developer_by_default"}
    assert rules.between("1.3.0", "1.5.2") == ()
    # Where the release is only known to lie in a gap, any release of the gap may have changed it.
    assert "unsigned_thinking" in {change.rule for change in rules.between("0.10.0", "0.11.0")}
    assert rules.between("0.49.3", "0.49.3") == ()

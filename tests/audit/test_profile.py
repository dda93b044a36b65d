"""The form: read from a brief, from a file, or the default; what is off about one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import SHARED, need
from pi_sessions.audit import profile
from pi_sessions.errors import ProfileError

BRIEF = Path(__file__).parent / "recordings" / "report-honest" / "brief.txt"


def columns(form: profile.Profile, name: str) -> list[str]:
    (section,) = [section for section in form.section if section.name == name]
    return [column.name for column in section.column]


@pytest.mark.parametrize(
    "path", [BRIEF, SHARED / "brief" / "pi-27-brief.txt"], ids=["own", "given"]
)
def test_a_brief_asks_for_what_the_default_has(path: Path) -> None:
    """Sections, columns, checks and classes are found in the words of the brief."""
    asked, default = profile.of_brief(need(path).read_text("utf-8")), profile.default()

    assert asked is not None
    assert asked.exact
    assert asked.section == default.section
    assert [kind.name for kind in asked.class_] == [kind.name for kind in default.class_]


def test_a_brief_in_other_words() -> None:
    """Names, order and columns are the brief's, also those nobody knows."""
    asked = profile.of_brief(
        "Required output\n\n"
        "### Summary\n"
        "### Sources read - a table with one row per source: title, URL, shelf mark, and status.\n"
        "### Experiments — each with a method; mark what you did not run UNRUN\n"
        "== Notes ==\n### No section\n"
    )

    assert asked is not None
    assert [section.name for section in asked.section] == ["Summary", "Sources read", "Experiments"]
    assert columns(asked, "Sources read") == ["identity", "url", "shelf mark", "status"]
    assert not asked.exact
    assert asked.section[2].asks("experiments")


@pytest.mark.parametrize(
    "brief", ["", "Write a report.", "== Required output ==\n\nAs you like.\n"]
)
def test_a_brief_that_asks_for_no_form(brief: str) -> None:
    """Then the default counts."""
    assert profile.of_brief(brief) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = ", "notes.toml: no profile of a report: "),
        ("exact = true", "name"),
        ('name = "x"\ncolour = 1', "colour"),
        (
            'name = "x"\n[[section]]\nname = "y"\nchecks = ["spelling"]',
            "no check is called spelling",
        ),
        ('name = "x"\n[[section]]\nname = 5', "section"),
    ],
)
def test_what_is_no_profile(text: str, why: str) -> None:
    """The sentence names the file and what is off."""
    with pytest.raises(ProfileError, match=why):
        profile.loads(text, "notes.toml")

"""The form: each fault of it is found where it is, and a good report has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.reports import REPORT
from pi_sessions.audit import Judgement, audit


def faults(report: str) -> list[tuple[str, int]]:
    """Give code and line of what is contradicted."""
    found = audit(report, []).findings
    return [(f.code, f.line) for f in found if f.judgement is Judgement.CONTRADICTED]


def test_a_good_report_has_no_fault() -> None:
    """Nothing is contradicted, unsupported or unclear."""
    found = audit(REPORT, [])

    assert [f for f in found.findings if f.judgement is not Judgement.HOLDS] == []
    assert found.summary == "audit passed: 0 contradicted, 0 unsupported, 0 cannot tell, 5 holds"


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("## 4. Findings", "## 4. What was found", ["extra-section", "missing-section"]),
        ("## 4. Findings", "## 4. Finding", ["renamed-section"]),
        ("## 4. Findings", "## 5. Findings", ["misnumbered-section"]),
        (
            "## 7. Review checklist",
            "## Notes\n\nNone.\n\n## 7. Review checklist",
            ["extra-section"],
        ),
        ("| concern | priority |", "| concern | weight |", ["missing-column"]),
        ("| Not shown |", "| |", ["empty-cell"]),
        ("| Not shown |", "| — |", ["empty-cell"]),
        ("| C2 | Rows", "| C2, C3 | Rows", ["merged-row"]),
        ("(Rows) |", "(Rows)<br>Dates are days (Dates) |", ["merged-row"]),
        ("Own hypothesis", "Own hypothesis / reproduced locally", ["blurred-class"]),
        ("it differs. UNRUN.", "it differs.", ["incomplete-experiment"]),
        (" Failure:\n  it differs.", "", ["incomplete-experiment"]),
        ("accept, because a reader has to know it", "accept", ["no-reason"]),
        ("- P1: accept, because", "- P2: accept, because", ["undecided-proposal"]),
        ("(C2).", "of the rows in the file.", ["uncited"]),
        ("file [S1].", "file [S4].", ["unknown-citation"]),
        ("Today is 2026-11-17. ", "", ["no-date"]),
        ("Reported by a source: [S1]", "Reported by a source", ["uncited"]),
    ],
)
def test_a_fault_is_found(old: str, new: str, wanted: list[str]) -> None:
    """One change, the findings for it and no others."""
    assert REPORT.count(old) == 1

    assert sorted(code for code, _ in faults(REPORT.replace(old, new))) == wanted


def test_order_and_absence() -> None:
    """A section that moved is told at its place; one that is gone has none."""
    parts = REPORT.split("## ")
    moved = "## ".join([*parts[:5], parts[6], parts[5], *parts[7:]])
    gone = "## ".join([*parts[:5], *parts[6:]])

    assert "section-out-of-order" in [code for code, _ in faults(moved)]
    assert ("missing-section", 0) in faults(gone)


def test_each_code_is_documented() -> None:
    """The guide lists every code that a finding can have, and no other."""
    root = Path(__file__).parent.parent.parent
    table = (
        (root / "docs" / "auditing.md").read_text("utf-8").split("## Codes")[1].split("\n## ")[0]
    )
    rows = [row.split("|")[2] for row in table.split("\n") if row.startswith("|")]
    told = {code for row in rows for code in re.findall(r"`([\w-]+)`", row)}
    texts = [p.read_text("utf-8") for p in (root / "src" / "pi_sessions" / "audit").glob("*.py")]
    strings = {word for text in texts for word in re.findall(r'"([a-z]+(?:-[a-z]+)*)"', text)}
    hyphened = {word for word in strings if "-" in word} - {"utf-8"}

    assert told - strings == set()
    assert hyphened - told == set()

"""Honest reports with one word changed, at every place where a change can be found out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from pi_sessions import load
from pi_sessions.audit import Finding, Judgement, audit

RECORDINGS = Path(__file__).parent / "recordings"
HONEST = ("honest", "edited", "redirected", "messy", "ignored")
RAISED = (Judgement.CONTRADICTED, Judgement.UNSUPPORTED)


def read(name: str, file: str) -> str:
    return (RECORDINGS / f"report-{name}" / file).read_text("utf-8")


def mutations(report: str, findings: tuple[Finding, ...]) -> Iterator[tuple[str, int, str]]:
    """Give the kind of each change, the line, and the changed report."""
    lines = report.split("\n")

    def changed(finding: Finding, old: str, new: str) -> Iterator[tuple[str, int, str]]:
        # A passage may go on on the next line; the first place of it in these lines is changed.
        head, body = lines[: finding.line - 1], "\n".join(lines[finding.line - 1 :])
        if re.search(old, body):
            text = "\n".join([*head, re.sub(old, lambda _: new, body, count=1)])
            yield finding.code, finding.line, text

    for finding in findings:
        words = finding.words
        if finding.code == "verbatim":
            longest = max(re.findall(r"\w+", words), key=len)
            yield from changed(finding, rf"\b{longest}\b", "pancake")
        elif finding.code == "figure":
            number = finding.says.split(":")[0].split(" ")[0]
            yield from changed(finding, re.escape(number), "7391")
        elif finding.code == "access-date":
            yield from changed(finding, r"\b17\b", "03")
        elif finding.code == "full-text":
            url = finding.says.split(": ")[0]
            yield from changed(finding, re.escape(url), "http://other.example/page")
        elif finding.code == "not-read":
            yield from changed(finding, re.escape(words), "full text")
        elif finding.code == "run":
            program, _, rest = words.partition(" ")
            new = f"{program} --with nothing --but errors {rest}"
            yield from changed(finding, re.escape(words), new)
        elif finding.code == "identifier":
            name = finding.says.split(" ")[0]
            yield from changed(finding, re.escape(name), name[:-1] + "7777")


def sections(report: str) -> Iterator[tuple[str, int, str]]:
    """Leave out each section, and exchange each with the next."""
    parts = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    for number in range(1, len(parts)):
        yield "section", number, "".join(parts[:number] + parts[number + 1 :])
        if number + 1 < len(parts):
            swapped = [*parts[:number], parts[number + 1], parts[number], *parts[number + 2 :]]
            yield "order", number, "".join(swapped)


def cells(report: str) -> Iterator[tuple[str, int, str]]:
    """Empty each cell of the tables of claims and sources."""
    lines = report.split("\n")
    for number, line in enumerate(lines):
        if line.startswith(("| C", "| [S", "Weights", "Rows marked")):
            bars = [m.start() for m in re.finditer(r"(?<!\\)\|", line)]
            edges = bars if line.startswith("|") else [-1, *bars, len(line)]
            for left, right in pairwise(edges):
                empty = line[: left + 1] + "  " + line[right:]
                yield "cell", number + 1, "\n".join([*lines[:number], empty, *lines[number + 1 :]])


@pytest.fixture(scope="module")
def tried() -> list[tuple[str, str, int, bool]]:
    """Try all changes: the report, the kind, the line, and whether anything was raised."""
    found = []
    for name in HONEST:
        report, brief = read(name, "report.md"), read(name, "brief.txt")
        session = load(RECORDINGS / f"report-{name}" / "session.jsonl")
        honest = audit(report, [session], brief=brief)
        assert not [f for f in honest.findings if f.judgement in RAISED]
        sources = [mutations(report, honest.findings)]
        if name in ("honest", "messy"):
            sources += [sections(report), cells(report)]
        for source in sources:
            for kind, line, text in source:
                findings = audit(text, [session], brief=brief).findings
                found.append((name, kind, line, any(f.judgement in RAISED for f in findings)))
    return found


def test_every_change_is_found(tried: list[tuple[str, str, int, bool]]) -> None:
    """Prints for each kind how many there were and how many were found."""
    total = Counter(kind for _, kind, _, _ in tried)
    found = Counter(kind for _, kind, _, raised in tried if raised)
    for kind, count in total.items():
        print(f"{kind:12} {found[kind]} of {count}")
    missed = [(name, kind, line) for name, kind, line, raised in tried if not raised]

    assert len(tried) > 120
    assert missed == []

"""Statements labelled as something that was run: what they name, looked for among the runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_sessions.audit.calls import WRITING, Call
from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part
from pi_sessions.audit.units import classes_in, marked
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.audit.case import Case
    from pi_sessions.audit.report import Unit

_SHORTEST = 4
"""A shorter name in a code span is not looked for."""


def check(case: Case) -> Iterator[Finding]:
    """Look for what each such statement names: a command, a test, a file."""
    runs = [
        call for witness in case.witnesses for call in witness.calls if call.name not in WRITING
    ]
    for section in case.report.sections(case.outline.level):
        if case.is_proposed(section.line):
            continue
        for unit in section.units():
            ran = any(kind.ran for _, _, kind in classes_in(unit.text, case.profile))
            if ran and not marked(unit.text, case.profile.unrun):
                yield _judge(case, unit, runs)


def _judge(case: Case, unit: Unit, runs: list[Call]) -> Finding:
    line, words = unit.line, one_line(unit.text)
    names = [
        name.strip()
        for block in unit.blocks
        for text in block.texts
        for name in text.codes
        if len(name.strip()) >= _SHORTEST
    ]
    for name in names:
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for call in runs:
            if any(name in text and pattern.search(text) for text in (call.asked, call.output)):
                evidence = (Evidence(call.session, call.line, one_line(call.asked), call.note),)
                says = f"a run names {name}; whether it shows this is to read"
                return Finding(
                    Part.COMMANDS, "reproduced", Judgement.HOLDS, line, words, says, evidence
                )
    searched = tuple(
        Evidence(w.path, 0, f"{len(w.calls)} calls and runs", "none names any of it")
        for w in case.witnesses
    )
    if not names:
        says = "it says that something was run, and names nothing that could be looked for"
        code, judgement = "reproduced-unnamed", Judgement.CANNOT_TELL
        return Finding(Part.COMMANDS, code, judgement, line, words, says, searched)
    says = f"it says that something was run; no run has to do with {', '.join(names[:4])}"
    code, judgement = "not-reproduced", Judgement.UNSUPPORTED
    return Finding(Part.COMMANDS, code, judgement, line, words, says, searched)

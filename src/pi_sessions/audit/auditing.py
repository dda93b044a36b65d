"""All checks, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.audit import (
    commands,
    dates,
    directives,
    figures,
    fingerprint,
    form,
    markdown,
    profile,
    quotations,
    reproduced,
    sources,
)
from pi_sessions.audit.case import Case
from pi_sessions.audit.findings import Audit, Evidence, Finding, Judgement, Part, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.audit.profile import Profile
    from pi_sessions.session import Session


def audit(
    report: str,
    sessions: Sequence[Session],
    *,
    path: str = "report.md",
    brief: str = "",
    form_asked: Profile | None = None,
    snapshot: str | None = None,
) -> Audit:
    """Audit a report.

    Args:
        report: its Markdown.
        sessions: the sessions behind it, in any order; without one its form alone is checked.
        path: what the report is called.
        brief: what the report was asked by; the form is read from it, if it tells one.
        form_asked: the form, in place of the brief's or the default.
        snapshot: the text whose fingerprint the brief gives.
    """
    asked = form_asked or profile.of_brief(brief) or profile.default()
    case = Case(markdown.parse(report, path), asked, sessions, brief, snapshot)
    found = list(form.check(case.report, asked, case.outline))
    if sessions:
        found += _substance(case)
    found += fingerprint.check(case)
    return Audit(
        path,
        asked.name,
        tuple(session.path for session in sessions),
        case.authorship.writers,
        in_order(found),
    )


def _substance(case: Case) -> Iterator[Finding]:
    yield _written(case)
    ledger = sources.ledger(case)
    yield from sources.check(case, ledger)
    yield from quotations.check(case, ledger)
    yield from commands.check(case)
    yield from reproduced.check(case)
    yield from figures.check(case)
    yield from dates.check(case, ledger)
    yield from directives.check(case)


def _written(case: Case) -> Finding:
    """Tell which reply wrote the report."""
    writers = case.authorship.writers
    title = case.report.headings[0].text if case.report.headings else ""
    if not writers:
        says = (
            "no reply of these sessions wrote this report; what the model had is judged "
            "by the end of each session"
        )
        evidence = case.searched("none writes it")
        return Finding(Part.REPORT, "no-writer", Judgement.CANNOT_TELL, 0, title, says, evidence)
    evidence = tuple(
        Evidence(w.session, w.line, f"{w.way}, {w.share:.0%} of the lines", w.timestamp or "")
        for w in writers
    )
    says = f"written by the reply on line {writers[0].line} ({writers[0].way})"
    if len(writers) > 1:
        says += f" and {len(writers) - 1} more"
    return Finding(Part.REPORT, "written", Judgement.HOLDS, 0, title, says, evidence)

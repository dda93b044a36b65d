"""Audit a report against the sessions behind it; exit code 1 if anything is contradicted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.cli.texts import text_of

if TYPE_CHECKING:
    import argparse

    from pi_sessions.audit.findings import Audit, Evidence, Finding
    from pi_sessions.audit.profile import Profile
    from pi_sessions.cli.paper import Paper
    from pi_sessions.session import Session

STYLES = {
    "contradicted": "red",
    "unsupported": "yellow",
    "cannot tell": "cyan",
    "holds": "green",
}
"""The style of each judgement."""
_EVIDENCE = 4
"""Places that a person is shown of one finding."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("report", metavar="REPORT.md", help="the report, in Markdown")
    parser.add_argument(
        "--session",
        action="append",
        dest="sessions",
        default=[],
        metavar="SESSION",
        help="a session behind it: path, id or unique prefix of an id; may be given several times",
    )
    shared.add_store(parser)
    parser.add_argument("--brief", metavar="FILE", help="what the report was asked by")
    parser.add_argument("--profile", metavar="FILE", help="the form of the report, as TOML")
    parser.add_argument(
        "--snapshot", metavar="FILE", help="the text whose fingerprint the brief gives"
    )
    parser.add_argument("--form-only", action="store_true", help="check the form, without sessions")
    parser.add_argument("--all", action="store_true", help="also list what holds")
    parser.add_argument(
        "--html", metavar="FILE", help="write it as a page too: the report beside the session lines"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--serve", action="store_true", help="show it in the browser")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from pi_sessions.audit import audit  # noqa: PLC0415 - start-up

    if args.html:
        from pi_sessions.export import destination  # noqa: PLC0415 - start-up

        destination.check(args.html, source=args.report, force=args.force)
    report = text_of(args.report)
    brief = text_of(args.brief) if args.brief else ""
    snapshot = text_of(args.snapshot) if args.snapshot else None
    sessions = _sessions(args)
    result = audit(
        report,
        sessions,
        path=args.report,
        brief=brief,
        form_asked=_profile(args),
        snapshot=snapshot,
    )
    if args.html:
        from pi_sessions.export import html_audit  # noqa: PLC0415 - start-up

        for session in sessions:
            destination.check(args.html, source=session.path, force=args.force)
        written = html_audit.chunks(result, report, sessions)
        destination.write(args.html, written, source=args.report, force=args.force)
    if args.json:
        output.write_json(document(result))
    else:
        from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

        _print(Paper(color=not args.no_color), result, everything=args.all)
    if args.serve:
        from pi_sessions.cli.commands import serve  # noqa: PLC0415 - start-up
        from pi_sessions.web.site import Audited  # noqa: PLC0415

        serve.show_audit(Audited(result, report), args.session_dir)
    return int(result.is_contradicted)


def _sessions(args: argparse.Namespace) -> list[Session]:
    """Open the sessions an invocation names; without --form-only there must be one.

    Raises:
        UsageError: none is named, or one beside --form-only.
    """
    if args.form_only and args.sessions:
        raise shared.UsageError("--form-only looks at no session")
    if not args.form_only and not args.sessions:
        raise shared.UsageError("audit takes --session SESSION, or --form-only")
    from pi_sessions import reader  # noqa: PLC0415 - start-up

    workers = os.cpu_count() or 1
    opened = []
    for query in args.sessions:
        args.session = query
        path = shared.find_session(args)
        opened.append(reader.load(path, zone=environment.local_zone(), workers=workers))
    return opened


def _profile(args: argparse.Namespace) -> Profile | None:
    if not args.profile:
        return None
    from pi_sessions.audit import profile  # noqa: PLC0415 - start-up

    return profile.loads(text_of(args.profile), args.profile)


def document(result: Audit) -> dict[str, Any]:
    """Make the JSON document of an audit."""
    return {
        "report": result.report,
        "profile": result.profile,
        "sessions": list(result.sessions),
        "writers": [
            {
                "session": writer.session,
                "line": writer.line,
                "id": writer.id,
                "timestamp": writer.timestamp,
                "way": writer.way,
                "share": writer.share,
            }
            for writer in result.writers
        ],
        "counts": {str(judgement): count for judgement, count in result.counts.items()},
        "findings": [_row(finding) for finding in result.findings],
        "summary": result.summary,
    }


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "part": str(finding.part),
        "code": finding.code,
        "judgement": str(finding.judgement),
        "line": finding.line,
        "words": finding.words,
        "says": finding.says,
        "standing": None if finding.standing is None else str(finding.standing),
        "difference": [list(change) for change in finding.difference],
        "evidence": [
            {"session": e.session, "line": e.line, "words": e.words, "note": e.note}
            for e in finding.evidence
        ],
    }


def _print(paper: Paper, result: Audit, *, everything: bool) -> None:
    """Tell it to a person: worst first, what holds as a count."""
    current = ""
    for finding in result.findings:
        judgement = str(finding.judgement)
        if judgement == "holds" and not everything:
            continue
        if judgement != current:
            count = sum(1 for f in result.findings if f.judgement == finding.judgement)
            paper.row((f"{judgement} ({count})", f"{STYLES[judgement]}"))
            current = judgement
        _show(paper, result, finding)
    paper.row((result.summary, "bold"))


def _show(paper: Paper, result: Audit, finding: Finding) -> None:
    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    place = f"{finding.line}" if finding.line else "-"
    paper.row(
        (f"{place:>6} ", "dim"),
        (f"{finding.part} {finding.code}: ", "cyan"),
        (one_line(finding.says, 400), ""),
    )
    if finding.words.strip():
        paper.row(("       report   ", "dim"), (one_line(finding.words), ""))
    for evidence in finding.evidence[:_EVIDENCE]:
        paper.row(("       ", ""), (f"{_place(result, evidence)} ", "dim"), *_told(evidence))
    if len(finding.evidence) > _EVIDENCE:
        more = len(finding.evidence) - _EVIDENCE
        paper.row((f"       and {more} more place{'' if more == 1 else 's'}", "dim"))
    if finding.difference:
        marks = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
        told = " ".join(
            f"{marks[sign][0]}{one_line(text, 200)}{marks[sign][1]}"
            for sign, text in finding.difference
        )
        paper.row(("       differs  ", "dim"), (told, "yellow"))


def _told(evidence: Evidence) -> list[tuple[str, str]]:
    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    parts = [(one_line(evidence.words, 100), "")]
    if evidence.note:
        parts.append((f"  ({one_line(evidence.note, 200)})", "dim"))
    return parts


def _place(result: Audit, evidence: Evidence) -> str:
    """Name a place in a session, with the session where there are several."""
    if not evidence.session:
        return "brief   "
    number = result.sessions.index(evidence.session) + 1
    several = f"{number}:" if len(result.sessions) > 1 else ""
    return f"session {several}{evidence.line or '-'}"

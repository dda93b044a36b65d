"""Mend what can be mended of a session file; exit code 1 if something is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, writing
from pi_sessions.cli.arguments import UsageError
from pi_sessions.cli.paper import Paper
from pi_sessions.diagnostics import Code
from pi_sessions.errors import NotASessionError
from pi_sessions.excerpt import harmless, one_line
from pi_sessions.repair.applying import Mended, Patient
from pi_sessions.repair.catalogue import REMEDIES, Way
from pi_sessions.repair.upgrading import needs_upgrade
from pi_sessions.repair.values import Guesses
from pi_sessions.writer import ids

if TYPE_CHECKING:
    import argparse

    from pi_sessions.diagnostics import Diagnostic
    from pi_sessions.repair.planning import Plan

_HARMLESS = frozenset({Code.MIGRATED})
_WIDTH = 400
"""Characters of a line that are shown."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("--out", metavar="FILE", help="write a new file, leave the old one alone")
    parser.add_argument(
        "--relink",
        action="store_true",
        help="attach entries whose parent is missing to the entry before them (a guess)",
    )
    parser.add_argument(
        "--usage",
        action="store_true",
        help="write 0 for what is missing of the usage of replies, on which Pi fails",
    )
    writing.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    path, zone = shared.find_session(args), environment.local_zone()
    try:
        patient = Patient(path, zone)
    except NotASessionError as error:
        if args.out is None:
            raise UsageError(f"{error}; repair --out FILE builds a header in a new file") from None
        patient = Patient.without_header(
            path, zone, lambda: ids.session_id(ids.system_clock(), ids.system_random)
        )
    planned = patient.plan(Guesses(relink=args.relink, usage=args.usage), force=args.force)
    done = Mended(args.out or path, None, ())
    if not args.dry_run and (not planned.is_empty or args.out is not None):
        done = patient.repair(planned, args.out, clock=ids.system_clock, random=ids.system_random)
    told = _document(args, patient, planned, done)
    if args.json:
        output.write_json(told)
    else:
        _print(args, told)
    is_whole = patient.header is None
    return int(not is_whole or any(item.code not in _HARMLESS for item in planned.left))


def _document(
    args: argparse.Namespace, patient: Patient, planned: Plan, done: Mended
) -> dict[str, Any]:
    """Make the JSON document of a repair."""
    is_old = needs_upgrade(patient.table)
    return {
        "path": done.path,
        "backup": done.backup,
        "header": patient.header,
        "changed": [
            {
                "code": str(change.code),
                "line": change.line,
                "what": change.what,
                "before": [_text(before) for before in change.before],
                "after": [_text(after) for after in change.after],
            }
            for change in planned.changes
        ],
        "closedTail": planned.closes_tail,
        "appended": [
            {
                "code": str(append.code),
                "line": append.line,
                "what": append.what,
                "target": append.target,
                "id": entry,
            }
            for append, entry in zip(
                planned.appends, done.entries or [None] * len(planned.appends), strict=True
            )
        ],
        "left": [
            {
                "code": str(item.code),
                "line": item.line,
                "message": item.message,
                "why": _why(item, is_old=is_old),
            }
            for item in planned.left
        ],
        "dryRun": args.dry_run,
    }


def _why(item: Diagnostic, *, is_old: bool) -> str:
    """Say why a defect stays."""
    known = REMEDIES[item.code]
    if is_old and known.way is Way.APPEND:
        return "nothing is appended to a file of an old version: upgrade it first"
    return known.stays or known.remedy


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _print(args: argparse.Namespace, told: dict[str, Any]) -> None:
    paper = Paper(color=not args.no_color)
    would = "would be: " if args.dry_run else ""
    if header := told["header"]:
        paper.row(
            ("       ", ""), (f"{would}a header is made: session {one_line(header['id'])}", "green")
        )
    for change in told["changed"]:
        paper.row((f"{change['line']:>6} ", "dim"), (f"{would}{change['what']}", "green"))
        for sign, rows, style in (("-", change["before"], "red"), ("+", change["after"], "green")):
            for row in rows:
                paper.row((f"       {sign} ", style), (one_line(row, _WIDTH), ""))
    if told["closedTail"]:
        paper.row((f"       {would}the last line is closed with a newline", "green"))
    for append in told["appended"]:
        target = harmless(str(append["target"]))
        paper.row(
            (f"{append['line']:>6} ", "dim"),
            (f"{would}{append['what']} ", "green"),
            (target, "dim"),
        )
    for item in told["left"]:
        message = one_line(item["message"], _WIDTH)
        paper.row(
            (f"{item['line']:>6} ", "dim"),
            (f"{item['code']}: {message}", "yellow"),
            (f" · stays: {item['why']}", "dim"),
        )
    _print_end(paper, args, told)


def _print_end(paper: Paper, args: argparse.Namespace, told: dict[str, Any]) -> None:
    path = harmless(told["path"])
    changes = ("header", "changed", "appended", "closedTail")
    if not any(told[key] for key in changes) and not (args.out and not args.dry_run):
        paper.row(("nothing to mend", "bold"))
    elif not args.dry_run:
        paper.row((f"{path} is mended", "bold"))
        if told["backup"]:
            paper.row((f"the old file is {harmless(told['backup'])}", "dim"))

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
from pi_sessions.repair.applying import Mended, Patient, rescue
from pi_sessions.repair.catalogue import REMEDIES
from pi_sessions.writer import ids

if TYPE_CHECKING:
    import argparse

    from pi_sessions.repair.planning import Plan

_HARMLESS = frozenset({Code.MIGRATED})


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("--out", metavar="FILE", help="write a new file, leave the old one alone")
    parser.add_argument(
        "--relink",
        action="store_true",
        help="attach entries whose parent is missing to the entry before them (a guess)",
    )
    writing.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    path = shared.find_session(args)
    try:
        patient = Patient(path, environment.local_zone())
    except NotASessionError as error:
        return _rescue(args, path, error)
    planned = patient.plan(relink=args.relink, force=args.force)
    done = Mended(path, None, ())
    if not args.dry_run and (not planned.is_empty or args.out is not None):
        done = patient.repair(planned, args.out, clock=ids.system_clock, random=ids.system_random)
    told = document(args, planned, done)
    if args.json:
        output.write_json(told)
    else:
        _print(args, told)
    return int(any(item.code not in _HARMLESS for item in planned.left))


def document(args: argparse.Namespace, planned: Plan, done: Mended) -> dict[str, Any]:
    """Make the JSON document of a repair."""
    return {
        "path": done.path,
        "backup": done.backup,
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
                "why": REMEDIES[item.code].remedy,
            }
            for item in planned.left
        ],
        "dryRun": args.dry_run,
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _rescue(args: argparse.Namespace, path: str, error: NotASessionError) -> int:
    """Build a header for a file that has none, where a new file is named for it."""
    if args.out is None:
        raise UsageError(f"{error}; repair --out FILE builds a header in a new file")
    if args.dry_run:
        raise UsageError("--dry-run tells nothing about a file without a header")
    header = rescue(path, args.out, lambda: ids.session_id(ids.system_clock(), ids.system_random))
    patient = Patient(args.out, environment.local_zone())
    planned = patient.plan()
    if not planned.is_empty:
        patient.repair(planned, clock=ids.system_clock, random=ids.system_random, backup=False)
    told = document(args, planned, Mended(args.out, None, ()))
    told["header"] = header
    if args.json:
        output.write_json(told)
    else:
        paper = Paper(color=not args.no_color)
        made = f"a header was made: session {header['id']}"
        paper.row((one_line(made), "green"))
        _print(args, told)
    return 1


def _print(args: argparse.Namespace, told: dict[str, Any]) -> None:
    paper = Paper(color=not args.no_color)
    would = "would be: " if args.dry_run else ""
    for change in told["changed"]:
        paper.row((f"{change['line']:>6} ", "dim"), (f"{would}{change['what']}", "green"))
        for sign, rows, style in (("-", change["before"], "red"), ("+", change["after"], "green")):
            for row in rows:
                paper.row((f"       {sign} ", style), (one_line(row, 400), ""))
    if told["closedTail"]:
        paper.row((f"       {would}the last line is closed with a newline", "green"))
    for append in told["appended"]:
        target = harmless(str(append["target"]))
        paper.row((f"     + {would}{append['what']} ", "green"), (target, "dim"))
    for item in told["left"]:
        paper.row(
            (f"{item['line']:>6} ", "dim"),
            (f"{item['code']}: {item['message']}", "yellow"),
            (f" · {item['why']}", "dim"),
        )
    nothing = not (told["changed"] or told["appended"] or told["closedTail"])
    if nothing:
        paper.row(("nothing to mend", "bold"))
    elif not args.dry_run:
        paper.row((f"{told['path']} is mended", "bold"))
        if told["backup"]:
            paper.row((f"the old file is {told['backup']}", "dim"))

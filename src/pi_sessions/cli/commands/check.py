"""Print what is wrong with a session file, with line and byte offset; exit code 1 if anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.paper import Paper
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.excerpt import one_line
from pi_sessions.repair.catalogue import MENDED, REMEDIES, Way

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    found = session.check()
    if args.json:
        repairable = sum(1 for item in found if item.code in MENDED)
        output.write_json({"diagnostics": rows(found), "repairable": repairable})
    else:
        _print(args, session.path, found)
    # That a file of an old version is read as version 3 is told, and is no defect of it.
    return int(any(item.code is not Code.MIGRATED for item in found))


def rows(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[dict[str, object]]:
    """Make the JSON rows of diagnostics."""
    return [
        {"code": str(d.code), "line": d.line, "offset": d.offset, "message": d.message}
        for d in found
    ]


def _print(args: argparse.Namespace, path: str, found: tuple[Diagnostic, ...]) -> None:
    paper = Paper(color=not args.no_color)
    for item in found:
        place = f"{one_line(path)}:{item.line}:{item.offset}: "
        code = paper.styled(f"{item.code}: ", "bold yellow")
        paper.text(f"{place}{code}{one_line(item.message, 400)}")
        known = REMEDIES[item.code]
        paper.text(f"    {known.consequence}; {_told(known.way, known.remedy)}", "dim")
    count = len(found)
    paper.text(f"{count} finding{'' if count == 1 else 's'}" if count else "No defect found.")
    if any(item.code in MENDED for item in found):
        paper.text(f"pi-sessions repair {one_line(path)} --dry-run shows what would be done")


def _told(way: Way, remedy: str) -> str:
    """Say what can be done, and by which command."""
    if way in (Way.APPEND, Way.REWRITE):
        return f"repair: {remedy}"
    return f"repair {remedy}" if way is Way.ASKED else remedy

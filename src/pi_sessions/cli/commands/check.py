"""Print what is wrong with a session file, with line and byte offset; exit code 1 if anything."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.paper import Paper
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.excerpt import one_line
from pi_sessions.repair.catalogue import REMEDIES, command
from pi_sessions.repair.planning import repairable

if TYPE_CHECKING:
    import argparse

    from pi_sessions.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    found = session.check()
    if args.json:
        output.write_json({"diagnostics": rows(found), "repairable": repairable(session)})
    else:
        _print(args, session, found)
    # That a file of an old version is read as version 3 is told, and is no defect of it.
    return int(any(item.code is not Code.MIGRATED for item in found))


def rows(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[dict[str, object]]:
    """Make the JSON rows of diagnostics."""
    return [
        {"code": str(d.code), "line": d.line, "offset": d.offset, "message": d.message}
        for d in found
    ]


def _print(args: argparse.Namespace, session: Session, found: tuple[Diagnostic, ...]) -> None:
    paper = Paper(color=not args.no_color)
    path = one_line(session.path)
    for item in found:
        place = f"{path}:{item.line}:{item.offset}: "
        code = paper.styled(f"{item.code}: ", "bold yellow")
        paper.text(f"{place}{code}{one_line(item.message, 400)}")
        known = REMEDIES[item.code]
        mending = command(known, session.path, session.table.ids[item.line], item.line)
        words = f" ({mending})" if mending else ""
        paper.text(f"    {known.consequence}; {known.remedy}{words}", "dim")
    count, mended = len(found), repairable(session)
    paper.text(f"{count} finding{'' if count == 1 else 's'}" if count else "No defect found.")
    if mended:
        paper.text(
            f"a repair takes {mended} of them away; "
            f"pi-sessions repair {shlex.quote(path)} --dry-run shows what would be done"
        )

"""Move a session, or all of a project, to another working directory or another store.

Close Pi first where it has one of them open: it goes on writing to the old place.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.excerpt import one_line
from pi_sessions.tidy import relocate
from pi_sessions.tidy.kin import Kin

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("session", nargs="?", metavar="SESSION", help="path, id or unique prefix")
    shared.add_store(parser)
    parser.add_argument("--project", metavar="DIR", help="all sessions of this working directory")
    parser.add_argument("--cwd", metavar="DIR", help="the working directory from now on")
    parser.add_argument("--to", metavar="STORE", help="the store from now on")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if (args.session is None) == (args.project is None):
        raise shared.UsageError("move takes a SESSION, or --project DIR")
    if args.cwd is None and args.to is None:
        raise shared.UsageError("move takes --cwd DIR, --to STORE, or both")
    root = Path(environment.session_directory(args.session_dir))
    sessions = list(store.sessions(root))
    if args.project is None:
        paths = [shared.find_session(args)]
    else:
        paths = relocate.of_project(sessions, os.path.abspath(args.project))
    cwd = None if args.cwd is None else os.path.abspath(args.cwd)
    to = None if args.to is None else Path(args.to).absolute()
    kin = Kin(sessions)
    moves = [relocate.plan(path, root, cwd=cwd, to=to, kin=kin) for path in paths]
    if not args.dry_run:
        for path in paths:
            # Planned again: its header may have been told where its parent went.
            move = relocate.plan(path, root, cwd=cwd, to=to, kin=kin)
            relocate.do(move)
            kin.moved(move.path, move.new_path)
    if args.json:
        output.write_json({"moved": [row(move) for move in moves], "dryRun": args.dry_run})
    else:
        would = "would move " if args.dry_run else ""
        for move in moves:
            print(f"{would}{one_line(move.path, 400)} → {one_line(move.new_path, 400)}")
        if not moves:
            print("there is no session of that directory")
    return 0


def row(move: relocate.Move) -> dict[str, Any]:
    """Make the JSON row of a move."""
    return {
        "path": move.path,
        "newPath": move.new_path,
        "cwd": move.cwd,
        "children": list(move.children),
    }

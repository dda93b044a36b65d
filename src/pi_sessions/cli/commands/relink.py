"""Tell which projects are no longer where their sessions say; with OLD and NEW put that right.

Sessions of OLD and of every directory below it get NEW in its place: in the header, in the name of
the project's folder in the store, and in the sessions forked from them. Nothing happens without
--yes. Close Pi first.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, refusals
from pi_sessions.cli.commands.move import row
from pi_sessions.errors import WriteRefusedError
from pi_sessions.excerpt import one_line
from pi_sessions.tidy import relink, relocate
from pi_sessions.tidy.kin import Kin
from pi_sessions.tidy.still import ensure_still

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("old", nargs="?", metavar="OLD", help="where the project was")
    parser.add_argument("new", nargs="?", metavar="NEW", help="where it is now")
    shared.add_store(parser)
    parser.add_argument("--yes", action="store_true", help="do it")
    parser.add_argument(
        "--force",
        action="store_true",
        help="also if OLD is still there, NEW is not, or a session was written to of late",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show, whatever else is said")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    sessions = list(store.sessions(Path(environment.session_directory(args.session_dir))))
    document: dict[str, Any] = {
        "missing": [],
        "moved": [],
        "refused": [],
        "dryRun": args.dry_run or not args.yes,
    }
    if args.old is None:
        document["missing"] = [
            {"cwd": each.cwd, "sessions": list(each.sessions), "maybe": list(each.maybe)}
            for each in relink.missing(sessions)
        ]
        code = 0
    elif args.new is None:
        raise shared.UsageError("relink takes OLD and NEW, or neither")
    else:
        code = _move(args, sessions, document)
    if args.json:
        output.write_json(document)
    else:
        _tell(args, document)
    return code


def _move(args: argparse.Namespace, sessions: list[store.Found], document: dict[str, Any]) -> int:
    """Move the sessions of a project, or say what would be moved."""
    root = Path(environment.session_directory(args.session_dir))
    old, new = os.path.abspath(args.old), os.path.abspath(args.new)
    if not args.force:
        if relink.is_folder(old):
            raise WriteRefusedError(old, "is still there; --force moves its sessions all the same")
        if not relink.is_folder(new):
            raise WriteRefusedError(new, "is not there; --force moves the sessions all the same")
    kin, refused = Kin(sessions), refusals.Refusals()
    for path, cwd in relink.below(sessions, old, new):
        with refused.noted(path):
            move = relocate.plan(path, root, cwd=cwd, kin=kin)
            if not args.force:
                ensure_still(path, move.before, time.time())
            if not document["dryRun"]:
                relocate.do(move)
                kin.moved(move.path, move.new_path)
            document["moved"].append(row(move))
    document["refused"] = refused.rows
    return refused.tell()


def _tell(args: argparse.Namespace, document: dict[str, Any]) -> None:
    if args.old is None:
        for each in document["missing"]:
            many = len(each["sessions"])
            print(f"{many:>5} session{'s' if many > 1 else ' '}  {one_line(each['cwd'], 400)}")
            for place in each["maybe"]:
                print(f"{'':>16}perhaps now {one_line(place, 400)}")
        if document["missing"]:
            print("pi-sessions relink OLD NEW shows what would become of the sessions of one")
        else:
            print("every project is where its sessions say")
        return
    would = "would move " if document["dryRun"] else ""
    for move in document["moved"]:
        print(f"{would}{one_line(move['path'], 400)} → {one_line(move['newPath'], 400)}")
    many = len(document["moved"])
    if not many:
        print("there is no session of that directory to move")
    elif document["dryRun"]:
        print(f"{many} sessions; nothing was done. --yes does it")

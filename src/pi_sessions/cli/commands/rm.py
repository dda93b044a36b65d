"""Put a session into the trash, with Pi closed; sessions forked from it are named first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, writing
from pi_sessions.errors import WriteRefusedError
from pi_sessions.excerpt import one_line
from pi_sessions.rewriting import snapshot
from pi_sessions.tidy.trash import children, take_away

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("--permanently", action="store_true", help="delete it, past the trash")
    parser.add_argument("--force", action="store_true", help="also if sessions were forked from it")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    path = shared.find_session(args)
    before = snapshot(path)
    session = shared.open_session(args)
    root = Path(environment.session_directory(args.session_dir))
    forked = children(path, root)
    told: dict[str, Any] = {
        "path": path,
        "id": session.id,
        "name": session.name,
        "children": [{"path": str(found.path), "id": found.id} for found in forked],
        "how": None,
        "dryRun": args.dry_run,
    }
    if forked and not args.force and not args.dry_run:
        names = ", ".join(found.id for found in forked)
        many = f"{len(forked)} sessions were" if len(forked) > 1 else "a session was"
        raise WriteRefusedError(
            path,
            f"is what {many} forked from ({names}), which would lose the way back and keep all "
            "else; nothing was done. --force takes it away all the same",
        )
    if not args.dry_run:
        told["how"] = take_away(path, before, permanently=args.permanently)
    if args.json:
        output.write_json(told)
    else:
        _print(told)
    return 0


def _print(told: dict[str, Any]) -> None:
    for child in told["children"]:
        print(f"forked from it: {one_line(child['path'], 400)}")
    named = one_line(told["name"] or told["id"])
    path = one_line(told["path"], 400)
    if told["dryRun"]:
        print(f"would take away {path} ({named})")
    else:
        where = "deleted" if told["how"] == "deleted" else "in the trash"
        print(f"{path} ({named}) is {where}")

"""Make a session of format version 1 or 2 one of version 3; the old file stays as a backup."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, writing
from pi_sessions.excerpt import harmless
from pi_sessions.repair.applying import Patient
from pi_sessions.repair.upgrading import needs_upgrade

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("--out", metavar="FILE", help="write a new file, leave the old one alone")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    patient = Patient(shared.find_session(args), environment.local_zone())
    table = patient.table
    version = table.header.get("version")
    told = {"path": patient.path, "from": 1 if version is None else version, "to": 3}
    is_old = needs_upgrade(table)
    done = None
    if is_old and not args.dry_run:
        done = patient.upgrade(args.out)
    document = {
        **told,
        "upgraded": is_old,
        "path": done.path if done else (args.out or patient.path if is_old else patient.path),
        "backup": done.backup if done else None,
        "entries": sum(1 for _ in table.entries()),
        "dryRun": args.dry_run,
    }
    if args.json:
        output.write_json(document)
    else:
        _print(document)
    return 0


def _print(told: dict[str, object]) -> None:
    path = harmless(os.fspath(str(told["path"])))
    if not told["upgraded"]:
        print(f"{path} is of version {told['from']} already")
    elif told["dryRun"]:
        print(f"would make {told['entries']} entries version 3 in {path}")
    else:
        print(f"{path} is version 3 now")
        if told["backup"]:
            print(f"the old file is {harmless(str(told['backup']))}")

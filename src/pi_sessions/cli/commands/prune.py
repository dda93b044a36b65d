"""Show which sessions could go, by age, size, project or emptiness; with --yes they go.

Nothing happens without --yes. What goes is put into the archive (`archive --restore` gives it
back) unless --trash or --permanently is said. A session that was written to within ten minutes
stays, and so does one that changes between being shown and being taken. `--plan` holds --yes to
what an earlier run has shown. Close Pi first.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, reading, refusals
from pi_sessions.cli.amounts import amount, moment, size
from pi_sessions.cli.commands.archive import add_archive, places
from pi_sessions.errors import SessionChangedError
from pi_sessions.excerpt import one_line
from pi_sessions.tidy import archive, pruning
from pi_sessions.tidy.pruning import How

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pi_sessions.store import Read, StoredFile

_SHOWN = 10
"""Sessions that stay of which a person is told each."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--older-than", metavar="AGE", help="last activity before that: 36h, 90d, 12w, 2y, a day"
    )
    parser.add_argument(
        "--larger-than", type=size, metavar="SIZE", help="of more bytes: 500kB, 20MB, 1GB"
    )
    parser.add_argument("--project", metavar="DIR", help="of this working directory")
    parser.add_argument("--empty", action="store_true", help="without a user message or a reply")
    parser.add_argument("--unnamed", action="store_true", help="without a name")
    shared.add_store(parser)
    reading.add_index(parser)
    add_archive(parser)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--trash", action="store_true", help="into the trash, past the archive")
    ways.add_argument("--permanently", action="store_true", help="delete, past archive and trash")
    parser.add_argument("--yes", action="store_true", help="do it")
    parser.add_argument("--plan", metavar="ID", help="with --yes: only if just this plan was shown")
    parser.add_argument("--dry-run", action="store_true", help="only show, whatever else is said")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    root, folder = places(args)
    zone = environment.local_zone()

    def read(files: Sequence[StoredFile]) -> Iterator[Read]:
        return reading.Shelf([root], files, zone, index=not args.no_index).summaries(files)

    plan = pruning.choose(root, _wish(args), now=time.time(), zone=zone, read=read)
    how = How.TRASH if args.trash else How.DELETED if args.permanently else How.ARCHIVED
    is_done = args.yes and not args.dry_run
    if args.plan and args.plan != plan.id:
        why = f"is no longer as it was when plan {args.plan} was shown; it would be {plan.id} now"
        raise SessionChangedError(str(root), why)
    refused = refusals.Refusals()
    rows = []
    for each in plan.chosen:
        row = _row(each)
        rows.append(row)
        if is_done:
            with refused.noted(each.path):
                _note(row, pruning.take(each, how, root, folder))
    document = {
        "plan": plan.id,
        "chosen": rows,
        "kept": [{"path": each.path, "why": each.why} for each in plan.kept],
        "refused": refused.rows,
        "sessions": plan.sessions,
        "total": plan.total,
        "bytes": plan.bytes,
        "freed": sum(row["size"] - (row["packed"] or 0) for row in rows if row["how"]),
        "dryRun": not is_done,
    }
    if args.json:
        output.write_json(document)
    else:
        _tell(args, document, how, folder)
    return refused.tell()


def _wish(args: argparse.Namespace) -> pruning.Wish:
    if not (args.older_than or args.larger_than is not None or args.project or args.empty):
        raise shared.UsageError(
            "prune takes one of --older-than, --larger-than, --project and --empty, or several: "
            "all that is said must apply"
        )
    before = None
    if args.older_than:
        try:
            before = moment(args.older_than, time.time(), environment.local_zone()) * 1000
        except ValueError as error:
            raise shared.UsageError(f"--older-than: {error}") from None
    return pruning.Wish(
        before=before,
        larger=args.larger_than,
        project=None if args.project is None else os.path.abspath(args.project),
        empty=args.empty,
        unnamed=args.unnamed,
    )


def _row(each: pruning.Chosen) -> dict[str, Any]:
    return {
        "path": each.path,
        "id": each.id,
        "name": each.name,
        "cwd": each.cwd,
        "firstMessage": each.first_message,
        "modified": each.modified,
        "size": each.size,
        "lacks": list(each.lacks),
        "forks": [{"path": path, "id": name} for path, name in each.forks],
        "how": None,
        "newPath": None,
        "packed": None,
    }


def _note(row: dict[str, Any], done: archive.Archived | str) -> None:
    if isinstance(done, str):
        row["how"] = done
    else:
        row.update(how=How.ARCHIVED.value, newPath=str(done.path), packed=done.packed)


def _tell(args: argparse.Namespace, document: dict[str, Any], how: How, folder: Path) -> None:
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    for row in document["chosen"]:
        said = row["name"] or row["firstMessage"] or "(no messages)"
        lacks = "".join(f"  no {what}" for what in row["lacks"])
        paper.row(
            (one_line(row["id"], 36), "cyan"),
            (f"  {row['modified'][:10]}  {amount(row['size']):>8}", "dim"),
            (lacks, "yellow"),
            (f"  {one_line(row['cwd'] or 'no directory', 60)}  ", "dim"),
            (one_line(said), "" if row["name"] is None else "bold"),
        )
        for child in row["forks"]:
            told = f"  forked from it, and stays: {one_line(child['path'], 400)}"
            paper.row((told, "yellow"))
    for row in document["kept"][:_SHOWN]:
        paper.row((f"stays: {one_line(row['path'], 400)}: {row['why']}", "dim"))
    if (more := len(document["kept"]) - _SHOWN) > 0:
        paper.row((f"stays: {more} more", "dim"))
    where = {
        How.ARCHIVED: f"into {one_line(str(folder), 400)}",
        How.TRASH: "into the trash",
        How.DELETED: "for good",
    }[how]
    if document["dryRun"]:
        paper.row((_sum(document["chosen"], document) + f" would go {where}", "bold"))
        if document["chosen"]:
            told = (
                f"Nothing was done. The same with --yes --plan {document['plan']} does just this."
            )
            paper.row((told, ""), whole=True)
        return
    gone = [row for row in document["chosen"] if row["how"]]
    freed = f"; {amount(document['freed'])} are free" if gone else ""
    paper.row((_sum(gone, document) + f" went {where}{freed}", "bold"))


def _sum(rows: list[dict[str, Any]], document: dict[str, Any]) -> str:
    many = f"{len(rows)} of {document['sessions']} sessions"
    return f"{many}, {amount(sum(r['size'] for r in rows))} of {amount(document['total'])},"

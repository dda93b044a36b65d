"""Put sessions into a compressed archive beside the store, list it, and give them back.

Close Pi first where it has one of them open. An archived session is given back byte for byte, with
its mode and time; every command that reads takes its file (`NAME.jsonl.zst`) as it is.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, refusals
from pi_sessions.cli.amounts import amount
from pi_sessions.errors import SessionNotFoundError
from pi_sessions.excerpt import one_line
from pi_sessions.rewriting import snapshot
from pi_sessions.tidy import archive, relocate
from pi_sessions.tidy.still import ensure_still

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "sessions", nargs="*", metavar="SESSION", help="path, id or unique prefix of an id"
    )
    shared.add_store(parser)
    add_archive(parser)
    parser.add_argument("--project", metavar="DIR", help="all sessions of this working directory")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--list", action="store_true", help="tell what is in the archive")
    ways.add_argument("--restore", action="store_true", help="give sessions of the archive back")
    parser.add_argument("--to", metavar="DIR", help="where to give them back; default: their store")
    parser.add_argument(
        "--keep", action="store_true", help="keep in the archive what is given back"
    )
    parser.add_argument(
        "--force", action="store_true", help="also sessions that were written to of late"
    )
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done")
    shared.add_common(parser)


def add_archive(parser: argparse.ArgumentParser) -> None:
    """Add --archive-dir."""
    parser.add_argument(
        "--archive-dir", metavar="DIR", help="the archive; default: STORE-archive beside the store"
    )


def places(args: argparse.Namespace) -> tuple[Path, Path]:
    """Give the store and the archive an invocation means."""
    root = Path(environment.session_directory(args.session_dir))
    named = args.archive_dir
    return root, archive.folder_of(root) if named is None else Path(named).absolute()


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    root, folder = places(args)
    if not (args.sessions or args.project or args.list):
        raise shared.UsageError("archive takes SESSION, --project DIR, or --list")
    if (args.to or args.keep) and not args.restore:
        raise shared.UsageError("--to and --keep belong to --restore")
    refused = refusals.Refusals()
    rows = []
    if args.list:
        for file in store.session_files(folder, archive.SUFFIX):
            with refused.noted(str(file)):
                rows.append(archive_row(archive.look(file)))
    elif args.restore:
        for item in _chosen(args, folder):
            with refused.noted(str(item.path)):
                rows.append(_restored(args, item, root))
    else:
        for path in _paths(args, root):
            with refused.noted(path):
                rows.append(_archived(args, path, root, folder))
    document = {
        "archive": str(folder),
        "sessions": rows,
        "bytes": sum(row["size"] for row in rows),
        "packed": sum(row["packed"] or 0 for row in rows),
        "refused": refused.rows,
        "dryRun": args.dry_run,
    }
    if args.json:
        output.write_json(document)
    else:
        _tell(args, document)
    return refused.tell()


def _paths(args: argparse.Namespace, root: Path) -> list[str]:
    named = [
        shared.find_session(Namespace(session=each, session_dir=args.session_dir))
        for each in args.sessions
    ]
    if args.project:
        found = list(store.sessions(root))
        named += relocate.of_project(found, os.path.abspath(args.project))
    return list(dict.fromkeys(named))


def _archived(args: argparse.Namespace, path: str, root: Path, folder: Path) -> dict[str, Any]:
    """Archive a session; in a dry run only look at it."""
    archive.check(path)
    before = snapshot(path)
    if not args.force:
        ensure_still(path, before, time.time())
    if args.dry_run:
        session = shared.open_session(Namespace(session=path, session_dir=args.session_dir))
        file = Path(path).absolute()
        return {
            "path": str(folder / (archive.place_in(root, file) + archive.PACKED)),
            "from": path,
            "id": session.id,
            "name": session.name,
            "cwd": session.cwd,
            "modified": store.iso(before.modified / 1e6),
            "size": before.size,
            "packed": None,
        }
    return {**archive_row(archive.put_away(path, before, root, folder)), "from": path}


def archive_row(item: archive.Archived) -> dict[str, Any]:
    """Make the JSON row of a session in an archive."""
    return {
        "path": str(item.path),
        "from": item.was_at,
        "id": item.id,
        "name": item.name,
        "cwd": item.cwd,
        "modified": store.iso(item.modified / 1e6),
        "size": item.size,
        "packed": item.packed,
    }


def _chosen(args: argparse.Namespace, folder: Path) -> list[archive.Archived]:
    """Find sessions of the archive by path, id, unique prefix, or project."""
    items = list(archive.archived(folder))
    found = []
    for query in args.sessions:
        if os.sep in query or query.endswith(archive.SUFFIX):
            found.append(archive.look(Path(query)))
            continue
        exact = [item for item in items if item.id == query]
        fits = exact or [item for item in items if query and item.id.startswith(query)]
        if len(fits) != 1:
            raise SessionNotFoundError(query, [str(item.path) for item in fits], str(folder))
        found += fits
    if args.project:
        wanted = os.path.abspath(args.project)
        found += [item for item in items if item.cwd and os.path.normpath(item.cwd) == wanted]
    return list({item.path: item for item in found}.values())


def _restored(args: argparse.Namespace, item: archive.Archived, root: Path) -> dict[str, Any]:
    path = archive.destination(item, root, None if args.to is None else Path(args.to).absolute())
    if not args.dry_run:
        archive.restore(item, path, keep=args.keep)
    return {**archive_row(item), "path": str(path), "from": str(item.path)}


def _tell(args: argparse.Namespace, document: dict[str, Any]) -> None:
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    rows = document["sessions"]
    for row in rows:
        said = one_line(row["name"] or row["cwd"] or "", 200)
        paper.row(
            (one_line(row["id"], 36), "cyan"),
            (f"  {row['modified'][:10]}  {amount(row['size']):>9}", "dim"),
            (f" → {amount(row['packed']):>9}" if row["packed"] is not None else "", "dim"),
            (f"  {said}", ""),
        )
        if not args.list:
            would = "would go to" if args.dry_run else "is now"
            paper.row((f"  {would} {one_line(row['path'], 400)}", ""))
    many = f"{len(rows)} session{'s' if len(rows) != 1 else ''}"
    packed = f", {amount(document['packed'])} packed" if document["packed"] else ""
    where = f" in {one_line(document['archive'], 400)}" if args.list else ""
    paper.row((f"{many}, {amount(document['bytes'])}{packed}{where}", "bold"))

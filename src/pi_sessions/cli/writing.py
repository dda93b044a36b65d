"""What the commands that write have in common: options, opening, and telling what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._lines import open_source
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.excerpt import harmless
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add SESSION, which must be named where something is written, and what chooses the store."""
    parser.add_argument("session", metavar="SESSION", help="path, id or unique prefix of an id")
    shared.add_store(parser)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every command that writes takes."""
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done")
    parser.add_argument(
        "--force", action="store_true", help="also a session of a newer format version"
    )
    shared.add_common(parser)


def open_writer(args: argparse.Namespace) -> SessionWriter:
    """Open the session an invocation means; for a dry run in memory.

    Raises:
        UnreadableError: it cannot be read.
        NotASessionError: it is no session.
        WriteRefusedError: it cannot be written.
    """
    path = shared.find_session(args)
    if not args.dry_run:
        return SessionWriter.open(path, force=args.force)
    source = open_source(path)
    return SessionWriter.from_bytes(source.read(0, source.size), name=path, force=args.force)


def written(args: argparse.Namespace, writer: SessionWriter, ids: Sequence[str]) -> dict[str, Any]:
    """Make the document about new entries; in a dry run they have no ids yet."""
    table = writer.session.table
    lines = [table.lines_by_id[entry] for entry in ids]
    return {
        "path": table.source.name,
        "sessionId": writer.session_id,
        "entries": [
            {
                "line": line,
                "id": None if args.dry_run else table.ids[line],
                "type": table.type_of(line),
            }
            for line in lines
        ],
        "dryRun": args.dry_run,
    }


def tell(args: argparse.Namespace, document: dict[str, Any], what: str) -> None:
    """Write the document, or say in a line for each entry what was done."""
    if args.json:
        output.write_json(document)
        return
    for entry in document["entries"]:
        if args.dry_run:
            print(f"would append line {entry['line']}: {harmless(what)}")
        else:
            print(f"{entry['id']}  line {entry['line']}: {harmless(what)}")


def append_one(args: argparse.Namespace, what: str, append: Callable[[SessionWriter], str]) -> int:
    """Append one entry to the session an invocation means, and tell of it.

    Raises:
        UsageError: the words do not fit the session.
    """
    with open_writer(args) as writer:
        made = append(writer)
        tell(args, written(args, writer, [made]), what)
    return 0

"""Label an entry, as a bookmark, or take its label away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.cli import writing
from pi_sessions.cli.arguments import UsageError

if TYPE_CHECKING:
    import argparse

    from pi_sessions.writer.session_writer import SessionWriter


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("entry", metavar="ID", help="the entry, or the unique beginning of its id")
    parser.add_argument("label", nargs="?", metavar="LABEL", help="what to write on it")
    parser.add_argument("--clear", action="store_true", help="take its label away")
    writing.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if (args.label is None) != args.clear or args.label == "":
        raise UsageError("label takes a LABEL or --clear")
    what = f"label {args.label}" if args.label else "the label is taken away"

    def append(writer: SessionWriter) -> str:
        entry = writer.session.entry(args.entry)
        if entry.id is None:
            raise UsageError("an entry without an id in text form cannot have a label")
        return writer.append_label(entry.id, args.label)

    return writing.append_one(args, f"{what}, on {args.entry}", append)

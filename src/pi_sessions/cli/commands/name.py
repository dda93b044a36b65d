"""Name a session, or take its name away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.cli import writing
from pi_sessions.cli.arguments import UsageError

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument("name", nargs="?", metavar="NAME", help="what to call it")
    parser.add_argument("--clear", action="store_true", help="take the name away")
    writing.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if (args.name is None) != args.clear:
        raise UsageError("name takes a NAME or --clear")
    name = "" if args.clear else args.name
    if not args.clear and not name.strip():
        raise UsageError("the name is blank; --clear takes the name away")
    what = f"named {name}" if name else "the name is taken away"
    return writing.append_one(args, what, lambda writer: writer.append_name(name))

"""Copy the branch of the leaf into a new session, as Pi's /clone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import writing
from pi_sessions.cli.commands import fork

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    fork.add_place(parser)
    writing.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    return fork.branch(args, session, session.leaf)

"""Copy a session, with all branches or one, into a new session that names it as its parent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, writing
from pi_sessions.cli.arguments import UsageError
from pi_sessions.excerpt import harmless
from pi_sessions.writer import forks
from pi_sessions.writer.ids import folder_name

if TYPE_CHECKING:
    import argparse

    from pi_sessions.entry import Entry
    from pi_sessions.session import Session
    from pi_sessions.writer.session_writer import SessionWriter


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--leaf", metavar="ID", help="only the branch up to this entry")
    group.add_argument(
        "--before", metavar="ID", help="only the branch up to the entry before this one"
    )
    add_place(parser)
    writing.add_common(parser)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add what says where the new session goes."""
    parser.add_argument("--cwd", metavar="DIR", help="working directory of the new session")
    parser.add_argument(
        "--to",
        metavar="DIR",
        help="folder of the new file; default: that of the old one, with --cwd that of the project",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    if args.leaf is None and args.before is None:
        made = forks.fork(session, _folder(args, session), force=args.force, **chosen(args))
        return tell(args, session, made)
    return branch(args, session, _leaf(args, session))


def branch(args: argparse.Namespace, session: Session, leaf: Entry | None) -> int:
    """Copy the branch of a leaf and tell of it."""
    if leaf is None:
        raise UsageError("this session has no entry to copy")
    folder = _folder(args, session)
    made = forks.fork_branch(session, folder, leaf, force=args.force, **chosen(args))
    return tell(args, session, made)


def _leaf(args: argparse.Namespace, session: Session) -> Entry | None:
    if args.before is None:
        return session.entry(args.leaf)
    entry = session.entry(args.before)
    if entry.parent is None:
        raise UsageError(f"nothing stands before entry {entry.id}")
    return entry.parent


def chosen(args: argparse.Namespace) -> forks.NewSession:
    """Give what an invocation chose about the new session."""
    return {} if args.cwd is None else {"cwd": os.path.abspath(args.cwd)}


def _folder(args: argparse.Namespace, session: Session) -> str | None:
    """Choose the folder of the new file, as Pi does; None for a dry run."""
    if args.dry_run:
        return None
    if args.to is not None:
        return os.path.abspath(str(args.to))
    if args.cwd is None:
        return os.path.dirname(os.path.abspath(session.path))
    root: str = environment.session_directory(args.session_dir)
    if root == os.path.join(environment.agent_directory(), "sessions"):
        return os.path.join(root, folder_name(os.path.abspath(args.cwd)))
    return os.path.abspath(root)


def tell(args: argparse.Namespace, session: Session, made: SessionWriter) -> int:
    """Tell of the new session.

    Raises:
        UsageError: nothing was said in it, so there is no file.
    """
    new = made.session
    if not args.dry_run and not made.has_file:
        raise UsageError("nothing was said there yet, and Pi keeps no session without a message")
    document: dict[str, Any] = {
        "path": made.path,
        "sessionId": made.session_id,
        "parentSession": os.path.abspath(session.path),
        "cwd": new.cwd,
        "leaf": made.leaf,
        "entries": len(new.entries),
        "dryRun": args.dry_run,
    }
    if args.json:
        output.write_json(document)
    elif args.dry_run:
        print(f"would write a session of {document['entries']} entries, leaf {made.leaf}")
    else:
        print(harmless(made.path or ""))
    return 0

"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from pi_sessions import reader
from pi_sessions.cli import environment
from pi_sessions.context.rules import Rules
from pi_sessions.context.target import Target
from pi_sessions.errors import UnknownReleaseError

if TYPE_CHECKING:
    from pi_sessions.session import Session


class UsageError(Exception):
    """The command's words are off; told in one sentence, exit code 2."""


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add SESSION and what chooses the store."""
    parser.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="path, id or unique prefix of an id; default: newest of this directory",
    )
    add_stores(parser)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add --session-dir for one store."""
    parser.add_argument("--session-dir", metavar="DIR", help="where the sessions are")


def add_stores(parser: argparse.ArgumentParser) -> None:
    """Add --session-dir for any number of stores."""
    parser.add_argument(
        "--session-dir",
        metavar="DIR",
        action="append",
        help="where the sessions are; can be given more than once",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes."""
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--no-color", action="store_true", help="plain text")


def add_point(parser: argparse.ArgumentParser) -> None:
    """Add --leaf and --response."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--leaf", metavar="ID", help="what would be sent with this entry as the last"
    )
    group.add_argument(
        "--response", metavar="ID", help="what this reply of the model was written from"
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what names another model as the target of a request."""
    parser.add_argument(
        "--as", dest="target", metavar="API/PROVIDER/MODEL", help="as for this model"
    )
    parser.add_argument("--api", help="API of the target")
    parser.add_argument("--provider", help="provider of the target")
    parser.add_argument("--model", help="model id of the target")
    parser.add_argument("--input", metavar="KINDS", help="what the target takes: text,image")


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the files."""
    parser.add_argument("--models", metavar="FILE", help="models.json; default: the agent's")
    parser.add_argument("--settings", metavar="FILE", help="settings.json; default: the agent's")
    parser.add_argument(
        "--cache-retention",
        choices=("short", "long"),
        default="long" if os.environ.get("PI_CACHE_RETENTION") == "long" else "short",
        help="what PI_CACHE_RETENTION asked for",
    )
    parser.add_argument(
        "--release",
        default="auto",
        type=_release,
        metavar="auto|X",
        help="rules of this release of Pi, such as 0.49.3; auto: for a reply those of the "
        "release that wrote it, as far as the file tells, else those of the newest",
    )


def _release(name: str) -> str | None:
    """Take a release; None stands for auto."""
    if name == "auto":
        return None
    try:
        return Rules.of(name).release
    except UnknownReleaseError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def open_session(args: argparse.Namespace) -> Session:
    """Open the session an invocation means.

    Raises:
        SessionNotFoundError: nothing is meant, or several.
        UnreadableError: the file cannot be read.
        NotASessionError: the file is no session.
    """
    workers = os.cpu_count() or 1
    return reader.load(find_session(args), zone=environment.local_zone(), workers=workers)


def find_session(args: argparse.Namespace) -> str:
    """Give the path of the session an invocation means."""
    query: str | None = args.session
    if query is not None and (os.sep in query or query.endswith(".jsonl") or os.path.exists(query)):
        return query
    from pathlib import Path  # noqa: PLC0415 - start-up: a path needs no store

    from pi_sessions import store  # noqa: PLC0415

    roots = [Path(root) for root in environment.session_directories(args.session_dir)]
    if query is None:
        return os.fspath(store.newest(roots, os.getcwd()))
    return os.fspath(store.find(roots, query))


def target_for(args: argparse.Namespace, session: Session) -> Target | None:
    """Give the target an invocation names; None means that of the point.

    Raises:
        UsageError: --as has not three parts, or --input names something else.
    """
    accepted = tuple(part.strip() for part in (args.input or "text,image").split(","))
    if not set(accepted) <= {"text", "image"}:
        raise UsageError("--input takes text, image, or both: text,image")
    if args.target:
        parts = args.target.split("/", 2)
        if len(parts) != 3 or not all(parts):
            raise UsageError("--as takes API/PROVIDER/MODEL, as in anthropic-messages/acme/m-1")
        api, provider, model = parts
        return Target(api, provider, model, accepted)
    if not (args.api or args.provider or args.model or args.input):
        return None
    base = session.target(args.leaf, response=args.response)
    return Target(
        args.api or base.api, args.provider or base.provider, args.model or base.model, accepted
    )

"""List the sessions of this directory, newest activity first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


ORDERS: dict[str, Callable[[store.Summary], Any]] = {
    "modified": lambda item: item.modified,
    "created": lambda item: item.created or "",
    "size": lambda item: item.size,
    "messages": lambda item: item.message_count,
}
"""What --sort takes, and the key of each order."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("directory", nargs="?", metavar="DIR", help="a directory of session files")
    shared.add_store(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--all", action="store_true", help="of every working directory")
    group.add_argument("--cwd", metavar="DIR", help="of this working directory")
    parser.add_argument("--named", action="store_true", help="only those with a name")
    parser.add_argument(
        "--sort",
        choices=tuple(ORDERS),
        default="modified",
        help="what decides the order, the latest, largest or longest first",
    )
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    root = Path(environment.session_directory(args.directory or args.session_dir))
    everything = args.all or args.directory
    cwd = None if everything else os.fspath(Path(args.cwd or ".").absolute())
    zone = environment.local_zone()
    found = [store.summarise(session.path, zone) for session in store.sessions(root, cwd)]
    summaries = [item for item in found if item is not None and (item.name or not args.named)]
    # Of equals, the later name comes first, as in the reference.
    summaries.sort(key=lambda item: item.path.name, reverse=True)
    summaries.sort(key=ORDERS[args.sort], reverse=True)
    if args.json:
        output.write_json([row(item) for item in summaries])
    else:
        _print(args, root, summaries)
    return 0


def row(item: store.Summary) -> dict[str, Any]:
    """Make the JSON row of a session."""
    return {
        "path": os.fspath(item.path),
        "id": item.id,
        "cwd": item.cwd,
        "name": item.name,
        "parentSession": item.parent_session,
        "created": item.created,
        "modified": item.modified,
        "messageCount": item.message_count,
        "firstMessage": item.first_message or "(no messages)",
        "size": item.size,
    }


def _print(args: argparse.Namespace, root: Path, summaries: list[store.Summary]) -> None:
    from rich.table import Table  # noqa: PLC0415 - start-up
    from rich.text import Text  # noqa: PLC0415 - start-up

    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    screen = output.console(color=not args.no_color)
    if not summaries:
        screen.print(Text(f"No session of this directory under {root}; --all shows every one."))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("modified")
    table.add_column("id", no_wrap=True)
    table.add_column("messages", justify="right")
    table.add_column("size", justify="right")
    table.add_column("name or first message", ratio=1, no_wrap=True)
    for item in summaries:
        told = item.name or item.first_message or "(no messages)"
        table.add_row(
            item.modified[:16].replace("T", " "),
            Text(one_line(item.id, 36), style="cyan"),
            str(item.message_count),
            f"{item.size / 1000:,.0f} kB",
            Text(one_line(told)),
        )
    screen.print(table)

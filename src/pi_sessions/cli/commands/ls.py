"""List the sessions of this directory, newest activity first."""

from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions._javascript import date_value
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
    "cost": lambda item: item.cost,
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
        help="what decides the order; the latest, largest, longest or dearest first",
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
    summaries.sort(key=lambda item: os.path.basename(item.path), reverse=True)
    summaries.sort(key=ORDERS[args.sort], reverse=True)
    if args.json:
        output.write_json([row(item) for item in summaries])
    else:
        _print(args, root, summaries)
    return 0


def row(item: store.Summary) -> dict[str, Any]:
    """Make the JSON row of a session."""
    return {
        "path": item.path,
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


_STEPS = ((60, "min"), (60, "h"), (24, "d"), (7, "w"))
"""How many of the unit before make one of this one."""


def _ago(now: float, iso: str) -> str:
    """Tell how long ago a time was, in its largest unit; the date itself after some weeks."""
    then = date_value(iso, UTC) / 1000
    amount, unit = now - then, "s"
    for size, name in _STEPS:
        if amount < size:
            break
        amount, unit = amount / size, name
    if unit == "w" and amount > 5:
        return iso[:10]
    return "now" if unit == "s" else f"{int(amount)} {unit} ago"


def _print(args: argparse.Namespace, root: Path, summaries: list[store.Summary]) -> None:
    from time import time  # noqa: PLC0415 - the clock is for people only

    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up
    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    if not summaries:
        told = f"No session of this directory under {one_line(str(root), 400)}"
        paper.row((f"{told}; --all shows every one.", ""))
        return
    now = time()
    width = max(len(one_line(item.id, 36)) for item in summaries)
    for cwd, items in _by_project(summaries).items():
        paper.row((one_line(cwd or "no directory", 400), "bold"))
        for item in items:
            said = item.name or item.first_message or "(no messages)"
            paper.row(
                (f"{_ago(now, item.modified):>10}  ", ""),
                (f"{one_line(item.id, 36):<{width}} ", "cyan"),
                (f"{item.message_count:>6} messages {item.size / 1000:>9,.0f} kB  ", "dim"),
                (one_line(said), "" if item.name is None else "bold"),
            )
    paper.row((f"pi --session {one_line(summaries[0].id)} goes on with the first", "dim"))


def _by_project(summaries: list[store.Summary]) -> dict[str | None, list[store.Summary]]:
    """Group sessions by their directory, in the order of the list."""
    projects: dict[str | None, list[store.Summary]] = {}
    for item in summaries:
        projects.setdefault(item.cwd, []).append(item)
    return projects

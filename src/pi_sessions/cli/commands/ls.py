"""List the sessions of this directory, newest activity first."""

from __future__ import annotations

import os
import shlex
import sys
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import store
from pi_sessions._javascript import date_value
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import choosing, environment, output, reading

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from pi_sessions.cli.progress import Rows


ORDERS: dict[str, Callable[[store.Summary], Any]] = {
    "modified": lambda item: date_value(item.modified, UTC),
    "created": lambda item: date_value(item.created, UTC) if item.created else float("-inf"),
    "size": lambda item: item.size,
    "messages": lambda item: item.message_count,
    "cost": lambda item: item.cost,
}
"""What --sort takes, and the key of each order."""


class Kinship(msgspec.Struct, frozen=True):
    """Which sessions were forked from which, by path and by id."""

    ids: dict[str, str]
    """Ids of all sessions, by path."""
    parents: dict[str, str]
    """The id of the session a file was forked from, where that is in a store."""
    children: dict[str, list[str]]
    """Ids of the sessions that were forked from a file."""


class Listed(msgspec.Struct, frozen=True):
    """What a list shows."""

    summaries: list[store.Summary]
    """In no order."""
    kin: Kinship
    foreign: list[store.Foreign]
    """What stands in the stores and is no session."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("directory", nargs="?", metavar="DIR", help="a directory of session files")
    shared.add_stores(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--all", action="store_true", help="of every working directory")
    group.add_argument("--cwd", metavar="DIR", help="of this working directory")
    choosing.arguments(parser)
    parser.add_argument(
        "--sort",
        choices=tuple(ORDERS),
        default="modified",
        help="what decides the order; the latest, largest, longest or dearest first",
    )
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many")
    parser.add_argument("--verbose", action="store_true", help="name what is no session, and why")
    parser.add_argument("--csv", action="store_true", help="a table as CSV")
    reading.add_index(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    listed = listing(args)
    summaries = in_order(args, listed.summaries)
    if args.json:
        output.write_json([row(item, listed.kin) for item in summaries])
    elif args.csv:
        output.write_csv(COLUMNS, (flat(item, listed.kin) for item in summaries))
    else:
        from pi_sessions.cli.listing import tell  # noqa: PLC0415 - start-up

        tell(args, summaries, listed)
    return 0


def listing(args: argparse.Namespace) -> Listed:
    """Find and read the sessions an invocation means.

    Raises:
        UsageError: an option makes no sense.
        ConfigurationError: our configuration file is not as it must be.
    """
    zone = environment.local_zone()
    tests = choosing.tests(args, zone)
    roots = [Path(args.directory)] if args.directory else reading.roots(args)
    contents = store.look(roots)
    shelf = reading.Shelf(roots, contents.files, zone, index=not args.no_index)
    everything = args.all or args.directory or args.project is not None
    if everything and args.cwd is None:
        heads, files = [], contents.files
    else:
        wanted = os.path.normpath(os.path.abspath(args.cwd or os.curdir))
        heads = list(shelf.heads())
        files = [head.file for head in heads if is_in(head.cwd, wanted)]
    found: list[store.Summary] = []
    chosen: list[store.Summary] = []
    for read in shelf.summaries(files, rows=_rows(args, chosen)):
        if read.summary is not None:
            found.append(read.summary)
            if all(test(read.summary) for test in tests):
                chosen.append(read.summary)
    if everything and args.cwd is None:
        kin = kinship((item.path, item.id, item.parent_session) for item in found)
    else:
        kin = kinship((head.file.path, head.id, head.parent) for head in heads)
    foreign = contents.foreign + [
        store.Foreign(file.path, "holds no session")
        for file in contents.files
        if file.path not in kin.ids
    ]
    return Listed(chosen, kin, foreign)


def _rows(args: argparse.Namespace, chosen: list[store.Summary]) -> Rows | None:
    """Give what shows the list as far as it is known, where a person will read it."""
    if args.json or args.csv or not sys.stdout.isatty():
        return None
    from pi_sessions.cli.listing import preview  # noqa: PLC0415 - start-up

    return lambda most: preview(in_order(args, chosen)[:most])


def in_order(args: argparse.Namespace, summaries: list[store.Summary]) -> list[store.Summary]:
    """Put sessions into the order that is asked for, as many as are."""
    # Of equals, the later name comes first, as in the reference.
    ordered = sorted(summaries, key=lambda item: os.path.basename(item.path), reverse=True)
    ordered.sort(key=ORDERS[args.sort], reverse=True)
    if args.reverse:
        ordered.reverse()
    return ordered if args.limit is None else ordered[: max(0, args.limit)]


def is_in(cwd: str | None, directory: str) -> bool:
    """Say whether a session's working directory is a directory."""
    return cwd is not None and os.path.normpath(cwd) == directory


def kinship(sessions: Iterable[tuple[str, str, str | None]]) -> Kinship:
    """Find out which sessions were forked from which.

    Args:
        sessions: path, id and the path of the parent as the header has it, of all.
    """
    ids: dict[str, str] = {}
    forks: list[tuple[str, str, str]] = []
    for path, session_id, parent in sessions:
        ids[path] = session_id
        if parent is not None:
            forks.append((path, session_id, parent))
    # A name has the time and the id of its session in it: it tells them after a move, too.
    by_name = {os.path.basename(path): path for path in ids}
    parents: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for path, session_id, parent in forks:
        origin = parent if parent in ids else by_name.get(os.path.basename(parent))
        if origin is not None and origin != path:
            parents[path] = ids[origin]
            children.setdefault(origin, []).append(session_id)
    return Kinship(ids, parents, children)


def row(item: store.Summary, kin: Kinship) -> dict[str, Any]:
    """Make the JSON row of a session."""
    totals = item.totals
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
        "version": item.version,
        "tokens": totals.tokens,
        "cost": totals.cost,
        "models": item.models,
        "branches": item.branches,
        "compactions": item.compactions,
        "defects": item.defects,
        "parent": kin.parents.get(item.path),
        "children": kin.children.get(item.path, []),
        "resume": resume(item.path),
    }


COLUMNS = (
    "id",
    "name",
    "cwd",
    "created",
    "modified",
    "messageCount",
    "size",
    "tokens",
    "cost",
    "models",
    "branches",
    "compactions",
    "defects",
    "parent",
    "children",
    "firstMessage",
    "path",
)
"""The columns of the CSV."""


def flat(item: store.Summary, kin: Kinship) -> Sequence[object]:
    """Make the CSV row of a session; lists are joined by blanks."""
    told = row(item, kin) | {"models": " ".join(item.models)}
    told["children"] = " ".join(told["children"])
    return [told[name] for name in COLUMNS]


def resume(path: str) -> str:
    """Give the command with which Pi goes on with a session."""
    return shlex.join(["pi", "--session", os.path.abspath(path)])

"""Look for a text in all sessions; exit code 1 if every file was looked at and none has it."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.cli.paper import Paper
from pi_sessions.context.passage import Where
from pi_sessions.errors import SessionError
from pi_sessions.excerpt import harmless, one_line
from pi_sessions.finding import Hit, Query, find

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from datetime import tzinfo

SHOWN = 40
"""Finds a person is told at once."""
KINDS = tuple(str(where) for where in Where)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("query", metavar="QUERY", help="the text; capitals do not matter")
    shared.add_store(parser)
    parser.add_argument("--cwd", metavar="DIR", help="only sessions of this working directory")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--regex", action="store_true", help="QUERY is a regular expression")
    form.add_argument("--files", action="store_true", help="QUERY is a path that tools were given")
    parser.add_argument("--exact", action="store_true", help="capitals matter")
    parser.add_argument(
        "--role", action="append", default=[], metavar="ROLE", help="user, assistant, compaction, …"
    )
    parser.add_argument("--in", dest="where", action="append", default=[], choices=KINDS)
    parser.add_argument("--branch", choices=("live", "abandoned"), help="on which branches")
    seen = parser.add_mutually_exclusive_group()
    seen.add_argument("--seen", action="store_true", help="only what some reply had before it")
    seen.add_argument("--never-seen", action="store_true", help="only what no reply had")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, the best first")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    query = _query(args)
    root = Path(environment.session_directory(args.session_dir))
    cwd = None if args.cwd is None else os.fspath(Path(args.cwd).absolute())
    paths = [os.fspath(found.path) for found in store.sessions(root, cwd)]
    hits: list[Hit] = []
    unread: list[str] = []
    for found in _each(paths, query, environment.local_zone()):
        if isinstance(found, str):
            unread.append(found)
        else:
            hits += found
    hits.sort(key=lambda hit: (-hit.score, hit.path, hit.line))
    shown = hits if args.limit is None else hits[: args.limit]
    if args.json:
        output.write_json([row(hit) for hit in shown])
    else:
        _print(args, shown, (len(hits), len(paths)), unread)
    return int(not hits)


def _query(args: argparse.Namespace) -> Query:
    """Read the words of the command.

    Raises:
        UsageError: there is nothing to look for, or the expression is none.
    """
    if not args.query.strip():
        raise shared.UsageError("there is nothing to look for in an empty text")
    where = tuple(Where(name) for name in args.where)
    query = Query(
        args.query,
        is_regex=args.regex,
        is_exact=args.exact or args.files,
        roles=tuple(args.role),
        where=(Where.ARGUMENTS,) if args.files else where,
        branch=args.branch or "",
        seen=True if args.seen else False if args.never_seen else None,
    )
    try:
        query.pattern()
    except re.error as error:
        raise shared.UsageError(f"--regex: {error}") from None
    return query


def _each(paths: list[str], query: Query, zone: tzinfo) -> Iterable[list[Hit] | str]:
    """Look into all files, on all cores; a sentence stands for one that cannot be read."""
    look = partial(_look, query=query, zone=zone)
    if len(paths) < 4 or (os.cpu_count() or 1) < 2:
        yield from map(look, paths)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - start-up

    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(look, paths, chunksize=4)


def _look(path: str, query: Query, zone: tzinfo) -> list[Hit] | str:
    try:
        return find(path, query, zone)
    except SessionError as error:
        return str(error)


def row(hit: Hit) -> dict[str, Any]:
    """Make the JSON row of a find."""
    return {
        "path": hit.path,
        "id": hit.session,
        "line": hit.line,
        "entryId": hit.entry,
        "role": hit.role,
        "where": hit.where,
        "excerpt": one_line(hit.excerpt),
        "score": hit.score,
    }


def _print(
    args: argparse.Namespace, hits: list[Hit], counts: tuple[int, int], unread: list[str]
) -> None:
    paper = Paper(color=not args.no_color)
    found, files = counts
    if not found:
        paper.row((f"nothing in {files} sessions", "bold"))
    last = ""
    for hit in hits[:SHOWN]:
        if hit.path != last:
            paper.row((one_line(hit.path, 400), "bold"))
            last = hit.path
        told = f"{one_line(hit.role or '-', 14)} {hit.where}"
        paper.row((f"{hit.line:>7} ", "dim"), (f"{told:<26} ", "cyan"), (one_line(hit.excerpt), ""))
    if len(hits) > SHOWN:
        paper.row((f"{len(hits) - SHOWN} more; --limit and the filters make it less", "dim"))
    if hits:
        best = hits[0]
        name = harmless(best.session)
        command = f"pi-sessions lines {name} --leaf {harmless(best.entry or '')}"
        paper.row((f"to look at the first: {command}" if best.entry else "", "dim"))
    for sentence in unread:
        paper.row((f"not looked at: {one_line(sentence, 400)}", "yellow"))

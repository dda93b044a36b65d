"""Look for a text in all sessions; exit code 1 if every file was looked at and none has it."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from pi_sessions import index, store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import choosing, environment, output, reading
from pi_sessions.cli.paper import Paper
from pi_sessions.cli.progress import Progress
from pi_sessions.context.passage import Where
from pi_sessions.errors import SessionError
from pi_sessions.excerpt import harmless, one_line
from pi_sessions.finding import Hit, Query, find

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from datetime import tzinfo
    from pathlib import Path

SHOWN = 40
"""Finds a person is told at once."""
_UNREADABLE = 3
"""Exit code where a file that may have it cannot be read."""
KINDS = tuple(str(where) for where in Where)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("query", metavar="QUERY", help="the text; capitals do not matter")
    shared.add_stores(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--regex", action="store_true", help="QUERY is a regular expression")
    form.add_argument("--files", action="store_true", help="QUERY is a path that tools were given")
    parser.add_argument("--exact", action="store_true", help="capitals matter")
    group = parser.add_argument_group("which sessions")
    group.add_argument("--cwd", metavar="DIR", help="of this working directory")
    group.add_argument(
        "--project",
        metavar="DIR|NAME",
        help="of this directory or one below it, or of any whose path has this part",
    )
    group = parser.add_argument_group("which lines")
    group.add_argument(
        "--role", action="append", default=[], metavar="ROLE", help="user, assistant, compaction, …"
    )
    group.add_argument(
        "--in", dest="where", action="append", default=[], choices=KINDS, help="kinds of text"
    )
    group.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="calls of it and its results"
    )
    group.add_argument(
        "--model", action="append", default=[], metavar="TEXT", help="replies of a model named so"
    )
    group.add_argument("--since", metavar="WHEN", help="written since: 2026-01-31, 36h, 90d, 12w")
    group.add_argument("--until", metavar="WHEN", help="written until then, a day included")
    group.add_argument("--branch", choices=("live", "abandoned"), help="on which branches")
    seen = group.add_mutually_exclusive_group()
    seen.add_argument("--seen", action="store_true", help="only what some reply had before it")
    seen.add_argument("--never-seen", action="store_true", help="only what no reply had")
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help=f"at most so many, the best first; default: {SHOWN}, and all with --json",
    )
    parser.add_argument(
        "--archived", action="store_true", help="also what archive has put away, without an index"
    )
    parser.add_argument(
        "--no-index", action="store_true", help="read all files, and neither use nor make an index"
    )
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    zone = environment.local_zone()
    query = _query(args, zone)
    limit = args.limit
    if limit is None and not args.json:
        limit = SHOWN
    roots = reading.roots(args)
    contents = store.look(roots)
    files = _meant(args, contents.files)
    folder = environment.cache_directory()
    caches = [index.Cache(folder, os.fspath(root), time.time_ns) for root in roots]
    with Progress("searching", sum(file.size for file in files)) as progress:
        answer = index.search(
            [] if args.no_index else caches,
            files,
            query,
            zone,
            limit=None if limit is None else max(limit, 0),
            workers=os.cpu_count() or 1,
            advance=progress.advance,
        )
    packed = _archived(args, roots) if args.archived else []
    answer = _with_archived(answer, packed, query, zone, limit)
    denied = os.strerror(errno.EACCES).lower()
    unread = [f"{found.path}: {found.why}" for found in contents.foreign if found.why == denied]
    unread += answer.unread
    if args.json:
        output.write_json([row(hit) for hit in answer.hits])
    else:
        _print(args, answer, len(files) + len(packed), is_proven=not unread)
    for sentence in unread:
        print(f"not looked at: {one_line(sentence, 400)}", file=sys.stderr)
    if answer.hits or answer.is_cut:
        return 0
    return _UNREADABLE if unread else 1


def _archived(args: argparse.Namespace, roots: Sequence[Path]) -> list[Path]:
    """Give the packed sessions of the directory or project that is asked for."""
    from pi_sessions.tidy.archive import archived, folder_of  # noqa: PLC0415 - only where asked

    found = [each for root in roots for each in archived(folder_of(root))]
    wanted = None if args.cwd is None else os.path.normpath(os.path.abspath(args.cwd))
    return [
        each.path
        for each in found
        if (wanted is None or (each.cwd is not None and os.path.normpath(each.cwd) == wanted))
        and (args.project is None or choosing.is_of_project(each.cwd, args.project))
    ]


def _with_archived(
    answer: index.Answer, packed: Sequence[Path], query: Query, zone: tzinfo, limit: int | None
) -> index.Answer:
    """Add what packed sessions have, the best first; equals stay in the order of the files."""
    if not packed:
        return answer
    hits, unread = list(answer.hits), list(answer.unread)
    for path in packed:
        try:
            hits += find(os.fspath(path), query, zone)
        except SessionError as error:
            unread.append(str(error))
    hits.sort(key=lambda hit: -hit.score)
    kept = hits if limit is None else hits[: max(limit, 0)]
    return index.Answer(kept, answer.is_cut or len(kept) < len(hits), unread)


def _meant(args: argparse.Namespace, files: list[store.StoredFile]) -> list[store.StoredFile]:
    """Choose the files of the directory or project that is asked for."""
    if args.cwd is None and args.project is None:
        return files
    wanted = None if args.cwd is None else os.path.normpath(os.path.abspath(args.cwd))
    return [
        head.file
        for head in reading.heads(files)
        if (wanted is None or (head.cwd is not None and os.path.normpath(head.cwd) == wanted))
        and (args.project is None or choosing.is_of_project(head.cwd, args.project))
    ]


def _query(args: argparse.Namespace, zone: tzinfo) -> Query:
    """Read the words of the command.

    Raises:
        UsageError: there is nothing to look for, or the expression or a time is none.
    """
    if not args.query.strip():
        raise shared.UsageError("there is nothing to look for in an empty text")
    where = tuple(Where(name) for name in args.where)
    since = until = None
    if args.since is not None:
        since = choosing.moment_of("--since", args.since, zone) * 1000
    if args.until is not None:
        until = choosing.moment_of("--until", args.until, zone, is_end=True) * 1000
    query = Query(
        args.query,
        is_regex=args.regex,
        is_exact=args.exact or args.files,
        roles=tuple(args.role),
        where=(Where.ARGUMENTS,) if args.files else where,
        branch=args.branch or "",
        seen=True if args.seen else False if args.never_seen else None,
        tools=tuple(args.tool),
        models=tuple(args.model),
        since=since,
        until=until,
    )
    try:
        query.pattern()
    except (re.error, OverflowError, RecursionError) as error:
        raise shared.UsageError(f"--regex: {error}") from None
    return query


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


def _print(args: argparse.Namespace, answer: index.Answer, files: int, *, is_proven: bool) -> None:
    paper = Paper(color=not args.no_color)
    hits = answer.hits
    if not hits and not answer.is_cut and is_proven:
        paper.row((f"nothing in {files} files", "bold"))
    last = ""
    for hit in hits:
        if hit.path != last:
            paper.row((one_line(hit.path, 400), "bold"))
            last = hit.path
        told = f"{one_line(hit.role or '-', 14)} {hit.where}"
        paper.row((f"{hit.line:>7} ", "dim"), (f"{told:<26} ", "cyan"), (one_line(hit.excerpt), ""))
    if answer.is_cut:
        paper.row(("there is more; --limit shows it, and the filters make it less", "dim"))
    if hits and hits[0].entry:
        words = ("pi-sessions", "lines", hits[0].path, "--leaf", hits[0].entry)
        paper.text(f"to look at the first: {harmless(shlex.join(words))}", "dim")

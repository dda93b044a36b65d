"""Which sessions of a list are meant: by project, time, model, name, text, cost and health."""

from __future__ import annotations

import argparse
import os
from datetime import date, timedelta
from functools import partial
from time import time
from typing import TYPE_CHECKING

from pi_sessions.cli.amounts import moment
from pi_sessions.cli.arguments import UsageError
from pi_sessions.store import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from pi_sessions.store import Summary

    Test = Callable[[Summary], bool]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("which sessions")
    group.add_argument("--named", action="store_true", help="only those with a name")
    group.add_argument(
        "--project",
        metavar="DIR|NAME",
        help="of this directory or one below it, or of any whose path has this part; implies --all",
    )
    group.add_argument("--since", metavar="WHEN", help="active since: 2026-01-31, 36h, 90d, 12w")
    group.add_argument("--until", metavar="WHEN", help="active last until then, a day included")
    group.add_argument("--model", metavar="TEXT", help="with a reply of a model named so")
    group.add_argument("--name", metavar="TEXT", help="with this in the name")
    group.add_argument("--text", metavar="TEXT", help="with this anywhere in what was said or done")
    group.add_argument("--min-cost", type=_dollars, metavar="DOLLARS", help="that cost so much")
    group.add_argument("--max-cost", type=_dollars, metavar="DOLLARS", help="that cost no more")
    group.add_argument(
        "--health",
        choices=("sound", "defects"),
        help="in which nothing is wrong, or something (pi-sessions check tells what)",
    )


def _dollars(text: str) -> float:
    try:
        return float(text.removeprefix("$"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of dollars") from None


def is_of_project(cwd: str | None, project: str) -> bool:
    """Say whether a working directory belongs to a project, which has a path or a name."""
    if cwd is None:
        return False
    if os.sep in project or project in (os.curdir, os.pardir, "~"):
        wanted = os.path.abspath(os.path.expanduser(project))
        return os.path.normpath(cwd) == wanted or cwd.startswith(wanted.rstrip(os.sep) + os.sep)
    return project in cwd.replace("\\", "/").split("/")


def tests(args: argparse.Namespace, zone: tzinfo) -> list[Test]:
    """Give the tests a session must pass, quick ones first.

    Raises:
        UsageError: a time is none.
    """
    found: list[Test] = []
    if args.named:
        found.append(lambda item: item.name is not None)
    if args.project is not None:
        found.append(lambda item: is_of_project(item.cwd, args.project))
    if args.since is not None:
        since = iso(moment_of("--since", args.since, zone) * 1000)
        found.append(lambda item: item.modified >= since)
    if args.until is not None:
        until = iso(moment_of("--until", args.until, zone, is_end=True) * 1000)
        found.append(lambda item: item.modified < until)
    if args.name is not None:
        found.append(lambda item: args.name.casefold() in (item.name or "").casefold())
    if args.model is not None:
        model = args.model.casefold()
        found.append(lambda item: any(model in name.casefold() for name in item.models))
    if args.min_cost is not None:
        found.append(lambda item: item.cost >= args.min_cost)
    if args.max_cost is not None:
        found.append(lambda item: item.cost <= args.max_cost)
    if args.health is not None:
        found.append(lambda item: (item.defects == 0) == (args.health == "sound"))
    if args.text is not None:
        found.append(partial(_has_text, text=args.text, zone=zone))
    return found


def moment_of(option: str, text: str, zone: tzinfo, *, is_end: bool = False) -> float:
    """Read the time an option names, in seconds since 1970; with `is_end` a day counts whole.

    Raises:
        UsageError: it is none.
    """
    if is_end and text[4:5] == "-":
        try:
            text = str(date.fromisoformat(text) + timedelta(days=1))
        except (ValueError, OverflowError):
            raise UsageError(f"{option}: {text!r} is no day: 2026-01-31") from None
    try:
        return moment(text, time(), zone)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def _has_text(item: Summary, text: str, zone: tzinfo) -> bool:
    from pi_sessions.errors import SessionError  # noqa: PLC0415 - start-up
    from pi_sessions.finding import Query, find  # noqa: PLC0415

    try:
        return any(True for _ in find(item.path, Query(text), zone))
    except SessionError:  # it has gone meanwhile
        return False

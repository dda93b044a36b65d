"""Add up tokens and money: of a session, or of many, each copied entry counted once."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from datetime import date, tzinfo
from time import time
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import store
from pi_sessions.cli import amounts, environment, output, reading
from pi_sessions.cli import arguments as shared
from pi_sessions.cli.choosing import is_of_project
from pi_sessions.summarising import read_summary
from pi_sessions.usage import Again, Copies, Row, Spent, Totals, added_up, day_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEYS = ("model", "day", "project", "session", "branch", "kind", "tool")


class Asked(msgspec.Struct, frozen=True):
    """What is asked for."""

    by: str
    zone: tzinfo
    since: str
    """The first day, "" for any."""
    until: str
    """The last day, "" for any."""

    def takes(self, day: str) -> bool:
        """Say whether a day is meant; what has no time only where none is named."""
        if not (self.since or self.until):
            return True
        return bool(day) and self.since <= day <= (self.until or day)


class Account(msgspec.Struct):
    """All that was added up."""

    asked: Asked
    totals: Totals = msgspec.field(default_factory=Totals)
    rows: dict[str, Row] = msgspec.field(default_factory=dict)
    """Sums by what was asked for."""
    days: dict[str, Row] = msgspec.field(default_factory=dict)
    """Sums by day, for a chart."""
    again: dict[str, Again] = msgspec.field(default_factory=dict)
    """What was paid again, by why."""
    incomplete: list[tuple[str, int]] = msgspec.field(default_factory=list)
    """Path and line of what does not report all."""

    def add(self, summary: store.Summary, rows: Sequence[Row], *, is_live: bool = True) -> None:
        """Add the rows of a file, those of its live branch or of the others."""
        for row in rows:
            if not self.asked.takes(row.day):
                continue
            key = _key(self.asked.by, summary, row, is_live=is_live)
            self.totals.add(row.totals)
            for name, sums in ((key, self.rows), (row.day, self.days)):
                sums.setdefault(name, Row(row.day, "", "", "")).add(row)
            for why, again in row.again.items():
                self.again.setdefault(why, Again()).add(again)
            self.incomplete += [(summary.path, line) for line in row.incomplete]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--all", action="store_true", help="all sessions of the store")
    group.add_argument("--cwd", metavar="DIR", help="all sessions of this working directory")
    group.add_argument(
        "--project",
        metavar="DIR|NAME",
        help="all of this directory or one below it, or of any whose path has this part",
    )
    parser.add_argument("--by", choices=KEYS, help="what makes a row; default: model")
    parser.add_argument("--since", metavar="DAY", help="from this day on: 2026-01-31, or 30d")
    parser.add_argument("--until", metavar="DAY", help="up to this day, included")
    parser.add_argument("--tz", type=_zone, metavar="ZONE", help="zone of days: Europe/Berlin")
    parser.add_argument("--csv", action="store_true", help="the rows as CSV")
    reading.add_index(parser)
    shared.add_common(parser)


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - start-up

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {name!r}") from None


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    zone = args.tz or environment.local_zone()
    since, until = _day("--since", args.since, zone), _day("--until", args.until, zone)
    account, copies = Account(Asked(args.by or "model", zone, since, until)), Copies()
    for summary, spent, is_related in _files(args, account.asked):
        if spent is None:
            account.add(summary, summary.rows)
            continue
        meant = [item for item in spent if _takes(account.asked, item)]
        fresh = copies.without(meant) if is_related else meant
        for is_live in (True, False):
            items = [item for item in fresh if item.is_live == is_live]
            account.add(summary, added_up(items, zone), is_live=is_live)
    if args.json:
        output.write_json(document(account, copies))
    elif args.csv:
        rows = ((key, *_numbers(row.totals).values()) for key, row in ordered(account.rows))
        output.write_csv([account.asked.by, *_numbers(account.totals)], rows)
    else:
        from pi_sessions.cli.charts import tell  # noqa: PLC0415 - start-up

        tell(args, account, copies)
    return 0


def _day(option: str, text: str | None, zone: tzinfo) -> str:
    """Read a day, or how long ago one was.

    Raises:
        UsageError: it is neither.
    """
    if text is None:
        return ""
    try:
        if text[4:5] == "-":
            return str(date.fromisoformat(text))
        return day_of(amounts.moment(text, time(), zone) * 1000, zone)
    except ValueError:
        raise shared.UsageError(f"{option}: {text!r} is no day like 2026-01-31 or 30d") from None


def _takes(asked: Asked, item: Spent) -> bool:
    return not (asked.since or asked.until) or asked.takes(day_of(item.time, asked.zone))


def _files(
    args: argparse.Namespace, asked: Asked
) -> Iterator[tuple[store.Summary, list[Spent] | None, bool]]:
    """Read the files that are asked for, older sessions before what was copied from them.

    Yields:
        The summary of each, its single entries where those are needed, and whether another file may
        have them as well.
    """
    if not (args.all or args.cwd or args.project):
        spent: list[Spent] = []
        yield read_summary(shared.find_session(args), asked.zone, spent), spent, False
        return
    roots = reading.roots(args)
    files = store.look(roots).files
    shelf = reading.Shelf(roots, files, asked.zone, index=not args.no_index)
    heads = [head for head in shelf.heads() if _is_meant(args, head.cwd)]
    related = _related(heads)
    singly = {head.file.path for head in heads} if asked.by == "branch" else related
    reads = list(shelf.summaries([head.file for head in heads], singly))
    # Names begin with the time a session was made.
    reads.sort(key=lambda read: (os.path.basename(read.file.path), read.file.path))
    for read in reads:
        if read.summary is not None:
            yield read.summary, read.spent, read.file.path in related


def _is_meant(args: argparse.Namespace, cwd: str | None) -> bool:
    if args.project:
        return is_of_project(cwd, args.project)
    if args.cwd:
        wanted = os.path.normpath(os.path.abspath(args.cwd))
        return cwd is not None and os.path.normpath(cwd) == wanted
    return True


def _related(heads: Sequence[reading.Head]) -> set[str]:
    """Say which files may share entries: forks, what they came from, and files of one id."""
    ids = Counter(head.id for head in heads)
    names = {os.path.basename(head.parent) for head in heads if head.parent is not None}
    return {
        head.file.path
        for head in heads
        if head.parent is not None or os.path.basename(head.file.path) in names or ids[head.id] > 1
    }


def _key(by: str, summary: store.Summary, row: Row, *, is_live: bool) -> str:
    match by:
        case "day":
            return row.day or "no date"
        case "project":
            return summary.cwd or "no directory"
        case "session":
            return summary.id
        case "branch":
            return "this branch" if is_live else "other branches"
        case "kind":
            return row.kind
        case "tool":
            return row.tool or "no tool"
        case _:
            return row.model or "tools and summaries"


def document(account: Account, copies: Copies) -> dict[str, Any]:
    """Make the JSON document; tokens, and dollars."""
    again = Again()
    for each in account.again.values():
        again.add(each)
    return {
        **_numbers(account.totals),
        "rows": [{"key": key, **_numbers(row.totals)} for key, row in ordered(account.rows)],
        "countedOnce": {"copies": copies.count, "cost": copies.cost},
        "incomplete": [{"path": path, "line": line} for path, line in account.incomplete],
        "paidAgain": {
            **_lost(again),
            "why": [{"key": why, **_lost(each)} for why, each in dearest(account.again)],
        },
        "zone": str(account.asked.zone),
    }


def _numbers(totals: Totals) -> dict[str, Any]:
    return {
        "input": totals.input,
        "output": totals.output,
        "cacheRead": totals.cache_read,
        "cacheWrite": totals.cache_write,
        "tokens": totals.tokens,
        "cost": totals.cost,
    }


def _lost(again: Again) -> dict[str, Any]:
    return {"tokens": again.tokens, "cost": again.cost, "replies": again.replies}


def dearest(again: dict[str, Again]) -> list[tuple[str, Again]]:
    """Give what was paid again, what cost most first."""
    return sorted(again.items(), key=lambda pair: (-pair[1].cost, -pair[1].tokens, pair[0]))


def ordered(rows: dict[str, Row]) -> list[tuple[str, Row]]:
    """Give the rows, days in order and all else by what they cost."""
    if all(key[:4].isdigit() and key[4:5] == "-" for key in rows if key != "no date"):
        return sorted(rows.items())
    return sorted(rows.items(), key=_rank)


def _rank(item: tuple[str, Row]) -> tuple[float, float, str]:
    key, row = item
    return -row.totals.cost, -row.totals.tokens, key

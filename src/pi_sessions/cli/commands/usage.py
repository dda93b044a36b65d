"""Add up tokens and money: of a session, or of many, each copied entry counted once."""

from __future__ import annotations

import argparse
import math
import os
from collections import Counter
from datetime import UTC, date, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import store
from pi_sessions._lines import open_source
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.errors import SessionError
from pi_sessions.excerpt import one_line
from pi_sessions.usage import Account, Spent, Totals, spent

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

_BAR = 24
"""Columns of the largest bar."""
KEYS = ("model", "day", "project", "session", "branch", "kind", "tool")


class Asked(msgspec.Struct, frozen=True):
    """What of a file is asked for."""

    by: str
    zone: tzinfo
    since: date | None
    until: date | None


class Told(msgspec.Struct):
    """What one file reports, in values that another process can send."""

    entries: list[tuple[str, Spent]]
    """The row and the entry, of a file that others may have copied."""
    rows: dict[str, Totals]
    """The sums, of a file that stands alone."""
    incomplete: list[tuple[str, int]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--all", action="store_true", help="all sessions of the store")
    group.add_argument("--cwd", metavar="DIR", help="all sessions of this working directory")
    parser.add_argument("--by", choices=KEYS, default="model", help="what makes a row")
    parser.add_argument("--since", type=_day, metavar="DAY", help="from this day on: 2026-01-31")
    parser.add_argument("--until", type=_day, metavar="DAY", help="up to this day, included")
    parser.add_argument("--tz", type=_zone, metavar="ZONE", help="zone of days: Europe/Berlin")
    parser.add_argument("--csv", action="store_true", help="the rows as CSV")
    shared.add_common(parser)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day like 2026-01-31") from None


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - start-up

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {name!r}") from None


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    zone = args.tz or environment.local_zone()
    asked = Asked(args.by, zone, args.since, args.until)
    account, incomplete = Account(), []
    for told in _files(args, asked):
        incomplete += told.incomplete
        account.add(told.entries)
        account.add_sums(told.rows)
    if args.json:
        output.write_json(document(account, incomplete))
    elif args.csv:
        _write_csv(args, account)
    else:
        _print(args, account, incomplete)
    return 0


def _files(args: argparse.Namespace, asked: Asked) -> Iterator[Told]:
    """Read the files that are asked for, older sessions before what was copied from them."""
    if not (args.all or args.cwd):
        path = shared.find_session(args)
        yield _told((path, store.read_header(Path(path)) or {}, False), asked)
        return
    root = Path(environment.session_directory(args.session_dir))
    cwd = None if args.all else os.fspath(Path(args.cwd).absolute())
    files = _families(list(store.sessions(root, cwd)))
    read = partial(_told_or_none, asked=asked)
    if len(files) < 2 or (os.cpu_count() or 1) < 2:
        yield from filter(None, map(read, files))
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - start-up

    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(read, files, chunksize=8))


_File = tuple[str, dict[str, Any], bool]
"""Path, header, and whether another file may have entries of this one."""


def _families(found: Sequence[store.Found]) -> list[_File]:
    """Say which files may share entries: forks, what they came from, and files of one id."""
    ids = Counter(item.id for item in found)
    parents = {parent for item in found if isinstance(parent := _parent(item.header), str)}
    names = {os.path.basename(parent) for parent in parents}
    files = [
        (
            os.fspath(item.path),
            item.header,
            _parent(item.header) is not None or item.path.name in names or ids[item.id] > 1,
        )
        for item in found
    ]
    # Names begin with the time a session was made.
    return sorted(files, key=lambda file: os.path.basename(file[0]))


def _parent(header: dict[str, Any]) -> object:
    return header.get("parentSession", header.get("branchedFrom"))


def _told_or_none(file: _File, asked: Asked) -> Told | None:
    """Read a file of a store; one that is no session is passed over."""
    try:
        return _told(file, asked)
    except SessionError:
        return None


def _told(file: _File, asked: Asked) -> Told:
    path, header, is_shared = file
    branch: set[int] = set()
    if asked.by == "branch":
        from pi_sessions import reader  # noqa: PLC0415 - the tree is asked for

        branch = {entry.line for entry in reader.load(path, zone=asked.zone).branch()}
    told = Told([], {}, [])
    for item in spent(open_source(path), asked.zone):
        if not _is_within(asked, item.time):
            continue
        row = _row(asked, header, item, branch)
        if not item.is_complete:
            told.incomplete.append((path, item.line))
        if is_shared:
            told.entries.append((row, item))
        else:
            told.rows.setdefault(row, Totals()).add(item.totals)
    return told


def _is_within(asked: Asked, time: float) -> bool:
    if asked.since is None and asked.until is None:
        return True
    day = _date(time, asked.zone)
    return day is not None and (asked.since or day) <= day <= (asked.until or day)


def _date(time: float, zone: tzinfo) -> date | None:
    if math.isnan(time):
        return None
    try:
        return datetime.fromtimestamp(time / 1000, UTC).astimezone(zone).date()
    except (OverflowError, OSError, ValueError):
        return None


def _row(asked: Asked, header: dict[str, Any], item: Spent, branch: Container[int]) -> str:
    match asked.by:
        case "day":
            return str(_date(item.time, asked.zone) or "no date")
        case "project":
            cwd = header.get("cwd")
            return cwd if isinstance(cwd, str) and cwd else "no directory"
        case "session":
            return str(header.get("id", ""))
        case "branch":
            return "this branch" if item.line in branch else "other branches"
        case "kind":
            return item.kind
        case "tool":
            return item.tool or "no tool"
        case _:
            return item.model or "tools and summaries"


def document(account: Account, incomplete: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Make the JSON document; tokens, and dollars."""
    return {
        **_numbers(account.totals),
        "rows": [{"key": key, **_numbers(totals)} for key, totals in _sorted(account)],
        "countedOnce": {"copies": account.copies, "cost": account.copied_cost},
        "incomplete": [{"path": path, "line": line} for path, line in incomplete],
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


def _sorted(account: Account) -> list[tuple[str, Totals]]:
    """Give the rows, dates in order and all else by what they cost."""
    rows = list(account.rows.items())
    if all(key[:4].isdigit() or key == "no date" for key, _ in rows):
        return sorted(rows)
    return sorted(rows, key=lambda row: (-row[1].cost, -row[1].tokens, row[0]))


def _write_csv(args: argparse.Namespace, account: Account) -> None:
    import csv  # noqa: PLC0415 - only this form needs it
    import sys  # noqa: PLC0415

    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = list(_numbers(account.totals))
    writer.writerow([args.by, *names])
    for key, totals in _sorted(account):
        # A spreadsheet takes what begins like this for a formula.
        safe = f"'{key}" if key[:1] in "=+-@" else key
        writer.writerow([safe, *_numbers(totals).values()])


def _print(
    args: argparse.Namespace, account: Account, incomplete: Sequence[tuple[str, int]]
) -> None:
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    totals = account.totals
    head = f"${totals.cost:,.2f} · {totals.tokens:,} tokens"
    paper.row(
        (head, "bold"),
        (f": {totals.input:,} in, {totals.output:,} out, ", ""),
        (f"{totals.cache_read:,} from the cache, {totals.cache_write:,} into it", ""),
    )
    rows = _sorted(account)
    most = max((row.cost for _, row in rows), default=0) or 1
    for key, row in rows:
        paper.row(
            (f"{one_line(key, 36):<36} ", "cyan"),
            (f"${row.cost:>10,.2f} ", ""),
            (f"{row.tokens:>16,} ", "dim"),
            ("█" * round(_BAR * row.cost / most), "green"),
        )
    if account.copies:
        told = f"{account.copies} entries that forks have copied are counted once"
        paper.row((f"{told}: ${account.copied_cost:,.2f} less", "yellow"))
    if incomplete:
        path, line = incomplete[0]
        told = f"{len(incomplete)} replies do not report all; the first: {one_line(path)}:{line}"
        paper.row((told, "yellow"))

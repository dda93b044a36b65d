"""A list of sessions for a person: by project, with relative times and a command to go on."""

from __future__ import annotations

import os
from datetime import UTC
from time import time
from typing import TYPE_CHECKING

from pi_sessions._javascript import date_value
from pi_sessions.cli.amounts import amount
from pi_sessions.cli.commands.ls import resume
from pi_sessions.cli.paper import Paper, width_of
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pi_sessions.cli.commands.ls import Kinship, Listed
    from pi_sessions.store import Foreign, Summary

_STEPS = ((60, "min"), (60, "h"), (24, "d"), (7, "w"))
"""How many of the unit before make one of this one."""
_SHORT = 8
"""Characters of an id at least."""


def tell(args: argparse.Namespace, summaries: list[Summary], listed: Listed) -> None:
    """Print a list, in the order given."""
    paper = Paper(color=not args.no_color)
    kin = listed.kin
    if summaries:
        _table(paper, summaries, kin)
    else:
        told = "No session of this directory" if _is_here(args) else "No such session"
        paper.row((f"{told}; --all shows every one.", ""))
    _foreign(paper, listed.foreign, is_verbose=args.verbose)


def _is_here(args: argparse.Namespace) -> bool:
    return not (args.all or args.directory or args.project is not None)


def _table(paper: Paper, summaries: list[Summary], kin: Kinship) -> None:
    now = time()
    short = short_ids(kin.ids.values())
    width = max(len(one_line(short[item.id], 36)) for item in summaries)
    models = max(len(_model(item)) for item in summaries)
    for cwd, items in _by_project(summaries).items():
        paper.row((one_line(cwd or "no directory", 400), "bold"))
        for item in items:
            facts = _facts(item, models)
            marks = _marks(item, kin, short)
            said = one_line(item.name or item.first_message or "(no messages)", paper.width)
            room = (
                paper.width - 13 - width - 1 - len(facts) - sum(width_of(text) for text, _ in marks)
            )
            paper.row(
                (f"{ago(now, item.modified):>11}  ", ""),
                (f"{one_line(short[item.id], 36):<{width}} ", "cyan"),
                (facts, "dim"),
                (one_line(said, max(room, 24)), "" if item.name is None else "bold"),
                *marks,
            )
    if len(summaries) > 1:
        paper.row((f"{len(summaries)} sessions{_together(summaries)}", "dim"))
    command = one_line(resume(summaries[0].path), 4000)
    paper.row((f"{command} goes on with the first", "dim"), whole=True)


def preview(summaries: list[Summary]) -> list[str]:
    """Give a row for each session, before others are known."""
    now = time()
    models = max((len(_model(item)) for item in summaries), default=0)
    return [
        f"{ago(now, item.modified):>11}  {one_line(item.id[:_SHORT], _SHORT):<{_SHORT}} "
        f"{_facts(item, models)}{one_line(item.name or item.first_message or '', 400)}"
        for item in summaries
    ]


def _facts(item: Summary, models: int) -> str:
    return (
        f"{item.message_count:>6} messages {amount(item.size):>8} ${item.cost:>8,.2f}  "
        f"{_model(item):<{models}}  "
    )


def _together(summaries: list[Summary]) -> str:
    """Add up what sessions cost, where none has copied from another."""
    if any(item.parent_session for item in summaries):
        return " (pi-sessions usage --all adds up what they cost, copies once)"
    return f", ${sum(item.cost for item in summaries):,.2f}"


def _marks(item: Summary, kin: Kinship, short: dict[str, str]) -> list[tuple[str, str]]:
    marks = []
    if item.branches > 1:
        marks.append((f"  {item.branches} branches", "green"))
    if item.compactions:
        marks.append((f"  {_count(item.compactions, 'compaction')}", "yellow"))
    if parent := kin.parents.get(item.path):
        marks.append((f"  fork of {one_line(short[parent], 36)}", "cyan"))
    elif item.parent_session:
        marks.append(("  fork of a session that is gone", "dim"))
    if children := kin.children.get(item.path):
        marks.append((f"  {_count(len(children), 'fork')}", "cyan"))
    if item.defects:
        marks.append((f"  {_count(item.defects, 'defect')}", "red"))
    return marks


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _model(item: Summary) -> str:
    """Name the model with the most replies, and count the others."""
    models = {name: count for name, count in item.models.items() if name}
    if not models:
        return ""
    most = max(models, key=models.__getitem__)
    more = f" +{len(models) - 1}" if len(models) > 1 else ""
    return one_line(most.rpartition("/")[2], 28) + more


def _foreign(paper: Paper, foreign: list[Foreign], *, is_verbose: bool) -> None:
    if not foreign:
        return
    if is_verbose:
        for found in foreign:
            paper.row((f"no session: {one_line(found.path, 400)}: {found.why}", "dim"))
    else:
        told = f"passed over: {_count(len(foreign), 'file')} or folders that are no sessions"
        if len(foreign) == 1:
            told = f"passed over: {one_line(os.path.basename(foreign[0].path), 80)}, no session"
        paper.row((f"{told}; --verbose tells why", "dim"))


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Shorten ids as far as each is still the beginning of no other."""
    ordered = sorted(set(ids))
    short = {}
    for before, session_id, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        length = 1 + max(_shared(before, session_id), _shared(session_id, after), _SHORT - 1)
        short[session_id] = session_id[:length]
    return short


def _shared(first: str, second: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(map(len, (first, second))),
    )


def ago(now: float, iso: str) -> str:
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


def _by_project(summaries: list[Summary]) -> dict[str | None, list[Summary]]:
    """Group sessions by their directory, in the order of the list."""
    projects: dict[str | None, list[Summary]] = {}
    for item in summaries:
        projects.setdefault(item.cwd, []).append(item)
    return projects

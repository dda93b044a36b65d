"""Tell what takes the room in the store, by kind, project and session, and how to get it back.

Every byte of every line is counted once. The commands at the end only show what they would do:
`prune` until it is given --yes, `archive` with --dry-run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import time
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.cli.amounts import amount, moment
from pi_sessions.cli.commands.archive import add_archive, places
from pi_sessions.cli.progress import Progress
from pi_sessions.excerpt import one_line
from pi_sessions.tidy import archive
from pi_sessions.tidy.space import Heavy, Space, measure
from pi_sessions.tidy.weighing import What

if TYPE_CHECKING:
    from pi_sessions.cli.paper import Paper

_ARCHIVE = "pi-sessions archive SESSION"
_COPY = "pi-sessions export SESSION --format jsonl {} --out FILE"
SHRINK: dict[What, tuple[str, str]] = {
    What.PROMPT: ("system prompts and declared tools", _ARCHIVE),
    What.USER: ("what people wrote", _ARCHIVE),
    What.REPLY: ("what models answered", _ARCHIVE),
    What.THINKING: ("what models thought", _ARCHIVE),
    What.SIGNATURE: ("signatures of the providers", _ARCHIVE),
    What.TOOL_CALL: ("arguments of tool calls", _ARCHIVE),
    What.TOOL_RESULT: ("what tools gave", _ARCHIVE),
    What.TOOL_DETAILS: ("what tools keep for the screen alone", _ARCHIVE),
    What.IMAGE: ("pictures", _COPY.format("--no-images")),
    What.SHELL: ("commands of people and their output", _ARCHIVE),
    What.SUMMARY: ("summaries of compactions and branches", _ARCHIVE),
    What.EDIT: ("context edits", _ARCHIVE),
    What.EXTENSION_STATE: ("what extensions remember, never sent", _ARCHIVE),
    What.EXTENSION_MESSAGE: ("messages of extensions", _ARCHIVE),
    What.BOOKKEEPING: ("headers, names, labels, changes of model", _ARCHIVE),
    What.FRAME: ("ids, times, usage, keys, line ends", _ARCHIVE),
    What.OTHER: ("entries nobody knows", _ARCHIVE),
    What.UNREADABLE: ("lines that are no JSON", "pi-sessions repair SESSION --dry-run"),
}
"""What each is, and what makes it smaller."""
_IDLE = "90d"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_store(parser)
    add_archive(parser)
    parser.add_argument(
        "--top", type=_count, default=10, metavar="N", help="how many of the largest; default: 10"
    )
    parser.add_argument(
        "--idle", default=_IDLE, metavar="AGE", help=f"what counts as long ago; default: {_IDLE}"
    )
    shared.add_common(parser)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return min(int(text), 10_000)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    root, folder = places(args)
    zone = environment.local_zone()
    try:
        before = moment(args.idle, time.time(), zone) * 1000
    except ValueError as error:
        raise shared.UsageError(f"--idle: {error}") from None
    total = sum(file.size for file in store.look(root).files)
    with Progress("measuring sessions", total) as progress:
        space = measure(
            root,
            before=before,
            zone=zone,
            top=args.top,
            workers=os.cpu_count() or 1,
            advance=progress.advance,
        )
    packed = list(archive.archived(folder))
    document = {
        "store": str(root),
        **_whole(space),
        "projects": _projects(space),
        "largestSessions": [_heavy(each) for each in space.sessions],
        "longestLines": [{**_heavy(each), "line": each.line} for each in space.lines],
        "ways": _ways(space, args),
        "archive": {
            "path": str(folder),
            "sessions": len(packed),
            "bytes": sum(item.size for item in packed),
            "packed": sum(item.packed for item in packed),
        },
        "foreign": {"files": space.foreign.count, "bytes": space.foreign.size},
        "unreadable": [{"path": path, "why": why} for path, why in space.unreadable],
    }
    if args.json:
        output.write_json(document)
    else:
        _tell(args, document)
    return 0


def _whole(space: Space) -> dict[str, Any]:
    whole = space.whole()
    total = whole.whole.size
    kinds: dict[What, int] = {}
    for (what, _), size in whole.parts.items():
        kinds[what] = kinds.get(what, 0) + size
    return {
        "sessions": whole.whole.count,
        "bytes": total,
        "lines": whole.lines,
        "kinds": [
            {
                "kind": str(what),
                "bytes": size,
                "share": round(size / total, 4),
                "shrink": SHRINK[what][1],
                "parts": [
                    {"of": of, "bytes": part}
                    for (kind, of), part in _sorted(whole.parts)
                    if kind is what
                ],
            }
            for what, size in _sorted(kinds)
        ],
    }


def _sorted(sizes: dict[Any, int]) -> list[tuple[Any, int]]:
    """Give the largest first; of equals, the first by name."""
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))


def _projects(space: Space) -> list[dict[str, Any]]:
    rows = []
    for cwd, project in space.projects.items():
        kinds: dict[str, int] = {}
        for (what, _), size in project.parts.items():
            kinds[str(what)] = kinds.get(str(what), 0) + size
        whole = project.whole
        rows.append(
            {
                "cwd": cwd,
                "sessions": whole.count,
                "bytes": whole.size,
                "kinds": dict(_sorted(kinds)),
            }
        )
    return sorted(rows, key=lambda row: (-row["bytes"], row["cwd"] or ""))


def _heavy(each: Heavy) -> dict[str, Any]:
    return {
        "path": each.path,
        "id": each.id,
        "bytes": each.size,
        "mostly": str(each.what),
        "of": each.of,
    }


def _ways(space: Space, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Tell what would give most room back; the commands show what they do before they do it."""
    where = f" --session-dir {shlex.quote(args.session_dir)}" if args.session_dir else ""
    ways = [
        {
            "command": f"pi-sessions prune --older-than {shlex.quote(args.idle)}{where}",
            "sessions": space.idle.count,
            "bytes": space.idle.size,
        },
        {
            "command": f"pi-sessions prune --empty{where}",
            "sessions": space.empty.count,
            "bytes": space.empty.size,
        },
    ]
    projects = [(each.whole, cwd) for cwd, each in space.projects.items() if cwd]
    if projects:
        whole, cwd = max(projects, key=lambda item: (item[0].size, item[1]))
        ways.append(
            {
                "command": f"pi-sessions archive --project {shlex.quote(cwd)}{where} --dry-run",
                "sessions": whole.count,
                "bytes": whole.size,
            }
        )
    if space.sessions:
        largest = space.sessions[0]
        ways.append(
            {
                "command": f"pi-sessions archive {shlex.quote(largest.path)}{where} --dry-run",
                "sessions": 1,
                "bytes": largest.size,
            }
        )
    return [way for way in ways if way["sessions"]]


def _tell(args: argparse.Namespace, document: dict[str, Any]) -> None:
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    total = document["bytes"]
    told = f"{document['sessions']} sessions, {document['lines']:,} lines, {amount(total)}"
    paper.row((f"{told} in {one_line(document['store'], 400)}", "bold"))
    for row in document["kinds"]:
        what = What(row["kind"])
        paper.row(
            (f"{amount(row['bytes']):>9} {row['share']:>6.1%}  ", ""),
            (f"{row['kind']:<18}", "cyan"),
            (SHRINK[what][0], ""),
        )
        for part in row["parts"][:3] if len(row["parts"]) > 1 else ():
            paper.row((f"{amount(part['bytes']):>19}    {one_line(part['of'] or '-', 60)}", "dim"))
    _tell_largest(paper, document, args.top)
    for way in document["ways"]:
        many = f"{way['sessions']} session{'s' if way['sessions'] > 1 else ''}"
        paper.row(
            (f"{amount(way['bytes']):>9} ", ""),
            (f"{many:>15}  ", "dim"),
            (one_line(way["command"], 4000), "cyan"),
            whole=True,
        )
    packed = document["archive"]
    if packed["sessions"]:
        told = f"{packed['sessions']} sessions, {amount(packed['bytes'])}"
        paper.row((f"in the archive: {told}, packed into {amount(packed['packed'])}", "dim"))
    if document["foreign"]["files"]:
        foreign = document["foreign"]
        told = f"{foreign['files']} files that are no sessions, {amount(foreign['bytes'])}"
        paper.row((told, "dim"))
    for row in document["unreadable"]:
        paper.row((f"could not be read: {one_line(row['why'], 400)}", "yellow"))


def _tell_largest(paper: Paper, document: dict[str, Any], top: int) -> None:
    for title, rows in (
        ("projects", document["projects"][:top]),
        ("largest sessions", document["largestSessions"]),
        ("longest lines", document["longestLines"]),
    ):
        if rows:
            paper.row((title, "bold"))
        for row in rows:
            if "cwd" in row:
                mostly = next(iter(row["kinds"]), "")
                place = f"{row['cwd'] or 'no directory'} ({row['sessions']})"
            else:
                mostly = f"{row['mostly']} {row['of']}".rstrip()
                place = row["path"] + (f":{row['line']}" if "line" in row else "")
            paper.row(
                (f"{amount(row['bytes']):>9}  ", ""),
                (f"{one_line(mostly, 24):<24}  ", "dim"),
                (one_line(place, 400), ""),
            )
    if document["ways"]:
        paper.row(("to get it back", "bold"))

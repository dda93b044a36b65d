"""Tell which replies had a text, or an entry, in front of them; exit code 1 if none had."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output
from pi_sessions.cli.paper import Paper
from pi_sessions.context.passage import Where
from pi_sessions.excerpt import excerpt, one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from pi_sessions.context.message import Reason
    from pi_sessions.context.sighting import Match, Sightings
    from pi_sessions.context.visibility import Visibility
    from pi_sessions.session import Session

    Because = Callable[[int], list[tuple[int, Reason]]]

TOLD = 5
"""Matches of which it is told, for each reply, why it had them not."""
_BEFORE, _AFTER = 40, 100
"""Characters of a passage that are shown around a match."""
_RUNS = 12
"""Runs of replies that a person is told."""

STANDINGS = {
    "seen": "seen, and still there",
    "seen-then-gone": "seen, and gone since",
    "abandoned": "seen on branches left since",
    "next": "not yet, in the next request",
    "never-seen": "stored, never seen",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[SESSION] TEXT",
        help="the session (default: newest of this directory) and the text to look for",
    )
    shared.add_store(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--entry", metavar="ID", help="look for an entry in place of a text")
    what.add_argument("--regex", metavar="RE", help="look for a regular expression")
    parser.add_argument("--ignore-case", action="store_true", help="capitals do not matter")
    shared.add_target(parser)
    shared.add_configuration(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    wanted = _wanted(args)
    args.leaf = args.response = None
    session = shared.open_session(args)
    visibility = session.visibility(
        target=shared.target_for(args, session),
        model_of=configuration.models_for(args),
        preferences=configuration.preferences(args, session.cwd),
        release=args.release,
    )
    if wanted is None:
        told = _of_entry(session, visibility, session.entry(args.entry).line)
    else:
        told = _of_text(session, session.look_for(wanted, visibility=visibility))
    if args.json:
        output.write_json(told.document())
    else:
        told.print(Paper(color=not args.no_color))
    return int(not any(saw for _, saw in told.replies))


def _wanted(args: argparse.Namespace) -> str | re.Pattern[str] | None:
    """Take the words apart: sets `args.session`, gives what is looked for, None for an entry.

    Raises:
        UsageError: there are too few words or too many, or the expression is none.
    """
    is_named = args.entry is not None or args.regex is not None
    words: list[str] = args.words
    if len(words) > 2 - is_named or not (words or is_named):
        raise shared.UsageError("saw takes a session, and TEXT or --regex RE or --entry ID")
    args.session = words[0] if len(words) == 2 - is_named else None
    if args.entry is not None:
        return None
    text = args.regex if args.regex is not None else words[-1]
    if not text.strip():
        raise shared.UsageError("there is nothing to look for in an empty text")
    if args.regex is None and not args.ignore_case:
        return text
    try:
        flags = re.IGNORECASE if args.ignore_case else 0
        return re.compile(text if args.regex is not None else re.escape(text), flags)
    except re.error as error:
        raise shared.UsageError(f"--regex: {error}") from None


class _Told:
    """What is told: the matches, what each reply had, and why one had none."""

    def __init__(
        self,
        session: Session,
        matches: list[dict[str, Any]],
        replies: Sequence[tuple[int, bool]],
        why_not: Because,
    ) -> None:
        self.ids = session.table.ids
        self.matches = matches
        self.replies = replies
        self.why_not = why_not

    def document(self) -> dict[str, Any]:
        """Make the JSON document."""
        return {"matches": self.matches, "responses": list(self.rows())}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each reply."""
        for reply, saw in self.replies:
            because = [] if saw else self.why_not(reply)
            yield {
                "line": reply,
                "id": self.ids[reply],
                "saw": saw,
                "because": [{"line": line, "reason": str(reason)} for line, reason in because],
            }

    def print(self, paper: Paper) -> None:
        """Tell it to a person."""
        if not self.matches:
            paper.row(("it stands nowhere in this file", "bold"))
            return
        width = max(map(len, STANDINGS.values()))
        for match in self.matches:
            style = "green" if match["standing"] == "seen" else "yellow"
            paper.row(
                (f"{match['line']:>6} ", "dim"),
                (f"{match['where']:<12} ", "cyan"),
                (f"{STANDINGS[match['standing']]:<{width}}  ", style),
                (match["excerpt"], ""),
            )
        count = sum(saw for _, saw in self.replies)
        told = f"{count} of {len(self.replies)} replies had it in front of them"
        paper.row((told, "bold"), (f": {_runs(self.replies)}" if count else "", ""))
        first = min(match["line"] for match in self.matches)
        missed = next((n for n, saw in self.replies if not saw and n > first), None)
        if missed is not None:
            paper.row((f"the first after it that had it not is on line {missed}:", ""))
            for line, reason in self.why_not(missed):
                paper.row((f"{line:>6} ", "dim"), (str(reason), "red"))


def _runs(replies: Sequence[tuple[int, bool]]) -> str:
    """Tell which replies had it, by their lines; neighbours as a run."""
    runs: list[list[int]] = []
    is_open = False
    for line, saw in replies:
        if saw and is_open:
            runs[-1][1] = line
        elif saw:
            runs.append([line, line])
        is_open = saw
    told = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs[:_RUNS])
    more = f" and {len(runs) - _RUNS} more runs" if len(runs) > _RUNS else ""
    return f"line{'' if told.isdecimal() else 's'} {told}{more}"


def _of_text(session: Session, found: Sightings) -> _Told:
    def why_not(reply: int) -> list[tuple[int, Reason]]:
        reasons: dict[int, Reason] = {}
        for match in found.matches[:TOLD]:
            reason = found.why_not(reply, match)
            if reason is not None:
                reasons.setdefault(match.passage.line, reason)
        return list(reasons.items())

    matches = [_match(session, match) for match in found.matches]
    return _Told(session, matches, found.replies(), why_not)


def _of_entry(session: Session, visibility: Visibility, line: int) -> _Told:
    def why_not(reply: int) -> list[tuple[int, Reason]]:
        reason = visibility.reason(reply, line)
        return [] if reason is None else [(line, reason)]

    saw = set(visibility.of(line))
    match = {
        "line": line,
        "id": session.table.ids[line],
        "where": "entry",
        "standing": "seen" if saw else "never-seen",
        "excerpt": excerpt(session.table, line),
    }
    replies = [(reply.line, reply.line in saw) for reply in session.responses]
    return _Told(session, [match], replies, why_not)


def _match(session: Session, match: Match) -> dict[str, Any]:
    passage = match.passage
    begin = max(0, match.start - _BEFORE)
    around = ("…" if begin else "") + passage.text[begin : match.stop + _AFTER]
    where = str(passage.where)
    if passage.where in (Where.SECTION, Where.TOOL):
        where += f" {one_line(passage.name, 40)}"
    return {
        "line": passage.line,
        "id": session.table.ids[passage.line],
        "where": where,
        "standing": str(match.standing),
        "excerpt": one_line(around),
    }

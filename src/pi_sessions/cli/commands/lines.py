"""Say for every physical line whether it reached the model at a point, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output, writers
from pi_sessions.cli.commands.check import rows as diagnostic_rows
from pi_sessions.cli.marks import MARKS, WORDS
from pi_sessions.cli.paper import Paper
from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.context.model import Found
from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.table import Kind

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session

FOLDED_RUN = 3
"""Runs of the same reason longer than this are folded."""
LONG_RUN = 40
"""Stretches of lines that were not sent, whatever the reasons, are folded from this length on."""

_TOLD, _QUIET, _BEFORE, _ELSEWHERE, _AFTER, _LOST = range(6)
_PLACES = {
    **{reason: _TOLD for reason in Reason if reason.verdict is not Verdict.NOT_SENT},
    Reason.SUMMARISED: _BEFORE,
    Reason.CHECKPOINTED: _BEFORE,
    Reason.OLDER_COMPACTION: _BEFORE,
    Reason.OTHER_BRANCH: _ELSEWHERE,
    Reason.LATER: _AFTER,
    Reason.UNREACHABLE: _LOST,
}
"""Where a line lies that was not sent; all other reasons are quiet."""

TOLD = {
    Reason.AS_STORED: "as it is stored",
    Reason.EDITED: "an edit replaced its content",
    Reason.TRIMMED: "without some of its blocks",
    Reason.MOVED: "at another place",
    Reason.RENAMED: "with other tool-call ids",
    Reason.FOLDED: "as part of the prompt",
    Reason.CONVERTED: "told in other words",
    Reason.HEADER: "the file's header",
    Reason.BLANK: "a blank line",
    Reason.MALFORMED: "broken, no JSON",
    Reason.NOT_AN_ENTRY: "JSON, but no entry",
    Reason.SHADOWED: "a later line has its id",
    Reason.OTHER_BRANCH: "on another branch",
    Reason.LATER: "after this point",
    Reason.UNREACHABLE: "cut off by a missing parent or a cycle",
    Reason.SUMMARISED: "summarised by a compaction",
    Reason.CHECKPOINTED: "gave way to the compaction's checkpoint",
    Reason.OLDER_COMPACTION: "a newer compaction replaced it",
    Reason.OMITTED: "an edit took it out",
    Reason.EXCLUDED_SHELL: "a !! run, kept from the model",
    Reason.FAILED_REPLY: "a reply that failed",
    Reason.EMPTY: "nothing of it is left to send",
    Reason.SUPERSEDED: "later system messages replaced all of it",
    Reason.BOOKKEEPING: "bookkeeping, never sent",
    Reason.SETTING: "a setting, never sent itself",
    Reason.CONTEXT_EDIT: "an edit, never sent itself",
    Reason.UNKNOWN_TYPE: "of an unknown type",
    Reason.UNKNOWN_ROLE: "of an unknown role",
}
"""Each reason in words, for a person."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    shared.add_target(parser)
    shared.add_configuration(parser)
    parser.add_argument(
        "--stage",
        choices=("replay", "projection"),
        default="replay",
        help="the request to a model (default), or Pi's own context before it",
    )
    parser.add_argument(
        "--writers",
        action="store_true",
        help="which releases of Pi can have written each stretch, and what tells so",
    )
    parser.add_argument("--all", action="store_true", help="unfold runs of the same reason")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    explanation = explained(args, session)
    if args.json:
        head = _head(session, explanation)
        if args.writers:
            head["release"] = explanation.point.rules.release
            head["writers"] = writers.rows(session.writers())
        head["diagnostics"] = diagnostic_rows(
            [
                *session.diagnostics,
                *session.conversation_diagnostics(args.leaf, response=args.response),
            ]
        )
        output.write_rows(
            head,
            "lines",
            lambda first, end: rows(session, explanation, first + 1, end + 1),
            len(session.table),
        )
    else:
        _print(args, session, explanation)
    return 0


def explained(args: argparse.Namespace, session: Session) -> Explanation:
    """Explain a session as the options ask for."""
    if args.stage == "projection":
        return session.explain(
            args.leaf, response=args.response, stage="projection", release=args.release
        )
    model = configuration.model_for(args, session)
    named = args.target or args.api or args.provider or args.model or args.input
    known = named or model.found is not Found.NOWHERE
    return session.explain(
        args.leaf,
        response=args.response,
        target=model if known else None,
        preferences=configuration.preferences(args, session.cwd),
        release=args.release,
    )


def _head(session: Session, explanation: Explanation) -> dict[str, Any]:
    table, point = session.table, explanation.point
    return {
        "path": session.path,
        "sessionId": session.id,
        "version": session.version,
        "cwd": session.cwd,
        "leaf": table.ids[point.leaf] if point.leaf else None,
        "response": table.ids[point.response] if point.response else None,
        "counts": {str(verdict): count for verdict, count in explanation.counts.items()},
        "lines": None,
        "synthetic": [
            {"kind": part.kind, "text": part.text, "because": list(part.because)}
            for part in explanation.synthetic
        ],
        "unknown": [{"what": item.what, "why": item.why} for item in explanation.unknown],
        "diagnostics": [],
    }


def rows(
    session: Session, explanation: Explanation, first: int, end: int
) -> Iterator[dict[str, Any]]:
    """Give the JSON rows of the lines from one up to, not with, another."""
    table, reasons = session.table, explanation.reasons
    verdicts = [reason.verdict.value for reason in REASONS]
    names = [reason.value for reason in REASONS]
    for line in range(first, end):
        number = reasons[line]
        kind = table.kinds[line]
        entry_id = table.ids[line]
        row = {
            "line": line,
            "offset": table.offsets[line],
            "length": table.length(line),
            "type": "session" if kind >= Kind.SECOND_HEADER else table.type_of(line),
            "id": entry_id if isinstance(entry_id, str | int | float) else None,
            "role": table.role_of(line),
            "verdict": verdicts[number],
            "reason": names[number],
            "because": list(explanation.because(line)),
            "excerpt": excerpt(table, line),
        }
        if line in explanation.edits:
            row["inForce"] = explanation.edits[line]
        yield row


def _print(args: argparse.Namespace, session: Session, explanation: Explanation) -> None:
    paper = Paper(color=not args.no_color)
    print_head(paper, session, explanation)
    for first, last in _segments(explanation):
        if args.all or last - first < LONG_RUN:
            limit = len(session.table) if args.all else FOLDED_RUN
            _print_segment(paper, session, explanation, (first, last), limit)
        else:
            print_line(paper, session, explanation, first)
            _print_fold(paper, explanation, first + 1, last - 1)
            print_line(paper, session, explanation, last)
    if args.writers:
        writers.show(paper, session.writers())
    else:
        writers.note(paper, session, explanation.point)
    _print_tail(paper, session, explanation, folded=not args.all)


def _segments(explanation: Explanation) -> Iterator[tuple[int, int]]:
    """Give (first, last) of each stretch that may be folded into one row.

    A stretch is a run of lines that were not sent and lie in one place: before the cut of a
    compaction, on another branch, after the point. Quiet lines belong to the stretch around them.
    """
    places = bytes(_PLACES.get(reason, _QUIET) for reason in REASONS)
    reasons = explanation.reasons
    start, place = 1, _QUIET
    for line in range(1, len(reasons)):
        here = places[reasons[line]]
        cut = line == explanation.compaction
        if cut or (here != place and _QUIET not in (here, place)) or _TOLD in (here, place):
            if line > start:
                yield start, line - 1
            start, place = line, here
        elif here != _QUIET:
            place = here
    if start < len(reasons):
        yield start, len(reasons) - 1


def _print_segment(
    paper: Paper, session: Session, explanation: Explanation, span: tuple[int, int], limit: int
) -> None:
    """Print a stretch line by line, runs of one reason longer than `limit` folded."""
    start = span[0]
    for line in range(span[0] + 1, span[1] + 2):
        if line <= span[1] and explanation.reasons[line] == explanation.reasons[start]:
            continue
        if line - start > limit:
            print_line(paper, session, explanation, start)
            _print_fold(paper, explanation, start + 1, line - 2)
            print_line(paper, session, explanation, line - 1)
        else:
            for number in range(start, line):
                print_line(paper, session, explanation, number)
        start = line


def print_head(paper: Paper, session: Session, explanation: Explanation) -> None:
    """Print how many lines were sent, and of what."""
    counts, point, ids = explanation.counts, explanation.point, session.table.ids
    total = len(session.table)
    told = ", ".join(f"{counts[verdict]} {word}" for verdict, word in WORDS.items())
    paper.row((f"{total} line{'' if total == 1 else 's'}: {told}", "bold"))
    if point.response:
        where = f"for the reply {_named(ids[point.response])} on line {point.response}"
    elif point.leaf:
        where = f"for the next request after {_named(ids[point.leaf])} on line {point.leaf}"
    else:
        where = "before the first entry"
    name = f" · {one_line(session.name, 60)}" if session.name else ""
    paper.row((f"{where} · session {one_line(session.id)}{name}", "dim"))
    paper.row()


def _named(entry_id: Any) -> str:
    return one_line(string(entry_id), 60)


def print_line(paper: Paper, session: Session, explanation: Explanation, line: int) -> None:
    """Print the verdict on a line, with its reason."""
    table = session.table
    reason = explanation.reason(line)
    sign, style = MARKS[reason.verdict]
    if line == explanation.compaction:
        count = explanation.reasons.count(REASONS.index(Reason.SUMMARISED))
        told = f"── compaction: {count} line{'' if count == 1 else 's'} before it "
        paper.row(("       ", ""), (f"{told}told by its summary ──", "magenta"))
    because = explanation.because(line)
    by = (
        f" ← {', '.join(map(str, because[:3]))}{'…' if len(because) > 3 else ''}" if because else ""
    )
    if line in explanation.edits and not explanation.edits[line]:
        by += " not in force"
    kind = table.role_of(line) or table.type_of(line) or ""
    look = style if reason.verdict is not Verdict.SENT else ""
    paper.row(
        (f"{line:>6} ", "dim"),
        (f"{sign} {WORDS[reason.verdict]:<8} ", style),
        (f"{f'{reason}{by}':<22} ", look),
        (f"{one_line(kind, 14):<14} ", "cyan"),
        (excerpt(table, line), "dim" if reason.verdict is Verdict.NOT_SENT else ""),
    )


def _print_fold(paper: Paper, explanation: Explanation, first: int, last: int) -> None:
    counted = Counter(explanation.reasons[first : last + 1])
    if not counted:
        return
    count = last - first + 1
    parts = [f"{number} {TOLD[REASONS[n]]}" for n, number in counted.most_common()]
    told = TOLD[REASONS[next(iter(counted))]] if len(parts) == 1 else ", ".join(parts)
    paper.row((f"     ⋮   {count} more line{'' if count == 1 else 's'}: {told}", "dim"))


def _print_tail(paper: Paper, session: Session, explanation: Explanation, *, folded: bool) -> None:
    paper.row()
    for part in explanation.synthetic:
        lines = ", ".join(map(str, part.because))
        told = f"“{one_line(part.text, 60)}” (because of line {lines})"
        paper.row((f"     + in no line: {told}", "yellow"))
    for item in explanation.unknown:
        paper.row((f"     ? not told by the file: {item.what}: {item.why}", "yellow"))
    if defects := len(session.table.diagnostics):
        what = "a defect was" if defects == 1 else f"{defects} defects were"
        paper.row((f"     ! {what} met in reading: pi-sessions check", "yellow"))
    if folded:
        paper.row(("--all unfolds; --response ID asks for one reply of the model", "dim"))

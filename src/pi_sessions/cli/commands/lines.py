"""Say for every physical line whether it reached the model at a point, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.commands.check import rows as diagnostic_rows
from pi_sessions.cli.marks import MARKS, WORDS
from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.excerpt import excerpt
from pi_sessions.table import Kind

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rich.console import Console

    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session

FOLDED_RUN = 3
"""Runs of the same reason longer than this are folded."""

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
    parser.add_argument(
        "--stage",
        choices=("replay", "projection"),
        default="replay",
        help="the request to a model (default), or Pi's own context before it",
    )
    parser.add_argument("--all", action="store_true", help="unfold runs of the same reason")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    target = shared.target_for(args, session) if args.stage == "replay" else None
    explanation = session.explain(
        args.leaf, response=args.response, stage=args.stage, target=target
    )
    if args.json:
        head = _head(session, explanation)
        head["diagnostics"] = diagnostic_rows(
            [
                *session.diagnostics,
                *session.conversation_diagnostics(args.leaf, response=args.response),
            ]
        )
        output.write_rows(head, "lines", _rows(session, explanation))
    else:
        _print(args, session, explanation)
    return 0


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


def _rows(session: Session, explanation: Explanation) -> Iterator[dict[str, Any]]:
    table, reasons = session.table, explanation.reasons
    verdicts = [reason.verdict.value for reason in REASONS]
    names = [reason.value for reason in REASONS]
    for line in range(1, len(table) + 1):
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
    screen = output.console(color=not args.no_color)
    _print_head(screen, session, explanation)
    limit = len(session.table) if args.all else FOLDED_RUN
    for first, last in explanation.runs():
        shown = last - first + 1
        if shown > limit and explanation.verdict(first) is not Verdict.SENT:
            _print_line(screen, session, explanation, first)
            _print_fold(screen, explanation, first, last)
            _print_line(screen, session, explanation, last)
        else:
            for line in range(first, last + 1):
                _print_line(screen, session, explanation, line)
    _print_tail(screen, session, explanation, folded=not args.all)


def _print_head(screen: Console, session: Session, explanation: Explanation) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up

    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    counts, point, ids = explanation.counts, explanation.point, session.table.ids
    total = len(session.table)
    screen.print(
        Text(
            f"{total} line{'' if total == 1 else 's'}: {counts[Verdict.SENT]} sent, "
            f"{counts[Verdict.CHANGED]} changed, {counts[Verdict.NOT_SENT]} not sent",
            style="bold",
        )
    )
    if point.response:
        where = f"for the reply {ids[point.response]} on line {point.response}"
    elif point.leaf:
        where = f"for the next request after {ids[point.leaf]} on line {point.leaf}"
    else:
        where = "before the first entry"
    name = f" · {one_line(session.name, 60)}" if session.name else ""
    screen.print(Text(f"{where} · session {one_line(session.id)}{name}", style="dim"))
    screen.print()


def _print_line(screen: Console, session: Session, explanation: Explanation, line: int) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up

    table = session.table
    reason = explanation.reason(line)
    sign, style = MARKS[reason.verdict]
    if table.kinds[line] == Kind.COMPACTION and line == explanation.compaction:
        _print_cut(screen, explanation, line)
    because = explanation.because(line)
    by = f" ← {', '.join(map(str, because[:3]))}{'…' if len(because) > 3 else ''}" if because else ""
    if line in explanation.edits and not explanation.edits[line]:
        by += " not in force"
    kind = table.role_of(line) or table.type_of(line) or ""
    told = f"{reason}{by}"
    screen.print(
        Text.assemble(
            (f"{line:>6} ", "dim"),
            (f"{sign} {WORDS[reason.verdict]:<8} ", style),
            (f"{told:<22} ", style),
            (f"{kind:<14} ", "cyan"),
            (excerpt(table, line), "dim" if reason.verdict is Verdict.NOT_SENT else ""),
        ),
        no_wrap=True,
        overflow="ellipsis",
        crop=True,
    )


def _print_fold(screen: Console, explanation: Explanation, first: int, last: int) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up

    reason = explanation.reason(first)
    _, style = MARKS[reason.verdict]
    between = last - first - 1
    screen.print(
        Text(f"     ⋮   {between} more line{'' if between == 1 else 's'}: {TOLD[reason]}", style=style)
    )


def _print_cut(screen: Console, explanation: Explanation, line: int) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up

    count = explanation.reasons.count(REASONS.index(Reason.SUMMARISED))
    told = f" compaction: {count} lines before it are told by its summary "
    screen.print(Text(f"{'':>6} ──────✂{told}", style="bold magenta"))


def _print_tail(
    screen: Console, session: Session, explanation: Explanation, *, folded: bool
) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up

    from pi_sessions.excerpt import one_line  # noqa: PLC0415 - start-up

    screen.print()
    for part in explanation.synthetic:
        lines = ", ".join(map(str, part.because))
        screen.print(
            Text(f"     + in no line: “{one_line(part.text, 60)}” (because of line {lines})", style="yellow")
        )
    for item in explanation.unknown:
        screen.print(Text(f"     ? not told by the file: {item.what}: {item.why}", style="yellow"))
    used = sorted({explanation.reason(n) for n in range(1, len(session.table) + 1)}, key=REASONS.index)
    words = "; ".join(f"{reason}: {TOLD[reason]}" for reason in used)
    screen.print(Text(words, style="dim"))
    if folded:
        screen.print(Text("--all unfolds; --response ID asks for one reply", style="dim"))

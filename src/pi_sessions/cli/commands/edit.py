"""Change what the model is sent of earlier entries; the entries themselves stay as they are."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any

from pi_sessions._json import encode
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output, writing
from pi_sessions.cli.arguments import UsageError
from pi_sessions.cli.paper import Paper
from pi_sessions.context.difference import Asked, Difference, differ
from pi_sessions.errors import EntryNotFoundError
from pi_sessions.excerpt import excerpt
from pi_sessions.writer import edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.diagnostics import Diagnostic
    from pi_sessions.session import Session
    from pi_sessions.writer.session_writer import SessionWriter

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kM]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    writing.add_session(parser)
    parser.add_argument(
        "--omit", action="append", default=[], metavar="ID", help="send this entry no more"
    )
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        nargs="+",
        metavar=("ID", "TEXT"),
        help="send this text in place of the entry's content",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="the text of --replace ID; - is standard input"
    )
    parser.add_argument(
        "--restore", action="append", default=[], metavar="ID", help="send it again as it stands"
    )
    parser.add_argument(
        "--failed-replies", action="store_true", help="omit the replies that failed on this branch"
    )
    parser.add_argument(
        "--tool-results-over",
        type=_size,
        metavar="SIZE",
        help="leave out what tools gave where it is longer, as in 50kB",
    )
    shared.add_target(parser)
    shared.add_configuration(parser)
    writing.add_common(parser)


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: 50000, 50kB or 2MB")
    return round(float(match[1]) * _UNITS[match[2].lower()])


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with writing.open_writer(args) as writer:
        session = writer.session
        proposals = _proposals(args, session)
        before, known = _asked(args, session), session.conversation_diagnostics()
        # What is shown and what is written at the end of the batch are the same entries.
        with writer.batch():
            made = _applied(writer, proposals)
            after = writer.session
            found = differ(before, _asked(args, after))
            trouble = _new_trouble(known, after)
            if not args.json:
                _print(args, after, proposals, found, trouble)
        document = writing.written(args, writer, made)
        for row, proposal in zip(document["entries"], proposals, strict=True):
            row["targetId"] = proposal.target
            row["replacement"] = proposal.replacement
        if args.json:
            output.write_json(document | _difference(after, found, trouble))
        else:
            writing.tell(args, document, "context edit")
    return 0


def _applied(writer: SessionWriter, proposals: Sequence[edits.Proposal]) -> list[str]:
    try:
        return edits.apply(writer, proposals)
    except (EntryNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from None


def _proposals(args: argparse.Namespace, session: Session) -> list[edits.Proposal]:
    """Give the edits an invocation asks for, each entry once.

    Raises:
        UsageError: nothing is asked for, or a text is missing or there twice.
    """
    found = [edits.omit(session.entry(name)) for name in args.omit]
    bare = [words[0] for words in args.replace if len(words) == 1]
    if len(bare) != (args.file is not None) or any(len(words) > 2 for words in args.replace):
        raise UsageError("--replace takes an ID and one TEXT, or an ID alone and --file FILE")
    for entry, *text in args.replace:
        content = text[0] if text else _text(args.file)
        found.append(edits.replace(session.entry(entry), content))
    try:
        found += [edits.restore(session.entry(name)) for name in args.restore]
    except ValueError as error:
        raise UsageError(str(error)) from None
    asked = bool(found) or args.failed_replies or args.tool_results_over is not None
    if not asked:
        raise UsageError(
            "nothing is to be edited: --omit, --replace, --restore or a choice of them"
        )
    lines = [proposal.line for proposal in found]
    if len(set(lines)) < len(lines):
        raise UsageError("an entry is named twice; the last edit alone would count")
    if args.failed_replies:
        found += edits.failed_replies(session)
    if args.tool_results_over is not None:
        found += edits.large_results(session, args.tool_results_over)
    return list({proposal.line: proposal for proposal in reversed(found)}.values())[::-1]


def _text(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        with open(file, encoding="utf-8", errors="replace", newline="") as stream:
            return stream.read()
    except OSError as error:
        raise UsageError(f"{file}: {(error.strerror or 'cannot be read').lower()}") from None


def _asked(args: argparse.Namespace, session: Session) -> Asked:
    """Rebuild the next request of a session."""
    args.leaf = args.response = None
    model = configuration.model_for(args, session)
    preferences = configuration.preferences(args, session.cwd)
    parts = session.context(stage="replay", target=model.target).parts
    return Asked(
        session.explain(target=model, preferences=preferences),
        parts,
        session.prompt(),
        # Pi's estimate starts from what the last reply reported, so an edit hardly moves it.
        sum(len(encode(part.value.get("content"))) for part in parts),
    )


def _new_trouble(known: Sequence[Diagnostic], after: Session) -> list[Diagnostic]:
    """Find calls and results that no longer match after the edits."""
    old = {(found.code, found.line) for found in known}
    return [
        found for found in after.conversation_diagnostics() if (found.code, found.line) not in old
    ]


def _difference(
    session: Session, found: Difference, trouble: Sequence[Diagnostic]
) -> dict[str, Any]:
    ids = session.table.ids

    def rows(lines: Sequence[int]) -> list[dict[str, Any]]:
        return [{"line": line, "id": ids[line]} for line in lines]

    return {
        "in": rows(found.came),
        "out": rows([gone.line for gone in found.went]),
        "changed": rows(found.changed),
        "contentBytes": list(found.tokens),
        "diagnostics": [
            {"code": each.code, "line": each.line, "offset": each.offset, "message": each.message}
            for each in trouble
        ],
    }


def _print(
    args: argparse.Namespace,
    session: Session,
    proposals: Sequence[edits.Proposal],
    found: Difference,
    trouble: Sequence[Diagnostic],
) -> None:
    paper, table = Paper(color=not args.no_color), session.table
    if not proposals:
        paper.row(("there is nothing of that kind to edit", ""))
        return
    before, after = found.tokens
    paper.row((f"the next request: {before:,} bytes of content, then {after:,}", "bold"))
    for line in found.came:
        paper.row((f"{line:>6} ", "dim"), ("+ comes in  ", "green"), (excerpt(table, line), ""))
    for gone in found.went:
        paper.row(
            (f"{gone.line:>6} ", "dim"), ("- goes out  ", "red"), (excerpt(table, gone.line), "")
        )
    for line in found.changed:
        paper.row((f"{line:>6} ", "dim"), ("~ changes   ", "yellow"), (excerpt(table, line), ""))
    if found.is_empty:
        paper.row(("the next request stays the same", ""))
    for each in trouble:
        paper.row((f"{each.line:>6} ", "dim"), (f"! {each.code}: {each.message}", "yellow"))

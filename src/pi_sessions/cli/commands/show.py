"""Print the conversation of a branch, to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.marks import MARKS, WORDS
from pi_sessions.cli.paper import Paper
from pi_sessions.excerpt import message_excerpt, one_line, safe
from pi_sessions.table import FIRST_TYPE, Kind

if TYPE_CHECKING:
    import argparse

    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session

SHOWN = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CUSTOM_MESSAGE, *range(FIRST_TYPE)})
"""Kinds of lines that are part of a conversation."""

HEAD = 12
"""Lines of a long text that are shown without --full."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    parser.add_argument("--thinking", action="store_true", help="with the model's thinking")
    parser.add_argument("--tools", action="store_true", help="with arguments and results of tools")
    parser.add_argument("--full", action="store_true", help="whole texts; both of the above")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    explanation = session.explain(args.leaf, response=args.response)
    lines = [n for n in explanation.point.path if session.table.kinds[n] in SHOWN]
    if args.json:
        output.write_json([_row(session, explanation, line) for line in lines])
        return 0
    paper = Paper(color=not args.no_color)
    for line in lines:
        _print(args, paper, session, explanation, line)
    if not lines:
        paper.text("No conversation here.")
    return 0


def _row(session: Session, explanation: Explanation, line: int) -> dict[str, Any]:
    return {
        "line": line,
        "id": session.table.ids[line],
        "verdict": str(explanation.verdict(line)),
        "reason": str(explanation.reason(line)),
        "entry": session.table.raw(line),
    }


def _print(
    args: argparse.Namespace,
    paper: Paper,
    session: Session,
    explanation: Explanation,
    line: int,
) -> None:
    table = session.table
    entry = table.raw(line)
    verdict, reason = explanation.verdict(line), explanation.reason(line)
    sign, style = MARKS[verdict]
    who = table.role_of(line) or table.type_of(line)
    paper.row(
        (f"{sign} {one_line(who or '', 20)}", f"bold {style}"),
        (f"  line {line} · {WORDS[verdict]}, {reason}", "dim"),
    )
    for text, look in _parts(args, entry):
        paper.text(_cut(args, safe(text)), look)
    paper.row()


def _parts(args: argparse.Namespace, entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Give the texts of an entry with the style of each."""
    message = entry["message"] if entry.get("type") == "message" else entry
    content = message.get("content")
    if message.get("role") == "system" or not isinstance(content, str | list):
        return [(_whole(message), "")]
    if isinstance(content, str):
        return [(content, "")]
    if message.get("role") == "toolResult" and not (args.tools or args.full):
        return [(one_line(message_excerpt(message)), "dim")]
    parts: list[tuple[str, str]] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "thinking":
            if args.thinking or args.full:
                parts.append((string(block.get("thinking", "")), "italic dim"))
        elif kind == "text":
            parts.append((string(block.get("text", "")), ""))
        else:
            told = message_excerpt({"content": [block]})
            parts.append((told if args.tools or args.full else one_line(told), "cyan"))
    if message.get("stopReason") in ("error", "aborted"):
        parts.append(
            (f"({message['stopReason']}) {string(message.get('errorMessage', ''))}", "red")
        )
    return parts


def _whole(message: dict[str, Any]) -> str:
    if "summary" in message:
        return string(message["summary"])
    told = message_excerpt(message)
    output_text = message.get("output")
    return f"{told}\n{output_text}" if isinstance(output_text, str) and output_text else told


def _cut(args: argparse.Namespace, text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    if args.full or len(lines) <= HEAD + 1:
        return "\n".join(lines)
    rest = len(lines) - HEAD
    return "\n".join([*lines[:HEAD], f"… {rest} more lines (--full)"])

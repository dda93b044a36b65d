"""Tell what changed between the requests of two replies; exit code 1 if anything did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output
from pi_sessions.cli.paper import Paper
from pi_sessions.context.caching import Cached, cached
from pi_sessions.context.difference import Asked, Difference, differ
from pi_sessions.excerpt import excerpt, one_line

if TYPE_CHECKING:
    import argparse

    from pi_sessions.context.message import Synthetic
    from pi_sessions.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    parser.add_argument(
        "--from", dest="older", metavar="ID", help="the older reply; default: the one before"
    )
    parser.add_argument(
        "--to", dest="newer", metavar="ID", help="the newer reply; default: the last"
    )
    shared.add_target(parser)
    shared.add_configuration(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    older, newer = _replies(args, session)
    replies = (older, newer)
    asked = (_asked(args, session, older), _asked(args, session, newer))
    difference = differ(*asked)
    cost = cached(session.table, replies, asked, difference, args.cache_retention)
    if args.json:
        output.write_json(document(session, replies, difference, cost))
    else:
        _print(args, session, replies, difference)
        _print_cost(args, cost)
    return int(not difference.is_empty)


def _replies(args: argparse.Namespace, session: Session) -> tuple[int, int]:
    """Give the lines of the two replies.

    Raises:
        UsageError: there are no two replies to compare.
    """
    replies = [entry.line for entry in session.responses]
    if not replies:
        raise shared.UsageError("this session has no reply, so there is nothing to compare")
    newer = session.entry(args.newer).line if args.newer else replies[-1]
    if args.older:
        return session.entry(args.older).line, newer
    above = [entry.line for entry in session.branch(session.at(newer))][:-1]
    before = [line for line in above if line in set(replies)]
    if not before:
        raise shared.UsageError("there is no reply before it on its branch; name one with --from")
    return before[-1], newer


def _asked(args: argparse.Namespace, session: Session, line: int) -> Asked:
    """Rebuild the request of a reply."""
    reply = session.at(line)
    args.leaf, args.response = None, reply
    model = configuration.model_for(args, session)
    return session.asked(
        reply,
        model=model,
        preferences=configuration.preferences(args, session.cwd),
        release=args.release,
    )


def document(
    session: Session, replies: tuple[int, int], found: Difference, cost: Cached | None
) -> dict[str, Any]:
    """Make the JSON document of a difference."""
    ids = session.table.ids

    def row(line: int, **more: Any) -> dict[str, Any]:
        return {"line": line, "id": ids[line], **more}

    return {
        "from": row(replies[0]),
        "to": row(replies[1]),
        "in": [row(line) for line in found.came],
        "out": [
            row(gone.line, reason=str(gone.reason), because=list(gone.because))
            for gone in found.went
        ],
        "changed": [row(line) for line in found.changed],
        "sections": {name: list(lines) for name, lines in found.sections.items()},
        "tools": {name: list(lines) for name, lines in found.tools.items()},
        "synthetic": {
            "in": [_made(part) for part in found.synthetic_in],
            "out": [_made(part) for part in found.synthetic_out],
        },
        "estimatedTokens": list(found.tokens),
        "cache": cost
        and {
            "read": cost.read,
            "written": cost.written,
            "fresh": cost.fresh,
            "again": cost.again,
            "why": list(cost.why),
        },
    }


def _made(part: Synthetic) -> dict[str, Any]:
    return {"kind": part.kind, "text": part.text, "because": list(part.because)}


def _print(
    args: argparse.Namespace, session: Session, replies: tuple[int, int], found: Difference
) -> None:
    paper = Paper(color=not args.no_color)
    table = session.table
    paper.row((f"from the reply on line {replies[0]} to that on line {replies[1]}", "bold"))
    before, after = found.tokens
    paper.row((f"about {before:g} tokens, then about {after:g}", "dim"))
    for line in found.came:
        paper.row((f"{line:>6} ", "dim"), ("+ came in   ", "green"), (excerpt(table, line), ""))
    for gone in found.went:
        by = f" ← {', '.join(map(str, gone.because))}" if gone.because else ""
        told = f"- {gone.reason}{by}  "
        paper.row((f"{gone.line:>6} ", "dim"), (told, "red"), (excerpt(table, gone.line), "dim"))
    for line in found.changed:
        paper.row((f"{line:>6} ", "dim"), ("~ changed   ", "yellow"), (excerpt(table, line), ""))
    for sign, parts_made in (("+", found.synthetic_in), ("-", found.synthetic_out)):
        for part in parts_made:
            paper.row((f"       {sign} {part.kind}  ", "yellow"), (one_line(part.text), "dim"))
    for what, parts in (("section", found.sections), ("tool", found.tools)):
        for name, (old, new) in parts.items():
            named = f"       ~ {what} {one_line(name, 40)}  "
            paper.row((named, "yellow"), (f"line {old or '-'} → {new or '-'}", "dim"))
    if found.is_empty:
        paper.row(("the two requests tell the same", ""))


def _print_cost(args: argparse.Namespace, cost: Cached | None) -> None:
    if cost is None:
        return
    paper = Paper(color=not args.no_color)
    told = (
        f"{cost.read:,} tokens from the cache, {cost.written:,} written to it, {cost.fresh:,} more"
    )
    paper.row((told, "dim"))
    if cost.again:
        why = ", ".join(cost.why) or "nothing in the file tells why"
        paper.row((f"about {cost.again:,} paid again: {why}", "yellow"))

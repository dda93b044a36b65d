"""Print the messages the model had at a point, each with the line it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output
from pi_sessions.session import STAGES, Context, Session

if TYPE_CHECKING:
    import argparse

    from pi_sessions.context.target import Target


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    shared.add_target(parser)
    shared.add_configuration(parser)
    parser.add_argument(
        "--stage",
        choices=("entries", *STAGES),
        default="projection",
        help="how far: Pi's own context (projection), a model's four roles (llm), what is left "
        "for one model (replay), or the ids of the context entries",
    )
    parser.add_argument(
        "--tail",
        action="store_true",
        help="messages alone, read from the end of the file without looking at its head",
    )
    parser.add_argument(
        "--tokens",
        action="store_true",
        help="what the request weighs, by part and by block, beside what was reported",
    )
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.tokens:
        return _run_tokens(args)
    if args.tail:
        return _run_tail(args)
    if args.json and args.stage in STAGES and args.leaf is None and args.response is None:
        told = _from_end(args)
        if told is not None:
            output.write_json(told)
            return 0
    session = shared.open_session(args)
    stage = "projection" if args.stage == "entries" else args.stage
    target = _target(args, session)
    context = session.context(
        args.leaf, response=args.response, stage=stage, target=target, release=args.release
    )
    if args.stage == "entries":
        ids = [entry.id for entry in context.entries]
        if args.json:
            output.write_json({"entries": ids})
        else:
            print("\n".join(entry_id or "-" for entry_id in ids))
        return 0
    if args.json:
        output.write_json(document(context))
    else:
        _print(args, context)
    return 0


def _target(args: argparse.Namespace, session: Session) -> Target | None:
    if args.stage != "replay":
        return None
    from pi_sessions.cli import configuration  # noqa: PLC0415 - start-up

    return configuration.model_for(args, session).target


def document(context: Context, before: int = 0) -> dict[str, Any]:
    """Make the JSON document of a context.

    Args:
        context: the messages at a point.
        before: physical lines before the first that was read.
    """
    return {
        "leaf": context.leaf.id if context.leaf else None,
        "messages": list(context.messages),
        "sources": [
            None if entry is None else {"line": before + entry.line, "id": entry.id}
            for entry in context.sources
        ],
        "model": context.model,
        "thinkingLevel": context.thinking_level,
    }


def _from_end(args: argparse.Namespace) -> dict[str, Any] | None:
    """Make the document from the end of the file, None where all of it has to be read.

    The messages hang on the end alone; the lines of the head are counted and it is searched for a
    thinking level, which is a third of the work of reading it.
    """
    from pi_sessions.tail import load_tail  # noqa: PLC0415 - only this way of reading needs it

    read = load_tail(shared.find_session(args), zone=environment.local_zone())
    target = _target(args, read.session)
    if read.skipped and target is not None and not target.api:
        return None  # a reply in the head may tell the API
    context = read.session.context(stage=args.stage, target=target, release=args.release)
    head = read.look_at_head()
    if head is None or (read.skipped and context.model is None):
        return None
    return document(context, head.lines)


def _run_tokens(args: argparse.Namespace) -> int:
    from pi_sessions.cli import configuration, weights  # noqa: PLC0415 - start-up
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up

    if args.tail or args.stage not in ("projection", "replay"):
        raise shared.UsageError("--tokens weighs the whole request: it goes with no other stage")
    session = shared.open_session(args)
    target = configuration.model_for(args, session).target
    weighed = session.weigh(args.leaf, response=args.response, target=target, release=args.release)
    if args.json:
        output.write_json(weights.document(weighed))
    else:
        weights.show(Paper(color=not args.no_color), weighed)
    return 0


def _run_tail(args: argparse.Namespace) -> int:
    from pi_sessions.tail import load_tail  # noqa: PLC0415 - only this way of reading needs it

    if args.leaf is not None or args.response is not None:
        raise shared.UsageError("--tail reads from the end: it goes with the file's own leaf only")
    if args.stage == "entries":
        raise shared.UsageError("--tail gives messages; the stages are " + ", ".join(STAGES))
    read = load_tail(shared.find_session(args), zone=environment.local_zone())
    target = _target(args, read.session)
    context = read.session.context(stage=args.stage, target=target, release=args.release)
    if not args.json:
        _print(args, context)
        if read.skipped:
            print(f"{read.skipped} bytes before that were not read")
        return 0
    told = document(context)
    if read.skipped:
        told["sources"] = [
            None if source is None else {**source, "line": None} for source in told["sources"]
        ]
        told |= {"head": "not read", "skippedBytes": read.skipped}
        if not read.level_known:
            told["thinkingLevel"] = None
    output.write_json(told)
    return 0


def _print(args: argparse.Namespace, context: Context) -> None:
    from pi_sessions.cli.paper import Paper  # noqa: PLC0415 - start-up
    from pi_sessions.excerpt import message_excerpt, one_line  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    model = context.model or {}
    named = one_line("/".join(map(string, model.values()))) or "no model named"
    count = len(context.messages)
    told = f"{count} message{'' if count == 1 else 's'}, {context.stage}, {named}"
    paper.row((told, "bold"))
    for part in context.parts:
        where = "-" if part.line is None else str(part.line)
        notes = " ".join(change.value for change in part.changes)
        paper.row(
            (f"{where:>6} ", "dim"),
            (f"{one_line(part.role, 17):<18}", "cyan"),
            (f"{notes} " if notes else "", "yellow"),
            (one_line(message_excerpt(part.value)), ""),
        )

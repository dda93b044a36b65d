"""Rebuild the request behind a reply, or the next one, each part traced to its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, environment, output
from pi_sessions.cli.paper import Paper
from pi_sessions.context.remarks import remarks, reported_tokens
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pi_sessions.context.model import Model
    from pi_sessions.context.payload import Payload
    from pi_sessions.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    shared.add_target(parser)
    shared.add_configuration(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    payload, told = _from_end(args) or _of(args, shared.open_session(args))
    if args.json:
        output.write_json(told)
    else:
        _print(args, payload, told)
    return 0


def _from_end(args: argparse.Namespace) -> tuple[Payload, dict[str, Any]] | None:
    """Rebuild the next request from the end of the file, None where all of it has to be read."""
    if args.leaf is not None or args.response is not None:
        return None
    from pi_sessions.tail import load_tail  # noqa: PLC0415 - only this way of reading needs it

    read = load_tail(shared.find_session(args), zone=environment.local_zone())
    if read.skipped and not (read.session.settings().named_model and read.session.target().api):
        return None  # an entry of the head may name the model, or tell its API
    head = read.look_at_head()
    return None if head is None else _of(args, read.session, head.lines)


def _of(
    args: argparse.Namespace, session: Session, before: int = 0
) -> tuple[Payload, dict[str, Any]]:
    """Rebuild the request at the point that is asked for.

    Args:
        args: the words of the command.
        session: the file.
        before: physical lines before the first that was read.
    """
    model = configuration.model_for(args, session)
    with session.table.remembering():
        payload = session.request(
            args.leaf,
            response=args.response,
            model=model,
            preferences=configuration.preferences(args, session.cwd),
            cache_retention=args.cache_retention,
            release=args.release,
        )
        return payload, document(args, session, model, payload, before)


def document(
    args: argparse.Namespace, session: Session, model: Model, payload: Payload, before: int = 0
) -> dict[str, Any]:
    """Make the JSON document of a request; line numbers are moved on by the lines `before`."""

    def moved(lines: Iterable[int]) -> list[int]:
        return [line + before for line in lines]

    context = session.context(args.leaf, response=args.response, stage="llm", release=args.release)
    line = context.response.line if context.response else 0
    reported = reported_tokens(session.table, line)
    return {
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "thinkingLevel": payload.thinking_level,
        "body": payload.body,
        "provenance": {pointer: moved(lines) for pointer, lines in payload.provenance.items()},
        "synthetic": [
            {"kind": part.kind, "text": part.text, "because": moved(part.because)}
            for part in payload.synthetic
        ],
        "unknown": [{"pointer": item.pointer, "why": item.why} for item in payload.unknown],
        "remarks": [
            {**remark, "lines": moved(remark["lines"])}
            for remark in remarks(
                session.table,
                (context.leaf.line if context.leaf else 0, line),
                context.parts,
                (payload.estimated_tokens, reported),
                payload.rules,
            )
        ],
        "estimatedTokens": payload.estimated_tokens,
        "reportedTokens": reported,
    }


def _print(args: argparse.Namespace, payload: Payload, told: dict[str, Any]) -> None:
    from pi_sessions._json import dumps  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    reported = told["reportedTokens"]
    beside = f", {reported} reported" if reported is not None else ""
    paper.row((f"{told['api']} · {told['provider']}/{told['model']}", "bold"))
    rules = f" · rules of {payload.rules.release}"
    paper.row((f"about {told['estimatedTokens']} tokens{beside}{rules}", "dim"))
    for pointer, lines in told["provenance"].items():
        value = one_line(dumps(payload.at(pointer)))
        paper.row(
            (f"{','.join(map(str, lines)) or '-':>9} ", "dim"),
            (f"{pointer:<28} ", "cyan"),
            (value, ""),
        )
    for item in told["unknown"]:
        paper.row((f"? {item['pointer'] or 'the whole'}: {item['why']}", "yellow"))
    for remark in told["remarks"]:
        paper.row((f"! {remark['message']}", "yellow"))

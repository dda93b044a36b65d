"""Rebuild the request behind a reply, or the next one, each part traced to its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output
from pi_sessions.cli.paper import Paper
from pi_sessions.context.remarks import remarks, reported_tokens
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    import argparse

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
    session = shared.open_session(args)
    model = configuration.model_for(args, session)
    payload = session.request(
        args.leaf,
        response=args.response,
        model=model,
        preferences=configuration.preferences(args, session.cwd),
        cache_retention=args.cache_retention,
    )
    told = document(args, session, model, payload)
    if args.json:
        output.write_json(told)
    else:
        _print(args, payload, told)
    return 0


def document(
    args: argparse.Namespace, session: Session, model: Model, payload: Payload
) -> dict[str, Any]:
    """Make the JSON document of a request."""
    context = session.context(args.leaf, response=args.response, stage="llm")
    line = context.response.line if context.response else 0
    reported = reported_tokens(session.table, line)
    return {
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "thinkingLevel": session.thinking_level(args.leaf, response=args.response),
        "body": payload.body,
        "provenance": {pointer: list(lines) for pointer, lines in payload.provenance.items()},
        "synthetic": [
            {"kind": part.kind, "text": part.text, "because": list(part.because)}
            for part in payload.synthetic
        ],
        "unknown": [{"pointer": item.pointer, "why": item.why} for item in payload.unknown],
        "remarks": remarks(
            session.table,
            (context.leaf.line if context.leaf else 0, line),
            context.parts,
            (payload.estimated_tokens, reported),
        ),
        "estimatedTokens": payload.estimated_tokens,
        "reportedTokens": reported,
    }


def _print(args: argparse.Namespace, payload: Payload, told: dict[str, Any]) -> None:
    from pi_sessions._json import dumps  # noqa: PLC0415 - start-up

    paper = Paper(color=not args.no_color)
    reported = told["reportedTokens"]
    beside = f", {reported} reported" if reported is not None else ""
    paper.row((f"{told['api']} · {told['provider']}/{told['model']}", "bold"))
    paper.row((f"about {told['estimatedTokens']} tokens{beside}", "dim"))
    for pointer, lines in payload.provenance.items():
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

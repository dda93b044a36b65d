"""The rebuilt request of each reply, one JSON object a line: for evaluations and for replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions.context.model import Model
from pi_sessions.context.remarks import reported_tokens
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.export.options import lines_of
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.target import Target
    from pi_sessions.export.options import Options
    from pi_sessions.session import Session


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give a line for each reply that is asked for, in file order.

    `response` asks for that reply alone, `leaf` or `branch` for those on a branch. A reply whose
    request cannot be built has null for its body, and `unknown` says why.
    """
    for line in _replies(session, options):
        yield _json.encode(_row(session, options, line)) + b"\n"


def _replies(session: Session, options: Options) -> Iterator[int]:
    if options.response is not None:
        yield session.entry(options.response).line
        return
    kinds, shadowed = session.table.kinds, session.table.shadowed
    for line in lines_of(session, options):
        if kinds[line] == Kind.ASSISTANT and line not in shadowed:
            yield line


def _row(session: Session, options: Options, line: int) -> dict[str, Any]:
    reply = session.at(line)
    target = session.target(response=reply)
    model = options.model_of(target) if options.model_of else _assumed(target)
    row: dict[str, Any] = {
        "id": session.table.ids[line],
        "line": line,
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "body": None,
    }
    reported = reported_tokens(session.table, line)
    try:
        payload = session.request(
            response=reply,
            model=model,
            preferences=options.preferences,
            cache_retention=options.cache_retention,
        )
    except UnsupportedApiError as error:
        why = [{"pointer": "", "why": str(error)}]
        return {**row, "unknown": why, "estimatedTokens": None, "reportedTokens": reported}
    row["body"] = payload.body
    if options.provenance:
        row["provenance"] = {place: list(lines) for place, lines in payload.provenance.items()}
    row["unknown"] = [{"pointer": item.pointer, "why": item.why} for item in payload.unknown]
    return {**row, "estimatedTokens": payload.estimated_tokens, "reportedTokens": reported}


def _assumed(target: Target) -> Model:
    return Model(api=target.api, provider=target.provider, id=target.model, input=target.input)

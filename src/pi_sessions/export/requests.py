"""The rebuilt request of each reply, one JSON object a line: for evaluations and for replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions.context.asking import assumed
from pi_sessions.context.model import Model
from pi_sessions.context.remarks import reported_tokens
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.export.options import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.payload import Payload
    from pi_sessions.entry import Entry
    from pi_sessions.export.options import Options
    from pi_sessions.session import Session


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give a line for each reply that is asked for, in file order.

    `response` asks for that reply alone, `leaf` or `branch` for those on a branch. A reply whose
    request cannot be built has null for its body, and `unknown` says why.
    """
    if options.response is not None:
        reply = session.entry(options.response)
        yield _line(session, options, reply, _payload(session, options, reply))
        return
    replies = {reply.line for reply in session.responses}
    wanted = replies.intersection(lines_of(session, options))
    if 2 * len(wanted) < len(replies):
        for line in sorted(wanted):
            reply = session.at(line)
            yield _line(session, options, reply, _payload(session, options, reply))
        return
    # In a row each costs little: it goes on from the one before.
    for reply, payload in session.requests(
        model_of=options.model_of,
        preferences=options.preferences,
        cache_retention=options.cache_retention,
        release=options.release,
    ):
        if reply.line in wanted:
            yield _line(session, options, reply, payload)


def _payload(session: Session, options: Options, reply: Entry) -> Payload | None:
    """Build one request, None for an API that is not built here."""
    try:
        return session.request(
            response=reply,
            model=_model(session, options, reply),
            preferences=options.preferences,
            cache_retention=options.cache_retention,
            release=options.release,
        )
    except UnsupportedApiError:
        return None


def _model(session: Session, options: Options, reply: Entry) -> Model:
    return (options.model_of or assumed)(session.target(response=reply))


def _line(session: Session, options: Options, reply: Entry, payload: Payload | None) -> bytes:
    model = _model(session, options, reply)
    row: dict[str, Any] = {
        "id": session.table.ids[reply.line],
        "line": reply.line,
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "body": payload.body if payload else None,
    }
    if payload and options.provenance:
        row["provenance"] = {place: list(lines) for place, lines in payload.provenance.items()}
    if payload:
        row["unknown"] = [{"pointer": item.pointer, "why": item.why} for item in payload.unknown]
    else:
        row["unknown"] = [{"pointer": "", "why": str(UnsupportedApiError(model.api))}]
    row["estimatedTokens"] = payload.estimated_tokens if payload else None
    row["reportedTokens"] = reported_tokens(session.table, reply.line)
    return _json.encode(row) + b"\n"

"""anthropic-messages: one message of content blocks, each opened, filled and closed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recorder.steps import Call, Part, Step, Text

from .event import Event, Reply, halves

if TYPE_CHECKING:
    from collections.abc import Iterator

STOP = {"stop": "end_turn", "tool": "tool_use", "length": "max_tokens"}


def events(step: Step, reply: Reply) -> Iterator[Event]:
    """The whole stream of one reply."""
    yield _event("message_start", message=_message(reply))
    for index, part in enumerate(step.parts):
        yield _event("content_block_start", index=index, content_block=_opening(part, index, reply))
        for delta in _deltas(part):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": STOP[step.stop], "stop_sequence": None},
        usage={"output_tokens": reply.tokens.output},
    )
    yield _event("message_stop")


def _event(name: str, **fields: Any) -> Event:
    return Event(name, {"type": name} | fields)


def _message(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.number:04}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.tokens.fresh,
            "cache_read_input_tokens": reply.tokens.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }


def _opening(part: Part, index: int, reply: Reply) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": ""}
    if isinstance(part, Call):
        identity = part.id or f"toolu_{reply.number:04}_{index}"
        return {"type": "tool_use", "id": identity, "name": part.name, "input": {}}
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.signature}
    return {"type": "thinking", "thinking": "", "signature": ""}


def _deltas(part: Part) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text):
        for piece in halves(part.text):
            yield {"type": "text_delta", "text": piece}
    elif isinstance(part, Call):
        yield {"type": "input_json_delta", "partial_json": json.dumps(part.arguments)}
    elif not part.redacted:
        for piece in halves(part.text):
            yield {"type": "thinking_delta", "thinking": piece}
        if part.signature:
            yield {"type": "signature_delta", "signature": part.signature}

"""openai-completions: chunks with deltas, then one with the usage, then ``[DONE]``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recorder.steps import Call, Step, Text

from .event import Event, Reply, halves

if TYPE_CHECKING:
    from collections.abc import Iterator

FINISH = {"stop": "stop", "tool": "tool_calls", "length": "length"}


def events(step: Step, reply: Reply) -> Iterator[Event]:
    """The whole stream of one reply."""
    calls = 0
    yield _chunk(reply, {"role": "assistant", "content": ""})
    for part in step.parts:
        if isinstance(part, Call):
            yield _chunk(reply, {"tool_calls": [_call(part, calls, reply)]})
            calls += 1
            continue
        field = "content" if isinstance(part, Text) else (part.signature or "reasoning_content")
        for piece in halves(part.text):
            yield _chunk(reply, {field: piece})
    yield _chunk(reply, {}, FINISH[step.stop])
    yield Event("", _head(reply) | {"choices": [], "usage": _usage(reply)})
    yield Event("", "[DONE]")


def _head(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.number}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": reply.model,
    }


def _chunk(reply: Reply, delta: dict[str, Any], finish: str | None = None) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return Event("", _head(reply) | {"choices": [choice]})


def _call(part: Call, index: int, reply: Reply) -> dict[str, Any]:
    head = {"index": index, "id": part.id or f"call_{reply.number}_{index + 1}"}
    if part.grammar:
        return head | {
            "type": "custom",
            "custom": {"name": part.name, "input": part.arguments["input"]},
        }
    function = {"name": part.name, "arguments": json.dumps(part.arguments)}
    return head | {"type": "function", "function": function}


def _usage(reply: Reply) -> dict[str, Any]:
    tokens = reply.tokens
    prompt = tokens.fresh + tokens.cached
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }

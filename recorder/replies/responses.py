"""openai-responses: output items (reasoning, message, calls), each added, filled and done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recorder.steps import Part, Step, Text, Thinking

from .event import Event, Reply, halves

if TYPE_CHECKING:
    from collections.abc import Iterator


def events(step: Step, reply: Reply) -> Iterator[Event]:
    """The whole stream of one reply."""
    head: dict[str, Any] = {"id": f"resp_{reply.number:04}", "object": "response"}
    yield _event("response.created", response=head | {"status": "in_progress", "output": []})
    output = []
    for index, part in enumerate(step.parts):
        opening, done = _item(part, index, reply)
        yield _event("response.output_item.added", output_index=index, item=opening)
        yield from _deltas(part, index, done)
        yield _event("response.output_item.done", output_index=index, item=done)
        output.append(done)
    ending = head | {"status": "completed", "output": output, "usage": _usage(reply)}
    if step.stop == "length":
        ending |= {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        }
    yield _event(f"response.{ending['status']}", response=ending)


def _event(name: str, **fields: Any) -> Event:
    return Event(name, {"type": name} | fields)


def _item(part: Part, index: int, reply: Reply) -> tuple[dict[str, Any], dict[str, Any]]:
    """The item as it is added (empty) and as it is done (complete)."""
    suffix = f"{reply.number:04}_{index}"
    if isinstance(part, Text):
        empty = {
            "type": "message",
            "id": f"msg_{suffix}",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        content = [{"type": "output_text", "text": part.text, "annotations": []}]
        return empty, empty | {"status": "completed", "content": content}
    if isinstance(part, Thinking):
        empty = {"type": "reasoning", "id": f"rs_{suffix}", "summary": []}
        summary = [{"type": "summary_text", "text": part.text}] if part.text else []
        return empty, empty | {"summary": summary, "encrypted_content": part.signature}
    call_id = part.id or f"call_{suffix}"
    if part.grammar:
        empty = {
            "type": "custom_tool_call",
            "id": f"ctc_{suffix}",
            "call_id": call_id,
            "name": part.name,
            "input": "",
        }
        return empty, empty | {"input": part.arguments["input"]}
    empty = {
        "type": "function_call",
        "id": f"fc_{suffix}",
        "call_id": call_id,
        "name": part.name,
        "arguments": "",
    }
    return empty, empty | {"status": "completed", "arguments": json.dumps(part.arguments)}


def _deltas(part: Part, index: int, done: dict[str, Any]) -> Iterator[Event]:
    if isinstance(part, Text):
        for piece in halves(part.text):
            yield _event(
                "response.output_text.delta", output_index=index, content_index=0, delta=piece
            )
    elif isinstance(part, Thinking):
        for piece in halves(part.text):
            yield _event(
                "response.reasoning_summary_text.delta",
                output_index=index,
                summary_index=0,
                delta=piece,
            )
    elif part.grammar:
        yield _event(
            "response.custom_tool_call_input.done", output_index=index, input=done["input"]
        )
    else:
        yield _event(
            "response.function_call_arguments.done",
            output_index=index,
            arguments=done["arguments"],
        )


def _usage(reply: Reply) -> dict[str, Any]:
    tokens = reply.tokens
    prompt = tokens.fresh + tokens.cached
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": prompt + tokens.output,
    }

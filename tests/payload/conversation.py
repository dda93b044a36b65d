"""Short messages and models for tables of what is sent."""

from __future__ import annotations

from typing import Any

from pi_sessions.context import payload
from pi_sessions.context.message import ContextMessage
from pi_sessions.context.model import Found, Model

IMAGE = {"type": "image", "data": "QQ==", "mimeType": "image/png"}
CHAT = "openai-completions"
ANTHROPIC = "anthropic-messages"
RESPONSES = "openai-responses"
Value = dict[str, Any]
MID = {"supportsMidConvoSystemMessages": True}
"""A model that takes system messages in place."""


def model(api: str = CHAT, **fields: Any) -> Model:
    """Make a model that is configured; `compat` flags as keywords in the format's own names."""
    given = {"provider": "p", "id": "m", "found": Found.MODELS_JSON, "input": ("text", "image")}
    return Model(api=api, **{**given, **fields})


def text(value: str, **keys: Any) -> Value:
    return {"type": "text", "text": value, **keys}


def thought(value: str, signature: str | None = None, **keys: Any) -> Value:
    signed = {} if signature is None else {"thinkingSignature": signature}
    return {"type": "thinking", "thinking": value, **signed, **keys}


def call(call_id: str, name: str = "read", **arguments: Any) -> Value:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def system(content: Any = "", **keys: Any) -> Value:
    return {"role": "system", "content": content, **keys, "timestamp": 1}


def tools(*names: str) -> list[Value]:
    schema = {"type": "object", "properties": {}, "required": []}
    return [{"name": name, "description": name, "parameters": schema} for name in names]


def removed(*names: str) -> list[Value]:
    return [{"name": name} for name in names]


def user(content: Any = "u") -> Value:
    return {"role": "user", "content": content, "timestamp": 1}


def reply(*content: Any, stop: str = "stop", of: str = "p/m", **keys: Any) -> Value:
    """Make a reply; texts stand for text blocks, `of` is PROVIDER/MODEL."""
    blocks = [text(block) if isinstance(block, str) else block for block in content]
    provider, _, name = of.partition("/")
    value = {"role": "assistant", "content": blocks, "provider": provider, "model": name}
    return {**value, "stopReason": stop, "timestamp": 1, **keys}


def result(call_id: str, *content: Any, **keys: Any) -> Value:
    blocks = [text(block) if isinstance(block, str) else block for block in content]
    value = {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": blocks}
    return {**value, "timestamp": 1, **keys}


def build(messages: list[Value], target: Model, **options: Any) -> payload.Payload:
    """Build the body of messages; the first stands in line 1. Replies are of the model's API."""
    placed = [
        ContextMessage(
            {"api": target.api, **value} if value["role"] == "assistant" else value, line
        )
        for line, value in enumerate(messages, 1)
    ]
    return payload.build(placed, target, payload.Options(**options))


def chat(messages: list[Value], target: Model | None = None, **options: Any) -> list[Value]:
    """Give the messages of a chat body."""
    sent: list[Value] = build(messages, target or model(), **options).body["messages"]
    return sent


def anthropic(messages: list[Value], target: Model | None = None, **options: Any) -> list[Value]:
    """Give the messages of an Anthropic body, without cache markers."""
    options.setdefault("cache_retention", "none")
    sent: list[Value] = build(messages, target or model(ANTHROPIC), **options).body["messages"]
    return sent


def responses(messages: list[Value], target: Model | None = None, **options: Any) -> list[Value]:
    """Give the input of a responses body."""
    sent: list[Value] = build(messages, target or model(RESPONSES), **options).body["input"]
    return sent


def told(messages: list[Value]) -> list[str]:
    """Shorten messages to role and text."""
    shown = []
    for value in messages:
        content = value.get("content", value.get("output"))
        if isinstance(content, list):
            content = "+".join(
                str(block.get("text", block.get("content", block["type"]))) for block in content
            )
        shown.append(f"{value.get('role', value.get('type'))}: {content}")
    return shown

"""Request bodies of the chat completions API.

Rules: docs/requests.md, "Chat completions". Fields of thinking are in `chat_thinking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.payload.chat_thinking import thinking_fields
from pi_sessions.context.payload.compat import CompletionsCompat, completions_compat
from pi_sessions.context.payload.completions_messages import ChatMessages
from pi_sessions.context.payload.draft import (
    Built,
    blocks_of,
)
from pi_sessions.context.payload.telling import tell
from pi_sessions.context.payload.thinking import (
    ANSWER,
    OFF,
    asked_level,
    budget,
    sampling_params,
)
from pi_sessions.context.payload.tools import (
    Sampling,
    Support,
    declared,
    place_tools,
)
from pi_sessions.context.payload.trace import Part
from pi_sessions.context.payload.transcript import origin, resolve
from pi_sessions.context.replay import block_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.payload.draft import Draft


def build_completions(draft: Draft) -> Built:
    """Build a body."""
    model, trace = draft.model, draft.trace
    compat = completions_compat(model, draft.options.rules)
    transcript = resolve(draft.messages, trace, in_place=compat.supports_mid_convo_system_messages)
    additions = (
        compat.supports_mid_convo_system_messages and compat.supports_mid_convo_tool_additions
    )
    placement = place_tools(transcript, Support.ADDITIONS if additions else Support.NONE, trace)
    sampling = Sampling(trace, compat.supports_strict_mode, compat.supports_grammar_tools)
    grammars = sampling.arguments(transcript.messages)
    prompt = transcript.prompt
    replayed, chat = tell(
        draft.course,
        (model, draft.options.rules, placement.folded, grammars, origin(prompt)),
        transcript.messages,
        model.target,
        lambda: ChatMessages(draft, compat, sampling, grammars, (placement.folded, prompt)),
        draft.options.rules,
    )
    chat.hand_over(trace)
    tools = declared(placement.listed, chat.declaration)
    if compat.cache_control_format == "anthropic":
        _mark(chat.parts, tools, draft.cache_control(long=compat.supports_long_cache_retention))
    body = _body(draft, compat, chat.parts, tools)
    return Built(body, {"/messages": chat.parts, "/tools": tools}, replayed)


def _body(
    draft: Draft, compat: CompletionsCompat, parts: list[Part], tools: list[Part]
) -> dict[str, Any]:
    model, options = draft.model, draft.options
    level = asked_level(model, options.thinking_level)
    limit = draft.limit
    long = options.retention == "long" and compat.supports_long_cache_retention
    body: dict[str, Any] = {
        "model": model.id,
        "messages": [part.value for part in parts],
        "stream": True,
    }
    if draft.cache_key is not None and _sends_cache_key(draft, compat, long=long):
        body["prompt_cache_key"] = draft.cache_key
    if long:
        body["prompt_cache_retention"] = "24h"
    if compat.supports_usage_in_streaming:
        body["stream_options"] = {"include_usage": True}
    if compat.supports_store:
        body["store"] = False
    if options.rules.tells_output_limit:
        body[compat.max_tokens_field] = limit
    if tools:
        body["tools"] = [tool.value for tool in tools]
        if compat.zai_tool_stream:
            body["tool_stream"] = True
    elif compat.requires_tools_with_tool_history and _has_tool_history(draft.messages):
        body["tools"] = []
    if compat.vllm_priority is not None:
        body["priority"] = compat.vllm_priority
    tokens = min(budget(level, options.budgets), max(0, limit - ANSWER))
    body |= thinking_fields(model, compat, level, tokens if level != OFF and tokens > 0 else None)
    if compat.open_router_routing is not None:
        body["provider"] = compat.open_router_routing
    if gateway := _gateway(compat.vercel_gateway_routing):
        body["providerOptions"] = {"gateway": gateway}
    return body | sampling_params(model, level)


def _sends_cache_key(draft: Draft, compat: CompletionsCompat, *, long: bool) -> bool:
    if draft.options.retention == "none":
        return False
    mode = compat.prompt_cache_key_mode
    at_openai = "api.openai.com" in draft.model.base_url
    return mode == "enabled" or (mode == "auto" and (at_openai or long))


def _gateway(routing: Any) -> dict[str, Any]:
    if not isinstance(routing, dict):
        return {}
    return {key: routing[key] for key in ("only", "order") if routing.get(key) is not None}


def _has_tool_history(messages: Iterable[ContextMessage]) -> bool:
    return any(
        message.value["role"] == "toolResult"
        or (
            message.value["role"] == "assistant"
            and any(block_type(block) == "toolCall" for block in blocks_of(message))
        )
        for message in messages
    )


def _mark(parts: list[Part], tools: list[Part], marker: dict[str, Any] | None) -> None:
    """Mark what Anthropic's prompt cache keeps: the prompt, the tools, the conversation."""
    if marker is None:
        return
    for place, part in enumerate(parts):
        if part.value["role"] in ("system", "developer"):
            parts[place] = _marked(part, marker) or part
            break
    if tools:
        tools[-1] = tools[-1].with_key("cache_control", marker)
    for place in range(len(parts) - 1, -1, -1):
        if parts[place].value["role"] in ("user", "assistant", "tool") and (
            marked := _marked(parts[place], marker)
        ):
            parts[place] = marked
            break


def _marked(part: Part, marker: dict[str, Any]) -> Part | None:
    """Give a message with its last text marked, as a block; None if it has no text."""
    content = part.value.get("content")
    blocks = list(part.parts("content"))
    if isinstance(content, str) and content:
        blocks = [Part({"type": "text", "text": content}, part.lines)]
    for place in range(len(blocks) - 1, -1, -1):
        if blocks[place].value["type"] == "text":
            blocks[place] = blocks[place].with_key("cache_control", marker)
            inner = dict(part.inner or {})
            return Part({**part.value}, part.lines, part.sections, inner).put("content", blocks)
    return None

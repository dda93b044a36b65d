"""Request bodies of Anthropic's messages API, as they are sent with an API key.

Rules: docs/requests.md, "Anthropic messages". With message threads a request may hold only the new
messages; what the model has in front of it is the body that is built here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.message import Reason
from pi_sessions.context.payload.anthropic_messages import AnthropicMessages
from pi_sessions.context.payload.compat import AnthropicCompat, anthropic_compat
from pi_sessions.context.payload.draft import Built, present
from pi_sessions.context.payload.limits import output_limit, whole
from pi_sessions.context.payload.telling import tell
from pi_sessions.context.payload.thinking import ANSWER, OFF, budget
from pi_sessions.context.payload.tools import (
    Placement,
    Support,
    declared,
    place_tools,
)
from pi_sessions.context.payload.trace import Part, lines_of
from pi_sessions.context.payload.transcript import Transcript, leading_prompt, resolve
from pi_sessions.context.prompt import added_tools

if TYPE_CHECKING:
    from pi_sessions.context.payload.draft import Draft

_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium"}
"""What levels without a configured name are called; all others are high."""
_OLD_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 16384}
"""Tokens for thinking by the rules of the first releases, whatever the output limit."""
PLACEHOLDER_NAME = "__pi_deferred_placeholder__"
PLACEHOLDER = {
    "name": PLACEHOLDER_NAME,
    "description": "Reserved placeholder. Never available. Never call this.",
    "input_schema": {"type": "object", "properties": {}, "required": []},
    "defer_loading": True,
}
"""A tool that is never active; it keeps later changes of the tools from spoiling the cache."""


def build_anthropic(draft: Draft) -> Built:
    """Build a body."""
    model, trace = draft.model, draft.trace
    compat = anthropic_compat(model)
    transcript = resolve(draft.messages, trace, in_place=compat.supports_mid_convo_system_messages)
    native = (
        compat.supports_mid_convo_system_messages
        and compat.supports_mid_convo_tool_changes
        and transcript.leads
        and bool(added_tools(transcript.messages[0].value))
    )
    placement = _placement(transcript, draft, native=native)
    leading = leading_prompt(transcript.messages, transcript.prompt)
    marker = draft.cache_control(long=compat.supports_long_cache_retention)
    managed = compat.supports_mid_convo_effort and not _is_disabled(draft)
    ways = {"native": native, "managed": managed, "leads": transcript.leads}
    replayed, told = tell(
        draft.course,
        (model, draft.options.rules, *ways.values()),
        transcript.messages,
        model.target,
        lambda: AnthropicMessages(draft, compat, **ways),
        draft.options.rules,
    )
    told.hand_over(trace)
    if marker:
        _mark(told.parts, marker)
    if told.levels is not None:
        _insert_efforts(told, _active_effort(draft, compat))
    system = []
    if leading:
        first = transcript.messages[0]
        text = trace.clean(first, leading.text)
        system = [Part({"type": "text", "text": text}, leading.lines, leading.sections)]
        if marker:
            system[0].value["cache_control"] = marker
        trace.changed(first, Reason.FOLDED)
    tools = declared(placement.listed, told.declaration)
    if tools and marker and compat.supports_cache_control_on_tools:
        tools[-1].value["cache_control"] = marker
    if native:
        lines = lines_of(transcript.messages[0])
        tools.append(Part(PLACEHOLDER, lines))
        trace.add("placeholder", PLACEHOLDER_NAME, lines)
    body = _body(draft, compat, told.parts, system, tools)
    return Built(body, {"/messages": told.parts, "/system": system, "/tools": tools}, replayed)


def _placement(transcript: Transcript, draft: Draft, *, native: bool) -> Placement:
    """List the tools in force, or those of the leading message where changes are told in place."""
    if not native:
        return place_tools(transcript, Support.NONE, draft.trace)
    first = transcript.messages[0]
    draft.trace.changed(first, Reason.FOLDED)
    lines = lines_of(first)
    return Placement(tuple((tool, lines) for tool in added_tools(first.value)), 1)


def _body(
    draft: Draft,
    compat: AnthropicCompat,
    messages: list[Part],
    system: list[Part],
    tools: list[Part],
) -> dict[str, Any]:
    limit, thinking = _thinking(draft, compat)
    body: dict[str, Any] = {
        "model": draft.model.id,
        "messages": [part.value for part in messages],
        "max_tokens": limit,
        "stream": True,
    }
    if system:
        body["system"] = [part.value for part in system]
    if tools:
        body["tools"] = [part.value for part in tools]
    body |= thinking
    if fallbacks := [model for model in compat.allowed_fallback_models if isinstance(model, dict)]:
        body["fallbacks"] = [present(model, "model") for model in fallbacks]
    options = draft.options
    if compat.supports_message_threads and options.session_id and options.retention != "none":
        # A new thread; whether one was continued instead is noted as unknown.
        body["thread"] = {"type": "create"}
    return body


def _thinking(draft: Draft, compat: AnthropicCompat) -> tuple[float, dict[str, Any]]:
    """Give the output limit and the fields of thinking."""
    model, level = draft.model, draft.options.thinking_level
    limit = draft.limit
    tokens: float = 0
    if level != OFF and not compat.force_adaptive_thinking:
        limit, tokens = _budgeted(draft, limit, level)
    rules = draft.options.rules
    if _is_disabled(draft):
        return limit, {"thinking": {"type": "disabled"}} if rules.tells_thinking_off else {}
    if compat.supports_mid_convo_effort:
        binding = {"prefix_mismatch_behavior": "drop_block"}
        thinking = {"type": "adaptive", "display": "summarized", "block_binding": binding}
        # The effort of the whole request never changes; markers among the messages set it.
        return limit, {"thinking": thinking, "output_config": {"effort": "low"}}
    if not model.reasoning or level == OFF:
        return limit, {}
    if compat.force_adaptive_thinking:
        fields: dict[str, Any] = {"thinking": {"type": "adaptive", "display": "summarized"}}
        if effort := _effort(draft):
            fields["output_config"] = {"effort": effort}
        return limit, fields
    enabled: dict[str, Any] = {"type": "enabled", "budget_tokens": tokens or ANSWER}
    if rules.tells_thinking_display:
        enabled["display"] = "summarized"
    return limit, {"thinking": enabled}


def _is_disabled(draft: Draft) -> bool:
    names = draft.model.thinking_level_map
    return (
        draft.model.reasoning
        and draft.options.thinking_level == OFF
        and names.get(OFF, "") is not None
    )


def _budgeted(draft: Draft, limit: float, level: str) -> tuple[float, float]:
    """Give the limit that makes room for thinking, and the tokens for thinking within it."""
    if not draft.options.rules.budgets_within_limit:
        return limit, _OLD_BUDGETS.get(level, ANSWER)
    tokens = budget(level, draft.options.budgets)
    total = min(limit + tokens, draft.model.max_tokens)
    if total <= tokens:
        tokens = max(0, total - ANSWER)
    limit = output_limit(draft.model, draft.used, total)
    return limit, whole(min(tokens, max(0, limit - ANSWER)))


def _effort(draft: Draft) -> str:
    level = draft.options.thinking_level
    name = draft.model.thinking_level_map.get(level)
    return _EFFORTS.get(level, "high") if name is None else name


def _active_effort(draft: Draft, compat: AnthropicCompat) -> str:
    if draft.options.thinking_level == OFF or not compat.force_adaptive_thinking:
        return "high"
    return _effort(draft)


def _mark(parts: list[Part], marker: dict[str, Any]) -> None:
    """Mark the last block of a body that does not end with a reply, for the prompt cache."""
    if not parts or parts[-1].value["role"] == "assistant":
        return
    last = parts[-1]
    blocks = list(last.parts("content"))
    if isinstance(last.value["content"], str):
        blocks = [Part({"type": "text", "text": last.value["content"]}, last.lines)]
    if blocks:
        blocks[-1] = blocks[-1].with_key("cache_control", marker)
        parts[-1] = Part({**last.value}, last.lines, last.sections).put("content", blocks)


def _insert_efforts(told: AnthropicMessages, active: str) -> None:
    """Put before each reply the effort it was asked with, and at the end the one asked now."""
    parts: list[Part] = []
    for place, part in enumerate(told.parts):
        level = (told.levels or {}).get(place)
        if level is not None:
            parts.append(_effort_marker(level[0], part))
            told.trace.add("effort", level[0], part.lines)
        parts.append(part)
    parts.append(_effort_marker(active, None))
    told.trace.add("effort", active, ())
    told.parts = parts


def _effort_marker(level: str, part: Part | None) -> Part:
    value = {"role": "system", "content": [], "output_config": {"effort": level}}
    return Part(value, part.lines if part else ())

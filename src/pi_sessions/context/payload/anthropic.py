"""Request bodies of Anthropic's messages API, as they are sent with an API key.

Rules: docs/format.md, "Anthropic messages". With message threads a request may hold only the new
messages; what the model has in front of it is the body that is built here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string, truthy
from pi_sessions.context.message import Reason
from pi_sessions.context.payload.compat import AnthropicCompat, anthropic_compat
from pi_sessions.context.payload.draft import Built, blocks_of, is_blank, present, text_of
from pi_sessions.context.payload.limits import output_limit, whole
from pi_sessions.context.payload.strict import refused_by_anthropic
from pi_sessions.context.payload.thinking import ANSWER, OFF, budget
from pi_sessions.context.payload.tools import (
    Placement,
    Sampling,
    Support,
    Tool,
    declared,
    place_tools,
    real_removals,
)
from pi_sessions.context.payload.trace import Part, lines_of, union
from pi_sessions.context.payload.transcript import Transcript, leading_prompt, resolve
from pi_sessions.context.prompt import added_tools, update_text
from pi_sessions.context.replay import replace_images, replay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.payload.draft import Draft

SEE_IMAGE = "(see attached image)"
IMAGE_BELOW = "(image attached after the tool results)"
EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium"}
"""What levels without a configured name are called; all others are high."""
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
    leading = leading_prompt(transcript)
    marker = draft.cache_control(long=compat.supports_long_cache_retention)
    replayed = replay(transcript.messages, model.target)
    told = _Messages(draft, compat, native=native)
    told.tell(replayed.messages[1:] if transcript.leads else replayed.messages)
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
        trace.arrived(first, Reason.FOLDED)
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
    draft.trace.arrived(first, Reason.FOLDED)
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
    return body


def _thinking(draft: Draft, compat: AnthropicCompat) -> tuple[float, dict[str, Any]]:
    """Give the output limit and the fields of thinking."""
    model, level = draft.model, draft.options.thinking_level
    limit = draft.limit
    tokens: float = 0
    if level != OFF and not compat.force_adaptive_thinking:
        limit, tokens = _budgeted(draft, limit, level)
    if _is_disabled(draft):
        return limit, {"thinking": {"type": "disabled"}}
    if compat.supports_mid_convo_effort:
        binding = {"prefix_mismatch_behavior": "drop_block"}
        thinking = {"type": "adaptive", "display": "summarized", "block_binding": binding}
        # The effort of the whole request never changes; markers among the messages set it.
        return limit, {"thinking": thinking, "output_config": {"effort": "low"}}
    if not model.reasoning or level == OFF:
        return limit, {}
    if compat.force_adaptive_thinking:
        thinking = {"type": "adaptive", "display": "summarized"}
        return limit, {"thinking": thinking, "output_config": {"effort": _effort(draft)}}
    enabled = {"type": "enabled", "budget_tokens": tokens or ANSWER, "display": "summarized"}
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
    tokens = budget(level, draft.options.thinking_budgets)
    total = min(limit + tokens, draft.model.max_tokens)
    if total <= tokens:
        tokens = max(0, total - ANSWER)
    limit = output_limit(draft.model, draft.used, total)
    return limit, whole(min(tokens, max(0, limit - ANSWER)))


def _effort(draft: Draft) -> str:
    level = draft.options.thinking_level
    return draft.model.thinking_level_map.get(level) or _EFFORTS.get(level, "high")


def _active_effort(draft: Draft, compat: AnthropicCompat) -> str:
    if draft.options.thinking_level == OFF or not compat.force_adaptive_thinking:
        return "high"
    return _effort(draft)


def _image(block: dict[str, Any]) -> dict[str, Any]:
    source = {"type": "base64"}
    if "mimeType" in block:
        source["media_type"] = block["mimeType"]
    return {"type": "image", "source": source | present(block, "data")}


class _Messages:
    """The messages of a body while they are told one after the other."""

    def __init__(self, draft: Draft, compat: AnthropicCompat, *, native: bool) -> None:
        self.model = draft.model
        self.trace = draft.trace
        self.compat = compat
        self.native = native
        """Whether changes of the tools are told in place."""
        self.sampling = Sampling(
            draft.trace, compat.supports_strict_tools, refuses=refused_by_anthropic
        )
        self.parts: list[Part] = []
        self.held: list[tuple[ContextMessage, Part]] = []
        """System messages that wait for the next reply: none may stand before a user message."""
        managed = compat.supports_mid_convo_effort and not _is_disabled(draft)
        self.levels: dict[int, tuple[str, Part]] | None = {} if managed else None
        """The effort of earlier replies, by their place, where markers tell it."""

    def tell(self, messages: Iterable[ContextMessage]) -> None:
        """Tell all messages but the leading prompt."""
        run: list[ContextMessage] = []
        for message in messages:
            role = message.value["role"]
            if role == "toolResult":
                run.append(message)
                continue
            if run:
                self.results(run)
                run = []
            if role == "assistant":
                self.reply(message)
            elif role == "user":
                self.user(message)
            elif role == "system":
                self.system(message)
        if run:
            self.results(run)
        self.release()

    def system(self, message: ContextMessage) -> None:
        """Take up an update of the prompt and, where the model takes them, of the tools."""
        lines = lines_of(message)
        blocks: list[dict[str, Any]] = []
        if text := update_text(message.value):
            blocks.append({"type": "text", "text": self.trace.clean(message, text)})
        if self.native:
            for name in real_removals(message.value):
                reference = {"type": "tool_reference", "name": name}
                blocks.append({"type": "tool_removal", "tool": reference})
            for tool in added_tools(message.value):
                definition = {"type": "tool_definition", "definition": self.declaration(tool)}
                blocks.append({"type": "tool_addition", "tool": definition})
        if blocks:
            part = Part({"role": "system"}, lines)
            part.put("content", [Part(block, lines) for block in blocks])
            self.held.append((message, part))
            self.trace.arrived(message, Reason.CONVERTED)

    def release(self) -> None:
        """Tell the system messages that were held back."""
        for _, part in self.held:
            self.parts.append(part)
        self.held.clear()

    def add(self, part: Part, *messages: ContextMessage) -> None:
        """Add a message of the conversation; what is held back falls behind it."""
        self.parts.append(part)
        for message in messages:
            self.trace.arrived(message)
        for message, _ in self.held:
            self.trace.changed(message, Reason.MOVED)

    def user(self, message: ContextMessage) -> None:
        """Tell a user message; blank texts are left out, and with them the whole of it."""
        lines = lines_of(message)
        content = message.value.get("content")
        part = Part({"role": "user"}, lines)
        if isinstance(content, str):
            if not is_blank(content):
                self.add(part.tell("content", self.trace.clean(message, content)), message)
            return
        blocks = []
        for block in blocks_of(message):
            if block.get("type") != "text":
                blocks.append(Part(_image(block), lines))
            elif not is_blank(text := self.trace.clean(message, text_of(block))):
                blocks.append(Part({"type": "text", "text": text}, lines))
            else:
                self.trace.changed(message, Reason.TRIMMED)
        if blocks:
            self.add(part.put("content", blocks), message)

    def reply(self, message: ContextMessage) -> None:
        """Tell a reply block by block; one without any left is left out."""
        lines = lines_of(message)
        blocks = []
        for block in blocks_of(message):
            told = self.block(message, block)
            if told is None:
                self.trace.changed(message, Reason.TRIMMED)
            else:
                blocks.append(Part(told, lines))
        if not blocks:
            return
        self.release()
        part = Part({"role": "assistant"}, lines).put("content", blocks)
        self.add(part, message)
        value = message.value
        level = value.get("providerThinkingLevel")
        if (
            self.levels is not None
            and value.get("api") == "anthropic-messages"
            and value.get("provider") == self.model.provider
            and isinstance(level, str)
            and level in EFFORTS
        ):
            self.levels[len(self.parts) - 1] = (level, part)

    def block(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any] | None:
        """Tell one block of a reply, None for one that is left out."""
        match block.get("type"):
            case "text":
                text = text_of(block)
                if is_blank(text):
                    return None
                return {"type": "text", "text": self.trace.clean(message, text)}
            case "thinking":
                return self.thinking(message, block)
            case "toolCall":
                arguments = block.get("arguments")
                return {
                    "type": "tool_use",
                    **present(block, "id", "name"),
                    "input": {} if arguments is None else arguments,
                }
            case _:
                return None

    def thinking(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any] | None:
        """Tell thinking; without a signature it can only be said."""
        signature = block.get("thinkingSignature")
        if truthy(block.get("redacted")):
            data = {} if "thinkingSignature" not in block else {"data": signature}
            return {"type": "redacted_thinking", **data}
        thinking = text_of(block, "thinking")
        is_signed = isinstance(signature, str) and not is_blank(signature)
        if not is_signed and is_blank(thinking):
            return None
        text = self.trace.clean(message, thinking)
        if is_signed:
            return {"type": "thinking", "thinking": text, "signature": signature}
        if self.compat.allow_empty_signature:
            return {"type": "thinking", "thinking": text, "signature": ""}
        self.trace.changed(message, Reason.TRIMMED)
        return {"type": "text", "text": text}

    def results(self, run: list[ContextMessage]) -> None:
        """Tell a run of tool results as one user message, pictures of errors behind them."""
        results: list[Part] = []
        pictures: list[Part] = []
        for message in run:
            results.append(self.result(message))
            if _is_split(message):
                pictures += self.pictures(message)
        blocks = results + pictures
        self.add(Part({"role": "user"}, union(results)).put("content", blocks), *run)

    def result(self, message: ContextMessage) -> Part:
        """Tell a tool result: one text, or blocks where there are pictures."""
        lines = lines_of(message)
        value = message.value
        part = Part({"type": "tool_result"}, lines)
        if "toolCallId" in value:
            part.value["tool_use_id"] = value["toolCallId"]
        blocks = blocks_of(message)
        if _is_split(message):
            blocks = replace_images(blocks, IMAGE_BELOW)
        if any(block.get("type") == "image" for block in blocks):
            parts = [Part(self.result_block(message, block), lines) for block in blocks]
            if all(part.value["type"] != "text" for part in parts):
                parts.insert(0, Part({"type": "text", "text": SEE_IMAGE}, lines))
                self.trace.add("placeholder", SEE_IMAGE, lines)
            part.put("content", parts)
        else:
            text = "\n".join(text_of(block) for block in blocks)
            part.tell("content", self.trace.clean(message, text))
        if "isError" in value:
            part.value["is_error"] = value["isError"]
        return part

    def result_block(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any]:
        """Tell one block of a tool result with pictures."""
        if block.get("type") == "text":
            return {"type": "text", "text": self.trace.clean(message, text_of(block))}
        return _image(block)

    def pictures(self, message: ContextMessage) -> list[Part]:
        """Give the pictures of a failed call, which may not stand in its result."""
        lines = lines_of(message)
        name, call_id = (
            string(message.value[key]) if key in message.value else "undefined"
            for key in ("toolName", "toolCallId")
        )
        caption = f"Images from the error result of tool call {call_id} ({name}):"
        self.trace.add("caption", caption, lines)
        self.trace.changed(message, Reason.MOVED)
        images = [block for block in blocks_of(message) if block.get("type") == "image"]
        return [
            Part({"type": "text", "text": caption}, lines),
            *(Part(_image(image), lines) for image in images),
        ]

    def declaration(self, tool: Tool) -> dict[str, Any]:
        """Declare a tool; only strict schemas keep keywords at their root."""
        parameters, strict = self.sampling.parameters(tool)
        schema = parameters if isinstance(parameters, dict) else {}
        shape = {
            "type": "object",
            "properties": _or(schema.get("properties"), {}),
            "required": _or(schema.get("required"), []),
            **present(schema, "additionalProperties", "$defs", "definitions"),
        }
        return {
            **present(tool, "name", "description"),
            **(
                {"eager_input_streaming": True}
                if self.compat.supports_eager_tool_input_streaming
                else {}
            ),
            **({"strict": True} if strict else {}),
            "input_schema": {**schema, **shape} if strict else shape,
        }


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _is_split(message: ContextMessage) -> bool:
    """Say whether a result is of a failed call and has pictures."""
    return truthy(message.value.get("isError")) and any(
        block.get("type") == "image" for block in blocks_of(message)
    )


def _mark(parts: list[Part], marker: dict[str, Any]) -> None:
    """Mark the last block of a body that does not end with a reply, for the prompt cache."""
    if not parts or parts[-1].value["role"] == "assistant":
        return
    last = parts[-1]
    blocks = last.inner["content"]
    if isinstance(last.value["content"], str):
        text = {"type": "text", "text": last.value["content"], "cache_control": marker}
        last.put("content", [Part(text, last.lines)])
    elif blocks and isinstance(blocks[-1], Part):
        blocks[-1].value["cache_control"] = marker


def _insert_efforts(told: _Messages, active: str) -> None:
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

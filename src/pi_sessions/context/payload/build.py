"""Build the request body of any of the three APIs that are built here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.message import ContextMessage, Reason, Synthetic
from pi_sessions.context.model import Found
from pi_sessions.context.payload.anthropic import build_anthropic
from pi_sessions.context.payload.compat import anthropic_compat
from pi_sessions.context.payload.completions import build_completions
from pi_sessions.context.payload.draft import Built, Draft, Options, draft
from pi_sessions.context.payload.responses import build_responses
from pi_sessions.context.payload.trace import Lines, Trace, Unknown, pointers
from pi_sessions.context.replay import block_type
from pi_sessions.errors import UnsupportedApiError

if TYPE_CHECKING:
    from pi_sessions.context.model import Model
    from pi_sessions.context.outcome import Outcome

BUILDERS: dict[str, Callable[[Draft], Built]] = {
    "openai-completions": build_completions,
    "anthropic-messages": build_anthropic,
    "openai-responses": build_responses,
}
IMAGES_BLOCKED = "Image reading is disabled."
_ON_DEFAULTS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Payload(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """A request as it was sent, and where everything in it came from."""

    body: dict[str, Any]
    """The JSON of the request, keys in the order in which they were sent."""
    synthetic: tuple[Synthetic, ...]
    """What is in the body and in no line."""
    unknown: tuple[Unknown, ...]
    """Fields that hang on what the session does not hold."""
    estimated_tokens: float
    """The tokens of the context as the reference estimates them before it sends a request."""
    _messages: Sequence[ContextMessage]
    _built: Built
    _trace: Trace

    @cached_property
    def provenance(self) -> dict[str, Lines]:
        """The lines that each part of the body came from, by JSON pointer.

        There is an entry for every message or item, every content block in it (or the content
        itself where it is a text), every tool call and every tool. The prompt is one text; the
        pointer of the message or block that holds it, `#` and a name stand for one of its
        sections, with an empty name for what stands outside of sections: `/system/0#preamble`.
        """
        found: dict[str, Lines] = {}
        for prefix, parts in self._built.places.items():
            pointers(prefix, parts, found)
        return found

    @cached_property
    def outcomes(self) -> dict[int, Outcome]:
        """What became of the message of each line."""
        return self._trace.outcomes(self._messages, self._built.replayed)


def build(messages: Sequence[ContextMessage], model: Model, options: Options) -> Payload:
    """Build the body of a request.

    Args:
        messages: the LLM messages, before the replay, system messages in their places.
        model: the model that was asked.
        options: what else the request hangs on.

    Raises:
        UnsupportedApiError: bodies of the model's API are not built here.
    """
    builder = BUILDERS.get(model.api)
    if builder is None:
        raise UnsupportedApiError(model.api)
    trace = Trace()
    applied = _with_settings(messages, options)
    request = draft(applied, model, options, trace)
    built = builder(request)
    _doubt(request, built)
    return Payload(
        body=built.body,
        synthetic=(*built.replayed.synthetic, *trace.synthetic),
        unknown=tuple(trace.unknown),
        estimated_tokens=request.used,
        _messages=applied,
        _built=built,
        _trace=trace,
    )


def _with_settings(
    messages: Sequence[ContextMessage], options: Options
) -> Sequence[ContextMessage]:
    """Apply the settings that change the messages themselves."""
    if options.block_images:
        messages = [_without_images(message) for message in messages]
    if options.codemode_only:
        messages = [_without_hidden_tools(message) for message in messages]
    return messages


def _without_images(message: ContextMessage) -> ContextMessage:
    content = message.value.get("content")
    if message.role not in ("user", "toolResult") or not isinstance(content, list):
        return message
    if not any(block_type(block) == "image" for block in content):
        return message
    blocked = {"type": "text", "text": IMAGES_BLOCKED}
    told: list[Any] = []
    before: Any = None
    for block in content:
        told_block = blocked if block_type(block) == "image" else block
        # Of neighbours that say so, whoever wrote them, one is left.
        if not (_says_blocked(told_block) and _says_blocked(before)):
            told.append(told_block)
        before = told_block
    return message.altered(Reason.TRIMMED, value={**message.value, "content": told})


def _says_blocked(block: Any) -> bool:
    return block_type(block) == "text" and block.get("text") == IMAGES_BLOCKED


def _without_hidden_tools(message: ContextMessage) -> ContextMessage:
    if message.role != "system":
        return message
    value = dict(message.value)
    for key in ("toolsAdded", "toolsRemoved"):
        tools = value.pop(key, None)
        kept = [tool for tool in tools if _is_shown(tool)] if isinstance(tools, list) else []
        if kept:
            value[key] = kept
    return message.altered(value=value)


def _is_shown(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("name") == "codemode"


def _doubt(request: Draft, built: Built) -> None:
    """Note the fields that hang on the model's configuration or on a process' memory."""
    model, options, trace = request.model, request.options, request.trace
    if model.found is Found.NOWHERE:
        why = f"{model.provider}/{model.id} is configured nowhere; defaults of a custom model"
        known = ("model", "messages", "input", "stream")
        for key in built.body:
            if key not in known:
                trace.doubt(f"/{key}", why)
    elif model.found in (Found.CATALOGUE, Found.STORE):
        why = "taken from today's catalogue, which may be newer than the session"
        for key in (*_ON_DEFAULTS, "thinking", "reasoning", "reasoning_effort"):
            if key in built.body:
                trace.doubt(f"/{key}", why)
    if model.configured_api:
        trace.doubt("", f"the model is now configured for {model.configured_api}")
    if options.codemode_only:
        trace.doubt("/tools", "the setting codemode.mode hides tools that scripts may call")
    if model.api == "anthropic-messages" and anthropic_compat(model).supports_message_threads:
        trace.doubt(
            "/thread",
            "the endpoint has message threads: the request may have continued one and held only "
            "the new messages; which, only the process knew",
        )

"""Build the request body of any of the three APIs that are built here."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.message import ContextMessage, Reason, Synthetic
from pi_sessions.context.payload.anthropic import build_anthropic
from pi_sessions.context.payload.completions import build_completions
from pi_sessions.context.payload.draft import Built, Draft, Options, draft
from pi_sessions.context.payload.responses import build_responses
from pi_sessions.context.payload.trace import Lines, Trace, Unknown, pointers
from pi_sessions.context.payload.unknown import CODEMODE, unknown_fields
from pi_sessions.context.prompt import added_tools, removed_tools, replay_prompt
from pi_sessions.context.replay import block_type
from pi_sessions.errors import UnsupportedApiError

if TYPE_CHECKING:
    from pi_sessions.context.model import Model
    from pi_sessions.context.outcome import Outcome
    from pi_sessions.context.payload.telling import Course
    from pi_sessions.context.rules import Rules

BUILDERS: dict[str, Callable[[Draft], Built]] = {
    "openai-completions": build_completions,
    "anthropic-messages": build_anthropic,
    "openai-responses": build_responses,
}
IMAGES_BLOCKED = "Image reading is disabled."
_ALWAYS_SHOWN = frozenset({CODEMODE, "tool_search"})
"""Tools that a script cannot call, so that the model must."""


class Payload(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """A request as it was sent, and where everything in it came from."""

    body: dict[str, Any]
    """The JSON of the request, keys in the order in which they were sent."""
    synthetic: tuple[Synthetic, ...]
    """What is in the body and in no line."""
    estimated_tokens: float
    """The tokens of the context as the reference estimates them before it sends a request."""
    _draft: Draft
    _built: Built
    _doubts: Callable[[Payload], Iterable[Unknown]] | None = None

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """Fields that hang on what the session does not hold."""
        doubts = self._doubts(self) if self._doubts else ()
        return (*self._draft.trace.unknown, *unknown_fields(self._draft, self.body), *doubts)

    @property
    def thinking_level(self) -> str:
        """The level it was asked with."""
        return self._draft.options.thinking_level

    @property
    def rules(self) -> Rules:
        """The rules it was built by."""
        return self._draft.options.rules

    def doubted(self, doubts: Callable[[Payload], Iterable[Unknown]]) -> Payload:
        """Give the request with a way to find out what it would be under other rules."""
        return msgspec.structs.replace(self, _doubts=doubts)

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

    def at(self, pointer: str) -> Any:
        """Give what stands at a pointer of `provenance`; a section stands in its whole prompt."""
        value: Any = self.body
        for part in pointer.partition("#")[0].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
        return value

    @cached_property
    def outcomes(self) -> dict[int, Outcome]:
        """What became of the message of each line."""
        return self._draft.trace.outcomes(self._draft.messages, self._built.replayed)


def build(
    messages: Sequence[ContextMessage],
    model: Model,
    options: Options,
    course: Course | None = None,
) -> Payload:
    """Build the body of a request.

    Args:
        messages: the LLM messages, before the replay, system messages in their places.
        model: the model that was asked.
        options: what else the request hangs on.
        course: what was told for the request before; bodies then share what they have in common.

    Raises:
        UnsupportedApiError: bodies of the model's API are not built here.
    """
    builder = BUILDERS.get(model.api)
    if builder is None:
        raise UnsupportedApiError(model.api)
    trace = Trace()
    request = draft(_with_settings(messages, options), model, options, trace, course)
    built = builder(request)
    return Payload(
        body=built.body,
        synthetic=(*built.replayed.synthetic, *trace.synthetic),
        estimated_tokens=request.used,
        _draft=request,
        _built=built,
    )


def _with_settings(
    messages: Sequence[ContextMessage], options: Options
) -> Sequence[ContextMessage]:
    """Apply the settings that change the messages themselves."""
    if options.block_images:
        messages = [_without_images(message) for message in messages]
    if options.codemode_only:
        messages = _without_hidden_tools(messages)
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


def _without_hidden_tools(messages: Sequence[ContextMessage]) -> Sequence[ContextMessage]:
    """Leave out the tools that only scripts may call, where the tool that runs them is in force.

    Tools that are not in force are not hidden: models that take changes in place are told of them.
    """
    names = {tool["name"] for tool in replay_prompt(messages).tools}
    hidden = names - _ALWAYS_SHOWN
    if CODEMODE not in names or not hidden:
        return messages
    return [_without_tools(message, hidden) for message in messages]


def _without_tools(message: ContextMessage, hidden: Container[str]) -> ContextMessage:
    if message.role != "system":
        return message
    value = dict(message.value)
    added = [tool for tool in added_tools(value) if tool["name"] not in hidden]
    removed = [{"name": name} for name in removed_tools(value) if name not in hidden]
    for key, kept in (("toolsAdded", added), ("toolsRemoved", removed)):
        value.pop(key, None)
        if kept:
            value[key] = kept
    return message.altered(value=value)

"""The messages of a request before the replay: with one prompt in front, or all in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from pi_sessions._javascript import has_lone_surrogates
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.outcome import Outcome, system_outcome
from pi_sessions.context.payload.trace import Lines, lines_of
from pi_sessions.context.prompt import Prompt, message_text, replay_prompt, section_changes

if TYPE_CHECKING:
    from pi_sessions.context.payload.trace import Trace


class Transcript(msgspec.Struct, frozen=True):
    """The messages of a request, system messages resolved."""

    messages: Sequence[ContextMessage]
    prompt: Prompt | None = None
    """What the system messages add up to, where they are replaced by one that leads."""

    @property
    def leads(self) -> bool:
        """Whether a system message leads."""
        return bool(self.messages) and self.messages[0].value["role"] == "system"


class Leading(msgspec.Struct, frozen=True):
    """The text of the prompt that leads a request."""

    text: str
    lines: Lines
    sections: Mapping[str, Lines]
    """Lines of each section by its name; "" is what stands outside of sections."""


def resolve(messages: Sequence[ContextMessage], trace: Trace, *, in_place: bool) -> Transcript:
    """Leave system messages in place for models that take them there, else put one in front."""
    if in_place:
        return Transcript(messages)
    others: list[ContextMessage] = []
    system: list[ContextMessage] = []
    for message in messages:
        (system if message.value["role"] == "system" else others).append(message)
    prompt = replay_prompt(system)
    head = prompt.message
    for message in system:
        trace.settle(message, _collapsed(message, prompt if head else None))
    if head is None:
        return Transcript(others, prompt)
    lines = tuple(sorted(prompt.lines))
    return Transcript([ContextMessage(head, None, lines), *others], prompt)


def _collapsed(message: ContextMessage, prompt: Prompt | None) -> Outcome:
    if prompt is None:
        return Outcome((Reason.EMPTY,))
    outcome = system_outcome(message, prompt)
    if outcome.leading is Reason.FOLDED and has_lone_surrogates(message_text(message.value)):
        return outcome.merged(Outcome((Reason.TRIMMED,)))
    return outcome


def leading_prompt(messages: Sequence[ContextMessage], prompt: Prompt | None) -> Leading | None:
    """Give the prompt in front, None if no system message leads or it has no text.

    Args:
        messages: the messages in the order in which they are told.
        prompt: what the first adds up, where it stands for all system messages.
    """
    if not messages or messages[0].value["role"] != "system":
        return None
    first = messages[0]
    text = message_text(first.value)
    if not text:
        return None
    if prompt is None:
        lines = lines_of(first)
        return Leading(text, lines, dict.fromkeys(section_changes(first.value), lines))
    parts: dict[str, Lines] = {}
    if prompt.content:
        parts[""] = _lines(line for _, line in prompt.content)
    parts.update({name: _lines((prompt.section_lines.get(name),)) for name in prompt.sections})
    return Leading(text, _lines(line for lines in parts.values() for line in lines), parts)


def origin(prompt: Prompt | None) -> object:
    """Give what tells two prompts of one text apart: the lines their parts came from."""
    return None if prompt is None else (prompt.content, prompt.section_lines)


def _lines(lines: Iterable[int | None]) -> Lines:
    return tuple(dict.fromkeys(line for line in lines if line is not None))

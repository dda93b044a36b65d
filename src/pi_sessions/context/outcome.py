"""What became of each line's message in a request, for APIs whose body is not built here.

The payload of an API tells the same about its own body. Without one, system messages are taken to
be folded into one leading prompt, as for every model that does not say otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_sessions._javascript import has_lone_surrogates
from pi_sessions.context.message import CHANGES, ContextMessage, Reason, Staged
from pi_sessions.context.prompt import (
    Prompt,
    added_tools,
    content_text,
    removed_tools,
    replay_prompt,
    section_changes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


class Outcome(msgspec.Struct, frozen=True):
    """What became of the message of one line; no reasons: it went as it is stored."""

    reasons: tuple[Reason, ...] = ()
    because: tuple[int, ...] = ()

    def merged(self, other: Outcome) -> Outcome:
        """Join two outcomes of one line (a compaction tells a checkpoint and a summary)."""
        reasons = (*self.reasons, *(r for r in other.reasons if r not in self.reasons))
        if (self.reasons and self.leading not in CHANGES) != (
            other.reasons and other.leading not in CHANGES
        ):
            # One part was sent and the other was not: sent in part.
            reasons = tuple(r for r in reasons if r in CHANGES) or (Reason.TRIMMED,)
        return Outcome(reasons, tuple(dict.fromkeys(self.because + other.because)))

    @property
    def leading(self) -> Reason:
        """The reason that is told: the first that applies, in the order of the closed list."""
        order = tuple(Reason)
        return min(self.reasons, key=order.index, default=Reason.AS_STORED)


def outcomes_of(replayed: Staged, prompt: Prompt) -> dict[int, Outcome]:
    """Read off the outcomes from what the stages noted on each message.

    Args:
        replayed: the messages that are left, and what was dropped on the way.
        prompt: the prompt that the system messages add up to.
    """
    found: dict[int, Outcome] = {}
    for message in replayed.messages:
        if message.line is None:
            continue
        outcome = Outcome(message.changes, message.because)
        if message.role == "system":
            outcome = system_outcome(message, prompt)
        elif _has_lone_surrogates(message):
            # Every API that is known here is sent texts without them.
            outcome = Outcome((Reason.TRIMMED, *message.changes), message.because)
        _join(found, message.line, outcome)
    for drop in replayed.dropped:
        if drop.line not in found:
            found[drop.line] = Outcome((drop.reason,), drop.because)
    return found


def _has_lone_surrogates(message: ContextMessage) -> bool:
    content = message.value.get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return any(isinstance(text, str) and has_lone_surrogates(text) for text in texts)


def system_outcome(message: ContextMessage, prompt: Prompt) -> Outcome:
    """Say what became of a system message where all are folded into one prompt."""
    line = message.line
    if not prompt.is_sent:
        return Outcome((Reason.EMPTY,))
    if line in prompt.lines:
        return Outcome((Reason.FOLDED, *message.changes), message.because)
    if heirs := _heirs(message, prompt):
        return Outcome((Reason.SUPERSEDED,), heirs)
    return Outcome((Reason.EMPTY,))


def _heirs(message: ContextMessage, prompt: Prompt) -> tuple[int, ...]:
    """Give the lines that had the last word on what a system message said."""
    value = message.value
    names = [("section", name) for name in section_changes(value)]
    names += [("tool", tool["name"]) for tool in added_tools(value)]
    names += [("tool", name) for name in removed_tools(value)]
    lines = (prompt.touched.get(name) for name in names)
    return tuple(sorted({line for line in lines if line is not None and line != message.line}))


def projected_outcomes(messages: Iterable[ContextMessage]) -> dict[int, Outcome]:
    """Say what became of each line in Pi's own context: edited, superseded, or as stored."""
    messages = tuple(messages)
    prompt = replay_prompt(messages)
    found: dict[int, Outcome] = {}
    for message in messages:
        assert message.line is not None, "every message of a projection comes from a line"
        outcome = Outcome(message.changes, message.because)
        if (
            message.role == "system"
            and not content_text(message.value.get("content"))
            and message.line not in prompt.lines
            and (heirs := _heirs(message, prompt))
        ):
            outcome = Outcome((Reason.SUPERSEDED,), heirs)
        _join(found, message.line, outcome)
    return found


def _join(found: dict[int, Outcome], line: int, outcome: Outcome) -> None:
    before = found.get(line)
    found[line] = before.merged(outcome) if before else outcome

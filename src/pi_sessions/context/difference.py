"""What came into a request, went out of it and changed in it, against another one, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._json import dumps
from pi_sessions.context.message import Reason, Synthetic, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.prompt import Prompt


class Asked(msgspec.Struct, frozen=True):
    """One request with all that is known of it."""

    explanation: Explanation
    messages: Sequence[ContextMessage]
    """Its messages after the replay."""
    prompt: Prompt
    tokens: float
    """The estimate of its tokens."""
    synthetic: tuple[Synthetic, ...] = ()
    """What is in it and in no line."""


class Gone(msgspec.Struct, frozen=True):
    """A line that the older request had and the newer has not."""

    line: int
    reason: Reason
    """Why the newer request has it not."""
    because: tuple[int, ...]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """From one request to another."""

    came: tuple[int, ...]
    """Lines that are new in the newer request."""
    went: tuple[Gone, ...]
    changed: tuple[int, ...]
    """Lines that both have, told in other words."""
    sections: Mapping[str, tuple[int | None, int | None]]
    """Sections of the prompt that are not the same: line before and after, None where absent."""
    tools: Mapping[str, tuple[int | None, int | None]]
    tokens: tuple[float, float]
    """Estimates of the older and of the newer request."""
    synthetic_in: tuple[Synthetic, ...] = ()
    """What stands in no line and is new in the newer request."""
    synthetic_out: tuple[Synthetic, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Say whether the two requests tell the same."""
        lines = self.came or self.went or self.changed
        made = self.synthetic_in or self.synthetic_out
        return not (lines or self.sections or self.tools or made)


def differ(older: Asked, newer: Asked) -> Difference:
    """Compare two requests of one session; system messages are compared as the prompt they make."""
    before, after = _told(older.messages), _told(newer.messages)
    had, has = _lines(older.explanation), _lines(newer.explanation)
    return Difference(
        came=tuple(sorted(has - had)),
        went=tuple(
            Gone(line, newer.explanation.reason(line), newer.explanation.because(line))
            for line in sorted(had - has)
        ),
        changed=tuple(sorted(line for line in had & has if before.get(line) != after.get(line))),
        sections=_moved(
            older.prompt.sections,
            newer.prompt.sections,
            older.prompt.section_lines,
            newer.prompt.section_lines,
        ),
        tools=_moved(
            {tool["name"]: tool for tool in older.prompt.tools},
            {tool["name"]: tool for tool in newer.prompt.tools},
            older.prompt.tool_lines,
            newer.prompt.tool_lines,
        ),
        tokens=(older.tokens, newer.tokens),
        synthetic_in=_without(newer.synthetic, older.synthetic),
        synthetic_out=_without(older.synthetic, newer.synthetic),
    )


def _without(those: Sequence[Synthetic], others: Iterable[Synthetic]) -> tuple[Synthetic, ...]:
    """Give those that the others have not, each as often as it is missing there."""
    left = list(those)
    for other in others:
        if other in left:
            left.remove(other)
    return tuple(left)


def _lines(explanation: Explanation) -> set[int]:
    """Give the lines that a request tells."""
    return {
        line
        for line in range(1, len(explanation.reasons))
        if explanation.verdict(line) is not Verdict.NOT_SENT
    }


def _told(messages: Sequence[ContextMessage]) -> dict[int, str]:
    """Give for each line what the model is told of it; the form of an API does not matter."""
    told: dict[int, str] = {}
    for message in messages:
        if message.line is not None and message.role != "system":
            content = dumps(message.value.get("content"))
            told[message.line] = told.get(message.line, "") + content
    return told


def _moved(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    before_lines: Mapping[str, int | None],
    after_lines: Mapping[str, int | None],
) -> dict[str, tuple[int | None, int | None]]:
    names: Sequence[str] = [*before, *(name for name in after if name not in before)]
    return {
        name: (before_lines.get(name), after_lines.get(name))
        for name in names
        if before.get(name) != after.get(name)
    }

"""What the scripted server answers: the parts of one reply and how it ends.

A step says what a model would have said; how that looks on the wire is the business of ``replies``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Stop = Literal["stop", "tool", "length"]


@dataclass(frozen=True)
class Text:
    """A piece of visible text."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """A piece of reasoning; ``signature`` is what the provider wants to see again."""

    text: str
    signature: str = ""
    redacted: bool = False


@dataclass(frozen=True)
class Call:
    """A tool call; without ``id`` the server numbers it, ``grammar`` sends its input as text."""

    name: str
    arguments: dict[str, Any]
    id: str = ""
    grammar: bool = False


Part = Text | Thinking | Call


@dataclass(frozen=True)
class Tokens:
    """Usage a reply reports: prompt tokens not cached, cached, and tokens written."""

    fresh: int
    cached: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True)
class Step:
    """One answer to one request."""

    parts: tuple[Part, ...] = ()
    stop: Stop = "stop"
    status: int = 200
    error: str = ""
    cut: bool = False
    """Close the connection in the middle of the reply."""
    hold: bool = False
    """Send the first part of the text, then keep the stream open until the client leaves."""
    delay: float = 0.0
    took: int = 0
    """Milliseconds the reply took on the session's clock; 0 derives it from the length."""
    tokens: Tokens | None = None

    @property
    def output_chars(self) -> int:
        """Characters written, the base of the reported output tokens."""
        return sum(_chars(part) for part in self.parts)


def _chars(part: Part) -> int:
    if isinstance(part, Call):
        return len(part.name) + len(json.dumps(part.arguments))
    return len(part.text)


def reply(*parts: Part | str, **options: Any) -> Step:
    """A reply of these parts; plain strings are text, a call makes the stop reason a tool use."""
    made = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    if any(isinstance(part, Call) for part in made):
        options.setdefault("stop", "tool")
    return Step(parts=made, **options)


def failure(status: int, message: str, **options: Any) -> Step:
    """An HTTP error instead of a reply."""
    return Step(status=status, error=message, **options)

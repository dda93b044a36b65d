"""Content blocks of a message, as values.

Every block keeps the JSON object it was read from; fields hold what had the right type in it.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What all blocks share."""

    raw: dict[str, Any]
    """The object as stored, with all its fields."""


class TextBlock(Block, frozen=True):
    """A text."""

    text: str
    signature: str | None = None
    """Provider data that goes with the text (`textSignature`)."""


class ThinkingBlock(Block, frozen=True):
    """Thinking of the model."""

    thinking: str
    signature: str | None = None
    """Provider data without which it is not replayed (`thinkingSignature`)."""
    redacted: bool = False


class ImageBlock(Block, frozen=True):
    """A picture."""

    data: str
    """Base64."""
    mime_type: str


class ToolCall(Block, frozen=True):
    """A call of a tool."""

    id: str
    name: str
    arguments: Any
    """A JSON value, an object in every ordinary file."""
    thought_signature: str | None = None


class UnknownBlock(Block, frozen=True):
    """A block of a type that is not known here."""

    type: str

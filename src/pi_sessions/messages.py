"""Messages of every role, as values. Times are milliseconds since 1970, as stored.

Every message keeps the JSON object it was read from; fields hold what had the right type in it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pi_sessions.content import Block, TextBlock


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What all messages share."""

    raw: dict[str, Any]
    """The object as stored, with all its fields."""
    role: str
    timestamp: float | None = None


class _WithContent(Message, frozen=True):
    content: tuple[Block, ...] = ()
    """Blocks; a content stored as text is one text block."""

    @property
    def text(self) -> str:
        """The texts of its blocks, joined by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class SystemMessage(_WithContent, frozen=True):
    """A part of the prompt: text, sections to set or remove, tools to add or remove."""

    sections: dict[str, str | None] = {}
    """Text by name; None removes a section."""
    tools_added: tuple[dict[str, Any], ...] = ()
    tools_removed: tuple[str, ...] = ()
    """Names."""


class UserMessage(_WithContent, frozen=True):
    """What the person wrote."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost of one request, 0 where nothing is stored."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total_tokens: float = 0
    cost: float = 0
    """In dollars."""


class AssistantMessage(_WithContent, frozen=True):
    """A reply of the model."""

    api: str | None = None
    provider: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    """`stop`, `length`, `toolUse`, `error` or `aborted`."""
    error_message: str | None = None
    response_id: str | None = None
    usage: Usage | None = None
    """None where the reply has none."""


class ToolResultMessage(_WithContent, frozen=True):
    """What a tool gave back."""

    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False


class BashExecution(Message, frozen=True):
    """A shell command the person ran with `!`, or with `!!` kept from the model."""

    command: str = ""
    output: str = ""
    exit_code: float | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool = False


class CustomMessage(_WithContent, frozen=True):
    """A message of an extension, sent as user text."""

    custom_type: str | None = None
    display: bool = False
    """Whether Pi shows it; it is sent in any case."""
    details: Any = None


class SummaryMessage(Message, frozen=True):
    """A summary stored as a message (roles `branchSummary` and `compactionSummary`)."""

    summary: str = ""


class UnknownMessage(Message, frozen=True):
    """A message of a role that is not known here: kept, never sent."""

"""The header and the entries of a session, as values, one class for each type.

Ids and times are texts as stored, None where something else is stored. Every entry keeps the JSON
object it was read from, migrated to version 3, so that no field is lost.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pi_sessions.content import Block
from pi_sessions.messages import Message, SystemMessage, Usage


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a file."""

    raw: dict[str, Any]
    """The object, with `version` 3 where it was older; fields of old releases are here."""
    id: str
    version: Any = 3
    timestamp: str | None = None
    cwd: str | None = None
    parent_session: str | None = None
    """Path of the session it was forked from (`branchedFrom` in version 1)."""


class EntryValue(msgspec.Struct, frozen=True, kw_only=True):
    """What all entries share."""

    raw: dict[str, Any]
    """The object, with all its fields."""
    type: str
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None


class MessageEntry(EntryValue, frozen=True):
    """A message of the conversation."""

    message: Message | None = None
    """None where the entry lacks it; such a line counts as no entry."""


class CompactionEntry(EntryValue, frozen=True):
    """A summary that takes the place of what came before."""

    summary: str | None = None
    first_kept_entry_id: str | None = None
    """First entry before it that is still told; its own id keeps nothing."""
    tokens_before: float | None = None
    system_message: SystemMessage | None = None
    """The checkpoint: the prompt as it was."""
    from_hook: bool = False
    details: Any = None
    usage: Usage | None = None


class BranchSummaryEntry(EntryValue, frozen=True):
    """A summary of a branch that was left."""

    summary: str | None = None
    from_id: str | None = None
    """Leaf of the branch that was left, or `root`."""
    from_hook: bool = False
    details: Any = None
    usage: Usage | None = None


class ContextEditEntry(EntryValue, frozen=True):
    """An edit of what an earlier entry tells the model, on this branch from here on."""

    target_id: str | None = None
    omits: bool = False
    """Whether it takes the target out."""
    content: tuple[Block, ...] = ()
    """What it puts in the place of the target's content."""


class CustomMessageEntry(EntryValue, frozen=True):
    """A message of an extension."""

    custom_type: str | None = None
    content: tuple[Block, ...] = ()
    display: bool = False
    details: Any = None


class CustomEntry(EntryValue, frozen=True):
    """State of an extension, never sent."""

    custom_type: str | None = None
    data: Any = None


class LabelEntry(EntryValue, frozen=True):
    """A bookmark on an entry; an empty text clears it."""

    target_id: str | None = None
    label: str | None = None


class SessionInfoEntry(EntryValue, frozen=True):
    """The name of the session; a blank one clears it."""

    name: str | None = None


class UsageEntry(EntryValue, frozen=True):
    """Tokens and cost of a request that has no reply in the file."""

    kind: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    note: str | None = None


class ModelChangeEntry(EntryValue, frozen=True):
    """Another model was chosen."""

    provider: str | None = None
    model_id: str | None = None


class ThinkingLevelChangeEntry(EntryValue, frozen=True):
    """Another thinking level was chosen."""

    thinking_level: str | None = None


class UnknownEntry(EntryValue, frozen=True):
    """An entry of a type that is not known here: kept, never sent."""

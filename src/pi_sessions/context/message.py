"""The value that travels through the stages: a message, where it came from, what was done to it.

Also the closed lists of verdicts and reasons, in which all stages speak.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Verdict(StrEnum):
    """Whether a line reached the model."""

    SENT = "sent"
    CHANGED = "changed"
    NOT_SENT = "not_sent"


class Reason(StrEnum):
    """Why; the closed list, in the order in which the first that applies is taken."""

    BLANK = "blank"
    MALFORMED = "malformed"
    HEADER = "header"
    NOT_AN_ENTRY = "not-an-entry"
    SHADOWED = "shadowed"
    LATER = "later"
    UNREACHABLE = "unreachable"
    OTHER_BRANCH = "other-branch"
    UNKNOWN_TYPE = "unknown-type"
    SETTING = "setting"
    BOOKKEEPING = "bookkeeping"
    CONTEXT_EDIT = "context-edit"
    OLDER_COMPACTION = "older-compaction"
    CHECKPOINTED = "checkpointed"
    SUMMARISED = "summarised"
    OMITTED = "omitted"
    UNKNOWN_ROLE = "unknown-role"
    EXCLUDED_SHELL = "excluded-shell"
    FAILED_REPLY = "failed-reply"
    SUPERSEDED = "superseded"
    EMPTY = "empty"
    EDITED = "edited"
    TRIMMED = "trimmed"
    MOVED = "moved"
    RENAMED = "renamed"
    FOLDED = "folded"
    CONVERTED = "converted"
    AS_STORED = "as-stored"

    @property
    def verdict(self) -> Verdict:
        """The verdict this reason stands for."""
        if self is Reason.AS_STORED:
            return Verdict.SENT
        return Verdict.CHANGED if self in CHANGES else Verdict.NOT_SENT


CHANGES = (
    Reason.EDITED,
    Reason.TRIMMED,
    Reason.MOVED,
    Reason.RENAMED,
    Reason.FOLDED,
    Reason.CONVERTED,
)
"""Reasons of lines that were sent in another form; the first in this order is told."""


class ContextMessage(msgspec.Struct, frozen=True):
    """One message of a context. The JSON value is never changed in place."""

    value: dict[str, Any]
    """The message as this stage has it, keys in the format's order."""
    line: int | None
    """Line of the entry it came from; None for a message that stands in no line."""
    because: tuple[int, ...] = ()
    """Other lines that made it what it is: an edit, the call a stand-in answers."""
    changes: tuple[Reason, ...] = ()
    """What the stages did to it so far, of CHANGES."""

    @property
    def role(self) -> str:
        """The role, "" where the message has none in text form."""
        role = self.value.get("role")
        return role if isinstance(role, str) else ""

    def altered(
        self,
        *changes: Reason,
        value: dict[str, Any] | None = None,
        because: tuple[int, ...] = (),
    ) -> ContextMessage:
        """Give the message as it is after a change, with another value where one is given."""
        return msgspec.structs.replace(
            self,
            value=self.value if value is None else value,
            because=self.because + tuple(line for line in because if line not in self.because),
            changes=self.changes
            + tuple(change for change in changes if change not in self.changes),
        )


class Dropped(msgspec.Struct, frozen=True):
    """A message that a stage left out, and why."""

    line: int
    reason: Reason
    because: tuple[int, ...] = ()


class Synthetic(msgspec.Struct, frozen=True):
    """Something in a request that stands in no line."""

    kind: str
    """`stand-in-result`, `attached-images`, `filler`, `caption`, `notice`, `placeholder`, …"""
    text: str
    because: tuple[int, ...]
    """The lines that caused it."""


class Staged(msgspec.Struct, frozen=True):
    """What a stage hands on: the messages in order, and what it left out."""

    messages: tuple[ContextMessage, ...]
    dropped: tuple[Dropped, ...] = ()
    synthetic: tuple[Synthetic, ...] = ()

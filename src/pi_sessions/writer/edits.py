"""What a person means to take out of the requests of a session, and what that would change.

An edit is proposed first: which entry, and what is to be sent of it instead. The proposals of one
call are written as one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._json import dumps
from pi_sessions.table import Kind
from pi_sessions.writer.shapes import EDITABLE_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_sessions.entry import Entry
    from pi_sessions.session import Session
    from pi_sessions.writer.session_writer import SessionWriter

_FAILURES = ("error", "aborted")


class Proposal(msgspec.Struct, frozen=True):
    """An edit that is to be made."""

    target: str
    """Id of the entry it acts on."""
    line: int
    """Line of that entry."""
    replacement: Mapping[str, Any] | None
    """None omits the entry; `{"content": ...}` is sent instead."""


def omit(entry: Entry) -> Proposal:
    """Propose that an entry is not sent any more."""
    return Proposal(entry.id or "", entry.line, None)


def replace(entry: Entry, content: str | list[Any]) -> Proposal:
    """Propose that something else is sent in place of an entry."""
    return Proposal(entry.id or "", entry.line, {"content": content})


def restore(entry: Entry) -> Proposal:
    """Propose that an entry is sent again as it is stored.

    An edit cannot be taken back in a file that only grows; one that puts the stored content in is
    the same to a model.

    Raises:
        ValueError: the entry has no content that could be put in.
    """
    raw = entry.raw
    holder = raw.get("message", raw)
    content = holder.get("content") if isinstance(holder, dict) else None
    if not isinstance(content, str | list):
        raise ValueError(f"entry {entry.id} has no content that could be sent again")  # noqa: TRY004
    return Proposal(entry.id or "", entry.line, {"content": content})


def failed_replies(session: Session) -> list[Proposal]:
    """Propose to omit the replies on the leaf's branch that failed or were broken off."""
    return [
        omit(entry)
        for entry in _sent(session)
        if session.table.kinds[entry.line] == Kind.ASSISTANT
        and entry.raw["message"].get("stopReason") in _FAILURES
    ]


def large_results(session: Session, size: int) -> list[Proposal]:
    """Propose to omit what tools gave where it is large; the result itself stays, with a note.

    Omitting the whole result would leave its call without an answer.

    Args:
        session: the session.
        size: bytes of its content, as JSON, above which a result is large.
    """
    found = []
    for entry in _sent(session):
        if session.table.kinds[entry.line] != Kind.TOOL_RESULT:
            continue
        length = len(dumps(entry.raw["message"].get("content")).encode())
        if length > size:
            found.append(replace(entry, f"(a result of {length} bytes was left out)"))
    return found


def _sent(session: Session) -> Iterable[Entry]:
    """Give the entries whose messages a request at the leaf has, and that can be edited."""
    seen = session.context()
    for source in dict.fromkeys(seen.sources):
        if source is not None and source.role in EDITABLE_ROLES:
            yield source


def apply(writer: SessionWriter, proposals: Iterable[Proposal]) -> list[str]:
    """Write edits as one batch and give their ids, in order.

    Raises:
        EntryNotFoundError: a target is not on the leaf's branch.
        ValueError: nothing of a target can be edited.
        WriteRefusedError: nothing was written.
    """
    with writer.batch():
        return [writer.append_context_edit(each.target, each.replacement) for each in proposals]

"""What an export is asked for; each format takes of it what means something to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context import point
from pi_sessions.context.model import Model
from pi_sessions.context.models import Preferences
from pi_sessions.context.payload.draft import Retention
from pi_sessions.context.target import Target
from pi_sessions.errors import NotAResponseError
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session


class Tools(StrEnum):
    """How much of tool calls and their results is told."""

    NONE = "none"
    BRIEF = "brief"
    FULL = "full"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What to export, and how much of it."""

    leaf: str | None = None
    """An entry, by id: the branch that ends there. At most one of `leaf` and `response`."""
    response: str | None = None
    """A reply, by id: what its request was built from."""
    branch: bool = False
    """Only the branch, of formats that would give the whole file (jsonl, json, tables)."""
    first: int = 1
    """First physical line that is told."""
    last: int | None = None
    """Last physical line that is told; None: the last of the file."""
    timestamp: str | None = None
    """Time in the header of a branch written as jsonl; None: that of the session."""
    thinking: bool = False
    """With the model's thinking (md)."""
    tools: Tools = Tools.BRIEF
    """How much of tools (md)."""
    times: bool = False
    """With the time of each entry (md)."""
    states: bool = True
    """Tell of each entry whether it was sent, changed or not sent, and why (md)."""
    prompts: bool = False
    """Nothing but what the user said (md)."""
    table: str = "entries"
    """Name of a table of `sheets.SHEETS` (csv, parquet)."""
    provenance: bool = True
    """With the lines each part of a request came from (requests)."""
    model_of: Callable[[Target], Model] | None = None
    """Gives a model with its configuration; by default the defaults are assumed."""
    preferences: Preferences | None = None
    """The person's settings that a request hangs on; None: not known."""
    cache_retention: Retention | None = None
    """What the environment asked for; None: not known."""
    release: str | None = None
    """The release of Pi whose rules count; None: for each reply those of the one that wrote it."""

    workers: int = 1
    """Processes that may make the rows of a page (html)."""

    @property
    def is_part(self) -> bool:
        """Whether a point is named, or the branch alone is asked for."""
        return self.branch or self.leaf is not None or self.response is not None

    def has(self, line: int) -> bool:
        """Say whether a line is in the range."""
        return self.first <= line and (self.last is None or line <= self.last)


def point_of(session: Session, options: Options) -> point.Point:
    """Find the point that is asked for; the file's leaf by default.

    Raises:
        EntryNotFoundError: no such entry.
        NotAResponseError: `response` is no assistant entry.
    """
    table = session.table
    if options.response is None:
        leaf = table.leaf if options.leaf is None else session.entry(options.leaf).line
        return point.at_leaf(table, leaf)
    reply = session.entry(options.response)
    if table.kinds[reply.line] != Kind.ASSISTANT:
        raise NotAResponseError(reply.id or f"at line {reply.line}", reply.role or reply.type)
    return point.at_response(table, reply.line, session.zone)


def lines_of(session: Session, options: Options) -> Iterator[int]:
    """Give the entries that are asked for, in file order: of the whole file, or of a branch."""
    table = session.table
    lines = point_of(session, options).path if options.is_part else table.entries()
    return (line for line in lines if options.has(line) and table.is_entry(line))


def explanation_of(session: Session, options: Options) -> Explanation:
    """Give every line its verdict at the point that is asked for."""
    target: Target | Model | None = None
    if options.model_of:
        target = options.model_of(session.target(options.leaf, response=options.response))
    return session.explain(
        options.leaf,
        response=options.response,
        target=target,
        preferences=options.preferences,
        release=options.release,
    )

"""One session file, ready to be asked: the facade over table, tree and context.

It delegates and adds nothing of its own. Points are chosen by `leaf` (what would be sent with that
entry as the last) or by `response` (what that reply was written from), never by both; without one,
the leaf is the file's last entry.
"""

from __future__ import annotations

import re
from datetime import UTC, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import migrations, tree
from pi_sessions._javascript import string, trim
from pi_sessions.context import point
from pi_sessions.context.asking import Asking, Weighed, assumed
from pi_sessions.context.message import ContextMessage, Dropped
from pi_sessions.context.prompt import Prompt, replay_prompt
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.context.settings import Settings, settings_of
from pi_sessions.context.target import Target
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.entry import Entries, Entry
from pi_sessions.errors import (
    EntryNotFoundError,
    FormatError,
    NotAResponseError,
    UnsupportedApiError,
    UnsupportedVersionError,
)
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pi_sessions.context.difference import Asked
    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.model import Model
    from pi_sessions.context.models import Preferences
    from pi_sessions.context.payload import Payload
    from pi_sessions.context.payload.draft import Retention
    from pi_sessions.context.sighting import Sightings
    from pi_sessions.context.visibility import Visibility
    from pi_sessions.context.writers import Stretch, Writers
    from pi_sessions.entries import Header

STAGES = ("projection", "llm", "replay")
"""Stages that give messages, in order."""


class Context(msgspec.Struct, frozen=True):
    """The messages at a point, at one stage, each with the entry it came from."""

    leaf: Entry | None
    response: Entry | None
    stage: str
    messages: tuple[dict[str, Any], ...]
    """JSON messages in order."""
    sources: tuple[Entry | None, ...]
    """Parallel to `messages`; None for a message that stands in no line."""
    entries: Entries
    """The context entries: the compaction first, then what it keeps and what follows."""
    model: dict[str, Any] | None
    """`{"provider", "modelId"}` in force at the leaf, None if no entry names one."""
    thinking_level: Any
    parts: tuple[ContextMessage, ...]
    """The messages with what was done to each."""
    dropped: tuple[Dropped, ...]
    """What the stages left out, with the reason."""
    target: Target | None = None
    """The model of stage `replay`."""


class Session:
    """One session file. Make one with `pi_sessions.load` or `loads`."""

    def __init__(self, table: Table, *, zone: tzinfo = UTC, workers: int = 1) -> None:
        self.table = table
        """The lines, for those who need the columns."""
        self.zone = zone
        """Zone in which times without one are read."""
        self.workers = workers
        """Processes that may work on a large file."""

    @property
    def path(self) -> str:
        """Name of the file, as it was given."""
        return self.table.source.name

    @cached_property
    def header(self) -> Header:
        """The header, migrated to version 3; fields of old releases are kept in `raw`."""
        raw = self.table.header
        if self.table.stored_version < migrations.CURRENT:
            raw = migrations.migrate_header(raw)
        from pi_sessions.codec import decode_header  # noqa: PLC0415 - start-up

        return decode_header(raw)

    @property
    def id(self) -> str:
        """Id of the session."""
        return str(self.table.header["id"])

    @property
    def version(self) -> Any:
        """Version as stored in the header; 1 where there is none."""
        version = self.table.header.get("version")
        return 1 if version is None else version

    @property
    def cwd(self) -> str | None:
        """Working directory in the header, None where that is no text."""
        cwd = self.table.header.get("cwd")
        return cwd if isinstance(cwd, str) else None

    @cached_property
    def entries(self) -> Entries:
        """All entries, in file order."""
        return Entries(self.table, list(self.table.entries()))

    @property
    def leaf(self) -> Entry | None:
        """The file's leaf: its last entry, None if there is no entry."""
        return Entry(self.table, self.table.leaf) if self.table.leaf else None

    @cached_property
    def tree(self) -> tree.Tree:
        """Roots and children, by line."""
        return tree.build(self.table, self.zone)

    @cached_property
    def labels(self) -> dict[str, str]:
        """Label of each labelled id, in order of setting; targets need not exist."""
        return {
            string(key if isinstance(key, str) else key[-1]): label.text
            for key, label in tree.labels(self.table).items()
            if isinstance(key, str) or (isinstance(key, tuple) and key[0] in ("number", "boolean"))
        }

    @cached_property
    def name(self) -> str | None:
        """Name of the session: the last one in the file, from any branch; blank clears it."""
        line = max(self.table.of_kind(Kind.SESSION_INFO), default=0)
        name = self.table.raw(line).get("name") if line else None
        return (trim(name) or None) if isinstance(name, str) else None

    @cached_property
    def responses(self) -> Entries:
        """The assistant entries, in file order."""
        lines = (n for n in self.table.of_kind(Kind.ASSISTANT) if n not in self.table.shadowed)
        return Entries(self.table, list(lines))

    def at(self, line: int) -> Entry:
        """Give the entry of a physical line.

        Raises:
            EntryNotFoundError: the line is no entry.
        """
        if not (0 < line <= len(self.table) and self.table.is_entry(line)):
            raise EntryNotFoundError(f"line {line}")
        return Entry(self.table, line)

    def entry(self, entry_id: str) -> Entry:
        """Find an entry by its id, or by a prefix that only one id has.

        Raises:
            EntryNotFoundError: no id begins so, or several do.
        """
        line = self.table.lines_by_id.get(entry_id, 0)
        if not line:
            matches = [
                key
                for key in (self.table.lines_by_id if entry_id else ())
                if isinstance(key, str) and key.startswith(entry_id)
            ]
            if len(matches) != 1:
                raise EntryNotFoundError(entry_id, matches)
            line = self.table.lines_by_id[matches[0]]
        if self.table.kinds[line] >= FIRST_OTHER:
            raise EntryNotFoundError(entry_id)
        return Entry(self.table, line)

    def branch(self, leaf: str | Entry | None = None) -> Entries:
        """Give the entries from the root to a leaf; the file's leaf if none is named."""
        return Entries(self.table, self._entries_of(self._point(leaf, None).path))

    def _entries_of(self, lines: Sequence[int]) -> list[int]:
        return [line for line in lines if self.table.is_entry(line)]

    def children(self, entry: Entry) -> Entries:
        """Give the children of an entry, oldest first."""
        return Entries(self.table, self._entries_of(self.tree.children(entry.line)))

    def common_ancestor(self, left: str | Entry, right: str | Entry) -> Entry | None:
        """Give the last entry that the branches of two leaves share, None if they share none."""
        shared = tree.common_ancestor(self.table, self._line(left), self._line(right))
        return Entry(self.table, shared) if shared else None

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self.table, self.zone, self.id)

    def _line(self, entry: str | Entry) -> int:
        return entry.line if isinstance(entry, Entry) else self.entry(entry).line

    @cached_property
    def _writers(self) -> Writers:
        from pi_sessions.context.writers import Writers  # noqa: PLC0415 - start-up

        return Writers(self.table, self.workers)

    def writers(self) -> tuple[Stretch, ...]:
        """Say which releases of Pi can have written each stretch of the file, and what tells so."""
        return self._writers.stretches

    def _point(
        self,
        leaf: str | Entry | None,
        response: str | Entry | None,
        release: str | None = None,
    ) -> point.Point:
        if leaf is not None and response is not None:
            raise ValueError("choose a point by leaf or by response, not by both")
        if response is not None:
            line = self._line(response)
            if self.table.kinds[line] != Kind.ASSISTANT:
                entry = Entry(self.table, line)
                raise NotAResponseError(entry.id or f"at line {line}", entry.role or entry.type)
            found = point.at_response(self.table, line, self.zone)
            if release is None:
                return self._writers.placed(found)
        else:
            found = point.at_leaf(self.table, self.table.leaf if leaf is None else self._line(leaf))
        return point.by_release(found, release) if release else found

    def settings(
        self, leaf: str | Entry | None = None, *, response: str | Entry | None = None
    ) -> Settings:
        """Give model and thinking level in force at a point."""
        return settings_of(self.table, self._point(leaf, response).path)

    def target(
        self, leaf: str | Entry | None = None, *, response: str | Entry | None = None
    ) -> Target:
        """Give the model a request goes to: that of the response, or the current one of a leaf.

        Its `api` is "" where the file does not tell it. That it takes pictures is assumed.
        """
        return self._asking.target(self._point(leaf, response))

    def context(
        self,
        leaf: str | Entry | None = None,
        *,
        response: str | Entry | None = None,
        stage: str = "projection",
        target: Target | None = None,
        release: str | None = None,
    ) -> Context:
        """Build the messages at a point.

        Args:
            leaf: an entry, its id, or a unique prefix of the id.
            response: an assistant entry, likewise: the point its request was built from.
            stage: `projection` (Pi's own context), `llm` (the four roles of a model) or `replay`
                (what is left for the target; system messages in place).
            target: the model of stage `replay`; that of `Session.target` by default.
            release: the release of Pi whose rules count, such as "0.49.3". By default a reply was
                asked by the rules of the release that wrote it, as far as the file tells, and a
                leaf would be sent by those of the newest.

        Raises:
            EntryNotFoundError: no such entry.
            NotAResponseError: `response` is no assistant entry.
            UnknownReleaseError: no such release.
        """
        if stage not in STAGES:
            raise ValueError(f"no stage {stage!r}; there are {', '.join(STAGES)}")
        where = self._point(leaf, response, release)
        chosen = self._asking.chosen(where)
        goal = (target or self._asking.target(where)) if stage == "replay" else None
        staged = self._asking.staged(chosen, stage, goal, where.rules)
        settings = settings_of(self.table, where.path)
        return Context(
            leaf=Entry(self.table, where.leaf) if where.leaf else None,
            response=Entry(self.table, where.response) if where.response else None,
            stage=stage,
            messages=tuple(part.value for part in staged.messages),
            sources=tuple(
                None if part.line is None else Entry(self.table, part.line)
                for part in staged.messages
            ),
            entries=Entries(self.table, self._entries_of(chosen.entries)),
            model=settings.named_model,
            thinking_level=settings.thinking_level,
            parts=staged.messages,
            dropped=staged.dropped,
            target=goal,
        )

    def prompt(
        self, leaf: str | Entry | None = None, *, response: str | Entry | None = None
    ) -> Prompt:
        """Give the prompt and the tools in force at a point, each with the line it came from."""
        return replay_prompt(self._asking.messages(self._point(leaf, response)).messages)

    def request(
        self,
        leaf: str | Entry | None = None,
        *,
        response: str | Entry | None = None,
        model: Model | None = None,
        preferences: Preferences | None = None,
        cache_retention: Retention | None = None,
        release: str | None = None,
    ) -> Payload:
        """Rebuild the request body at a point, each part traced to its lines.

        Args:
            leaf: as for `context`.
            response: as for `context`.
            model: the model and its configuration; by default that of `Session.target` with the
                defaults of a model that is configured nowhere.
            preferences: the person's settings that a request hangs on; None: not known.
            cache_retention: `long` where the environment asked for it; None: not known.
            release: as for `context`.

        Raises:
            UnsupportedApiError: bodies of the model's API are not built here.
            UnknownReleaseError: no such release.
        """
        asking, where = self._asking, self._point(leaf, response, release)
        goal = model or assumed(asking.target(where))
        return asking.payload(where, asking.messages(where), goal, preferences, cache_retention)

    def requests(
        self,
        *,
        model_of: Callable[[Target], Model] | None = None,
        preferences: Preferences | None = None,
        cache_retention: Retention | None = None,
        release: str | None = None,
    ) -> Iterator[tuple[Entry, Payload | None]]:
        """Rebuild the requests of all replies in file order; None for an API not built here.

        What the bodies of two requests have in common, they share: do not change them in place.

        Args:
            model_of: gives a model with its configuration; by default the defaults are assumed.
            preferences: as for `request`.
            cache_retention: as for `request`.
            release: as for `context`.
        """
        from pi_sessions.context.payload.telling import Course  # noqa: PLC0415 - start-up

        asking, models, course = self._asking, model_of or assumed, Course()
        with self.table.remembering():
            for reply in self.responses:
                where = self._point(None, reply, release)
                asked = (where, asking.messages(where), models(asking.target(where)))
                try:
                    payload = asking.payload(*asked, preferences, cache_retention, course)
                except UnsupportedApiError:
                    yield reply, None
                else:
                    yield reply, payload

    def weigh(
        self,
        leaf: str | Entry | None = None,
        *,
        response: str | Entry | None = None,
        target: Target | None = None,
        release: str | None = None,
    ) -> Weighed:
        """Weigh the blocks of the request at a point, by the estimate Pi uses.

        Args:
            leaf: as for `context`.
            response: as for `context`.
            target: the model of the request; that of `Session.target` by default.
            release: as for `context`.
        """
        where = self._point(leaf, response, release)
        return self._asking.weighed(where, target or self._asking.target(where))

    def thinking_level(
        self, leaf: str | Entry | None = None, *, response: str | Entry | None = None
    ) -> str:
        """Give the level a request at a point is asked with."""
        return self._asking.level(self._point(leaf, response))

    def explain(
        self,
        leaf: str | Entry | None = None,
        *,
        response: str | Entry | None = None,
        stage: str = "replay",
        target: Target | Model | None = None,
        preferences: Preferences | None = None,
        release: str | None = None,
    ) -> Explanation:
        """Give every physical line its verdict and reason at a point.

        Args:
            leaf: as for `context`.
            response: as for `context`.
            stage: `replay` for the request, `projection` to stop at Pi's own context.
            target: the model of the request; that of `Session.target` by default. With a `Model`
                its configuration counts as well.
            preferences: the person's settings that a request hangs on.
            release: as for `context`.
        """
        if stage not in ("projection", "replay"):
            raise ValueError(f"no verdicts for the stage {stage!r}; there are projection, replay")
        where = self._point(leaf, response, release)
        return self._asking.explanation(where, stage, target, preferences)

    def asked(
        self,
        response: str | Entry,
        *,
        model: Model | None = None,
        preferences: Preferences | None = None,
        release: str | None = None,
    ) -> Asked:
        """Rebuild all there is about the request of a reply, to compare it with another one.

        Two of them go into `pi_sessions.context.difference.differ`.

        Args:
            response: an assistant entry.
            model: as for `request`.
            preferences: as for `request`.
            release: as for `context`.

        Raises:
            UnsupportedApiError: bodies of the model's API are not built here.
        """
        where = self._point(None, response, release)
        return self._asking.asked(where, model or assumed(self._asking.target(where)), preferences)

    def visibility(
        self,
        *,
        target: Target | None = None,
        model_of: Callable[[Target], Model] | None = None,
        preferences: Preferences | None = None,
        release: str | None = None,
    ) -> Visibility:
        """Say for every entry which replies had it in front of them, in one sweep over the tree.

        Args:
            target: the model all replies are taken to be of; by default each is its own.
            model_of: gives a model with its configuration; by default the defaults are assumed.
            preferences: the person's settings that a request hangs on.
            release: as for `context`.
        """
        from pi_sessions.context.fate import Fates  # noqa: PLC0415 - start-up
        from pi_sessions.context.visibility import Visibility  # noqa: PLC0415 - start-up

        models = model_of or assumed

        def explain(reply: int) -> Explanation:
            model = models(target or self.target(response=self.at(reply)))
            return self.explain(
                response=self.at(reply), target=model, preferences=preferences, release=release
            )

        rules = Rules.of(release) if release else CURRENT
        options = self._asking.options("off", preferences, rules=rules)
        fates = Fates(self.table, self.zone, models, options)
        return Visibility(
            self.table,
            lambda: self.tree,
            fates,
            explain,
            target,
            self.workers,
            None if release else self._writers.rules,
        )

    def look_for(
        self,
        pattern: str | re.Pattern[str],
        *,
        visibility: Visibility | None = None,
    ) -> Sightings:
        """Find the places of a text, and which replies had it in front of them.

        Args:
            pattern: the text itself, or a compiled regular expression.
            visibility: as `Session.visibility` gave it; by default made with its defaults.
        """
        from pi_sessions.context import sighting  # noqa: PLC0415 - start-up
        from pi_sessions.context.visibility import View  # noqa: PLC0415 - start-up
        from pi_sessions.needle import may_hold  # noqa: PLC0415 - start-up

        found = visibility or self.visibility()
        now = View(self.table.leaf, found.asked or self.target())
        if isinstance(pattern, str):
            lines: Iterable[int] = may_hold(self.table, pattern)
            pattern = re.compile(re.escape(pattern))
        else:
            lines = range(1, len(self.table) + 1)
        return sighting.look_for(pattern, lines, found, now)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was tolerated in lines, ids, parents and targets, in line order."""
        from pi_sessions import check  # noqa: PLC0415 - start-up

        return tuple(check.structure(self.table, self.tree))

    def check(self) -> tuple[Diagnostic, ...]:
        """Look into every entry and at the conversation of the leaf, and tell all defects."""
        from pi_sessions import check  # noqa: PLC0415 - start-up

        found = [*self.diagnostics, *check.contents(self.table), *check.leaf(self.table, self.tree)]
        found += self.conversation_diagnostics()
        return tuple(sorted(set(found), key=lambda item: (item.line, item.offset, item.code)))

    def conversation_diagnostics(
        self, leaf: str | Entry | None = None, *, response: str | Entry | None = None
    ) -> list[Diagnostic]:
        """Find calls and results that do not match in the context of a point."""
        from pi_sessions import check  # noqa: PLC0415 - start-up

        context = self.context(leaf, response=response, stage="llm")
        line = context.response.line if context.response else 0
        return check.conversation(self.table, context.parts, line)

    def ensure_strict(self) -> None:
        """Raise if anything had to be tolerated.

        Raises:
            UnsupportedVersionError: the version is newer than 3.
            FormatError: there are other defects; `diagnostics` has all of them.
        """
        found = [item for item in self.check() if item.code is not Code.MIGRATED]
        if any(item.code is Code.FUTURE_VERSION for item in found):
            raise UnsupportedVersionError(self.version, found)
        if found:
            raise FormatError(found)

    def __iter__(self) -> Iterator[Entry]:
        """Give the entries in file order."""
        return iter(self.entries)

    def __repr__(self) -> str:
        return f"<Session {self.id} of {len(self.table)} lines, {self.path!r}>"

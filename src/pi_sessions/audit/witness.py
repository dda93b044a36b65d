"""What a session can bear out: its texts, and which of them a reply had in front of it.

A text counts whether it came from the person, a tool, a shell, an extension or the prompt. What the
model said itself is no witness, nor is a file that it wrote and read again; a summary is one of a
lower rank, since a model wrote it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import calls as called
from pi_sessions.audit import writing
from pi_sessions.audit.wording import Wording
from pi_sessions.context.message import Reason
from pi_sessions.context.passage import Passage, Where, passages
from pi_sessions.context.sighting import Sight
from pi_sessions.context.visibility import View
from pi_sessions.excerpt import one_line
from pi_sessions.table import FIRST_OTHER, Kind

if TYPE_CHECKING:
    from pi_sessions.audit.calls import Call
    from pi_sessions.session import Session

_NOTHING = re.compile("(?!)")
_WITNESSES = frozenset(
    {
        Where.TEXT,
        Where.RESULT,
        Where.SHELL,
        Where.SUMMARY,
        Where.PROMPT,
        Where.SECTION,
        Where.REPLACEMENT,
    }
)


class Saying(msgspec.Struct, frozen=True, dict=True):
    """A text that a session holds and the model may have had in front of it."""

    passage: Passage
    is_output: bool
    """It came from a tool or a shell."""

    @property
    def line(self) -> int:
        """Line of the session."""
        return self.passage.line

    @property
    def is_summary(self) -> bool:
        """Say whether a model wrote it about what it stands for."""
        return self.passage.where is Where.SUMMARY

    @cached_property
    def wording(self) -> Wording:
        """Its words, to be compared with others."""
        return Wording(self.passage.text)


class Witness:
    """One session, and what the replies in it had."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.path = session.path

    @cached_property
    def calls(self) -> list[Call]:
        """All tool calls and runs."""
        return called.calls_of(self.session)

    @cached_property
    def sight(self) -> Sight:
        """Follows texts through the requests."""
        return Sight(_NOTHING, self.session.visibility())

    @cached_property
    def now(self) -> View:
        """The view of the next request, where no reply is known to have written the report."""
        return View(self.session.table.leaf, self.session.target())

    @cached_property
    def own_results(self) -> set[int]:
        """Lines of results that give back what the model itself wrote."""
        files = writing.own_files(self.calls)
        found = set()
        for call in self.calls:
            named = {call.path.rsplit("/", 1)[-1]} if call.path else set()
            if call.command:
                named = {
                    word.rsplit("/", 1)[-1] for word in re.findall(r"[^\s'\"|;&<>]+", call.command)
                }
                is_shown = re.match(r"\s*(?:cat|less|head|tail|sed|grep|nl|bat)\b", call.command)
                named = named if is_shown else set()
            if call.name in called.WRITING or named & files:
                found.add(call.result)
        return found

    @cached_property
    def sayings(self) -> list[Saying]:
        """All texts that can bear something out, in file order."""
        table, found = self.session.table, []
        for line, kind in enumerate(table.kinds):
            if (
                line == 0
                or kind >= FIRST_OTHER
                or kind == Kind.ASSISTANT
                or line in self.own_results
            ):
                continue
            is_output = kind in (Kind.TOOL_RESULT, Kind.BASH)
            found += [
                Saying(passage, is_output)
                for passage in passages(table, line)
                if passage.where in _WITNESSES
            ]
        return found

    def why_not(self, reply: int, passage: Passage) -> Reason | None:
        """Say why a reply did not have a text, None if it had; reply 0 is the next request."""
        if reply:
            return self.sight.why_not(reply, passage)
        if self.now.leaf not in self.sight.visibility.forest:
            return Reason.UNREACHABLE
        return self.sight.why_not_at(self.now, passage)

    def was_seen(self, passage: Passage, before: int = 0) -> bool:
        """Say whether a reply had a text; `before` leaves those from that line on out."""
        seen = self.sight.visibility
        order = seen.order
        replies = (
            order[n] for span in self.sight.spans(passage) for n in range(span.start, span.stop)
        )
        return any(not before or reply < before for reply in replies) or any(
            self.sight.why_not(reply, passage) is None
            for reply in seen.circular
            if not before or reply < before
        )

    def result_passages(self, line: int) -> list[Passage]:
        """Give the texts of a result or a run, as witnesses."""
        return [p for p in passages(self.session.table, line) if p.where in _WITNESSES]

    def words(self, line: int) -> str:
        """Give an excerpt of a line."""
        texts = [passage.text for passage in passages(self.session.table, line)]
        return one_line(texts[0] if texts else "")

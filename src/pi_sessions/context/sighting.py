"""Where a text stands in a file, and which replies had it in front of them.

Looked at is what the model was given: the decoded texts of the blocks of each request, after edits
and summaries, without the words that wrap them. A text may stand in several places; a reply had it
if it had one of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.message import Reason
from pi_sessions.context.passage import PROMPTS, Passage, Where, passages
from pi_sessions.context.projection import EDITABLE, entry_key, target_key
from pi_sessions.context.visibility import Span, joined, parted
from pi_sessions.table import Kind

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from pi_sessions.context.visibility import Asker, View, Visibility
    from pi_sessions.table import Table


class Standing(StrEnum):
    """What became of a text, over the whole file."""

    SEEN = "seen"
    """Replies had it, and the next request has it."""
    GONE = "seen-then-gone"
    """Replies had it, and the next request has it no longer."""
    ABANDONED = "abandoned"
    """Only replies on branches that were left had it."""
    NEXT = "next"
    """No reply had it yet; the next request has it."""
    NEVER = "never-seen"


class Match(msgspec.Struct, frozen=True):
    """A text that was looked for, in one place."""

    passage: Passage
    start: int
    """Where it begins in the passage's text, in characters."""
    stop: int
    standing: Standing
    reason: Reason | None
    """Why the next request has it not, None if it has."""
    spans: tuple[Span, ...]
    """The replies that had it, as runs of `Visibility.order`."""


class Sightings(msgspec.Struct, frozen=True):
    """All places of a text, and what each reply had of them."""

    matches: tuple[Match, ...]
    sight: Sight

    @property
    def spans(self) -> list[Span]:
        """The replies that had one of them, as runs of `Visibility.order`."""
        spans = sorted(
            (span for match in self.matches for span in match.spans), key=lambda span: span.start
        )
        return list(joined(spans))

    def replies(self) -> list[tuple[int, bool]]:
        """Give for each reply, in file order, whether it had one of them."""
        seen = self.sight.visibility
        if not self.matches:
            return [(reply, False) for reply in seen.replies]
        order = seen.order
        saw = {order[n] for span in self.spans for n in range(span.start, span.stop)}
        for reply in seen.circular:
            if any(self.why_not(reply, match) is None for match in self.matches):
                saw.add(reply)
        return [(n, n in saw) for n in seen.replies]

    def why_not(self, reply: int, match: Match) -> Reason | None:
        """Say why a reply did not have a match, None if it had."""
        return self.sight.why_not(reply, match.passage)


class Sight:
    """Follows passages that hold a text through the requests.

    Args:
        pattern: the text.
        visibility: which replies had which entries.
    """

    def __init__(self, pattern: re.Pattern[str], visibility: Visibility) -> None:
        self.pattern = pattern
        self.visibility = visibility
        self.table = visibility.table
        self._thought: dict[tuple[int, Asker], bool] = {}

    def spans(self, passage: Passage) -> list[Span]:
        """Give the replies that had a passage."""
        seen = self.visibility
        if passage.where is Where.STORED:
            return []
        if passage.where is Where.REPLACEMENT:
            spans = [span for target in self.acted_on(passage.line) for span in seen.spans(target)]
            return self.filtered(sorted(spans, key=lambda span: span.start), passage)
        spans = seen.spans(passage.line)
        if passage.where in PROMPTS:
            return self.filtered(spans, passage)
        asked, spans = parted(spans, seen.edited(passage.line))
        if passage.where is Where.THINKING:
            kept = {asker for asker in seen.askers if self.is_thought(passage.line, asker)}
            spans = spans if kept == seen.askers else seen.of_askers(spans, kept)
        if not asked:
            return spans
        spans = spans + self.filtered(asked, passage)
        return list(joined(sorted(spans, key=lambda span: span.start)))

    def filtered(self, spans: Iterable[Span], passage: Passage) -> list[Span]:
        """Leave the replies that are asked one by one and had the passage."""
        order = self.visibility.order
        places = (n for span in spans for n in range(span.start, span.stop))
        kept = (n for n in places if self.why_not(order[n], passage) is None)
        return list(joined(Span(n, n + 1) for n in kept))

    def acted_on(self, edit: int) -> Sequence[int]:
        """Give the entries whose content an edit replaces."""
        table, key = self.table, target_key(self.table.raw(edit))
        lines = [table.lines_by_id.get(key, 0)]
        if not lines[0]:
            # An edit without a target acts on what has no id.
            lines = [n for n in table.entries() if entry_key(table, n) == key]
        return [line for line in lines if self.is_editable(line)]

    def is_editable(self, line: int) -> bool:
        """Say whether an edit can replace the content of an entry."""
        is_custom = self.table.kinds[line] == Kind.CUSTOM_MESSAGE
        return is_custom or self.table.role_of(line) in EDITABLE

    def why_not(self, reply: int, passage: Passage) -> Reason | None:
        """Say why a reply did not have a passage, None if it had."""
        seen = self.visibility
        if reply in seen.forest:
            return self.why_not_at(seen.view(reply), passage)
        if seen.is_lost(reply):
            return Reason.UNREACHABLE
        explanation = seen.explained(reply)
        if passage.where is Where.REPLACEMENT:
            return None if explanation.edits.get(passage.line) else Reason.CONTEXT_EDIT
        reason = explanation.reason(passage.line)
        if reason is Reason.EDITED:
            return reason
        return seen.reason(reply, passage.line)

    def why_not_at(self, view: View, passage: Passage) -> Reason | None:
        """Say why a passage is not in front of a model, None if it is."""
        seen, line = self.visibility, passage.line
        if passage.where is Where.REPLACEMENT:
            return self.why_not_put(view, line)
        reason = seen.reason_at(view, line)
        if reason is not None:
            return reason
        if passage.where is Where.STORED:
            return Reason.BOOKKEEPING
        if seen.edit(line, view.leaf) and self.is_editable(line):
            return Reason.EDITED
        if passage.where is Where.THINKING:
            return None if self.is_thought(line, seen.asker(view)) else Reason.TRIMMED
        if passage.where in PROMPTS:
            told = seen.tells(view, passage)
            return None if told else Reason.SUPERSEDED
        return None

    def is_thought(self, line: int, asker: Asker) -> bool:
        """Say whether a model is told the text again where it stands in thinking."""
        key = (line, asker)
        if key not in self._thought:
            target, rules = asker
            texts = self.visibility.ruling.fates(rules).told_texts(line, target)
            self._thought[key] = any(self.pattern.search(text) for text in texts)
        return self._thought[key]

    def standing(self, passage: Passage, spans: Sequence[Span], now: View) -> Match:
        """Say what became of a passage."""
        seen = self.visibility
        reason = self.why_not_at(now, passage)
        had = bool(spans) or any(self.why_not(n, passage) is None for n in seen.circular)
        if reason is None:
            standing = Standing.SEEN if had else Standing.NEXT
        elif not had:
            standing = Standing.NEVER
        else:
            is_live = seen.forest.is_on_path(passage.line, now.leaf)
            standing = Standing.GONE if is_live else Standing.ABANDONED
        found = self.pattern.search(passage.text)
        assert found is not None, "a passage is one that the text was found in"
        return Match(passage, found.start(), found.end(), standing, reason, tuple(spans))

    def why_not_put(self, view: View, edit: int) -> Reason | None:
        """Say why what an edit puts in another's place is not in front of a model."""
        seen = self.visibility
        reasons = []
        for target in self.acted_on(edit):
            reason = seen.reason_at(view, target)
            if reason is None and seen.edit(target, view.leaf) == edit:
                return None
            reasons.append(reason)
        off_path = seen.reason_at(view, edit)
        if off_path is not Reason.CONTEXT_EDIT:
            return off_path
        return next((reason for reason in reasons if reason), Reason.CONTEXT_EDIT)


def look_for(
    pattern: re.Pattern[str], lines: Iterable[int], visibility: Visibility, now: View
) -> Sightings:
    """Look for a text.

    Args:
        pattern: the text.
        lines: the lines that may hold it.
        visibility: which replies had which entries.
        now: the view of the next request.
    """
    sight = Sight(pattern, visibility)
    found = (passage for line in lines for passage in _holding(visibility.table, line, pattern))
    matches = tuple(sight.standing(passage, sight.spans(passage), now) for passage in found)
    return Sightings(matches, sight)


def _holding(table: Table, line: int, pattern: re.Pattern[str]) -> Iterator[Passage]:
    """Give the passages of a line that hold a text, one of each kind.

    What is stored besides is told only where nothing else of the line holds it: details mostly
    repeat a result.
    """
    held: set[tuple[Where, str]] = set()
    for passage in passages(table, line):
        key = (passage.where, passage.name)
        if key in held or (held and passage.where is Where.STORED):
            continue
        if pattern.search(passage.text):
            held.add(key)
            yield passage

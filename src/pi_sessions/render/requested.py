"""Which replies had which lines, in few numbers: what a file tells of every request on demand.

The requests of a session overlap nearly wholly, so none is written out. The replies are put in the
order of the tree, where those that had a line stand side by side; each line has its runs of them.
From these the script of an exported file puts together the request of any reply, the state of every
line for it, and what came in and went out since the reply before.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.render.states import WHY
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.visibility import Span, Visibility

    Lines = tuple[int, ...]

HAD = 0
"""Code of a run of replies that had a line; below it the reason why it went otherwise than stored,
above it the reason why they had it not; the number of a reason is its place, from 1."""
_PROMPT, _SUMMARY = 1, 2
_KINDS = {Kind.SYSTEM: _PROMPT, Kind.COMPACTION: _SUMMARY}
_EDITED = -REASONS.index(Reason.EDITED) - 1
_RUN = re.compile(b"\x01+")
_SAID = 160
"""Characters that are told of what stands in no line."""
_MOST = 12
"""Points that are explained for how lines went, where not all are."""
_SMALL = 20_000
"""Replies times lines up to which every reply is explained."""


class Requested:
    """The runs of a session's lines.

    Args:
        seen: which replies had which entries.
        explain: gives the verdicts at a reply.
    """

    def __init__(self, seen: Visibility, explain: Callable[[int], Explanation]) -> None:
        self.seen = seen
        self.places = {line: place for place, line in enumerate(seen.order)}
        """Where a reply stands in the order of the tree, by its line."""
        self._explain = explain
        self._ways: dict[int, int] | None = None
        self._made: dict[tuple[str, Lines, Lines], list[int]] = {}
        self._spans: dict[int, list[Span]] = {}

    def spans(self, line: int) -> list[Span]:
        """Give the runs of replies that had a line."""
        if line not in self._spans:
            self._spans[line] = self.seen.spans(line)
        return self._spans[line]

    def replies(self) -> list[list[int]]:
        """Give for each reply in the order of the tree its line, its branch, and the one before.

        A branch is told by the number of its leaf and the highest number below; -1: none before.
        """
        seen, places = self.seen, self.places
        enter, leave, above = seen.forest.enter, seen.forest.leave, seen.forest.above
        before: dict[int, int] = {0: -1}
        """Place of the nearest reply above each line."""
        for line in sorted((n for n in seen.table.entries() if enter[n]), key=lambda n: enter[n]):
            up = above[line]
            before[line] = places.get(up, before[up])
        leaves = ((line, seen.view(line).leaf) for line in seen.order)
        return [[line, enter[leaf], leave[leaf], before[line]] for line, leaf in leaves]

    def lines(self, lines: Iterable[int]) -> Iterator[list[int]]:
        """Give the runs of some lines: line, number, kind, how it went, first place, then runs.

        A run is the place behind its last reply, and its code. Lines in no tree are left out: what
        became of them is the same for all replies.
        """
        forest, shadowed = self.seen.forest, self.seen.table.shadowed
        for line in lines:
            if line not in forest or line in shadowed:
                continue
            kind = _KINDS.get(Kind(self.seen.table.kinds[line]), 0)
            below = self.seen.below(line)
            row = [line, forest.enter[line], kind, self.ways.get(line, 0), below.start]
            for end, code in self._runs(line, below):
                row += end, code
            yield row

    def _runs(self, line: int, below: Span) -> Iterator[tuple[int, int]]:
        place = below.start
        for span in self.spans(line):
            if place < span.start:
                yield from self._without(line, place, span.start)
            yield from self._with(line, span)
            place = span.stop
        if place < below.stop:
            yield from self._without(line, place, below.stop)

    def _with(self, line: int, span: Span) -> Iterator[tuple[int, int]]:
        """Tell how a line went to replies that had it."""
        places, changed = range(span.start, span.stop), self._changed
        if changed is not None:
            yield from _ends(span.start, [changed[place].get(line, HAD) for place in places])
        elif self.seen.is_edited(line):
            leaves = (self.seen.view(self.seen.order[place]).leaf for place in places)
            codes = [_EDITED if self.seen.edit(line, leaf) else HAD for leaf in leaves]
            yield from _ends(span.start, codes)
        else:
            yield span.stop, HAD

    @cached_property
    def _changed(self) -> list[dict[int, int]] | None:
        """Codes of the lines that went to each reply otherwise than stored; None: too many."""
        table, order = self.seen.table, self.seen.order
        if len(order) * len(table) > _SMALL:
            return None
        found: list[dict[int, int]] = []
        for place, reply in enumerate(order):
            explanation = self._explain(reply)
            for part in explanation.synthetic:
                key = part.text[:_SAID], part.because, ()
                self._made.setdefault(key, []).append(place)
            found.append(
                {
                    line: -number - 1
                    for line, number in enumerate(explanation.reasons)
                    if REASONS[number].verdict is Verdict.CHANGED
                }
            )
        return found

    def _without(self, line: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Tell why replies that have a line on their way did not have it."""
        first, last = self._why(start, line), self._why(stop - 1, line)
        if first == last:
            yield stop, first
        else:
            yield from _ends(start, [self._why(place, line) for place in range(start, stop)])

    def _why(self, place: int, line: int) -> int:
        reason = self.seen.reason(self.seen.order[place], line)
        return REASONS.index(reason) + 1 if reason else HAD

    @property
    def ways(self) -> dict[int, int]:
        """How lines went that did not go as they are stored, at the last reply that had them.

        Nothing where every reply was explained: the codes of the runs tell it.
        """
        if self._ways is None:
            self._ways = {}
            last: dict[int, list[int]] = {}
            if self._changed is not None:
                return self._ways
            for line in self.seen.table.entries():
                if spans := self.spans(line):
                    last.setdefault(spans[-1].stop - 1, []).append(line)
            for place, lines in sorted(last.items(), key=lambda row: (-len(row[1]), row[0]))[
                :_MOST
            ]:
                explanation = self._explain(self.seen.order[place])
                self._learn(explanation)
                for line in lines:
                    reason = explanation.reason(line)
                    if reason.verdict is Verdict.CHANGED and reason is not Reason.EDITED:
                        self._ways[line] = REASONS.index(reason) + 1
        return self._ways

    def _learn(self, explanation: Explanation) -> None:
        """Take over what stands in no line at a point."""
        leaf = self.seen.forest.enter[explanation.point.leaf]
        for part in explanation.synthetic:
            unless = self._unless(explanation, part.because) if explanation.edits else ()
            key = part.text[:_SAID], part.because, unless
            self._made.setdefault(key, []).append(leaf)

    def _unless(self, explanation: Explanation, because: Lines) -> Lines:
        """Give the results that were taken out of later requests: those before had them."""
        table, found = self.seen.table, []
        calls = {
            block.get("id")
            for line in because
            if table.kinds[line] == Kind.ASSISTANT
            for block in _blocks(table.raw(line)["message"])
            if isinstance(block, dict) and isinstance(block.get("id"), str)
        }
        for line in table.of_kind(Kind.TOOL_RESULT):
            if calls and explanation.reason(line) is Reason.OMITTED:
                named = table.raw(line)["message"].get("toolCallId")
                if isinstance(named, str) and named in calls:
                    found.append(line)
        return tuple(found)

    def made(self) -> dict[str, Any]:
        """Give what stands in no line: its text, its lines, the replies, what speaks against it.

        Where every reply was explained (`exact`) the replies are named by their places. Else by
        the leaves it was found at: it is told of each reply on the way to one of these that had
        all of the lines, and none of those that speak against it.
        """
        is_exact = self.ways is not None and self._changed is not None
        rows = [[key[0], [*key[1]], found, [*key[2]]] for key, found in self._made.items()]
        return {"exact": is_exact, "rows": sorted(rows, key=lambda row: (row[1], row[0]))}


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _ends(start: int, codes: list[int]) -> Iterator[tuple[int, int]]:
    for place, code in enumerate(codes):
        if place + 1 == len(codes) or codes[place + 1] != code:
            yield start + place + 1, code


def reasons() -> list[str]:
    """Give the words for each code of a run, from 1 on."""
    return [WHY[reason] for reason in REASONS]


class Had(msgspec.Struct, frozen=True):
    """The lines that one reply had."""

    count: int
    runs: tuple[tuple[int, int], ...]
    """The first of the runs of neighbouring lines they are, each by its first and last."""
    last: int
    """The last line."""


def had(rows: Iterable[list[int]], replies: int, size: int, most: int) -> Iterator[Had]:
    """Tell which lines each reply had, in the order of the tree.

    Args:
        rows: the runs of the lines.
        replies: how many there are.
        size: lines of the file.
        most: runs that are told of each.
    """
    steps: dict[int, list[int]] = {}
    for row in rows:
        place = row[4]
        for end, code in zip(row[5::2], row[6::2], strict=True):
            if code <= HAD:
                steps.setdefault(place, []).append(row[0])
                steps.setdefault(end, []).append(-row[0])
            place = end
    flags, count = bytearray(size + 1), 0
    for place in range(replies):
        changes = sorted(steps.get(place, ()))
        for line in changes:
            flags[abs(line)] = line > 0
        count += sum(1 if line > 0 else -1 for line in changes)
        runs = tuple((m.start(), m.end() - 1) for m in islice(_RUN.finditer(flags), most))
        yield Had(count, runs, max(0, flags.rfind(1)))


def lines_had(rows: Iterable[list[int]], place: int) -> list[int]:
    """Give the lines that the reply at a place had, as the script of the file works it out."""
    found = ((row[0], code_at(row, place)) for row in rows)
    return [line for line, code in found if code is not None and code <= HAD]


def code_at(row: list[int], place: int) -> int | None:
    """Give the code of a line for the reply at a place; None: it is not on the reply's way."""
    if place < row[4]:
        return None
    ends: Any = zip(row[5::2], row[6::2], strict=True)
    return next((code for end, code in ends if place < end), None)


def made_for(
    made: dict[str, Any], had: Container[int], place: int, reply: list[int]
) -> list[list[Any]]:
    """Give what stands in no line of a reply's request, as the script of the file works it out."""
    if made["exact"]:
        return [row for row in made["rows"] if place in row[2]]
    return [
        row
        for row in made["rows"]
        if all(line in had for line in row[1])
        and not any(line in had for line in row[3])
        and any(reply[1] <= n <= reply[2] for n in row[2])
    ]

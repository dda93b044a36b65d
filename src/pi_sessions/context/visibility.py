"""Which replies had which entries in front of them: one sweep, then any answer at once.

The contexts of all replies of a file overlap nearly wholly, so none is built here. A reply has an
entry if the entry is on the way to the reply's leaf and not before what the newest compaction there
keeps; edits and the entry's own fate take some away again. Replies are put in the order of the
tree, in which those that have an entry stand side by side: an answer is a few runs of that order.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.explain import BY_KIND
from pi_sessions.context.fate import Fates, Link
from pi_sessions.context.forest import Forest, Minima, between
from pi_sessions.context.glimpse import glimpse
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.context.point import leaf_behind, time_of
from pi_sessions.context.projection import TELLING, entry_key, target_key
from pi_sessions.context.target import Target
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.tree import Tree


class Span(msgspec.Struct, frozen=True):
    """Replies that stand side by side in the order of the tree, by their places in it."""

    start: int
    stop: int
    """The place behind the last."""


class Visibility:
    """For every entry the replies that had it, and for the others why not.

    Args:
        table: the lines.
        tree: roots and children.
        fates: what becomes of single entries.
        explain: gives the verdicts at one reply; asked for replies that are in no tree.
        target: the model all replies are taken to be of; by default each is its own.
    """

    def __init__(
        self,
        table: Table,
        tree: Tree,
        fates: Fates,
        explain: Callable[[int], Explanation],
        target: Target | None = None,
    ) -> None:
        self.table = table
        self.fates = fates
        self._explain = explain
        self._target = target
        self.forest = Forest(table, tree)
        self._explained: tuple[int, Explanation | None] = (0, None)
        self._times: dict[int, float] = {}
        self._chains: dict[tuple[int, Target], Mapping[int, Reason]] = {}
        replies = [n for n in table.of_kind(Kind.ASSISTANT) if n not in table.shadowed]
        self._targets: dict[int, Target] = {}
        self._named: tuple[object, ...] = ()
        self._last = Target("", "", "")
        self._leaves = {reply: self._look_at(reply) for reply in replies}
        enter = self.forest.enter
        self.order: Sequence[int] = sorted(
            (n for n in replies if n in self.forest), key=lambda n: (enter[self._leaves[n]], n)
        )
        """Lines of the replies in the order of the tree; those in no tree are not among them."""
        self.circular: Sequence[int] = [n for n in replies if n not in self.forest]
        """Lines of the replies that are in no tree."""
        self._starts = [enter[self._leaves[reply]] for reply in self.order]
        self._epochs: dict[int, list[int]] = {}
        """Places of the replies that have a compaction as the newest, by its line; 0: none."""
        for place, reply in enumerate(self.order):
            epoch = self.forest.compaction[self._leaves[reply]]
            self._epochs.setdefault(epoch, []).append(place)

    def _look_at(self, reply: int) -> int:
        """Read what is asked of a reply, all at one glance; gives the line of its leaf."""
        message = glimpse(self.table, reply).message
        assert message is not None, "a reply holds a message"
        self.fates.note_reply(reply, message)
        names = (message.api, message.provider, message.model)
        # A file has few models: one value each.
        if names != self._named:
            self._named, self._last = names, message.target
        self._targets[reply] = self._last
        return leaf_behind(self.table, reply, message.timestamp, self._time)

    def _time(self, line: int) -> float:
        if line not in self._times:
            self._times[line] = time_of(self.table, line, self.fates.zone)
        return self._times[line]

    @cached_property
    def _compactions(self) -> tuple[list[int], list[int], Minima]:
        """The compactions that replies have as the newest: numbers, lines, first kept depths."""
        enter, first = self.forest.enter, self.forest.first
        lines = sorted((line for line in self._epochs if line), key=lambda line: enter[line])
        return [enter[n] for n in lines], lines, Minima([first[n] for n in lines])

    @cached_property
    def _edits(self) -> dict[object, list[int]]:
        """Lines of the context edits by the id they act on, in the order of the tree."""
        found: dict[object, list[int]] = {}
        edits = [n for n in self.table.of_kind(Kind.CONTEXT_EDIT) if n in self.forest]
        for line in sorted(edits, key=lambda n: self.forest.enter[n]):
            found.setdefault(target_key(self.table.raw(line)), []).append(line)
        return found

    def target(self, reply: int) -> Target:
        """Give the model a reply is of."""
        return self._target or self._targets[reply]

    def spans(self, line: int) -> list[Span]:
        """Give the runs of replies in `order` that had an entry."""
        table = self.table
        kind = table.kinds[line]
        if kind not in TELLING or line not in self.forest or line in table.shadowed:
            return []
        spans = self._in_context(line)
        plain = None if kind == Kind.SYSTEM else self.fates.plain(line)
        if isinstance(plain, Reason):
            return []
        if plain is True or kind == Kind.SYSTEM or (self._edits and self._is_edited(line)):
            spans = [told for span in spans for told in self._judged(line, span)]
        return spans if len(spans) < 2 else list(_joined(spans))

    def _is_edited(self, line: int) -> bool:
        return entry_key(self.table, line) in self._edits

    def of(self, line: int) -> list[int]:
        """Give the lines of the replies that had an entry, in file order."""
        order = self.order
        found = [order[n] for span in self.spans(line) for n in range(span.start, span.stop)]
        found += [reply for reply in self.circular if self.reason(reply, line) is None]
        return sorted(found)

    def _judged(self, line: int, span: Span) -> Iterator[Span]:
        """Give what is left of a run once each reply is asked."""
        edits = self._in_force(line, span)
        for place in range(span.start, span.stop):
            if self._told(self.order[place], line, next(edits)) is None:
                yield Span(place, place + 1)

    def _in_context(self, line: int) -> list[Span]:
        """Give the runs of replies that have an entry among their context entries, in order."""
        forest, kind = self.forest, self.table.kinds[line]
        low, high = forest.enter[line], forest.leave[line]
        start, stop = between(self._starts, low, high)
        if start == stop:
            return []
        own = line if kind == Kind.COMPACTION else forest.compaction[line]
        spans = _runs(self._epochs.get(own, []), start, stop)
        if kind in (Kind.SYSTEM, Kind.COMPACTION):
            return spans
        numbers, lines, first = self._compactions
        keeping = first.at_most(forest.depth[line], *between(numbers, low + 1, high))
        if keeping:
            for place in keeping:
                spans += _runs(self._epochs[lines[place]], start, stop)
            spans.sort(key=lambda span: span.start)
        return spans

    def _in_force(self, line: int, span: Span) -> Iterator[int]:
        """Give for each reply of a run the edit in force for an entry, 0 for none."""
        edits = self._edits.get(entry_key(self.table, line), [])
        leave, enter = self.forest.leave, self.forest.enter
        above: list[int] = []
        waiting = iter([*edits, 0])
        coming = next(waiting)
        for place in range(span.start, span.stop):
            number = self._starts[place]
            while coming and enter[coming] <= number:
                above.append(coming)
                coming = next(waiting)
            while above and leave[above[-1]] < number:
                above.pop()
            yield self._valid(above[-1] if above else 0, self._leaves[self.order[place]])

    def _edit(self, line: int, leaf: int) -> int:
        """Give the edit in force for one entry at one leaf, 0 for none."""
        edits = self._edits.get(entry_key(self.table, line), ())
        above = [edit for edit in edits if self.forest.is_on_path(edit, leaf)]
        return self._valid(above[-1] if above else 0, leaf)

    def _valid(self, edit: int, leaf: int) -> int:
        """Leave out an edit that is itself before what the newest compaction keeps."""
        forest = self.forest
        return edit if edit and forest.depth[edit] >= forest.first_depth(leaf) else 0

    def _told(self, reply: int, line: int, edit: int) -> Reason | None:
        """Say why an entry of a reply's context is not told, None if it is."""
        if edit and self._omits(edit):
            return Reason.OMITTED
        target = self.target(reply)
        if self.table.kinds[line] != Kind.SYSTEM:
            return self.fates.reason(line, edit, target)
        return self._chained(self._leaves[reply], target).get(line)

    def _chained(self, leaf: int, target: Target) -> Mapping[int, Reason]:
        """Say of each system message in the context of a leaf why it is not told."""
        if self._edits:
            return self.fates.chain(self._links(leaf), target)
        # Without edits all leaves behind one system message have the same chain.
        key = (self.forest.prompt[leaf], target)
        if key not in self._chains:
            self._chains[key] = self.fates.chain(self._links(leaf), target)
        return self._chains[key]

    def _links(self, leaf: int) -> list[Link]:
        """Give the system messages in the context of a leaf, and what stands before each."""
        forest, kinds = self.forest, self.table.kinds
        links: list[Link] = []
        end, summary = forest.first_depth(leaf) - 1, 0
        for line in self._chain(leaf):
            if self._is_omitted(line, leaf):
                continue
            if kinds[line] == Kind.COMPACTION:
                # Its checkpoint comes first of all, then its summary, then what it keeps.
                links.append(Link(line))
                summary = line
            elif summary:
                links.append(Link(line, speaker=summary))
                summary = 0
            else:
                links.append(self._link(line, end, leaf))
            end = forest.depth[line]
        return links

    def _chain(self, leaf: int) -> list[int]:
        """Give the newest compaction of a leaf and the system messages after it, in order."""
        prompt, above = self.forest.prompt, self.forest.above
        chain: list[int] = []
        line = prompt[leaf]
        while line:
            chain.append(line)
            if self.table.kinds[line] == Kind.COMPACTION:
                break
            line = prompt[above[line]]
        return chain[::-1]

    def _link(self, line: int, end: int, leaf: int) -> Link:
        """Find what stands between a system message and the one before it, at depth `end`."""
        failed = 0
        for above in self.forest.upwards(line, end):
            kind = self.table.kinds[above]
            if kind not in TELLING or kind in (Kind.SYSTEM, Kind.COMPACTION):
                continue
            if self._is_omitted(above, leaf):
                continue
            is_left = self.fates.is_left(above)
            if is_left:
                return Link(line, speaker=above)
            if is_left is None:
                failed = above
        return Link(line, failed=failed)

    def _is_omitted(self, line: int, leaf: int) -> bool:
        edit = self._edit(line, leaf)
        return bool(edit) and self._omits(edit)

    def _omits(self, edit: int) -> bool:
        return self.table.raw(edit).get("replacement", {}) is None

    def reason(self, reply: int, line: int) -> Reason | None:
        """Say why a reply did not have a line in front of it, as `explain` does; None if it had."""
        table, forest = self.table, self.forest
        kind = table.kinds[line]
        if kind >= FIRST_OTHER:
            return BY_KIND[kind]
        if line in table.shadowed:
            return Reason.SHADOWED
        if reply not in forest:
            return self._reason_in_circle(reply, line)
        leaf = self._leaves[reply]
        if not forest.is_on_path(line, leaf):
            return self._reason_off_path(line, leaf)
        if kind in BY_KIND:
            return BY_KIND[kind]
        compaction = forest.compaction[leaf]
        if line != compaction:
            if kind == Kind.COMPACTION:
                return Reason.OLDER_COMPACTION
            is_before = forest.depth[line] < forest.depth[compaction]
            if kind == Kind.SYSTEM and is_before:
                return Reason.CHECKPOINTED
            if forest.depth[line] < forest.first_depth(leaf):
                return Reason.SUMMARISED
        return self._told(reply, line, self._edit(line, leaf))

    def _reason_off_path(self, line: int, leaf: int) -> Reason:
        forest = self.forest
        if leaf and line in forest and forest.is_on_path(leaf, line):
            return Reason.LATER
        if line not in forest:
            return Reason.UNREACHABLE
        if leaf and forest.root[line] == forest.root[leaf]:
            return Reason.OTHER_BRANCH
        if forest.is_cut(line) or (leaf and forest.is_cut(leaf)):
            return Reason.UNREACHABLE
        return Reason.OTHER_BRANCH if leaf else Reason.LATER

    def _reason_in_circle(self, reply: int, line: int) -> Reason | None:
        if self._explained[0] != reply:
            self._explained = reply, self._explain(reply)
        explanation = self._explained[1]
        assert explanation is not None, "a reply was explained"
        reason = explanation.reason(line)
        return reason if reason.verdict is Verdict.NOT_SENT else None


def _runs(places: Sequence[int], start: int, stop: int) -> list[Span]:
    """Give the runs of neighbours among sorted places, from start up to stop."""
    first, last = between(places, start, stop - 1)
    runs: list[Span] = []
    while first < last:
        # A branch is mostly of one piece: look whether the rest is before counting along.
        if places[last - 1] - places[first] == last - 1 - first:
            runs.append(Span(places[first], places[last - 1] + 1))
            break
        end = first + 1
        while places[end] == places[end - 1] + 1:
            end += 1
        runs.append(Span(places[first], places[end - 1] + 1))
        first = end
    return runs


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Join runs that touch."""
    open_span: Span | None = None
    for span in spans:
        if open_span and open_span.stop == span.start:
            open_span = Span(open_span.start, span.stop)
            continue
        if open_span:
            yield open_span
        open_span = span
    if open_span:
        yield open_span

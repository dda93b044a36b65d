"""Which replies had which entries in front of them: one sweep, then any answer at once.

The contexts of all replies of a file overlap nearly wholly, so none is built here. A reply has an
entry if the entry is on the way to the reply's leaf and not before what the newest compaction there
keeps; edits and the entry's own fate take some away again. Replies are put in the order of the
tree, in which those that have an entry stand side by side: an answer is a few runs of that order.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.explain import BY_KIND
from pi_sessions.context.fate import Fates, Link
from pi_sessions.context.forest import Forest, Minima, between
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.context.projection import TELLING, entry_key, target_key
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.context.ruling import Ruling
from pi_sessions.context.survey import Survey, replies_of, survey
from pi_sessions.context.target import Target
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.passage import Passage
    from pi_sessions.tree import Tree


class Span(msgspec.Struct, frozen=True):
    """Replies that stand side by side in the order of the tree, by their places in it."""

    start: int
    stop: int
    """The place behind the last."""


Asker = tuple[Target, Rules]
_CIRCULAR = 200_000
"""Replies on rings times lines of the file up to which each of them is explained."""
_FEW = 8
"""Askers that are asked about an entry before each reply is."""


class View(msgspec.Struct, frozen=True):
    """From where a model looks: the leaf of its request, and the model."""

    leaf: int
    target: Target
    reply: int = 0
    """The reply that came of it, by whose rules it was asked; 0 for a request of today."""


class Visibility:
    """For every entry the replies that had it, and for the others why not.

    Args:
        table: the lines.
        tree: gives roots and children; the sweep is made when the first answer is asked for.
        fates: what becomes of single entries.
        explain: gives the verdicts at one reply; asked for replies that are in no tree.
        target: the model all replies are taken to be of; by default each is its own.
        workers: processes that may read a large file.
        rules_of: gives the rules by which a reply was asked; by default those of `fates`. It is
            asked only about replies whose answer may hang on them.
    """

    def __init__(
        self,
        table: Table,
        tree: Callable[[], Tree],
        fates: Fates,
        explain: Callable[[int], Explanation],
        target: Target | None = None,
        workers: int = 1,
        rules_of: Callable[[int], Rules] | None = None,
    ) -> None:
        self.table = table
        self.fates = fates
        self.ruling = Ruling(table, fates, rules_of)
        self.asked = target
        """The model that all replies are taken to be of, if there is one."""
        self._tree = tree
        self._explain = explain
        self._workers = workers
        self._explained: Explanation | None = None
        self._tells: dict[tuple[object, ...], bool] = {}
        self._chains: dict[tuple[int, Target], Mapping[int, Reason]] = {}

    @cached_property
    def replies(self) -> Sequence[int]:
        """Lines of all replies, in file order."""
        return replies_of(self.table)

    @cached_property
    def forest(self) -> Forest:
        """The entries' trees."""
        return Forest(self.table, self._tree(), self.ruling.keeps_all)

    @cached_property
    def _survey(self) -> Survey:
        found = survey(self.table, self.fates.zone, self._workers)
        self.ruling.learn(found.plain)
        return found

    @cached_property
    def order(self) -> Sequence[int]:
        """Lines of the replies in the order of the tree; those in no tree are not among them."""
        enter, leaves = self.forest.enter, self._survey.leaves
        placed = (n for n in self.replies if n in self.forest)
        return sorted(placed, key=lambda n: (enter[leaves[n]], n))

    @cached_property
    def circular(self) -> Sequence[int]:
        """Lines of the replies that are in no tree and are explained one by one."""
        found = [n for n in self.replies if n not in self.forest]
        return found if len(found) * len(self.table) <= _CIRCULAR else []

    def is_lost(self, reply: int) -> bool:
        """Say whether a reply is on a ring of parents too large to explain each reply on it.

        No release can have written it: Pi never ends on a ring. It is told to have had nothing.
        """
        return reply not in self.forest and not self.circular

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The numbers of the leaves of the replies in `order`."""
        enter, leaves = self.forest.enter, self._survey.leaves
        return [enter[leaves[reply]] for reply in self.order]

    @cached_property
    def _before(self) -> array[int]:
        """How many replies have a leaf with a lower number, by number."""
        return _counted(self._starts, len(self.table.parents) + 1)

    @cached_property
    def _epochs(self) -> dict[int, list[int]]:
        """Places of the replies that have a compaction as the newest, by its line; 0: none."""
        found: dict[int, list[int]] = {}
        compaction, leaves = self.forest.compaction, self._survey.leaves
        for place, reply in enumerate(self.order):
            found.setdefault(compaction[leaves[reply]], []).append(place)
        return found

    @cached_property
    def _compactions(self) -> tuple[array[int], list[int], Minima]:
        """The compactions that replies have as the newest, in the order of the tree.

        How many have a lower number, by number; their lines; the depths of what they keep first.
        """
        enter, first = self.forest.enter, self.forest.first
        lines = sorted((line for line in self._epochs if line), key=lambda line: enter[line])
        count = _counted([enter[n] for n in lines], len(self.table.parents) + 1)
        return count, lines, Minima([first[n] for n in lines])

    @cached_property
    def _edits(self) -> dict[object, list[int]]:
        """Lines of the context edits by the id they act on, in the order of the tree."""
        found: dict[object, list[int]] = {}
        edits = [n for n in self.table.of_kind(Kind.CONTEXT_EDIT) if n in self.forest]
        for line in sorted(edits, key=lambda n: self.forest.enter[n]):
            found.setdefault(target_key(self.table.raw(line)), []).append(line)
        return found

    def view(self, reply: int) -> View:
        """Give the view of a reply that is in a tree."""
        target = self.asked or self._survey.targets[reply]
        return View(self._survey.leaves[reply], target, reply)

    def asker(self, view: View) -> Asker:
        """Give the model with its rules: two views of one asker are told the same of an entry."""
        return view.target, self._rules(view)

    def _rules(self, view: View) -> Rules:
        return self.ruling.rules(view.reply) if view.reply else CURRENT

    @cached_property
    def askers(self) -> set[Asker]:
        """The models that replies are of, each with the rules they were asked by."""
        return {self.asker(self.view(reply)) for reply in self.order}

    def of_askers(self, spans: Iterable[Span], askers: Container[Asker]) -> list[Span]:
        """Leave of some runs the replies of some models and rules."""
        places = (n for span in spans for n in range(span.start, span.stop))
        kept = (n for n in places if self.asker(self.view(self.order[n])) in askers)
        return list(joined(Span(n, n + 1) for n in kept))

    def spans(self, line: int) -> list[Span]:
        """Give the runs of replies in `order` that had an entry."""
        table = self.table
        kind = table.kinds[line]
        if kind not in TELLING or line not in self.forest or line in table.shadowed:
            return []
        spans = self._in_context(line)
        plain = None if kind == Kind.SYSTEM else self.ruling.plain(line)
        if isinstance(plain, Reason):
            return []
        if kind == Kind.SYSTEM or line in self.ruling.cut:
            asked, spans = spans, []
        else:
            asked, spans = parted(spans, self.edited(line))
        if plain is True and spans:
            found = self._alike(line)
            if found is None:
                asked, spans = asked + spans, []
            elif found is not Verdict.SENT:
                spans = []
        if asked:
            spans += [told for span in asked for told in self._judged(line, span)]
            spans.sort(key=lambda span: span.start)
        return spans if len(spans) < 2 else list(joined(spans))

    def _alike(self, line: int) -> Verdict | None:
        """Say what becomes of an entry without an edit where it is the same for all who ask."""
        if len(self.askers) > _FEW:
            return None
        found = {
            self.ruling.fates(rules).reason(line, 0, target) is None
            for target, rules in self.askers
        }
        if len(found) > 1:
            return None
        return Verdict.SENT if found.pop() else Verdict.NOT_SENT

    def is_edited(self, line: int) -> bool:
        """Say whether there is an edit of an entry, in force somewhere or nowhere."""
        return entry_key(self.table, line) in self._edits

    def edited(self, line: int) -> list[Span]:
        """Give the runs of replies in `order` that have an edit of an entry on their way."""
        if not self._edits:
            return []
        runs: list[Span] = []
        for edit in self._edits.get(entry_key(self.table, line), ()):
            below = self.below(edit)
            # In the order of the tree, an edit below another has a run inside the other's.
            if below.start < below.stop and not (runs and below.start < runs[-1].stop):
                runs.append(below)
        return runs

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
            if self._told(self.view(self.order[place]), line, next(edits)) is None:
                yield Span(place, place + 1)

    def below(self, line: int) -> Span:
        """Give the run of replies in `order` that have an entry of a tree on their way."""
        forest = self.forest
        return Span(self._before[forest.enter[line]], self._before[forest.leave[line] + 1])

    def _in_context(self, line: int) -> list[Span]:
        """Give the runs of replies that have an entry among their context entries, in order."""
        forest, kind = self.forest, self.table.kinds[line]
        low, high = forest.enter[line], forest.leave[line]
        start, stop = self._before[low], self._before[high + 1]
        if start == stop:
            return []
        own = line if kind == Kind.COMPACTION else forest.compaction[line]
        spans = _runs(self._epochs.get(own, []), start, stop)
        if kind in (Kind.SYSTEM, Kind.COMPACTION):
            return spans
        count, lines, first = self._compactions
        keeping = first.at_most(forest.depth[line], count[low + 1], count[high + 1])
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
            yield self._valid(above[-1] if above else 0, self._survey.leaves[self.order[place]])

    def edit(self, line: int, leaf: int) -> int:
        """Give the line of the edit in force for an entry at a leaf, 0 for none."""
        edits = self._edits.get(entry_key(self.table, line), ())
        above = [edit for edit in edits if self.forest.is_on_path(edit, leaf)]
        return self._valid(above[-1] if above else 0, leaf)

    def _valid(self, edit: int, leaf: int) -> int:
        """Leave out an edit that is itself before what the newest compaction keeps."""
        forest = self.forest
        return edit if edit and forest.depth[edit] >= forest.first_depth(leaf) else 0

    def _told(self, view: View, line: int, edit: int) -> Reason | None:
        """Say why an entry of a context is not told, None if it is."""
        if edit and self._omits(edit):
            return Reason.OMITTED
        if line in self.ruling.cut and self.ruling.forgets(self._rules(view), view.leaf, line):
            return Reason.OMITTED
        if self.table.kinds[line] == Kind.SYSTEM:
            return self._chained(view.leaf, view.target).get(line)
        if not edit and (plain := self.ruling.plain(line)) is not True:
            return plain if isinstance(plain, Reason) else None
        return self.ruling.fates(self._rules(view)).reason(line, edit, view.target)

    def _chained(self, leaf: int, target: Target) -> Mapping[int, Reason]:
        """Say of each system message in the context of a leaf why it is not told."""
        if self._edits:
            return self.fates.chain(self.links(leaf), target)
        # Without edits all leaves behind one system message have the same chain.
        key = (self.forest.prompt[leaf], target)
        if key not in self._chains:
            self._chains[key] = self.fates.chain(self.links(leaf), target)
        return self._chains[key]

    def tells(self, view: View, passage: Passage) -> bool:
        """Say whether a text of a system message is in the prompt, or in the tools, of a view."""
        links = self.links(view.leaf) if self._edits else ()
        key = (links or self.forest.prompt[view.leaf], view.target, passage)
        if key not in self._tells:
            links = links or self.links(view.leaf)
            self._tells[key] = self.fates.tells(links, view.target, passage)
        return self._tells[key]

    def links(self, leaf: int) -> tuple[Link, ...]:
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
        return tuple(links)

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
        edit = self.edit(line, leaf)
        return bool(edit) and self._omits(edit)

    def _omits(self, edit: int) -> bool:
        return self.table.raw(edit).get("replacement", {}) is None

    def reason(self, reply: int, line: int) -> Reason | None:
        """Say why a reply did not have a line in front of it, as `explain` does; None if it had."""
        if reply in self.forest:
            return self.reason_at(self.view(reply), line)
        if self.is_lost(reply):
            return Reason.UNREACHABLE
        reason = self.explained(reply).reason(line)
        return reason if reason.verdict is Verdict.NOT_SENT else None

    def explained(self, reply: int) -> Explanation:
        """Explain a reply that is in no tree; the last one is kept."""
        if self._explained is None or self._explained.point.response != reply:
            self._explained = self._explain(reply)
        return self._explained

    def reason_at(self, view: View, line: int) -> Reason | None:
        """Say why a line is not in front of a model, None if it is."""
        table, forest, leaf = self.table, self.forest, view.leaf
        kind = table.kinds[line]
        if kind >= FIRST_OTHER:
            return BY_KIND[kind]
        if line in table.shadowed:
            return Reason.SHADOWED
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
        return self._told(view, line, self.edit(line, leaf))

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


def _counted(numbers: Iterable[int], size: int) -> array[int]:
    """Give for each number up to a size how many of the given ones are lower."""
    counts = array("i", bytes(4 * (size + 1)))
    for number in numbers:
        counts[number + 1] += 1
    return array("i", accumulate(counts))


def _runs(places: Sequence[int], start: int, stop: int) -> list[Span]:
    """Give the runs of neighbours among sorted places, from start up to stop."""
    if places and places[-1] - places[0] == len(places) - 1:
        begin, end = max(places[0], start), min(places[-1] + 1, stop)
        return [Span(begin, end)] if begin < end else []
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


def parted(spans: Iterable[Span], by: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Part runs in what lies in other runs, which are in order and apart, and what does not."""
    inside: list[Span] = []
    outside: list[Span] = []
    for span in spans:
        start = span.start
        first = bisect_right(by, start, key=lambda other: other.stop)
        for other in islice(by, first, None):
            if other.start >= span.stop:
                break
            if start < other.start:
                outside.append(Span(start, other.start))
            inside.append(Span(max(start, other.start), min(span.stop, other.stop)))
            start = inside[-1].stop
        if start < span.stop:
            outside.append(Span(start, span.stop))
    return inside, outside


def joined(spans: Iterable[Span]) -> Iterator[Span]:
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

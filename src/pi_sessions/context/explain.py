"""One verdict and one reason for every physical line, at one point.

The order in which reasons are tried is part of the contract (docs/reasons.md). What became of the
messages themselves is told by their stages; this module places all other lines.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.message import Reason, Synthetic, Verdict
from pi_sessions.context.projection import target_key
from pi_sessions.table import FIRST_OTHER, NO_PARENT, Kind, Table
from pi_sessions.tree import is_cut

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_sessions.context.message import Dropped, Staged
    from pi_sessions.context.model import Model
    from pi_sessions.context.outcome import Outcome
    from pi_sessions.context.point import Point
    from pi_sessions.context.selection import Selection

REASONS = tuple(Reason)
_INDEX = {reason: number for number, reason in enumerate(REASONS)}

BY_KIND: dict[int, Reason] = {
    Kind.BLANK: Reason.BLANK,
    Kind.MALFORMED: Reason.MALFORMED,
    Kind.HEADER: Reason.HEADER,
    Kind.FALSY: Reason.NOT_AN_ENTRY,
    Kind.FOREIGN: Reason.NOT_AN_ENTRY,
    Kind.SECOND_HEADER: Reason.NOT_AN_ENTRY,
    Kind.UNUSUAL_TYPE: Reason.UNKNOWN_TYPE,
    Kind.MODEL_CHANGE: Reason.SETTING,
    Kind.THINKING_LEVEL_CHANGE: Reason.SETTING,
    Kind.CUSTOM: Reason.BOOKKEEPING,
    Kind.LABEL: Reason.BOOKKEEPING,
    Kind.SESSION_INFO: Reason.BOOKKEEPING,
    Kind.USAGE: Reason.BOOKKEEPING,
    Kind.CONTEXT_EDIT: Reason.CONTEXT_EDIT,
}
"""Reasons that a line has by its kind alone."""

_PLAIN = bytes(_INDEX[BY_KIND.get(kind, Reason.AS_STORED)] for kind in range(256))
"""The reason a line has by its kind alone, by kind: as stored for all that tells something."""
_TELLS = _INDEX[Reason.AS_STORED]


class Unknown(msgspec.Struct, frozen=True):
    """Something the file does not decide."""

    what: str
    why: str


class Explanation(msgspec.Struct, frozen=True, dict=True):
    """Why each line did or did not reach the model at a point."""

    table: Table
    point: Point
    reasons: bytearray
    """Index into REASONS for each line."""
    causes: Mapping[int, tuple[int, ...]]
    """The lines that explain a line's reason, where they are its own."""
    anchors: array[int]
    """One line that explains a line off the path: the branch point, or where its chain breaks."""
    edits: Mapping[int, bool]
    """Whether a context edit on the path is in force, by its line."""
    compaction: int
    """Line of the compaction in force, 0 if there is none."""
    synthetic: tuple[Synthetic, ...] = ()
    unknown: tuple[Unknown, ...] = msgspec.field(default=())

    def reason(self, line: int) -> Reason:
        """Give the reason of a line."""
        return REASONS[self.reasons[line]]

    def verdict(self, line: int) -> Verdict:
        """Give the verdict of a line."""
        return self.reason(line).verdict

    def because(self, line: int) -> tuple[int, ...]:
        """Give the lines that explain a line's reason; empty where it explains itself."""
        if line in self.causes:
            return self.causes[line]
        reason = self.reason(line)
        if reason in (Reason.SUMMARISED, Reason.CHECKPOINTED, Reason.OLDER_COMPACTION):
            return (self.compaction,)
        return (self.anchors[line],) if self.anchors[line] else ()

    @property
    def counts(self) -> dict[Verdict, int]:
        """Count the lines of each verdict."""
        counted = Counter(self.reasons[1:])
        totals = dict.fromkeys(Verdict, 0)
        for number, count in counted.items():
            totals[REASONS[number].verdict] += count
        return totals

    def completed(
        self, synthetic: tuple[Synthetic, ...], unknown: tuple[Unknown, ...]
    ) -> Explanation:
        """Add what stands in no line, and what the file does not decide."""
        return msgspec.structs.replace(self, synthetic=synthetic, unknown=unknown)


def undecided(staged: Staged, model: Model, *, assumed: bool) -> tuple[Unknown, ...]:
    """Name what the file does not decide about the verdicts of a request.

    Args:
        staged: the LLM messages.
        model: the model they go to.
        assumed: whether the model was taken from the file, and its configuration assumed.
    """
    from pi_sessions.context.payload.build import BUILDERS  # noqa: PLC0415 - start-up

    found = []
    if not model.api:
        name = "/".join(filter(None, (model.provider, model.id))) or "the model"
        found.append(Unknown("api", f"no reply in the file tells which API {name} speaks"))
    elif model.api not in BUILDERS:
        why = f"what {model.api} leaves out or tells in another way is not known here"
        found.append(Unknown("form", why))
    if not assumed:
        return tuple(found)
    if any(_has_images(message.value) for message in staged.messages):
        found.append(Unknown("images", "that the model takes pictures is assumed"))
    if sum(1 for message in staged.messages if message.role == "system") > 1:
        why = "taken as folded into one prompt; some models get later ones in their place"
        found.append(Unknown("system messages", why))
    return tuple(found)


def _has_images(value: dict[str, Any]) -> bool:
    content = value.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") == "image" for block in blocks)


def explain(
    table: Table,
    point: Point,
    selection: Selection,
    dropped: Sequence[Dropped],
    outcomes: Mapping[int, Outcome],
    placed: Placing | None = None,
) -> Explanation:
    """Give every line its verdict.

    Args:
        table: the lines.
        point: where the context was built.
        selection: the context entries of the point's path.
        dropped: what projection and conversion left out.
        outcomes: what became of the messages that went on, by line.
        placed: what `Placing` made of the same point, or of one with other rules.
    """
    placing = (placed or Placing.of(table, point)).copy()
    placing.on_path(selection, dropped, outcomes)
    edits = placing.context_edits(selection)
    return Explanation(
        table,
        point,
        placing.reasons,
        placing.causes,
        placing.anchors,
        edits,
        selection.compaction,
    )


class Placing:
    """Fills in the reasons: first by place in the tree, then by what the stages said."""

    @staticmethod
    def of(table: Table, point: Point) -> Placing:
        """Place what is not on the path of a point; that hangs on no rule."""
        placing = Placing(table, point)
        placing.off_path()
        return placing

    def copy(self) -> Placing:
        """Give one that goes on by itself."""
        other = Placing.__new__(Placing)
        other.table, other.point, other.on = self.table, self.point, self.on
        other.reasons, other.causes = self.reasons[:], dict(self.causes)
        other.anchors = self.anchors[:]
        return other

    def __init__(self, table: Table, point: Point) -> None:
        self.table = table
        self.point = point
        self.reasons = table.kinds.translate(_PLAIN)
        self.causes: dict[int, tuple[int, ...]] = {}
        self.anchors = array("i", bytes(4 * (len(table) + 1)))
        self.on = bytearray(len(table) + 1)
        for line in point.path:
            self.on[line] = 1

    def set(self, line: int, reason: Reason, because: tuple[int, ...] = ()) -> None:
        """Give a line its reason."""
        self.reasons[line] = _INDEX[reason]
        if because:
            self.causes[line] = because

    def off_path(self) -> None:
        """Place entries that are shadowed or off the path."""
        table, kinds, on = self.table, self.table.kinds, self.on
        off: list[int] = []
        line = 0
        while (line := on.find(0, line + 1)) > 0:
            if kinds[line] < FIRST_OTHER:
                if line in table.shadowed:
                    self.set(line, Reason.SHADOWED, (table.shadowed[line],))
                else:
                    off.append(line)
        parents, reasons, anchors = table.parents, self.reasons, self.anchors
        leaf, later, other = self.point.leaf, _INDEX[Reason.LATER], _INDEX[Reason.OTHER_BRANCH]
        for line in off:
            if reasons[line] in _PLACED:
                continue
            above = parents[line]
            # Nearly always the parent stands before it, and its place is known.
            if above > 0 and on[above]:
                reasons[line], anchors[line] = later if above == leaf else other, above
            elif above > 0 and reasons[above] in _PLACED:
                reasons[line], anchors[line] = reasons[above], anchors[above]
            else:
                self.place(line)

    def place(self, start: int) -> None:
        """Walk up from a line until the answer is known, and give it to all lines walked."""
        parents, path = self.table.parents, self.point.path
        trail = []
        seen = set()
        line = start
        while line > 0 and not self.on[line] and line not in seen and not self.known(line):
            trail.append(line)
            seen.add(line)
            line = parents[line]
        if line > 0 and self.on[line]:
            reason, anchor = (
                (Reason.LATER, line) if line == self.point.leaf else (Reason.OTHER_BRANCH, line)
            )
        elif line > 0 and self.known(line):
            reason, anchor = REASONS[self.reasons[line]], self.anchors[line]
        elif line != NO_PARENT:
            reason, anchor = Reason.UNREACHABLE, trail[-1]
        elif is_cut(self.table, list(path[:1])):
            reason, anchor = Reason.UNREACHABLE, path[0]
        elif not path:
            reason, anchor = Reason.LATER, 0
        else:
            reason, anchor = Reason.OTHER_BRANCH, 0
        for line in trail:
            if self.table.kinds[line] < FIRST_OTHER and line not in self.table.shadowed:
                self.reasons[line] = _INDEX[reason]
                self.anchors[line] = anchor

    def known(self, line: int) -> bool:
        """Say whether a line off the path has its reason already."""
        return self.reasons[line] in _PLACED

    def on_path(
        self,
        selection: Selection,
        dropped: Sequence[Dropped],
        outcomes: Mapping[int, Outcome],
    ) -> None:
        """Place the lines of the path."""
        kinds, reasons = self.table.kinds, self.reasons
        summarised, system = _INDEX[Reason.SUMMARISED], Kind.SYSTEM
        checkpointed = _INDEX[Reason.CHECKPOINTED]
        for line in selection.summarised:
            if reasons[line] == _TELLS:
                reasons[line] = checkpointed if kinds[line] == system else summarised
        for line in selection.checkpointed:
            reasons[line] = checkpointed
        for drop in dropped:
            if reasons[drop.line] == _TELLS:
                self.set(drop.line, drop.reason, drop.because)
        for line, outcome in outcomes.items():
            if reasons[line] == _TELLS:
                self.set(line, outcome.leading, outcome.because)
        if selection.compaction:
            for line in self.table.of_kind(Kind.COMPACTION):
                if self.on[line] and line != selection.compaction:
                    self.set(line, Reason.OLDER_COMPACTION)

    def context_edits(self, selection: Selection) -> dict[int, bool]:
        """Say of each edit on the path which line it acts on and whether it is in force."""
        table = self.table
        last: dict[object, int] = {}
        selected = {line for line in selection.entries if table.kinds[line] == Kind.CONTEXT_EDIT}
        place = {line: n for n, line in enumerate(self.point.path)} if selected else {}
        edits = [line for line in table.of_kind(Kind.CONTEXT_EDIT) if self.on[line]]
        targets = {}
        for line in sorted(edits, key=lambda line: place.get(line, 0)):
            targets[line] = target_key(table.raw(line))
            if line in selected:
                last[targets[line]] = line
        in_force: dict[int, bool] = {}
        acting = set(selection.entries) if targets else frozenset()
        for line, target in targets.items():
            target_line = table.lines_by_id.get(target, 0)
            wins = last.get(target) == line
            in_force[line] = wins and target_line in acting
            because = [target_line] if target_line else []
            if line not in selected:
                because.append(selection.compaction)
            elif not wins:
                because.append(last[target])
            self.set(line, Reason.CONTEXT_EDIT, tuple(because))
        return in_force


_PLACED = {_INDEX[reason] for reason in (Reason.LATER, Reason.OTHER_BRANCH, Reason.UNREACHABLE)}

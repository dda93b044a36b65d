"""What a repair would do to a file: lines rewritten, entries appended, and what nobody can mend."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import check, scan
from pi_sessions._lines import BytesSource
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.migrations import CURRENT
from pi_sessions.repair.broken import broken_lines
from pi_sessions.repair.catalogue import REMEDIES
from pi_sessions.repair.changes import Append, Change
from pi_sessions.repair.values import Guesses, other_values, relinked
from pi_sessions.session import Session
from pi_sessions.table import FIRST_TYPE, Kind, Table
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

NO_GUESSES = Guesses()
_ROUNDS = 4
"""How often what was appended is looked at again."""


class Plan(msgspec.Struct, frozen=True):
    """What is to be done."""

    changes: tuple[Change, ...]
    closes_tail: bool
    """Whether only a newline is missing at the end."""
    appends: tuple[Append, ...]
    left: tuple[Diagnostic, ...]
    """Defects that stay, those included that do no harm; lines are those of the mended file."""
    base: Table
    """The lines once broken ones are put together."""
    changed: Mapping[int, bytes]
    """Lines of `base` in which some values are others."""

    @property
    def rewrites(self) -> bool:
        """Whether the file has to be written anew."""
        return bool(self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.changes or self.appends or self.closes_tail)

    def lines(self) -> Iterator[bytes]:
        """Give the lines of the new file with their newlines; unchanged ones keep their bytes."""
        return _with(self.base, self.changed)


def plan(table: Table, zone: tzinfo, guesses: Guesses = NO_GUESSES) -> Plan:
    """Decide how a file is mended.

    Args:
        table: the lines.
        zone: zone of times without one.
        guesses: what is mended only where that is asked for.
    """
    changes = list(broken_lines(table))
    base, numbers = table, list(range(len(table) + 1))
    if changes:
        rows = list(_put_together(table, changes))
        base = _read(table, (data for _, data in rows))
        numbers = [0, *(number for number, _ in rows)]
    changed: dict[int, bytes] = {}
    current = base
    # Orphans are attached last, to entries that have their ids and parents by then.
    for find in (other_values, relinked):
        found = list(find(current, zone, guesses))
        for value in found:
            before = changed.get(value.line) or base.bytes(value.line)
            changed[value.line] = after = value.applied(before)
            changes.append(Change(value.code, numbers[value.line], value.what, (before,), (after,)))
        if found:
            current = _read(table, _with(base, changed))
    planned = Plan(tuple(changes), False, (), (), base, changed)
    session = Session(current, zone=zone)
    appends = _appends(session)
    acted = {(append.code, append.line) for append in appends}
    left = tuple(item for item in session.check() if (item.code, item.line) not in acted)
    closes = not changes and bool(len(table)) and not table.ends_with_newline
    if closes:
        left = tuple(item for item in left if item.code is not Code.TORN_TAIL)
    return msgspec.structs.replace(planned, closes_tail=closes, appends=appends, left=left)


def _with(base: Table, changed: Mapping[int, bytes]) -> Iterator[bytes]:
    for line, data in base.read(range(1, len(base) + 1)):
        yield changed.get(line, data) + b"\n"


def repairable(session: Session) -> int:
    """Count the defects of a session that a repair takes away, without any guess."""
    found = Counter(item.code for item in session.check())
    if not any(REMEDIES[code].is_mended for code in found):
        return 0
    left = Counter(item.code for item in plan(session.table, session.zone).left)
    return (found - left).total()


def _read(table: Table, lines: Iterable[bytes]) -> Table:
    """Read lines as the file they would make."""
    data = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    return scan.read(BytesSource(data, table.source.name))


def _put_together(table: Table, changes: Iterable[Change]) -> Iterator[tuple[int, bytes]]:
    """Give the lines after the changes, each with the number of the old line it came from."""
    starts = {change.line: change for change in changes}
    done = 0
    for line, data in table.read(range(1, len(table) + 1)):
        if change := starts.get(line):
            yield from ((line, after) for after in change.after)
            done = line + len(change.before) - 1
        elif line > done:
            yield line, data


def _appends(session: Session) -> tuple[Append, ...]:
    """Find what is mended by entries at the end, also what shows only when the first are there."""
    found = _wanted(session)
    if not found or not session.table.stored_version >= CURRENT:
        return ()
    numbers = count(1)
    data = b"".join(session.table.source.lines())
    writer = SessionWriter.from_bytes(
        data, force=True, clock=lambda: 0, random=lambda size: next(numbers).to_bytes(size, "big")
    )
    done = list(found)
    for _ in range(_ROUNDS):
        append_all(writer, found)
        known = {(append.code, append.target) for append in done}
        found = [each for each in _wanted(writer.session) if (each.code, each.target) not in known]
        if not found:
            break
        done += found
    return tuple(done)


def append_all(writer: SessionWriter, appends: Sequence[Append]) -> list[str]:
    """Append what was planned; give the ids of the entries."""
    ids = []
    for append in appends:
        if append.code is Code.ORPHAN_RESULT:
            ids.append(writer.append_context_edit(append.target, None))
        else:
            label = writer.session.labels.get(append.target)
            writer.branch_from(append.target)
            ids.append(writer.append_label(append.target, label))
    return ids


def _wanted(session: Session) -> list[Append]:
    """Find what an entry at the end would mend, as things are."""
    table = session.table
    what = "a context edit takes the result out: no reply has its call"
    edits = (
        Append(item.code, item.line, what, table.ids[item.line])
        for item in session.conversation_diagnostics()
        if item.code is Code.ORPHAN_RESULT and isinstance(table.ids[item.line], str)
    )
    return [*_leaf_moves(session), *edits]


def _leaf_moves(session: Session) -> Iterator[Append]:
    table = session.table
    last, leaf = len(table), table.leaf
    for item in check.leaf(table, session.tree):
        if item.code is Code.LEAF_ON_DEAD_BRANCH:
            spoken = max(n for n in table.entries() if table.kinds[n] < FIRST_TYPE)
            if isinstance(table.ids[spoken], str):
                told = f"a label entry moves the leaf to line {spoken}, the end of the conversation"
                yield Append(item.code, item.line, told, table.ids[spoken])
                return
    while last and not table.counts(last):
        last -= 1
    if table.kinds[last] == Kind.FOREIGN and table.ids[last] is None and leaf:
        told = f"a label entry makes line {leaf} the leaf again, which for Pi is no entry at all"
        if isinstance(table.ids[leaf], str):
            yield Append(Code.NOT_AN_ENTRY, last, told, table.ids[leaf])

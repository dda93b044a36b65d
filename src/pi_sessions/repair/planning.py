"""What a repair would do to a file: lines rewritten, entries appended, and what nobody can mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, scan
from pi_sessions._lines import BytesSource
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.migrations import derive_id
from pi_sessions.repair.catalogue import REMEDIES, Way
from pi_sessions.repair.salvage import join_spread, split_fused
from pi_sessions.session import Session
from pi_sessions.table import FIRST_TYPE, Kind, Table
from pi_sessions.tree import path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import tzinfo

_BOM = b"\xef\xbb\xbf"


class Change(msgspec.Struct, frozen=True):
    """Lines that others take the place of."""

    code: Code
    line: int
    """The first of them, in the file as it is."""
    what: str
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    """The new lines; none of them has a newline."""


class Append(msgspec.Struct, frozen=True):
    """An entry that mends by being appended."""

    code: Code
    line: int
    """The line it acts on."""
    what: str
    target: Any
    """Id of the entry it acts on."""


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
    relinked: Mapping[int, bytes]
    """Lines of `base` with another id or parent."""

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
        for line, data in self.base.read(range(1, len(self.base) + 1)):
            yield self.relinked.get(line, data) + b"\n"


def plan(table: Table, zone: tzinfo, *, relink: bool = False) -> Plan:
    """Decide how a file is mended.

    Args:
        table: the lines.
        zone: zone of times without one.
        relink: whether entries whose parent is missing are attached to the entry before them, which
            is a guess about what they belonged to.
    """
    changes = list(_broken_lines(table))
    base, numbers = table, list(range(len(table) + 1))
    if changes:
        rows = list(_put_together(table, changes))
        base = _read(table, (data for _, data in rows))
        numbers = [0, *(number for number, _ in rows)]
    relinked: dict[int, bytes] = {}
    for line, (code, what, keys) in _links(base, relink=relink).items():
        before, after = base.bytes(line), _with_keys(base, line, keys)
        relinked[line] = after
        changes.append(Change(code, numbers[line], what, (before,), (after,)))
    planned = Plan(tuple(changes), False, (), (), base, relinked)
    session = Session(_read(table, planned.lines()) if relinked else base, zone=zone)
    appends = tuple(_appends(session))
    acted = {(append.code, append.line) for append in appends}
    left = tuple(item for item in session.check() if (item.code, item.line) not in acted)
    closes = not changes and bool(len(table)) and not table.ends_with_newline
    return Plan(tuple(changes), closes, appends, left, base, relinked)


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


def _broken_lines(table: Table) -> Iterator[Change]:
    """Find lines that can be read once they are put together again."""
    header, done = table.header_line, 0
    if table.bytes(header).startswith(_BOM):
        data = table.bytes(header)
        what = "the byte order mark is taken away"
        yield Change(Code.BOM, header, what, (data,), (data.removeprefix(_BOM),))
    for line in table.of_kind(Kind.MALFORMED):
        if line <= done:
            continue
        data = table.bytes(line)
        if pieces := split_fused(data):
            what = "the entries that stand on one line are parted"
            yield Change(Code.FUSED_LINE, line, what, (data,), tuple(pieces))
        elif spread := join_spread(table, line):
            whole, done = spread
            what = f"lines {line} to {done} are one entry: raw newlines become escapes"
            before = tuple(table.bytes(n) for n in range(line, done + 1))
            yield Change(Code.MALFORMED_JSON, line, what, before, (whole,))


_Link = tuple[Code, str, dict[str, Any]]


def _links(table: Table, *, relink: bool) -> dict[int, _Link]:
    """Find ids and parents that are mended by another value: code, what, keys by line."""
    found: dict[int, _Link] = {}
    taken = set(table.lines_by_id)
    session_id = str(table.header.get("id", ""))
    for line, other in table.shadowed.items():
        if table.is_entry(line):
            new = derive_id(session_id, line, taken)
            taken.add(new)
            what = f"gets an id of its own: line {other} has the old one"
            found[line] = (Code.DUPLICATE_ID, what, {"id": new})
    here = path(table, table.leaf)
    for ring in Session(table).tree.cycles():
        # Where the walk from the leaf ends: what is sent stays the same.
        root = here[0] if here and here[0] in ring else ring[0]
        code = Code.SELF_PARENT if len(ring) == 1 else Code.CYCLE
        _join(found, root, (code, "becomes a root, as it is read already", {"parentId": None}))
    for line, parent in sorted(table.missing_parents.items()) if relink else ():
        if before := _entry_before(table, line):
            told = f"is attached to line {before}: its parent {_json.dumps(parent)[:60]} is gone"
            _join(found, line, (Code.ORPHAN, told, {"parentId": table.ids[before]}))
    return found


def _join(found: dict[int, _Link], line: int, link: _Link) -> None:
    code, what, keys = found.get(line, link)
    if line in found:
        what, keys = f"{what}; {link[1]}", {**keys, **link[2]}
    found[line] = (code, what, keys)


def _entry_before(table: Table, line: int) -> int:
    """Give the nearest entry before a line that is no descendant of it."""
    for before in range(line - 1, 0, -1):
        if (
            table.is_entry(before)
            and isinstance(table.ids[before], str)
            and before not in table.shadowed
            and line not in path(table, before)
        ):
            return before
    return 0


def _with_keys(table: Table, line: int, keys: dict[str, Any]) -> bytes:
    """Give the entry of a line with other values for some keys, at their places."""
    entry = _json.loads(table.bytes(line))
    return _json.encode({**entry, **keys})


def _appends(session: Session) -> Iterator[Append]:
    """Find what is mended by an entry at the end."""
    table = session.table
    for item in session.check():
        if REMEDIES[item.code].way is not Way.APPEND:
            continue
        if item.code is Code.LEAF_ON_DEAD_BRANCH:
            last = max(n for n in table.entries() if table.kinds[n] < FIRST_TYPE)
            what = f"a label entry moves the leaf to line {last}, where the conversation went on"
            yield Append(item.code, item.line, what, table.ids[last])
        elif isinstance(table.ids[item.line], str):
            what = "a context edit takes the result out: no reply has its call"
            yield Append(item.code, item.line, what, table.ids[item.line])

"""Values of entries that are mended by other ones: ids, parents, and what Pi fails without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions.check import lacks_usage
from pi_sessions.diagnostics import Code
from pi_sessions.migrations import derive_id
from pi_sessions.repair.keys import replaced, replaced_within
from pi_sessions.session import Session
from pi_sessions.table import Kind, Table, id_key
from pi_sessions.tree import path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

STAND_IN = "message-without-message"
"""Type of the custom entries that take the place of message entries without their message."""
_TOKENS = ("input", "output", "cacheRead", "cacheWrite")
_SHOWN = 60
"""Characters of a value that are told."""


class Guesses(msgspec.Struct, frozen=True):
    """What is mended only where that is asked for, since nobody knows what was there."""

    relink: bool = False
    """Entries whose parent is missing are attached to the entry before them."""
    usage: bool = False
    """Replies without usage get one that counts nothing."""


class OtherValues(msgspec.Struct, frozen=True):
    """Keys of a line that get other values."""

    code: Code
    line: int
    what: str
    keys: Mapping[str, Any]
    within: str = ""
    """The key whose object has them; "" for the entry itself."""

    def applied(self, data: bytes) -> bytes:
        """Give the line with them; all its other bytes stay."""
        if self.within:
            return replaced_within(data, self.within, self.keys)
        return replaced(data, self.keys)


def other_values(table: Table, zone: tzinfo, guesses: Guesses) -> list[OtherValues]:
    """Find the values that are mended by other ones, in line order."""
    found: dict[tuple[int, str], OtherValues] = {}
    for value in (
        *_new_ids(table),
        *_roots(table, zone),
        *_stand_ins(table),
        *(_usages(table) if guesses.usage else ()),
    ):
        place = (value.line, value.within)
        if known := found.get(place):
            what, keys = f"{known.what}; {value.what}", {**known.keys, **value.keys}
            value = msgspec.structs.replace(known, what=what, keys=keys)  # noqa: PLW2901
        found[place] = value
    return [found[place] for place in sorted(found)]


def _new_ids(table: Table) -> Iterator[OtherValues]:
    """Give entries whose id a later line has ids of their own; nothing else can mean them."""
    # Nor may an entry become the parent that others lack.
    taken = {*table.lines_by_id, *map(id_key, table.missing_parents.values())}
    session_id = str(table.header.get("id", ""))
    for line, other in table.shadowed.items():
        if table.is_entry(line):
            new = derive_id(session_id, line, taken)
            taken.add(new)
            what = f"gets an id of its own: line {other} has the old one"
            yield OtherValues(Code.DUPLICATE_ID, line, what, {"id": new})


def _roots(table: Table, zone: tzinfo) -> Iterator[OtherValues]:
    """End each circle where the walk from the leaf ends: what is sent stays the same."""
    here = path(table, table.leaf)
    for ring in Session(table, zone=zone).tree.cycles():
        root = here[0] if here and here[0] in ring else ring[0]
        code = Code.SELF_PARENT if len(ring) == 1 else Code.CYCLE
        yield OtherValues(code, root, "becomes a root, as it is read already", {"parentId": None})


def relinked(table: Table, _: tzinfo, guesses: Guesses) -> Iterator[OtherValues]:
    """Attach orphans to the nearest entry before them that does not descend from them."""
    parents = list(table.parents)
    for line, parent in sorted(table.missing_parents.items()) if guesses.relink else ():
        for before in range(line - 1, 0, -1):
            can_be = table.is_entry(before) and isinstance(table.ids[before], str)
            if can_be and before not in table.shadowed and not _descends(parents, before, line):
                parents[line] = before
                gone = _json.dumps(parent)[:_SHOWN]
                what = f"is attached to line {before}: its parent {gone} is gone"
                yield OtherValues(Code.ORPHAN, line, what, {"parentId": table.ids[before]})
                break


def _descends(parents: Sequence[int], line: int, ancestor: int) -> bool:
    for _ in range(len(parents)):
        if line <= 0:
            return False
        if line == ancestor:
            return True
        line = parents[line]
    return True


def _stand_ins(table: Table) -> Iterator[OtherValues]:
    """Make message entries without a message, on which Pi fails, entries that it leaves out."""
    for line in table.of_kind(Kind.FOREIGN):
        value = _json.loads(table.bytes(line))
        is_bare = isinstance(value, dict) and value.get("type") == "message"
        if is_bare and value.get("message") is None:
            what = "becomes a custom entry, which is in its place and not sent: it has no message"
            keys = {"type": "custom", "customType": STAND_IN}
            yield OtherValues(Code.MISSING_FIELD, line, what, keys)


def _usages(table: Table) -> Iterator[OtherValues]:
    """Complete usages with zeros."""
    for line in table.of_kind(Kind.ASSISTANT):
        message = table.raw(line)["message"]
        if lacks_usage(message):
            usage = message.get("usage")
            what = "what is missing of its usage is told as 0"
            keys = {"usage": _completed(usage if isinstance(usage, dict) else {})}
            yield OtherValues(Code.INCOMPLETE_USAGE, line, what, keys, "message")


def _completed(usage: dict[str, Any]) -> dict[str, Any]:
    tokens = {key: _number(usage.get(key)) for key in _TOKENS}
    cost = usage.get("cost")
    told = cost if isinstance(cost, dict) else {}
    costs = {key: _number(told.get(key)) for key in _TOKENS}
    whole = {
        **tokens,
        "totalTokens": _number(usage.get("totalTokens", sum(tokens.values()))),
        "cost": {**costs, "total": _number(told.get("total", sum(costs.values())))},
    }
    return {**usage, **whole}


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0

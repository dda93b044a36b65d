"""From a path to the context entries: the newest compaction, what it keeps, what follows.

Rules: docs/format.md, "Compaction". The order on the path counts, never a timestamp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.table import Kind, Table, id_key

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_BOUNDARY = ("missing",)
"""The key of a compaction that names no first kept entry."""


class Selection(msgspec.Struct, frozen=True):
    """The context entries of a path, and what became of the rest."""

    entries: tuple[int, ...]
    """Lines in the order they are told: the compaction first, if there is one."""
    compaction: int = 0
    """Line of the newest compaction on the path, 0 without one."""
    summarised: tuple[int, ...] = ()
    """Lines before the kept range."""
    checkpointed: tuple[int, ...] = ()
    """System messages of the kept range, which give way to the compaction's checkpoint."""
    kept: int = 0
    """Line of the first kept entry, 0 if nothing before the compaction is kept."""


def select(table: Table, path: Sequence[int], rules: Rules = CURRENT) -> Selection:
    """Choose the context entries of a path (root first), by the rules of a release."""
    kinds = table.kinds
    place = next(
        (n for n in range(len(path) - 1, -1, -1) if kinds[path[n]] == Kind.COMPACTION), None
    )
    if place is None:
        return Selection(tuple(path))
    compaction = path[place]
    # Entries of a path are the last of their id, so the id's line is the one to look for.
    key = first_kept_key(table, compaction)
    wanted = table.lines_by_id.get(key, 0)
    before = path[:place]
    first = before.index(wanted) if wanted in before else place
    if key is NO_BOUNDARY and rules.keeps_all_without_boundary:
        first = 0
    kept = path[first:place]
    checkpointed = tuple(line for line in kept if kinds[line] == Kind.SYSTEM)
    entries = (
        compaction,
        *(line for line in kept if kinds[line] != Kind.SYSTEM),
        *path[place + 1 :],
    )
    return Selection(
        entries,
        compaction,
        summarised=tuple(path[:first]),
        checkpointed=checkpointed,
        kept=path[first] if first < place else 0,
    )


def first_kept_key(table: Table, compaction: int) -> object:
    """Give the id of the first entry a compaction keeps, as `id_key` compares ids."""
    entry = table.raw(compaction)
    return id_key(entry["firstKeptEntryId"]) if "firstKeptEntryId" in entry else NO_BOUNDARY

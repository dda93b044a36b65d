"""What an entry or a session is given before it says anything: an id, a time, a place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import migrations, tree
from pi_sessions.entry import Entry
from pi_sessions.errors import EntryNotFoundError, VersionNotWritableError
from pi_sessions.session import Session
from pi_sessions.table import id_key
from pi_sessions.writer import ids, shapes
from pi_sessions.writer.shapes import Place

if TYPE_CHECKING:
    from pi_sessions.table import Table
    from pi_sessions.writer.ids import Clock, Random

_AT_ONCE = 64
"""Ids made of one draw of random bytes."""


class Places:
    """Makes places from a clock and a random source."""

    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random
        self.now = -1
        """Time of the last place, in milliseconds since 1970."""
        self._second = self._timestamp = ""
        self._spare: list[str] = []

    def after(self, table: Table, leaf: int) -> Place:
        """Make the place behind an entry, that of a root for leaf 0.

        Raises:
            EntryNotFoundError: the entry has no id, so nothing can follow it.
        """
        parent = table.ids[leaf] if leaf else None
        if parent is None and leaf:
            raise EntryNotFoundError(f"of line {leaf}")
        now = self._clock()
        if now != self.now:
            if now // 1000 != self.now // 1000:
                self._second = ids.iso(now)[:-4]
            self.now, self._timestamp = now, f"{self._second}{now % 1000:03d}Z"
        if not self._spare:
            digits = self._random(4 * _AT_ONCE).hex()
            self._spare = [digits[n : n + 8] for n in range(0, len(digits), 8)]
        made = self._spare.pop()
        if made in table.lines_by_id:
            made = ids.entry_id(table.lines_by_id, self._random)
        return Place(made, parent, self._timestamp)

    def more_ids(self, table: Table, first: str, count: int) -> list[str]:
        """Make ids for entries behind a first one, which has an id that is in no table yet."""
        digits = self._random(4 * count).hex()
        made = [digits[n : n + 8] for n in range(0, len(digits), 8)]
        known = table.lines_by_id
        if len({first, *made}) > count and known.keys().isdisjoint(made):
            return made
        used = {first, *known}
        for n in range(count):
            made[n] = ids.entry_id(used, self._random)
            used.add(made[n])
        return made


def new_header(
    cwd: str, session: str | None, parent_session: str | None, clock: Clock, random: Random
) -> dict[str, Any]:
    """Make the header of a new session.

    Raises:
        ValueError: Pi would not take the id.
    """
    now = clock()
    if session is None:
        session = ids.session_id(now, random)
    elif not ids.is_session_id(session):
        raise ValueError(
            f"{session!r} is no session id: letters, digits, '-', '_' and '.', with a letter or a "
            "digit at both ends"
        )
    return shapes.header(session, ids.iso(now), os.fspath(Path(cwd).absolute()), parent_session)


def line_of(table: Table, entry: str) -> int:
    """Give the line of an id.

    Raises:
        EntryNotFoundError: no entry has it.
    """
    line = table.lines_by_id.get(id_key(entry), 0)
    if not line or not table.is_entry(line):
        raise EntryNotFoundError(entry)
    return line


def line_on_branch(table: Table, entry: str, leaf: int) -> int:
    """Give the line of an id that a leaf descends from.

    Raises:
        EntryNotFoundError: no entry has it, or one on another branch.
    """
    line = line_of(table, entry)
    if line not in tree.path(table, leaf):
        raise EntryNotFoundError(f"{entry} on the branch of the leaf")
    return line


def prompt_at(table: Table, leaf: int, now: int) -> dict[str, Any] | None:
    """Give the prompt in force behind an entry as one message of now, None where there is none."""
    if not leaf:
        return None
    message = Session(table).prompt(Entry(table, leaf)).message
    return {**message, "timestamp": now} if message else None


def check_version(table: Table, *, force: bool) -> None:
    """Refuse a file that nothing should be appended to.

    Raises:
        VersionNotWritableError: older than 3, newer and not forced, or no number.
    """
    version = table.stored_version
    if version == migrations.CURRENT or (force and version > migrations.CURRENT):
        return
    newer = version > migrations.CURRENT
    raise VersionNotWritableError(table.source.name, table.header.get("version", 1), newer=newer)

"""How the views of a session are addressed: by its id and the ids of its entries, never by a path.

The page and the exported file have the same views under different addresses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

if TYPE_CHECKING:
    from pi_sessions.table import Table

_PLAIN = re.compile(r"(?!line-\d+\Z)[A-Za-z0-9_-]{1,80}\Z")
_LINE = re.compile(r"line-([1-9]\d{0,9})\Z")


def handle(table: Table, line: int) -> str:
    """Name an entry in an address: its id if that is plain and its own, else `line-N`."""
    entry_id = table.ids[line]
    is_plain = isinstance(entry_id, str) and _PLAIN.match(entry_id) is not None
    # Ids of version 1 are drawn anew by whoever reads it.
    if is_plain and table.stored_version >= 2 and table.lines_by_id.get(entry_id) == line:
        return str(entry_id)
    return f"line-{line}"


def line_of(table: Table, named: str) -> int:
    """Find the line of a handle, 0 if there is none."""
    line = table.lines_by_id.get(named, 0)
    if not line and (found := _LINE.match(named)):
        line = int(found[1])
    return line if 0 < line <= len(table) else 0


class Addresses(Protocol):
    """Gives the address of each view."""

    def at(self, line: int) -> str:
        """What the model saw at the reply of a line."""

    def raw(self, line: int) -> str:
        """A line as it is stored."""

    def line(self, line: int) -> str:
        """The place of a line in the transcript."""


class OnPage:
    """The addresses of the local page, below `/session/ID`."""

    def __init__(self, key: str, table: Table) -> None:
        self.base = f"/session/{quote(key, safe='')}"
        self.table = table
        self.point = ""
        """The part that names the point of the view, such as `/at/ID`."""

    def at(self, line: int) -> str:
        """What the model saw at the reply of a line."""
        return f"{self.base}/at/{handle(self.table, line)}"

    def raw(self, line: int) -> str:
        """A line as it is stored."""
        return f"{self.base}/raw/{line}"

    def line(self, line: int) -> str:
        """The place of a line in the transcript at the same point."""
        return f"{self.base}{self.point}?line={line}#L{line}"

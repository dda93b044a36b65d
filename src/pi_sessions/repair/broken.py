"""Lines that can be read once their bytes are put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.diagnostics import Code
from pi_sessions.repair.changes import Change
from pi_sessions.repair.salvage import Budget, escape_controls, join_spread, split_fused
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"


def broken_lines(table: Table) -> Iterator[Change]:
    """Find what is mended by the same bytes on other lines, or by escapes in them."""
    header, done, budget = table.header_line, 0, Budget()
    first = table.bytes(header)
    if first.startswith(_BOM):
        what = "the byte order mark is taken away"
        yield Change(Code.BOM, header, what, (first,), (first.removeprefix(_BOM),))
    for line in table.of_kind(Kind.MALFORMED):
        # What stands before the header would be the first entry, and the file no session any more.
        if line <= max(done, header):
            continue
        data = table.bytes(line)
        if spread := join_spread(table, line, budget):
            whole, done = spread
            what = f"lines {line} to {done} are one entry: newlines in its texts become escapes"
            before = tuple(table.bytes(n) for n in range(line, done + 1))
            yield Change(Code.MALFORMED_JSON, line, what, before, (whole,))
        elif pieces := split_fused(data):
            what = "the entries that stand on one line are parted"
            yield Change(Code.FUSED_LINE, line, what, (data,), tuple(pieces))
        elif escaped := escape_controls(data):
            what = "control characters in its texts become escapes"
            yield Change(Code.MALFORMED_JSON, line, what, (data,), (escaped,))

"""What of a request the provider had in its cache, what was paid again, and why.

A provider's cache holds the beginning of a request. What the request before had, and this one had
to pay again, was lost from it: the beginning changed, or it was left for too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.glimpse import times
from pi_sessions.context.point import moment
from pi_sessions.table import Table

if TYPE_CHECKING:
    from pi_sessions.context.difference import Asked, Difference

IDLE = {"short": 5 * 60_000, "long": 60 * 60_000}
"""Milliseconds after which a provider forgets a prompt, by how long it was asked to keep it."""
_SLACK = 1024
"""Tokens by which cached beginnings fall short of a request: they are kept in blocks."""


class Cached(msgspec.Struct, frozen=True):
    """Tokens of a request as the provider reported them, beside the request before."""

    read: float
    """Taken from the cache."""
    written: float
    fresh: float
    """Neither read from the cache nor written to it."""
    again: float
    """Paid though the request before had them already; 0 where nothing was lost."""
    why: tuple[str, ...]
    """`branch`, `model`, `compaction`, `edit`, `prompt`, `idle`; none if no cause is in sight."""


def cached(
    table: Table,
    replies: tuple[int, int],
    asked: tuple[Asked, Asked],
    difference: Difference,
    retention: str = "short",
) -> Cached | None:
    """Compare what two replies reported; None if one of them reported nothing.

    Args:
        table: the lines.
        replies: lines of the older and of the newer reply.
        asked: their requests.
        difference: from the one request to the other.
        retention: how long the provider was asked to keep a prompt.
    """
    before, now = (_usage(table, reply) for reply in replies)
    if before is None or now is None:
        return None
    read, written, fresh = now
    again = max(0.0, sum(before) - read)
    lost = again > _SLACK
    why = tuple(_reasons(table, replies, asked, difference, retention)) if lost else ()
    return Cached(read, written, fresh, again if lost else 0.0, why)


def _usage(table: Table, reply: int) -> tuple[float, float, float] | None:
    """Give tokens read from the cache, written to it, and the rest of the input."""
    usage = table.raw(reply)["message"].get("usage")
    if not isinstance(usage, dict):
        return None
    read, written, fresh = (_number(usage.get(k)) for k in ("cacheRead", "cacheWrite", "input"))
    return (read, written, fresh) if read or written or fresh else None


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _reasons(
    table: Table,
    replies: tuple[int, int],
    asked: tuple[Asked, Asked],
    difference: Difference,
    retention: str,
) -> list[str]:
    older, newer = (one.explanation for one in asked)
    models = [table.raw(reply)["message"] for reply in replies]
    names = [tuple(m.get(key) for key in ("api", "provider", "model")) for m in models]
    found = []
    if older.point.leaf not in newer.point.path:
        found.append("branch")
    if names[0] != names[1]:
        found.append("model")
    if older.compaction != newer.compaction:
        found.append("compaction")
    if {line for line, acts in newer.edits.items() if acts} != {
        line for line, acts in older.edits.items() if acts
    }:
        found.append("edit")
    if difference.sections or difference.tools:
        found.append("prompt")
    first, second = (moment(times(table, reply)[1]) for reply in replies)
    if second - first > IDLE[retention]:
        found.append("idle")
    return found

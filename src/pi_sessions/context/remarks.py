"""Hints in a file that something outside of it had a part in a request; each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.table import Kind, Table
from pi_sessions.tree import path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.context.message import ContextMessage

FAR = 0.35
"""Share by which reported and estimated tokens may differ before it is told."""
_SMALL = 2_000
"""Tokens below which an estimate is too rough to compare."""


def reported_tokens(table: Table, response: int) -> int | float | None:
    """Give the prompt tokens the provider reported for a reply: input, cache read and written."""
    usage = table.raw(response)["message"].get("usage") if response else None
    if not isinstance(usage, dict):
        return None
    parts = [usage.get(key) for key in ("input", "cacheRead", "cacheWrite")]
    numbers = [p for p in parts if isinstance(p, int | float) and not isinstance(p, bool)]
    return sum(numbers) if numbers and sum(numbers) > 0 else None


def remarks(
    table: Table,
    where: tuple[int, int],
    messages: Sequence[ContextMessage],
    tokens: tuple[float, float | None],
) -> list[dict[str, Any]]:
    """Collect the hints about one request, as `{"code", "message", "lines"}`.

    Args:
        table: the lines.
        where: lines of the leaf and of the reply, 0 where there is none.
        messages: the LLM messages of the point.
        tokens: the estimate for the request, and what the provider reported.
    """
    found = []
    leaf, response = where
    estimated, reported = tokens
    if response:
        if flying := _in_flight(table, response, leaf):
            told = ", ".join(map(str, flying))
            why = f"line {told} was written while the request was under way and had no part in it"
            found.append({"code": "in-flight", "message": why, "lines": flying})
        message = table.raw(response)["message"]
        if message.get("stopReason") == "error" and reported is None:
            why = "the reply failed without usage: there may have been no request at all"
            found.append({"code": "no-request", "message": why, "lines": [response]})
    if not any(part.role == "system" for part in messages):
        why = "no prompt is recorded on this branch: the model may have had one all the same"
        found.append({"code": "no-prompt", "message": why, "lines": []})
    if (
        reported
        and estimated > _SMALL
        and abs(reported - estimated) > FAR * max(reported, estimated)
    ):
        why = (
            f"{reported} tokens were reported and about {round(estimated)} are accounted for: "
            "something outside the file may have been at work"
        )
        found.append({"code": "token-gap", "message": why, "lines": [response]})
    return found


_SILENT = frozenset({Kind.MODEL_CHANGE, Kind.THINKING_LEVEL_CHANGE, Kind.LABEL, Kind.SESSION_INFO})


def _in_flight(table: Table, response: int, leaf: int) -> list[int]:
    """Give the entries between a leaf and its reply that would have changed the request."""
    lines = path(table, response)[:-1]
    after = lines[lines.index(leaf) + 1 :] if leaf in lines else []
    return [line for line in after if table.kinds[line] not in _SILENT | {Kind.CUSTOM, Kind.USAGE}]

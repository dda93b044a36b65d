"""Hints in a file that something outside of it had a part in a request; each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.projection import cut_replies
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.context.selection import select
from pi_sessions.table import Kind, Table
from pi_sessions.tree import path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    rules: Rules = CURRENT,
) -> list[dict[str, Any]]:
    """Collect the hints about one request, as `{"code", "message", "lines"}`.

    Args:
        table: the lines.
        where: lines of the leaf and of the reply, 0 where there is none.
        messages: the LLM messages of the point.
        tokens: the estimate for the request, and what the provider reported.
        rules: those it was built by.
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
        found += _of_old(table, response, leaf, rules)
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


def _of_old(table: Table, response: int, leaf: int, rules: Rules) -> Iterator[dict[str, Any]]:
    """Tell what releases of old did that the file does not show."""
    if rules != CURRENT and rules.release != CURRENT.release:
        why = f"built by the rules of {rules.release}, the newest release that can have asked it"
        yield {"code": "old-rules", "message": why, "lines": [response]}
    if rules.drops_cut_replies:
        chosen = select(table, path(table, leaf), rules)
        if cut := sorted(cut_replies(table, chosen)):
            why = (
                f"line {', '.join(map(str, cut))} ended at the output limit and was asked for "
                "again: the process left it out until Pi was started anew"
            )
            yield {"code": "left-out-in-memory", "message": why, "lines": cut}
    if not rules.counts_attempts and table.raw(response)["message"].get("stopReason") == "error":
        why = "the provider's library may have sent this request up to three times"
        yield {"code": "sent-again", "message": why, "lines": [response]}
    if not rules.loads_named_session and (before := _forgotten(table, response, leaf)):
        why = (
            f"the reply on line {before} had far more in front of it: Pi may have continued the "
            "session without loading it"
        )
        yield {"code": "not-loaded", "message": why, "lines": [before, response]}


def _forgotten(table: Table, response: int, leaf: int) -> int:
    """Give the reply before one that reports far fewer tokens, with no compaction between."""
    now = reported_tokens(table, response)
    for line in reversed(path(table, leaf)):
        if table.kinds[line] == Kind.COMPACTION:
            return 0
        if table.kinds[line] == Kind.ASSISTANT and (then := reported_tokens(table, line)):
            return line if now and now < (1 - FAR) * then else 0
    return 0


_SILENT = frozenset({Kind.MODEL_CHANGE, Kind.THINKING_LEVEL_CHANGE, Kind.LABEL, Kind.SESSION_INFO})


def _in_flight(table: Table, response: int, leaf: int) -> list[int]:
    """Give the entries between a leaf and its reply that would have changed the request."""
    lines = path(table, response)[:-1]
    after = lines[lines.index(leaf) + 1 :] if leaf in lines else []
    return [line for line in after if table.kinds[line] not in _SILENT | {Kind.CUSTOM, Kind.USAGE}]

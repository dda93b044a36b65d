"""From context entries to agent messages, with the context edits applied.

Agent messages have the four roles of the model's conversation and the agent's own (`custom`,
`bashExecution`, `branchSummary`, `compactionSummary`). Rules: docs/format.md, "Context edits".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import date_value, truthy
from pi_sessions.context.message import ContextMessage, Dropped, Reason, Staged
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.table import FIRST_OTHER, FIRST_TYPE, Kind, Table, id_key

if TYPE_CHECKING:
    from datetime import tzinfo

    from pi_sessions.context.selection import Selection

EDITABLE = frozenset({"user", "assistant", "toolResult", "custom"})
"""Roles whose content a replacement takes the place of."""

TELLING = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CUSTOM_MESSAGE, *range(FIRST_TYPE)})
"""Kinds of entries that can add messages to a context."""
_SILENT = frozenset(range(FIRST_OTHER)) - TELLING | {Kind.SYSTEM}
"""Kinds of entries that say nothing in the conversation."""


def project(table: Table, selection: Selection, zone: tzinfo, rules: Rules = CURRENT) -> Staged:
    """Give the messages of the context entries and the entries that edits took out.

    `Dropped` has OMITTED for an entry an edit with null took out (or the process, by rules of old)
    and EMPTY for a branch summary without text. A time without a zone is read in `zone`.
    """
    edits = edits_in_force(table, selection)
    forgotten = cut_replies(table, selection) if rules.drops_cut_replies else {}
    messages: list[ContextMessage] = []
    dropped: list[Dropped] = []
    for line in selection.entries:
        kind = table.kinds[line]
        edit_line, edit = edits.get(entry_key(table, line), (0, None))
        if edit_line and edit is None:
            dropped.append(Dropped(line, Reason.OMITTED, (edit_line,)))
        elif line in forgotten:
            dropped.append(Dropped(line, Reason.OMITTED, (forgotten[line],)))
        elif kind in TELLING and (kind != Kind.COMPACTION or line == selection.compaction):
            told = messages_of(table, line, zone)
            if not told:
                dropped.append(Dropped(line, Reason.EMPTY))
            messages.extend(edited(message, edit_line, edit) for message in told)
    return Staged(tuple(messages), tuple(dropped))


def cut_replies(table: Table, selection: Selection) -> dict[int, int]:
    """Find replies that ended at the output limit and were asked for again after a compaction.

    Gives the line of each, and that of the compaction. What tells them is that no message of the
    user stands between the compaction and the next reply.
    """
    kinds, parents = table.kinds, table.parents
    following = {parents[line]: line for line in selection.entries if line != selection.compaction}
    found: dict[int, int] = {}
    for compaction in selection.entries:
        cut = parents[compaction]
        if kinds[compaction] != Kind.COMPACTION or cut <= 0 or kinds[cut] != Kind.ASSISTANT:
            continue
        line = following.get(compaction, 0)
        while line and kinds[line] in _SILENT:
            line = following.get(line, 0)
        is_again = not line or kinds[line] == Kind.ASSISTANT
        if is_again and table.raw(cut)["message"].get("stopReason") == "length":
            found[cut] = compaction
    return found


def edits_in_force(table: Table, selection: Selection) -> dict[object, tuple[int, Any]]:
    """Give the edit of each target id that counts: its line and its replacement, None to omit.

    The last on the path counts. A replacement that is missing is `{}`: content becomes undefined.
    """
    found: dict[object, tuple[int, Any]] = {}
    for line in selection.entries:
        if table.kinds[line] == Kind.CONTEXT_EDIT:
            entry = table.raw(line)
            found[target_key(entry)] = (line, entry.get("replacement", {}))
    return found


def target_key(edit: dict[str, Any]) -> object:
    """Give the id a context edit acts on, as `id_key` compares ids."""
    return id_key(edit["targetId"]) if "targetId" in edit else ("missing",)


def entry_key(table: Table, line: int) -> object:
    """Give the id an edit names to act on an entry, as `id_key` compares ids."""
    if table.kinds[line] >= FIRST_OTHER:
        return ("no entry",)
    entry_id = table.ids[line]
    return ("missing",) if entry_id is None else id_key(entry_id)


def messages_of(table: Table, line: int, zone: tzinfo) -> list[ContextMessage]:
    """Tell one entry that can add messages, before any edit."""
    entry = table.raw(line)
    kind = table.kinds[line]
    if kind < FIRST_TYPE:
        message = entry["message"]
        if message.get("content") is None and kind <= Kind.SYSTEM:
            message = {**message, "content": "" if kind == Kind.SYSTEM else []}
        return [ContextMessage(message, line)]
    # Keys that the entry lacks are undefined in the reference's message and are left out here.
    if kind == Kind.CUSTOM_MESSAGE:
        content = entry.get("content")
        value = {
            "role": "custom",
            **_present(entry, "customType"),
            "content": [] if content is None else content,
            **_present(entry, "display", "details"),
        }
    elif kind == Kind.BRANCH_SUMMARY:
        if not truthy(entry.get("summary")):
            return []
        value = {"role": "branchSummary", **_present(entry, "summary", "fromId")}
    else:
        value = {"role": "compactionSummary", **_present(entry, "summary", "tokensBefore")}
    value["timestamp"] = _timestamp(entry, zone)
    summary = ContextMessage(value, line)
    checkpoint = entry.get("systemMessage") if kind == Kind.COMPACTION else None
    if isinstance(checkpoint, dict):
        return [ContextMessage(checkpoint, line), summary]
    return [summary]


def _present(entry: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: entry[key] for key in keys if key in entry}


def _timestamp(entry: dict[str, Any], zone: tzinfo) -> int | float | None:
    """Give an entry's time as a number of milliseconds; NaN is written as null."""
    value = date_value(entry.get("timestamp", math.nan), zone)
    return None if math.isnan(value) else int(value)


def edited(message: ContextMessage, line: int, replacement: Any) -> ContextMessage:
    """Apply a context edit that replaces; other roles than EDITABLE stay as they are."""
    if not line or message.role not in EDITABLE:
        return message
    content = replacement.get("content", None) if isinstance(replacement, dict) else None
    value = dict(message.value)
    if isinstance(replacement, dict) and "content" in replacement:
        if isinstance(content, str) and message.role in ("assistant", "toolResult"):
            content = [{"type": "text", "text": content}]
        value["content"] = content
    else:
        value.pop("content", None)
    return message.altered(Reason.EDITED, value=value, because=(line,))

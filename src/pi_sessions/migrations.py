"""Old versions of the format, brought to version 3 in memory, one object at a time.

Version 1 had no ids and no parents: entries form one chain in file order. Version 2 had the role
`hookMessage`. The reference invents random ids and rewrites the file; nothing is written here, so
ids are derived from the session id and the line, and links survive a reload.
"""

from __future__ import annotations

import math
from typing import Any
from zlib import crc32

CURRENT = 3


def version_number(version: Any) -> float:
    """Read a header's version as the reference compares it: missing is 1, "3" is 3, else NaN."""
    if version is None:
        return 1.0
    if isinstance(version, bool | int | float):
        return float(version)
    if isinstance(version, str):
        try:
            return float(version.strip() or 0)
        except ValueError:
            return math.nan
    return math.nan


def derive_id(session_id: str, line: int, taken: Any) -> str:
    """Make the 8 hex digits that stand for an entry of version 1, the same at every reload.

    Args:
        session_id: id in the header.
        line: physical line of the entry.
        taken: ids already in use (anything that supports `in`).
    """
    seed = session_id.encode("utf-8", "surrogatepass")
    digits = f"{crc32(b'%d' % line, crc32(seed)):08x}"
    attempt = 0
    while digits in taken:
        attempt += 1
        digits = f"{crc32(b'%d:%d' % (line, attempt), crc32(seed)):08x}"
    return digits


def migrate_header(header: dict[str, Any]) -> dict[str, Any]:
    """Version 1 or 2 → 3: `version` becomes 3, every other field stays."""
    return {**header, "version": CURRENT}


def link_entry(
    entry: dict[str, Any], entry_id: str, parent_id: str | None, kept_id: object
) -> dict[str, Any]:
    """Version 1 → 2: give an entry its id and parent; an index of a kept entry becomes its id.

    Args:
        entry: the object as stored.
        entry_id: the derived id; replaces an id the entry may have had.
        parent_id: id of the entry before it.
        kept_id: id that `firstKeptEntryIndex` means, None where it means none.
    """
    linked = {**entry, "id": entry_id, "parentId": parent_id}
    if linked.get("type") == "compaction" and is_index(linked.get("firstKeptEntryIndex")):
        if kept_id is not None:
            linked["firstKeptEntryId"] = kept_id
        del linked["firstKeptEntryIndex"]
    return linked


def is_index(value: object) -> bool:
    """Say whether a `firstKeptEntryIndex` is a number, which alone is migrated."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rename_hook_message(entry: dict[str, Any]) -> dict[str, Any]:
    """Version 2 → 3: role `hookMessage` → `custom`."""
    message = entry.get("message")
    if (
        entry.get("type") == "message"
        and isinstance(message, dict)
        and message.get("role") == "hookMessage"
    ):
        return {**entry, "message": {**message, "role": "custom"}}
    return entry

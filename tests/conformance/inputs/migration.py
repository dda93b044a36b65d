"""Old versions: the first had neither ids nor parents, the second its own name for a role."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder


def first_version(**header: Any) -> SessionBuilder:
    """Start a session of version 1, which had no version in its header."""
    return SessionBuilder(version=MISSING, linked=False, **header)


def plain() -> bytes:
    """Make a talk of two turns."""
    session = first_version()
    session.user("Name an apple.")
    session.assistant("Cox.")
    session.user("Another one.")
    session.assistant("Boskoop.")
    return session.data


def compacted(index: Any, *, ids: bool = False) -> bytes:
    """Make a talk with a compaction that keeps from the index on."""
    session = first_version()
    odd: dict[str, Any] = {"id": "old-1"} if ids else {}
    session.user("Name an apple.", **odd)
    session.assistant("Cox.")
    session.user("Another one.")
    session.assistant("Boskoop.")
    session.compaction("Two apples.", extra={"firstKeptEntryIndex": index})
    session.user("A third one.", **({"id": "old-2"} if ids else {}))
    return session.data


def gaps() -> bytes:
    """Make a compaction whose index counts a number line, but no broken and no blank one."""
    session = first_version()
    session.user("Name an apple.")
    session.raw_line(b"{oops")
    session.raw_line(b"")
    session.raw_line(b"5")
    session.assistant("Cox.")
    session.user("Another one.")
    session.compaction("Apples.", extra={"firstKeptEntryIndex": 3})
    return session.data


def both() -> bytes:
    """Make a compaction that has an id and an index."""
    session = first_version()
    session.user("Name an apple.")
    session.assistant("Cox.")
    session.compaction("Apples.", first_kept="x", extra={"firstKeptEntryIndex": 2})
    session.user("Another one.")
    return session.data


def labelled() -> bytes:
    """Make a file with ids, parents and a label of its own, all of which are replaced."""
    session = SessionBuilder(version=1)
    question = session.user("Name an apple.")
    session.assistant("Cox.")
    session.label(question, "start")
    session.at(question)
    session.assistant("Boskoop.")
    return session.data


def duplicates() -> bytes:
    """Make a file with one id for every entry."""
    session = SessionBuilder(version=1)
    session.user("Name an apple.", id="same")
    session.assistant("Cox.", id="same", parent="same")
    session.user("Another one.", id="same", parent="nobody")
    return session.data


def second_header() -> bytes:
    """Make a file with a second header in its middle."""
    session = first_version()
    session.user("Name an apple.")
    session.raw_line(SessionBuilder(id="session-2").data, end=b"")
    session.assistant("Cox.")
    return session.data


def hook(version: Any, **header: Any) -> bytes:
    """Make a session with the old name of the custom role."""
    session = SessionBuilder(version=version, linked=version == 2, **header)
    session.user("Name an apple.")
    session.message(
        {"role": "hookMessage", "customType": "note", "content": "Ripe.", "display": True}
    )
    session.message({"role": "hookMessage", "content": [{"type": "text", "text": "Red."}]})
    session.assistant("Cox.")
    return session.data


def hook_type() -> bytes:
    """Make a version 2 entry that has the old name as its type, which is not renamed."""
    session = SessionBuilder(version=2)
    session.user("Name an apple.")
    session.add("hookMessage", {"content": "Ripe.", "message": {"role": "hookMessage"}})
    return session.data


def two_with_index() -> bytes:
    """Make a version 2 compaction with an index, which version 2 did not have."""
    session = SessionBuilder(version=2)
    session.user("Name an apple.")
    session.compaction("Apples.", extra={"firstKeptEntryIndex": 1})
    return session.data


VECTORS = {
    "one": ("Entries of version 1 form one chain.", plain()),
    "one-old-header": (
        "The first headers named a model.",
        first_version(provider="birch", modelId="birch-1", thinkingLevel="off").data
        + plain().partition(b"\n")[2],
    ),
    "one-branched-from": (
        "An old header names the file it was branched from.",
        first_version(branchedFrom="/home/dev/old.jsonl").data + plain().partition(b"\n")[2],
    ),
    "one-version-kept-place": (
        "The version of a header that has one keeps its place.",
        SessionBuilder(version=1).data + plain().partition(b"\n")[2],
    ),
    "index": ("An index counts lines, the header is 0.", compacted(3)),
    "index-zero": ("Index 0 is the header: nothing is kept.", compacted(0)),
    "index-one": ("Index 1 is the first entry.", compacted(1)),
    "index-own": ("The index of the compaction itself keeps nothing.", compacted(5)),
    "index-forward": ("An index after the compaction keeps nothing.", compacted(6)),
    "index-out-of-range": ("An index after the end keeps nothing.", compacted(60)),
    "index-negative": ("A negative index keeps nothing.", compacted(-1)),
    "index-fraction": ("An index of 2.5 names no line.", compacted(2.5)),
    "index-text": ("An index in text form is left where it is.", compacted("3")),
    "index-null": ("An index of null is left where it is.", compacted(None)),
    "index-missing": ("A compaction without an index keeps nothing.", compacted(MISSING)),
    "index-ids": ("Stored ids are replaced, the index still counts lines.", compacted(1, ids=True)),
    "index-forward-id": ("A later entry still has its stored id.", compacted(6, ids=True)),
    "index-gaps": ("An index counts what could be parsed.", gaps()),
    "index-and-id": ("An index replaces an id.", both()),
    "one-labels": ("Targets are not renamed with the ids.", labelled()),
    "one-duplicate-ids": ("Every entry gets its own id.", duplicates()),
    "one-second-header": ("A second header is in no chain.", second_header()),
    "one-hook": ("Version 1 knew the old role too.", hook(MISSING)),
    "two-hook": ("hookMessage becomes custom.", hook(2)),
    "two-hook-type": ("An entry type of the old name stays.", hook_type()),
    "two-index": ("Version 2 has no index to migrate.", two_with_index()),
}

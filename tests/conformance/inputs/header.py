"""The header: where it may stand, its id, its version and what else it holds."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, USAGE, SessionBuilder


def talk(*before: bytes, **header: Any) -> bytes:
    """Make a session of one question, with lines before its header."""
    session = SessionBuilder(**header)
    session.user("Name an apple.")
    session.assistant("Cox.")
    return b"".join(line + b"\n" for line in before) + session.data


def versioned(version: Any) -> bytes:
    """Make a session of some version whose last message has a role that version 2 had."""
    session = SessionBuilder(version=version)
    session.user("Name an apple.")
    session.message({"role": "hookMessage", "customType": "note", "content": "Ripe."})
    return session.data


def second(**header: Any) -> bytes:
    """Make a session with another header in its middle."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.raw_line(SessionBuilder(**header).data, end=b"")
    session.assistant("Cox.")
    return session.data


def last() -> bytes:
    """Make a session whose last line is a second header."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.raw_line(SessionBuilder(id="session-2").data, end=b"")
    return session.data


def stale_fork() -> bytes:
    """Make a copy of a session that was forked by a release that then went on in the old file."""
    random_id = "2b6f8bd5-6010-4e0c-ab6b-6fcdf998aba9"
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    session = SessionBuilder(
        id=random_id, timestamp="2026-01-07T08:00:00.000Z", parentSession="/home/dev/old.jsonl"
    )
    session.user("Name an apple.")
    session.assistant("Cox.", usage={**USAGE, "cost": cost})
    return session.data


USER = b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Hi"}}'

VECTORS = {
    "missing": ("A file without a header is no session.", talk(header=False)),
    "not-first": ("An entry before the header makes it no session.", talk(USER)),
    "after-malformed": ("Broken lines may stand before the header.", talk(b"{oops", b"]")),
    "after-falsy": (
        "Falsy values may stand before the header.",
        talk(b"null", b"0", b'""', b"false"),
    ),
    "after-number": ("A number before the header makes it no session.", talk(b"5")),
    "after-list": ("A list before the header makes it no session.", talk(b"[]")),
    "after-true": ("True before the header makes it no session.", talk(b"true")),
    "after-text": ("A text before the header makes it no session.", talk(b'"hi"')),
    "after-bad-header": (
        "A header without id is not made good by the next.",
        talk(b'{"type":"session"}'),
    ),
    "second": ("A second header in the middle is ignored.", second(id="session-2", cwd="/tmp")),
    "second-without-id": ("A second header without id is ignored too.", second(id=MISSING)),
    "second-last": ("A second header at the end is not the leaf.", last()),
    "id-number": ("The id must be a text.", talk(id=7)),
    "id-null": ("The id must not be null.", talk(id=None)),
    "id-missing": ("The id must be there.", talk(id=MISSING)),
    "id-empty": ("The id may be an empty text.", talk(id="")),
    "id-odd": ("Any text is an id.", talk(id="../a b/ü")),
    "version-missing": ("Without a version it is 1: ids are made anew.", versioned(MISSING)),
    "version-null": ("Version null is 1.", versioned(None)),
    "version-one": ("Version 1 gets ids and parents.", versioned(1)),
    "version-two": ("Version 2 has its own name for a role.", versioned(2)),
    "version-three": ("Version 3 does not know the role of version 2.", versioned(3)),
    "version-text": ("Version 3 as a text is as good as 3.", versioned("3")),
    "version-text-two": ("Version 2 as a text is migrated as 2.", versioned("2")),
    "version-future": ("Version 99 is read as 3.", versioned(99)),
    "version-zero": ("Version 0 is before 1.", versioned(0)),
    "version-between": ("Version 2.5 is before 3.", versioned(2.5)),
    "version-word": ("A version that is no number is before nothing.", versioned("new")),
    "cwd-number": ("The directory may be anything.", talk(cwd=5)),
    "timestamp-word": ("The time may be anything.", talk(timestamp="soon")),
    "extra": (
        "Keys nobody knows are kept.",
        talk(parentSession="/tmp/a.jsonl", mood={"b": 1, "2": 2, "1": 3}),
    ),
    "parent-null": ("A parent session of null is kept as null.", talk(parentSession=None)),
    "fork-without-turns": ("A fork that has nothing of its own.", stale_fork()),
    "duplicate-key": (
        "Of two ids in a header the last counts.",
        talk().replace(b'"id"', b'"id":"x","id"', 1),
    ),
    "odd-order": (
        "The keys of a header may stand in any order.",
        b'{"id":"s","version":3,"type":"session"}\n' + USER + b"\n",
    ),
}

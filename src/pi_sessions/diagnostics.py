"""What was tolerated while reading, as data.

Here belong the closed list of codes and the value that carries one finding. Finding them is the
business of `table` (while reading lines) and `check` (over a whole session).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Code(StrEnum):
    """The closed list of diagnostic codes; more may be added, none changes its meaning."""

    MALFORMED_JSON = "malformed-json"
    NOT_AN_ENTRY = "not-an-entry"
    INVALID_UTF8 = "invalid-utf8"
    BOM = "bom"
    TOO_DEEP = "too-deep"
    TORN_TAIL = "torn-tail"
    FUSED_LINE = "fused-line"
    SECOND_HEADER = "second-header"
    MISSING_ID = "missing-id"
    DUPLICATE_ID = "duplicate-id"
    SELF_PARENT = "self-parent"
    ORPHAN = "orphan"
    CYCLE = "cycle"
    DANGLING_TARGET = "dangling-target"
    DANGLING_FIRST_KEPT = "dangling-first-kept"
    BAD_TIMESTAMP = "bad-timestamp"
    UNKNOWN_ENTRY_TYPE = "unknown-entry-type"
    UNKNOWN_ROLE = "unknown-role"
    MISSING_FIELD = "missing-field"
    WRONG_TYPE = "wrong-type"
    FUTURE_VERSION = "future-version"
    MIGRATED = "migrated"
    LEAF_ON_DEAD_BRANCH = "leaf-on-dead-branch"
    INTERLEAVED_WRITERS = "interleaved-writers"
    ORPHAN_RESULT = "orphan-result"
    UNANSWERED_CALL = "unanswered-call"
    ANSWERED_TWICE = "answered-twice"
    INCOMPLETE_USAGE = "incomplete-usage"
    STALE_FORK = "stale-fork"
    MIXED_LINE_ENDS = "mixed-line-ends"


class Diagnostic(msgspec.Struct, frozen=True):
    """One tolerated defect: where it stands and what it means, as a sentence."""

    code: Code
    line: int
    """Physical line, counted from 1."""
    offset: int
    """Byte offset in the file of the defect, or of its line."""
    message: str

    def __str__(self) -> str:
        """Say it as editors read it: `line:offset: code: sentence`."""
        return f"{self.line}:{self.offset}: {self.code}: {self.message}"

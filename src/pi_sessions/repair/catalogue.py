"""The defects of session files: what each means for the next request, and what can be done."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pi_sessions.diagnostics import Code


class Way(StrEnum):
    """How a defect is mended."""

    APPEND = "append"
    """By an entry at the end; the file stays as it is."""
    REWRITE = "rewrite"
    """By a new file that takes the place of the old one, which stays as a backup."""
    ASKED = "asked"
    """By a rewrite that is a guess, and done only where it is asked for."""
    UPGRADE = "upgrade"
    """By `upgrade`."""
    NONE = "none"
    """Not at all, or there is no need."""


class Remedy(msgspec.Struct, frozen=True):
    """What is known of a defect."""

    consequence: str
    """What it does to the next request, or to Pi."""
    way: Way
    remedy: str


def _none(consequence: str, why: str) -> Remedy:
    return Remedy(consequence, Way.NONE, why)


REMEDIES: dict[Code, Remedy] = {
    Code.MALFORMED_JSON: Remedy(
        "Pi skips the line; entries below it lose their history",
        Way.REWRITE,
        "an entry that raw newlines have spread over lines is put together; other text stays",
    ),
    Code.TORN_TAIL: Remedy(
        "the last line is lost, and Pi's next entry would be fused with it",
        Way.APPEND,
        "the line is closed; what was cut off is gone",
    ),
    Code.FUSED_LINE: Remedy(
        "both entries are lost, and what hangs on them",
        Way.REWRITE,
        "the whole entry gets a line of its own",
    ),
    Code.BOM: Remedy("Pi does not open the file", Way.REWRITE, "the mark is taken away"),
    Code.DUPLICATE_ID: Remedy(
        "the earlier entry cannot be reached",
        Way.REWRITE,
        "the earlier entry gets an id of its own",
    ),
    Code.SELF_PARENT: Remedy(
        "Pi hangs when it builds the context", Way.REWRITE, "the entry becomes a root"
    ),
    Code.CYCLE: Remedy(
        "Pi hangs when it builds the context", Way.REWRITE, "one of the entries becomes a root"
    ),
    Code.ORPHAN: Remedy(
        "the history before the entry is not sent",
        Way.ASKED,
        "--relink attaches it to the entry before it, which is a guess",
    ),
    Code.ORPHAN_RESULT: Remedy(
        "providers refuse a result without its call",
        Way.APPEND,
        "a context edit takes the result out",
    ),
    Code.LEAF_ON_DEAD_BRANCH: Remedy(
        "the session goes on from an older branch",
        Way.APPEND,
        "a label entry moves the leaf to where the conversation went on",
    ),
    Code.MIGRATED: Remedy(
        "Pi rewrites the file when it opens it", Way.UPGRADE, "upgrade does it safely"
    ),
    Code.NOT_AN_ENTRY: _none("the line is left out", "nothing is lost by it"),
    Code.INVALID_UTF8: _none("the bytes read as U+FFFD", "what they were cannot be known"),
    Code.TOO_DEEP: _none("Pi cannot send the entry", "omit it with `edit --omit`"),
    Code.SECOND_HEADER: _none("the line is left out", "nothing is lost by it"),
    Code.MISSING_ID: _none("nothing can follow the entry", "what followed it cannot be known"),
    Code.DANGLING_TARGET: _none("the label or edit does nothing", "there is no need"),
    Code.DANGLING_FIRST_KEPT: _none(
        "nothing before the compaction is sent but its summary",
        "which entries were to be kept cannot be known",
    ),
    Code.BAD_TIMESTAMP: _none("the entry has no time", "when it was written cannot be known"),
    Code.UNKNOWN_ENTRY_TYPE: _none("the entry is kept and never sent", "there is no need"),
    Code.UNKNOWN_ROLE: _none("the message is kept and never sent", "there is no need"),
    Code.MISSING_FIELD: _none("it is read as empty", "what it was cannot be known"),
    Code.WRONG_TYPE: _none("it is read as far as it goes", "what was meant cannot be known"),
    Code.FUTURE_VERSION: _none(
        "rules that are not known here may apply", "a newer release of this tool may know it"
    ),
    Code.INTERLEAVED_WRITERS: _none(
        "one of two branches is sent", "choose one with `--leaf`, or `fork` the other"
    ),
    Code.UNANSWERED_CALL: _none('the model is told "No result provided"', "there is no need"),
    Code.ANSWERED_TWICE: _none("providers may refuse the second result", "omit it with `edit`"),
    Code.INCOMPLETE_USAGE: _none("the reply's cost is unknown", "it was never recorded"),
}
"""Every code; a test holds the list complete."""

MENDED = frozenset(
    code for code, known in REMEDIES.items() if known.way in (Way.APPEND, Way.REWRITE)
)
"""Codes of what a repair mends unasked, where it can be mended."""

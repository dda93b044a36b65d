"""The defects of session files: where each comes from, what it does, and what can be done."""

from __future__ import annotations

import shlex
from enum import StrEnum

import msgspec

from pi_sessions.diagnostics import Code
from pi_sessions.excerpt import one_line


class Way(StrEnum):
    """How a defect is mended."""

    APPEND = "append"
    """By an entry, or a newline, at the end; what is there stays as it is."""
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

    cause: str
    """How a file comes to have it."""
    consequence: str
    """What it does to the next request, or to Pi."""
    way: Way
    remedy: str
    """What a repair does, or why it does nothing."""
    words: str = ""
    """Words of the command that mends it, without the file."""
    stays: str = ""
    """Why it stays where a repair that could mend it does not."""

    @property
    def is_mended(self) -> bool:
        """Whether a repair does it unasked, where it can be done."""
        return self.way in (Way.APPEND, Way.REWRITE)


_BROKEN = "nothing of it can be put together"


def _appended(cause: str, consequence: str, remedy: str, stays: str = _BROKEN) -> Remedy:
    return Remedy(cause, consequence, Way.APPEND, remedy, "repair", stays)


def _rewritten(cause: str, consequence: str, remedy: str, stays: str = _BROKEN) -> Remedy:
    return Remedy(cause, consequence, Way.REWRITE, remedy, "repair", stays)


def _asked(cause: str, consequence: str, remedy: str, option: str) -> Remedy:
    return Remedy(cause, consequence, Way.ASKED, remedy, f"repair {option}")


def _none(cause: str, consequence: str, why: str, words: str = "") -> Remedy:
    return Remedy(cause, consequence, Way.NONE, why, words)


REMEDIES: dict[Code, Remedy] = {
    Code.MALFORMED_JSON: _rewritten(
        "a torn or foreign line, or raw newlines inside a text",
        "Pi skips the line; entries below it lose what came before",
        "an entry that is spread over lines, or has raw control characters, is put together; other "
        "text stays where it is",
    ),
    Code.TORN_TAIL: _appended(
        "the program that wrote the last line was stopped in the middle",
        "the last line is lost, and the next entry would be fused with it",
        "the line is closed; what was cut off is gone",
    ),
    Code.FUSED_LINE: _rewritten(
        "something was appended behind a torn line",
        "both entries are lost, and what hangs on them",
        "each whole entry gets a line of its own",
    ),
    Code.BOM: _rewritten(
        "an editor has saved the file", "Pi does not open the file", "the mark is taken away"
    ),
    Code.NOT_AN_ENTRY: _appended(
        "something else wrote to the file",
        "none in the middle; as the last line it makes Pi's next request empty",
        "a label entry puts the leaf back on the last entry",
        "it does no harm where it stands",
    ),
    Code.MISSING_FIELD: _rewritten(
        "another program wrote the entry",
        "it is read as empty; Pi fails on the whole file where it is the message",
        "a message entry without its message becomes a custom entry; other fields cannot be known",
        "what it was cannot be known",
    ),
    Code.DUPLICATE_ID: _rewritten(
        "files were put together, or a line was copied",
        "the earlier entry cannot be reached",
        "the earlier entry gets an id of its own",
    ),
    Code.SELF_PARENT: _rewritten(
        "a program wrote the wrong parent",
        "Pi hangs when it builds the context",
        "the entry becomes a root",
    ),
    Code.CYCLE: _rewritten(
        "a program wrote the wrong parents",
        "Pi hangs when it builds the context",
        "one of the entries becomes a root, the one that is read as one already",
    ),
    Code.ORPHAN_RESULT: _appended(
        "the reply with the call was edited out, summarised or lost",
        "providers refuse the request",
        "a context edit takes the result out",
    ),
    Code.LEAF_ON_DEAD_BRANCH: _appended(
        "a window that was open still wrote a name, a label or a setting",
        "the session goes on from an older branch",
        "a label entry moves the leaf to the end of the conversation",
    ),
    Code.ORPHAN: _asked(
        "the line of the parent was lost",
        "nothing before the entry is sent",
        "--relink attaches the entry to the one before it, which is a guess",
        "--relink",
    ),
    Code.INCOMPLETE_USAGE: _asked(
        "another program wrote the reply",
        "Pi's window and its figures fail; the cost of the reply is unknown",
        "--usage writes 0 for what is missing, so that Pi goes on; the cost stays unknown",
        "--usage",
    ),
    Code.MIGRATED: Remedy(
        "an old release of Pi wrote the file",
        "Pi rewrites the file when it opens it, and drops what it cannot read",
        Way.UPGRADE,
        "upgrade writes it anew and keeps every line",
        "upgrade",
    ),
    Code.STALE_FORK: _none(
        "a release from 0.31 to 0.51 went on in the file that was forked",
        "none: the fork is a whole copy up to where it was made",
        "what was said after the fork is in the parent's file, on a branch of its own",
    ),
    Code.INVALID_UTF8: _none(
        "a damaged disk, or another encoding",
        "the bytes read as U+FFFD",
        "what they were cannot be known",
    ),
    Code.TOO_DEEP: _none(
        "arguments or details of a tool that nest without end",
        "Pi cannot send the entry",
        "omit it",
        "edit --omit ID",
    ),
    Code.SECOND_HEADER: _none(
        "files were put together", "the line is left out", "nothing is lost by it"
    ),
    Code.MISSING_ID: _none(
        "another program wrote the entry",
        "nothing can follow the entry",
        "what followed it cannot be known",
    ),
    Code.DANGLING_TARGET: _none(
        "the target was left out of a copy", "the label or edit does nothing", "there is no need"
    ),
    Code.DANGLING_FIRST_KEPT: _none(
        "the compaction keeps nothing, or the entry was lost",
        "nothing before the compaction is sent but its summary",
        "which entries were to be kept cannot be known",
    ),
    Code.BAD_TIMESTAMP: _none(
        "another program wrote the entry",
        "the entry has no time",
        "when it was written cannot be known",
    ),
    Code.UNKNOWN_ENTRY_TYPE: _none(
        "an extension, or a newer release", "the entry is kept and never sent", "there is no need"
    ),
    Code.UNKNOWN_ROLE: _none(
        "an extension, or a newer release", "the message is kept and never sent", "there is no need"
    ),
    Code.WRONG_TYPE: _none(
        "another program wrote the entry",
        "it is read as far as it goes",
        "what was meant cannot be known",
    ),
    Code.FUTURE_VERSION: _none(
        "a newer release of Pi wrote the file",
        "rules that are not known here may apply",
        "a newer release of this tool may know it",
    ),
    Code.INTERLEAVED_WRITERS: _none(
        "two programs had the session open at once",
        "one of two branches is sent",
        "both are whole: read the other with --leaf ID, or go on with it in a new session",
        "fork --leaf ID",
    ),
    Code.UNANSWERED_CALL: _none(
        "the tool was aborted, or its result lost",
        'the model is told "No result provided"',
        "there is no need",
    ),
    Code.ANSWERED_TWICE: _none(
        "a message came between the call and its result",
        "providers may refuse the second result",
        "omit it",
        "edit --omit ID",
    ),
    Code.MIXED_LINE_ENDS: _none(
        "an editor has saved the file, or Pi went on behind CR LF",
        "none: both are read",
        "there is no need",
    ),
}
"""Every code; a test holds the list complete."""

MENDED = frozenset(code for code, known in REMEDIES.items() if known.is_mended)
"""Codes of what a repair mends unasked, where it can be mended."""


def command(remedy: Remedy, path: str, entry: object, line: int) -> str:
    """Write out the command that mends a defect, "" if there is none.

    Args:
        remedy: what is known of the defect.
        path: of the session.
        entry: id of the entry it is about.
        line: where that stands, for an entry without an id of its own.
    """
    if not remedy.words:
        return ""
    first, _, rest = remedy.words.partition(" ")
    told = shlex.quote(one_line(entry)) if isinstance(entry, str) else f"ID of line {line}"
    options = rest.replace("ID", told)
    words = ("pi-sessions", first, shlex.quote(one_line(path)), options)
    return " ".join(word for word in words if word)

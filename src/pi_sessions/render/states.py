"""The three states of a line in a sign, a word and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pi_sessions.context.message import Reason, Verdict

if TYPE_CHECKING:
    from pi_sessions.context.explain import Explanation

SIGNS = {Verdict.SENT: "●", Verdict.CHANGED: "◐", Verdict.NOT_SENT: "○"}
"""The shape of each state; colour says the same once more."""
WORDS = {Verdict.SENT: "sent", Verdict.CHANGED: "changed", Verdict.NOT_SENT: "not sent"}
CLASSES = {Verdict.SENT: "s", Verdict.CHANGED: "c", Verdict.NOT_SENT: "n"}

WHY = {
    Reason.AS_STORED: "",
    Reason.EDITED: "edited",
    Reason.TRIMMED: "some parts left out",
    Reason.MOVED: "at another place",
    Reason.RENAMED: "other call ids",
    Reason.FOLDED: "part of the prompt",
    Reason.CONVERTED: "told in other words",
    Reason.HEADER: "the file's header",
    Reason.BLANK: "a blank line",
    Reason.MALFORMED: "broken, no JSON",
    Reason.NOT_AN_ENTRY: "JSON, but no entry",
    Reason.SHADOWED: "its id comes again",
    Reason.OTHER_BRANCH: "on another branch",
    Reason.LATER: "came later",
    Reason.UNREACHABLE: "cut off from this branch",
    Reason.SUMMARISED: "summarised",
    Reason.CHECKPOINTED: "replaced by a checkpoint",
    Reason.OLDER_COMPACTION: "replaced by a newer compaction",
    Reason.OMITTED: "taken out by an edit",
    Reason.EXCLUDED_SHELL: "a !! run, kept from the model",
    Reason.FAILED_REPLY: "a reply that failed",
    Reason.EMPTY: "nothing left to send",
    Reason.SUPERSEDED: "replaced by later prompts",
    Reason.BOOKKEEPING: "bookkeeping",
    Reason.SETTING: "a setting",
    Reason.CONTEXT_EDIT: "an edit",
    Reason.UNKNOWN_TYPE: "of an unknown type",
    Reason.UNKNOWN_ROLE: "of an unknown role",
}
"""Each reason in a few words."""

QUIET = frozenset({Reason.HEADER, Reason.BLANK, Reason.BOOKKEEPING, Reason.SETTING})
"""Reasons of lines of which one row says all."""
ELSEWHERE = frozenset({Reason.OTHER_BRANCH, Reason.LATER, Reason.UNREACHABLE})
"""Reasons of lines that are not on the way to the point."""


class State(msgspec.Struct, frozen=True):
    """What became of a line at a point."""

    letter: str
    """`s`, `c` or `n`."""
    sign: str
    word: str
    why: str
    """The reason in words, "" for a line that was sent as it is stored."""
    reason: str
    """The reason's name in the list of reasons."""
    because: tuple[int, ...]
    """Lines that explain it."""


def state_of(explanation: Explanation, line: int) -> State:
    """Tell what became of a line."""
    reason = explanation.reason(line)
    verdict = reason.verdict
    why = WHY[reason]
    if line in explanation.edits and not explanation.edits[line]:
        why += " that is not in force"
    because = explanation.because(line)
    return State(CLASSES[verdict], SIGNS[verdict], WORDS[verdict], why, str(reason), because[:4])


BY = {
    "edited": "by line",
    "omitted": "by line",
    "summarised": "by line",
    "checkpointed": "of line",
    "older-compaction": "on line",
    "shadowed": "on line",
    "other-branch": "left at line",
    "later": "after line",
    "unreachable": "at line",
    "context-edit": "of line",
}
"""What stands between a reason and the line that explains it; for the others, `see line`."""

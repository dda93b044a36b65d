"""Compactions: what the last one on the path keeps, and the prompt it carries."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder, system_message, text_block, tool, tool_call

Vector = tuple[str, bytes]

# Entries 1 to 5 of every talk.
PROMPT, FIRST, COX, SECOND, BOSKOOP = (f"{number:08x}" for number in range(1, 6))


def talk() -> SessionBuilder:
    """Start with a prompt and two turns."""
    session = SessionBuilder()
    session.system("You know apples.", tools_added=[tool("read")])
    session.user("Name an apple.")
    session.assistant("Cox.")
    session.user("Another one.")
    session.assistant("Boskoop.")
    return session


def compacted(sentence: str, first_kept: Any = SECOND, **keywords: Any) -> Vector:
    """Compact a talk and go on."""
    session = talk()
    session.compaction(keywords.pop("summary", "Two apples."), first_kept=first_kept, **keywords)
    session.user("A third one.")
    return sentence, session.data


def as_leaf(sentence: str) -> Vector:
    """End with the compaction."""
    session = talk()
    session.compaction(first_kept=SECOND)
    return sentence, session.data


def as_root(sentence: str) -> Vector:
    """Start with the compaction."""
    session = SessionBuilder()
    session.compaction("Long ago.", first_kept="00000001")
    session.user("Name an apple.")
    return sentence, session.data


def other_branch(sentence: str, *, compaction_there: bool) -> Vector:
    """Leave a branch that holds the compaction, or the entry it keeps from."""
    session = talk()
    session.at(COX)
    aside = session.user("Aside.")
    if compaction_there:
        session.compaction("Aside.", first_kept=FIRST)
    session.at(BOSKOOP)
    if not compaction_there:
        session.compaction("Two apples.", first_kept=aside)
    session.user("A third one.")
    return sentence, session.data


def before(sentence: str) -> Vector:
    """Go back to before the compaction."""
    session = talk()
    session.compaction(first_kept=SECOND)
    session.user("A third one.")
    session.at(COX)
    session.user("Is it red?")
    return sentence, session.data


def twice(sentence: str, first: Any, second: Any, *, stamps: bool = False) -> Vector:
    """Compact twice; 00000006 is the first compaction."""
    session = talk()
    late = {"timestamp": "2026-01-05T09:00:00.000Z"} if stamps else {}
    session.compaction("Two apples.", first_kept=first, **late)
    session.user("A third one.")
    session.compaction("Three apples.", first_kept=second)
    session.user("A fourth one.")
    return sentence, session.data


def kept_metadata(sentence: str, kind: str) -> Vector:
    """Keep from an entry that is no message."""
    session = talk()
    kept = {
        "label": lambda: session.label(FIRST, "start"),
        "custom": session.custom,
        "model": lambda: session.model_change("cedar", "cedar-1"),
        "edit": lambda: session.omit(FIRST),
        "unknown": lambda: session.add("weather", {}),
    }[kind]()
    session.user("A third one.")
    session.compaction("Two apples.", first_kept=kept)
    session.user("A fourth one.")
    return sentence, session.data


def kept_system(sentence: str, *, checkpoint: bool, later: bool) -> Vector:
    """Keep a range with a system message in it."""
    session = talk()
    session.system("Be brief.", sections={"cwd": "/home"})
    session.user("A third one.")
    carried = system_message("You know fruit.", tools_added=[tool("write")])
    session.compaction(first_kept=SECOND, system_message=carried if checkpoint else MISSING)
    if later:
        session.system("Be kind.", tools_added=[tool("bash")])
    session.user("A fourth one.")
    return sentence, session.data


def split_turn(sentence: str, at: int) -> Vector:
    """Keep from inside a turn: 00000007 makes the call, 00000008 is its result."""
    session = talk()
    session.user("Read the list.")
    session.assistant("Reading.", calls=[tool_call("read", {"path": "list"})])
    session.tool_result("call-1", "Cox")
    session.assistant("Cox it is.")
    session.compaction("The list was asked for.", first_kept=f"{at:08x}")
    session.user("Thanks.")
    return sentence, session.data


def kept_duplicate(sentence: str) -> Vector:
    """Keep from an id that stands twice in the file, on the path once."""
    session = talk()
    session.user("Once more.", id=FIRST)
    session.compaction("Two apples.", first_kept=FIRST)
    session.user("A third one.")
    return sentence, session.data


def many_kinds(sentence: str) -> Vector:
    """Keep an entry of every kind that adds a message."""
    session = talk()
    session.bash("ls", "list\n")
    session.custom_message("A note.")
    session.branch_summary("Aside.", COX)
    session.usage({"input": 1})
    session.compaction("Two apples.", first_kept=BOSKOOP)
    session.user("A third one.")
    return sentence, session.data


def orphan(sentence: str) -> Vector:
    """Keep from an entry that the path lost."""
    session = talk()
    session.user("Lost.", parent="nobody")
    session.compaction("Two apples.", first_kept=SECOND)
    session.user("A third one.")
    return sentence, session.data


VECTORS = {
    "kept": compacted("Kept is from the named entry on, without system messages."),
    "kept-first": compacted("Everything is kept from the first entry on.", PROMPT),
    "kept-last": compacted("Only the entry before it is kept.", BOSKOOP),
    "kept-own-id": compacted("Its own id keeps nothing.", "00000006"),
    "kept-later": compacted("The id of a later entry keeps nothing.", "00000007"),
    "kept-unknown": compacted("An unknown id keeps nothing.", "nobody"),
    "kept-null": compacted("Null keeps nothing.", None),
    "kept-missing": compacted("A missing id keeps nothing.", MISSING),
    "kept-empty": compacted("An empty id keeps nothing.", ""),
    "kept-number": compacted("A number is no id of a text.", 2),
    "kept-index": compacted(
        "An index is not looked at in version 3.", MISSING, extra={"firstKeptEntryIndex": 2}
    ),
    "kept-other-branch": other_branch(
        "An entry of another branch keeps nothing.", compaction_there=False
    ),
    "kept-label": kept_metadata("Kept may be from a label on.", "label"),
    "kept-custom": kept_metadata("Kept may be from data of an extension on.", "custom"),
    "kept-model-change": kept_metadata("Kept may be from a change of model on.", "model"),
    "kept-edit": kept_metadata("Kept may be from an edit on.", "edit"),
    "kept-unknown-type": kept_metadata("Kept may be from an entry of unknown type on.", "unknown"),
    "kept-duplicate": kept_duplicate("The kept id stands twice in the file."),
    "kept-off-path": orphan("What an orphan lost cannot be kept."),
    "kept-many-kinds": many_kinds("Kept entries add what they always add."),
    "kept-inside-turn": split_turn("Kept may be from a reply on.", 7),
    "kept-result-only": split_turn("Kept may be a result whose call is gone.", 8),
    "summary-empty": compacted("An empty summary still makes a message.", summary=""),
    "summary-missing": compacted("A missing summary reads as undefined.", summary=MISSING),
    "summary-null": compacted("A summary of null reads as null.", summary=None),
    "summary-number": compacted("A number is written out.", summary=1.5),
    "summary-tags": compacted("Tags in a summary stay.", summary="</summary>\n<summary>"),
    "time-bad": compacted("A bad time does no harm.", timestamp="soon"),
    "details": compacted(
        "Details have no influence.", extra={"details": {"readFiles": ["a"]}, "fromHook": True}
    ),
    "leaf": as_leaf("The compaction is the leaf."),
    "root": as_root("The compaction is the root."),
    "other-branch": other_branch(
        "A compaction of another branch does not count.", compaction_there=True
    ),
    "branch-before": before("A branch from before it has everything."),
    "twice": twice("Of two the last counts.", SECOND, "00000007"),
    "twice-kept-first": twice(
        "The first is in what the last keeps, and adds nothing.", SECOND, "00000006"
    ),
    "twice-kept-before": twice("What the first took away comes back.", SECOND, FIRST),
    "twice-same": twice("Both keep from the same entry.", SECOND, SECOND),
    "twice-times": twice(
        "The last on the path counts, whatever the times say.", SECOND, BOSKOOP, stamps=True
    ),
    "system-kept": kept_system("A kept system message is dropped.", checkpoint=False, later=False),
    "system-checkpoint": kept_system(
        "Its own system message comes first.", checkpoint=True, later=False
    ),
    "system-later": kept_system(
        "Later system messages continue from its own.", checkpoint=True, later=True
    ),
    "system-later-only": kept_system(
        "Without one of its own a later one starts.", checkpoint=False, later=True
    ),
    "system-no-time": compacted(
        "Its system message has no time.",
        extra={"systemMessage": system_message("You know fruit.", sections={"cwd": "/"})},
    ),
    "system-null": compacted("A system message of null is none.", system_message=None),
    "system-array": compacted(
        "Its system message may hold blocks.",
        system_message=system_message([text_block("You"), text_block("know.")]),
    ),
}

"""Context edits: what they replace, what they take out, and which of them counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.testing import (
    MISSING,
    Content,
    SessionBuilder,
    image_block,
    system_message,
    text_block,
    thinking_block,
    tool,
    tool_call,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Vector = tuple[str, bytes]

# What a talk holds, by its id.
PROMPT, USER, ASSISTANT, RESULT, NOTE, BASH, SUMMARY, CUSTOM, ROLE = (
    f"{n:08x}" for n in range(1, 10)
)
TEXT: Content = "Changed."
BLOCKS: Content = [text_block("Changed"), image_block()]


def talk() -> SessionBuilder:
    """Start with one entry of every kind that adds a message."""
    session = SessionBuilder()
    session.system("You know apples.", sections={"cwd": "/home"}, tools_added=[tool("read")])
    session.user("Name an apple.")
    session.assistant("Looking.", thinking="Hm.", calls=[tool_call("read", {"path": "list"})])
    session.tool_result("call-1", "Cox", is_error=True)
    session.custom_message("A note.")
    session.bash("ls", "list\n")
    session.branch_summary("Aside.", USER)
    session.custom({"open": 1})
    session.message({"role": "custom", "customType": "old", "content": "Old note.", "timestamp": 1})
    return session


def edits(sentence: str, *pairs: tuple[Any, Any], **keywords: Any) -> Vector:
    """Edit a talk: target and replacement, null takes the target out."""
    session = talk()
    for target, replacement in pairs:
        session.edit(target, replacement, **keywords)
    session.user("And now?")
    return sentence, session.data


def compacted(sentence: str, edit: Callable[[SessionBuilder], str], first_kept: str) -> Vector:
    """Edit before a compaction that keeps from some entry on."""
    session = talk()
    edit(session)
    session.compaction(first_kept=first_kept)
    session.user("And now?")
    return sentence, session.data


def of_compaction(sentence: str, replacement: Any) -> Vector:
    """Edit a compaction with a prompt of its own."""
    session = talk()
    target = session.compaction(
        first_kept=NOTE, system_message=system_message("You know.", tools_added=[tool("write")])
    )
    session.edit(target, replacement)
    session.user("And now?")
    return sentence, session.data


def before_target(sentence: str) -> Vector:
    """Edit an entry that comes later."""
    session = SessionBuilder()
    session.edit("00000002", "Changed.")
    session.user("Name an apple.")
    session.assistant("Cox.")
    return sentence, session.data


def by_time(sentence: str) -> Vector:
    """Give the earlier of two edits the later time."""
    session = talk()
    session.edit(USER, "First on the path.", timestamp="2026-01-05T09:00:00.000Z")
    session.edit(USER, "Last on the path.", timestamp="2026-01-05T07:00:00.000Z")
    return sentence, session.data


def on_branch(sentence: str, *, back: bool) -> Vector:
    """Edit on one branch and go on with another."""
    session = talk()
    edit = session.omit(USER)
    session.user("And now?")
    session.at(ROLE if back else edit)
    session.user("Once more.")
    return sentence, session.data


def of_duplicate(sentence: str) -> Vector:
    """Edit an id that stands twice on the path."""
    session = SessionBuilder()
    session.user("Name an apple.", id="a")
    session.user("Name a pear.", id="a", parent=None)
    session.edit("a", "Changed.")
    return sentence, session.data


def of_edit(sentence: str) -> Vector:
    """Take an edit out, which has no effect."""
    session = talk()
    edit = session.edit(USER, "Changed.")
    session.omit(edit)
    return sentence, session.data


def failed(sentence: str) -> Vector:
    """Take out what failed before a retry."""
    session = SessionBuilder()
    session.user("Name an apple.")
    failure = session.assistant("", stop_reason="error", message={"errorMessage": "overloaded"})
    session.omit(failure)
    session.assistant("Cox.")
    return sentence, session.data


def later_than_reply(sentence: str) -> Vector:
    """Edit while a reply is on its way: the edit is later than the reply's own time."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    session.edit(question, "Name a pear.", timestamp="2026-01-05T08:00:09.000Z")
    session.assistant(
        "Cox.", timestamp="2026-01-05T08:00:12.000Z", message={"timestamp": 1767600005000}
    )
    session.user("And now?")
    return sentence, session.data


VECTORS = {
    "user-text": edits("A user's text is replaced by a text.", (USER, TEXT)),
    "user-blocks": edits("A user's text is replaced by blocks.", (USER, BLOCKS)),
    "assistant-text": edits("A reply loses thinking and calls to a text.", (ASSISTANT, TEXT)),
    "assistant-blocks": edits(
        "A reply may keep its call.",
        (ASSISTANT, [text_block("Changed."), tool_call("read", {"path": "list"})]),
    ),
    "assistant-thinking": edits(
        "A reply may become thinking.", (ASSISTANT, [thinking_block("Hm.", "sig")])
    ),
    "result-text": edits("A result's text becomes one block.", (RESULT, TEXT)),
    "result-blocks": edits("A result takes blocks.", (RESULT, BLOCKS)),
    "note-text": edits("The note of an extension stays a text.", (NOTE, TEXT)),
    "note-blocks": edits("The note of an extension takes blocks.", (NOTE, BLOCKS)),
    "custom-role": edits("A message of role custom takes a text.", (ROLE, TEXT)),
    "system": edits("A system message takes no replacement.", (PROMPT, TEXT)),
    "bash": edits("A command takes no replacement.", (BASH, TEXT)),
    "branch-summary": edits("A branch summary takes no replacement.", (SUMMARY, TEXT)),
    "custom": edits("What adds no message adds none when edited.", (CUSTOM, TEXT)),
    "compaction": of_compaction("A compaction takes no replacement.", "Changed."),
    "empty-text": edits("A text may become empty.", (USER, ""), (ASSISTANT, ""), (RESULT, "")),
    "empty-blocks": edits("Blocks may become none.", (USER, []), (ASSISTANT, []), (RESULT, [])),
    "content-missing": edits(
        "A replacement without content leaves none.", (USER, {}), (RESULT, {})
    ),
    "content-null": edits(
        "Content may become null.", (USER, {"content": None}), (ASSISTANT, {"content": None})
    ),
    "extra-keys": edits(
        "Other keys of a replacement do nothing.", (USER, {"content": "Changed.", "role": "system"})
    ),
    "replacement-missing": edits(
        "A missing replacement of a system message does nothing.", (PROMPT, MISSING)
    ),
    "replacement-missing-user": edits(
        "A missing replacement of a user makes Pi fail.", (USER, MISSING)
    ),
    "replacement-text": edits("A replacement that is a text itself.", (USER, 0)),
    "omit-system": edits("Null takes a system message out.", (PROMPT, None)),
    "omit-user": edits("Null takes a user out.", (USER, None)),
    "omit-assistant": edits("Null takes a reply out, its result stays.", (ASSISTANT, None)),
    "omit-result": edits("Null takes a result out, its call stays.", (RESULT, None)),
    "omit-note": edits("Null takes the note of an extension out.", (NOTE, None)),
    "omit-bash": edits("Null takes a command out.", (BASH, None)),
    "omit-branch-summary": edits("Null takes a branch summary out.", (SUMMARY, None)),
    "omit-custom": edits("Null on what adds no message.", (CUSTOM, None)),
    "omit-custom-role": edits("Null takes a message of role custom out.", (ROLE, None)),
    "omit-compaction": of_compaction("Null takes a compaction out, its prompt too.", None),
    "omit-edit": of_edit("Null on an edit does nothing."),
    "omit-all": edits("Everything may be taken out.", *((f"{n:08x}", None) for n in range(1, 10))),
    "last-wins": edits("Of two edits the last counts.", (USER, "First."), (USER, "Second.")),
    "last-wins-omit": edits("An edit may follow an omission.", (USER, None), (USER, "Back.")),
    "omit-last": edits("An omission may follow an edit.", (USER, "First."), (USER, None)),
    "path-not-time": by_time("The last on the path counts, not by time."),
    "before-target": before_target("The target may come later on the path."),
    "unknown-target": edits("An unknown target does nothing.", ("nobody", None)),
    "target-missing": edits("A missing target does nothing.", (MISSING, None)),
    "target-number": edits("A number is not the id of a text.", (2, None)),
    "duplicate-target": of_duplicate("The target stands twice in the file."),
    "branch-with": on_branch("An edit on the path counts.", back=False),
    "branch-without": on_branch("An edit of another branch does not count.", back=True),
    "compacted": compacted(
        "An edit that was compacted away does not count.", lambda s: s.omit(NOTE), "nobody"
    ),
    "compacted-target": compacted("A kept edit of what is gone.", lambda s: s.omit(USER), ROLE),
    "compacted-kept": compacted("Edit and target are kept.", lambda s: s.omit(NOTE), NOTE),
    "retry": failed("A failed reply is taken out before the next."),
    "in-flight": later_than_reply("An edit later than the reply's own time was not seen by it."),
}

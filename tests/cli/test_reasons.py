"""Every reason of the closed list, the order in which they are tried, and what explains them."""

from __future__ import annotations

from typing import Any

import pytest

from pi_sessions import Explanation, Reason, Session, loads
from pi_sessions.testing import (
    MISSING,
    SessionBuilder,
    image_block,
    system_message,
    text_block,
    thinking_block,
    tool,
    tool_call,
)

PAIRED = "call_1|fc_1"
"""A tool-call id of openai-responses, which openai-completions takes in another form."""


class Told:
    """What a session says of its lines at a point."""

    def __init__(self, builder: SessionBuilder, **point: Any) -> None:
        self.session: Session = loads(builder.data)
        self.explanation: Explanation = self.session.explain(**point)

    def line(self, where: str | int) -> int:
        return where if isinstance(where, int) else self.session.entry(where).line

    def reason(self, where: str | int) -> str:
        return str(self.explanation.reason(self.line(where)))

    def because(self, where: str | int) -> tuple[int, ...]:
        return self.explanation.because(self.line(where))

    @property
    def reasons(self) -> list[str]:
        """The reasons of all lines, in order."""
        return [self.reason(n) for n in range(1, len(self.session.table) + 1)]


def reasons(builder: SessionBuilder, **point: Any) -> list[str]:
    return Told(builder, **point).reasons


def talk(builder: SessionBuilder) -> tuple[str, str]:
    """Add a question and an answer."""
    return builder.user("Name an apple."), builder.assistant("Cox.")


# Lines that are no entries


def test_what_is_no_entry() -> None:
    s = SessionBuilder()
    s.user("hi")
    for line in (b"", b" \t\r", b"{", b"null", b"false", b"0", b'""', b"5", b"[]", b"{}"):
        s.raw_line(line)
    s.raw_line(b'{"type":5}')
    s.raw_line(b'{"type":"session","id":"second"}')
    s.raw_line(b'{"type":"message","id":"x","parentId":null}')
    s.raw_line(b'{"type":"message","id":"y","message":5}')

    assert reasons(s) == [
        "header",
        "as-stored",
        *["blank"] * 2,
        "malformed",
        *["not-an-entry"] * 10,
        "not-an-entry",
    ]


def test_lines_before_the_header() -> None:
    s = SessionBuilder(header=False)
    s.raw_line(b"")
    s.raw_line(b"{broken")
    s.raw_line(b'{"type":"session","version":3,"id":"a"}')
    s.user("hi")

    assert reasons(s) == ["blank", "malformed", "header", "as-stored"]


def test_a_line_is_no_entry_wherever_it_stands() -> None:
    """Step 1 comes before the place in the tree: also before the cut of a compaction."""
    s = SessionBuilder()
    s.user("hi")
    s.raw_line(b"{broken")
    s.raw_line(b"")
    s.compaction()

    assert reasons(s) == ["header", "summarised", "malformed", "blank", "converted"]


# The place in the tree


def test_shadowed() -> None:
    """A later line has the id: before everything that could be said of the branch."""
    s = SessionBuilder()
    s.user("one", id="a")
    s.user("two", id="a", parent=None)
    s.user("three")
    told = Told(s)

    assert told.reasons == ["header", "shadowed", "as-stored", "as-stored"]
    assert told.because(2) == (3,)


def test_shadowed_off_the_path() -> None:
    s = SessionBuilder()
    root = s.user("root")
    s.user("one", id="a")
    s.add("label", {}, id="a", parent=root)
    s.at(root)
    s.user("live")

    assert reasons(s)[2:] == ["shadowed", "other-branch", "as-stored"]


def test_other_branch_and_its_anchor() -> None:
    s = SessionBuilder()
    root = s.user("root")
    first, deep = talk(s)
    s.at(root)
    last = s.user("live")
    told = Told(s)

    assert [told.reason(x) for x in (first, deep, last)] == ["other-branch"] * 2 + ["as-stored"]
    assert told.because(first) == told.because(deep) == (told.line(root),)


def test_another_root_is_another_branch() -> None:
    s = SessionBuilder()
    talk(s)
    s.at(None)
    s.user("anew")

    assert reasons(s) == ["header", "other-branch", "other-branch", "as-stored"]


def test_every_type_is_placed_by_the_tree_first() -> None:
    """Step 3 before step 4: a setting of another branch is of another branch."""
    s = SessionBuilder()
    root = s.user("root")
    s.model_change("cedar", "c")
    s.label(root, "x")
    s.omit(root)
    s.add("odd", {})
    s.compaction()
    s.user("x", message={"role": "narrator"})
    s.bash("ls", message={"excludeFromContext": True})
    s.at(root)
    s.user("live")

    assert reasons(s) == ["header", "as-stored", *["other-branch"] * 7, "as-stored"]


def test_later() -> None:
    s = SessionBuilder()
    question, answer = talk(s)
    s.user("more")
    s.model_change("cedar", "c")
    s.at(question)
    s.user("instead")
    told = Told(s, leaf=answer)

    assert told.reasons == [
        "header", "as-stored", "as-stored", "later", "later", "other-branch"
    ]  # fmt: skip
    assert told.because(4) == (told.line(answer),)
    assert reasons(s, leaf=question)[2:] == ["later"] * 4


def test_the_reply_and_what_follows_are_later() -> None:
    s = SessionBuilder()
    _, answer = talk(s)
    s.user("more")

    assert reasons(s, response=answer) == ["header", "as-stored", "later", "later"]


def test_entries_written_in_flight_are_later() -> None:
    """What was added between a request and its reply was not in that request."""
    s = SessionBuilder()
    question = s.user("Name an apple.")
    steering = s.user("A red one.")
    sent = s.custom({"n": 1})
    before = loads(s.data).entry(question).raw["message"]["timestamp"]
    answer = s.assistant("Cox.", message={"timestamp": before})
    told = Told(s, response=answer)

    assert told.session.table.ids[told.explanation.point.leaf] == question
    assert [told.reason(x) for x in (question, steering, sent, answer)] == [
        "as-stored", "later", "later", "later"
    ]  # fmt: skip


def test_unreachable_by_its_own_chain() -> None:
    s = SessionBuilder()
    live = s.user("live")
    lost = s.user("lost", parent="nowhere")
    child = s.user("child of the lost")
    s.user("a", id="x", parent="y")
    s.user("b", id="y", parent="x")
    told = Told(s, leaf=live)

    assert told.reasons == ["header", "as-stored", *["unreachable"] * 4]
    assert told.because(child) == (told.line(lost),)


def test_unreachable_because_the_path_is_cut() -> None:
    s = SessionBuilder()
    first = s.user("before the gap")
    lost = s.user("after the gap", parent="nowhere")
    s.user("live")
    told = Told(s)

    assert told.reasons == ["header", "unreachable", "as-stored", "as-stored"]
    assert told.because(first) == (told.line(lost),)


def test_one_tree_is_never_unreachable() -> None:
    """Both ends at the same missing parent's child: another branch of one tree."""
    s = SessionBuilder()
    root = s.user("orphan", parent="nowhere")
    side = s.user("side")
    s.at(root)
    s.user("live")

    assert Told(s).reason(side) == "other-branch"


def test_its_own_parent_acts_as_a_root() -> None:
    s = SessionBuilder()
    s.user("self", id="a", parent="a")
    s.user("child")

    assert reasons(s) == ["header", "as-stored", "as-stored"]


def test_a_path_that_ends_in_a_cycle() -> None:
    s = SessionBuilder()
    before = s.user("before")
    s.user("a", id="x", parent="y")
    s.user("b", id="y", parent="x")
    told = Told(s)

    assert told.reason(before) == "unreachable"
    assert told.reasons[2:] == ["as-stored", "as-stored"]


# By type


def test_bookkeeping_settings_and_unknown_types() -> None:
    s = SessionBuilder()
    root = s.user("hi")
    s.custom()
    s.label(root, "x")
    s.name("n")
    s.usage()
    s.model_change("birch", "birch-1")
    s.thinking_level("high")
    s.add("future", {})

    assert reasons(s)[2:] == [*["bookkeeping"] * 4, "setting", "setting", "unknown-type"]


def test_types_come_before_the_compaction_and_the_edits() -> None:
    """Step 4 before 5 and 6: also before the kept range, also where an edit names them."""
    s = SessionBuilder()
    root = s.user("hi")
    s.custom()
    setting = s.thinking_level("high")
    s.add("future", {})
    s.omit(root)
    s.omit(setting)
    s.compaction()
    s.omit(setting)

    assert reasons(s)[1:] == [
        "summarised", "bookkeeping", "setting", "unknown-type", "context-edit", "context-edit",
        "converted", "context-edit",
    ]  # fmt: skip


# Compactions


def test_summarised_and_kept() -> None:
    s = SessionBuilder()
    gone, _ = talk(s)
    kept = s.user("kept")
    compaction = s.compaction(first_kept=kept)
    s.user("after")
    told = Told(s)

    assert told.reasons == [
        "header", "summarised", "summarised", "as-stored", "converted", "as-stored"
    ]  # fmt: skip
    assert told.because(gone) == (told.line(compaction),)


def test_nothing_is_kept_where_the_first_kept_entry_is_unknown() -> None:
    s = SessionBuilder()
    talk(s)
    s.compaction(first_kept="deadbeef")

    assert reasons(s) == ["header", "summarised", "summarised", "converted"]


def test_older_compaction() -> None:
    s = SessionBuilder()
    s.user("one")
    old = s.compaction("first")
    kept_old = s.compaction("second")
    s.user("two")
    new = s.compaction("third", first_kept=kept_old)
    told = Told(s)

    assert told.reasons == [
        "header", "summarised", "older-compaction", "older-compaction", "as-stored", "converted"
    ]  # fmt: skip
    assert told.because(old) == told.because(kept_old) == (told.line(new),)


def test_an_older_compaction_that_is_later_or_elsewhere() -> None:
    s = SessionBuilder()
    question = s.user("one")
    s.compaction("first")
    s.compaction("second")

    assert reasons(s, leaf=question) == ["header", "as-stored", "later", "later"]


@pytest.mark.parametrize("checkpoint", [MISSING, system_message("Be brief.")])
def test_checkpointed(checkpoint: Any) -> None:
    """Kept system messages give way, and those before the kept range, checkpoint or not."""
    s = SessionBuilder()
    first = s.system("You are kind.", sections={"a": "A"})
    s.user("one")
    kept = s.user("two")
    second = s.system("", sections={"a": "B"})
    compaction = s.compaction(first_kept=kept, system_message=checkpoint)
    told = Told(s)

    assert [told.reason(x) for x in (first, second)] == ["checkpointed"] * 2
    assert told.line(compaction) in told.because(first)
    assert told.line(compaction) in told.because(second)
    assert told.reason(kept) == "as-stored"


def test_a_compaction_with_its_checkpoint_is_one_line() -> None:
    """Its checkpoint is folded into the prompt and its summary told in other words."""
    s = SessionBuilder()
    s.user("one")
    compaction = s.compaction(system_message=system_message("Be brief."))

    assert Told(s).reason(compaction) in ("folded", "converted")
    assert reasons(s, stage="projection")[-1] == "as-stored"


def test_the_compaction_comes_before_edits_and_roles() -> None:
    """Step 5 before 6 and 7."""
    s = SessionBuilder()
    omitted = s.user("omitted")
    s.user("x", message={"role": "narrator"})
    s.bash("ls", message={"excludeFromContext": True})
    s.assistant("", stop_reason="error")
    s.compaction()
    s.omit(omitted)

    assert reasons(s)[1:] == [*["summarised"] * 4, "converted", "context-edit"]


# Edits


def test_edited() -> None:
    s = SessionBuilder()
    question, answer = talk(s)
    edit = s.edit(question, "Name a pear.")
    told = Told(s)

    assert told.reason(question) == "edited"
    assert told.because(question) == (told.line(edit),)
    assert told.reason(answer) == "as-stored"
    assert told.because(edit) == (told.line(question),)
    assert told.explanation.edits == {told.line(edit): True}


def test_omitted() -> None:
    s = SessionBuilder()
    question, _ = talk(s)
    edit = s.omit(question)
    told = Told(s)

    assert told.reason(question) == "omitted"
    assert told.because(question) == (told.line(edit),)


def test_the_last_edit_of_a_target_is_in_force() -> None:
    s = SessionBuilder()
    question, _ = talk(s)
    first = s.omit(question)
    last = s.edit(question, "Name a pear.")
    told = Told(s)

    assert told.reason(question) == "edited"
    assert told.explanation.edits == {told.line(first): False, told.line(last): True}
    assert set(told.because(first)) == {told.line(question), told.line(last)}


def test_an_edit_before_a_compaction_is_not_in_force() -> None:
    s = SessionBuilder()
    question = s.user("one")
    edit = s.omit(question)
    compaction = s.compaction(first_kept=MISSING)
    told = Told(s)

    assert told.explanation.edits == {told.line(edit): False}
    assert set(told.because(edit)) == {told.line(question), told.line(compaction)}


def test_an_edit_without_a_target_here_is_not_in_force() -> None:
    s = SessionBuilder()
    root = s.user("hi")
    side = s.user("side")
    s.at(root)
    off = s.omit(side)
    lost = s.omit("nowhere")
    told = Told(s)

    assert told.explanation.edits == {told.line(off): False, told.line(lost): False}
    assert told.because(off) == (told.line(side),)
    assert told.because(lost) == ()


def test_an_edit_takes_out_a_compaction_and_its_checkpoint() -> None:
    s = SessionBuilder()
    s.user("one")
    compaction = s.compaction(system_message=system_message("Be brief."))
    s.omit(compaction)

    assert Told(s).reason(compaction) == "omitted"


def test_a_replacement_does_nothing_to_shell_runs_summaries_and_prompts() -> None:
    s = SessionBuilder()
    prompt = s.system("You are kind.")
    s.user("hi")
    run = s.bash("ls", "apples.txt")
    s.edit(prompt, "other")
    s.edit(run, "other")
    told = Told(s)

    assert [told.reason(prompt), told.reason(run)] == ["folded", "converted"]


def test_omitted_comes_before_roles_and_failures() -> None:
    """Step 6 before 7."""
    s = SessionBuilder()
    s.user("hi")
    targets = [
        s.user("x", message={"role": "narrator"}),
        s.bash("ls", message={"excludeFromContext": True}),
        s.assistant("Co", stop_reason="aborted"),
    ]
    for target in targets:
        s.omit(target)
    told = Told(s)

    assert [told.reason(x) for x in targets] == ["omitted"] * 3


# Roles and failures


def test_unknown_roles_shell_runs_and_failed_replies() -> None:
    s = SessionBuilder()
    s.user("hi")
    narrator = s.user("x", message={"role": "narrator"})
    nobody = s.user("x", message={"role": MISSING})
    secret = s.bash("ls", message={"excludeFromContext": True})
    error = s.assistant("", stop_reason="error")
    aborted = s.assistant("Co", stop_reason="aborted")
    s.user("again")
    told = Told(s)

    assert [told.reason(x) for x in (narrator, nobody, secret, error, aborted)] == [
        "unknown-role", "unknown-role", "excluded-shell", "failed-reply", "failed-reply"
    ]  # fmt: skip


def test_a_failed_reply_that_was_edited_has_failed() -> None:
    """Step 7 before 9."""
    s = SessionBuilder()
    s.user("hi")
    failed = s.assistant("Co", stop_reason="error")
    s.edit(failed, "Cox.")
    s.user("again")

    assert Told(s).reason(failed) == "failed-reply"


# Nothing left


def test_superseded() -> None:
    """All its sections and tools were replaced or removed, and it has no text."""
    s = SessionBuilder()
    s.system("You are kind.")
    old = s.system("", sections={"a": "A1", "b": "B"}, tools_added=[tool("read")])
    s.user("hi")
    patch = s.system("", sections={"a": "A2"}, tools_removed=["read"])
    removal = s.system("", sections={"b": None})
    told = Told(s)

    assert told.reason(old) == "superseded"
    assert set(told.because(old)) == {told.line(patch), told.line(removal)}
    assert Told(s, stage="projection").reason(old) == "superseded"


def test_a_system_message_with_a_text_is_never_superseded() -> None:
    s = SessionBuilder()
    old = s.system("You are kind.", sections={"a": "A1"})
    s.user("hi")
    s.system("", sections={"a": "A2"})

    assert Told(s).reason(old) == "folded"


def test_a_branch_summary_without_text_is_empty() -> None:
    s = SessionBuilder()
    root = s.user("hi")
    empty = s.branch_summary("", root)

    assert Told(s).reason(empty) == "empty"
    assert Told(s, stage="projection").reason(empty) == "empty"


def test_a_reply_of_which_nothing_is_left_is_empty() -> None:
    """Thinking of another model goes; without anything else the reply is not sent."""
    s = SessionBuilder()
    s.user("hi")
    thought = s.assistant("", thinking=thinking_block("hm", "sig"), model="older")
    s.user("well?")
    s.assistant("Cox.")

    assert Told(s).reason(thought) == "empty"


# Sent in another form


def test_trimmed() -> None:
    s = SessionBuilder()
    s.user("hi")
    thinker = s.assistant("Cox.", thinking=thinking_block("hm", "sig"), model="older")
    s.user("well?")
    s.assistant("Yes.")

    assert Told(s).reason(thinker) == "trimmed"


def test_removed_surrogates_trim() -> None:
    s = SessionBuilder()
    odd = s.user("a \ud83d b")

    assert Told(s).reason(odd) == "trimmed"


def test_renamed() -> None:
    s = SessionBuilder()
    s.user("hi")
    other: Any = {"api": "openai-responses", "provider": "larch", "model": "l-1"}
    call = s.assistant("", calls=[tool_call("read", {"path": "a"}, id=PAIRED)], **other)
    result = s.tool_result(PAIRED, "Cox")
    s.assistant("Cox.")
    told = Told(s)

    assert [told.reason(call), told.reason(result)] == ["renamed", "renamed"]


def test_trimmed_comes_before_renamed_and_edited_before_both() -> None:
    """The order within step 9."""
    s = SessionBuilder()
    s.user("hi")
    other: Any = {"api": "openai-responses", "provider": "larch", "model": "l-1"}
    call = s.assistant(
        "Let me see.",
        thinking=thinking_block("hm", "sig"),
        calls=[tool_call("read", {"path": "a"}, id=PAIRED)],
        **other,
    )
    result = s.tool_result(PAIRED, "Cox")
    s.assistant("Cox.")
    s.edit(result, "Boskoop")
    told = Told(s)

    assert [told.reason(call), told.reason(result)] == ["trimmed", "edited"]


def test_moved() -> None:
    """The picture of a result goes into a message of its own after the results."""
    s = SessionBuilder()
    s.user("hi")
    s.assistant("", calls=[tool_call("read", {"path": "a.gif"})])
    result = s.tool_result("call-1", [text_block("A picture."), image_block()])
    told = Told(s)

    assert told.reason(result) == "moved"
    assert "attached-images" in {part.kind for part in told.explanation.synthetic}


def test_folded() -> None:
    s = SessionBuilder()
    lead = s.system("You are kind.", sections={"a": "A1"}, tools_added=[tool("read")])
    s.user("hi")
    patch = s.system("", sections={"a": "A2"})
    told = Told(s)

    assert [told.reason(lead), told.reason(patch)] == ["folded", "folded"]


def test_converted() -> None:
    s = SessionBuilder()
    root = s.user("hi")
    entries = [
        s.bash("ls", "apples.txt"),
        s.custom_message("note"),
        s.custom_message("hidden", display=False),
        s.branch_summary("We looked at pears.", root),
    ]
    told = Told(s)

    assert [told.reason(x) for x in entries] == ["converted"] * 4


def test_edited_comes_before_converted() -> None:
    s = SessionBuilder()
    s.user("hi")
    note = s.custom_message("note")
    s.edit(note, "other note")

    assert Told(s).reason(note) == "edited"


# In no line


def test_a_stand_in_result_is_told_with_the_call_that_caused_it() -> None:
    s = SessionBuilder()
    s.user("hi")
    calls = [tool_call("read", id="one"), tool_call("read", id="two")]
    call = s.assistant("", calls=calls)
    s.tool_result("one", "Cox")
    s.user("and?")
    told = Told(s)
    parts = [(p.kind, p.text, p.because) for p in told.explanation.synthetic]

    assert parts == [("stand-in-result", "No result provided", (told.line(call),))]
    assert Told(s, stage="projection").explanation.synthetic == ()


# Pi's own context


def test_stage_projection_leaves_out_what_the_request_does() -> None:
    s = SessionBuilder()
    lead = s.system("You are kind.")
    question = s.user("hi")
    narrator = s.user("x", message={"role": "narrator"})
    secret = s.bash("ls", message={"excludeFromContext": True})
    failed = s.assistant("", stop_reason="error")
    thinker = s.assistant("Cox.", thinking=thinking_block("hm", "sig"), model="older")
    note = s.custom_message("note")
    gone = s.user("gone")
    s.assistant("Yes.")
    s.edit(question, "hello")
    s.omit(gone)
    told = Told(s, stage="projection")
    plain = (lead, narrator, secret, failed, thinker, note)

    assert [told.reason(x) for x in plain] == ["as-stored"] * 6
    assert [told.reason(question), told.reason(gone)] == ["edited", "omitted"]


def test_every_reason_belongs_to_the_verdict_of_the_list() -> None:
    sent = {Reason.AS_STORED}
    changed = {"edited", "trimmed", "moved", "renamed", "folded", "converted"}
    for reason in Reason:
        expected = "sent" if reason in sent else "changed" if reason in changed else "not_sent"
        assert reason.verdict == expected
    assert len(Reason) == 28

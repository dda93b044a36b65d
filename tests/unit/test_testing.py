"""The session builder writes what its callers ask for, the same bytes every time."""

from __future__ import annotations

import json
from typing import Any

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


def lines(session: SessionBuilder) -> list[Any]:
    return [json.loads(line) for line in session.data.splitlines()]


def test_the_same_calls_give_the_same_bytes() -> None:
    """Ids count up, times go on by a second, keys have the order of the format."""
    session = SessionBuilder()
    session.user("Hi")

    assert session.data == (
        b'{"type":"session","version":3,"id":"session-1","timestamp":"2026-01-05T08:00:00.000Z",'
        b'"cwd":"/home/dev/orchard"}\n'
        b'{"type":"message","id":"00000001","parentId":null,'
        b'"timestamp":"2026-01-05T08:00:01.000Z","message":{"role":"user","content":"Hi",'
        b'"timestamp":1767600001000}}\n'
    )


def test_entries_follow_each_other_until_a_branch_starts() -> None:
    """Every entry is the child of the one before, or of the one gone to."""
    session = SessionBuilder()
    question = session.user("Hi")
    session.assistant("Yo")
    session.at(question)
    session.assistant("Hello")
    session.at(None)
    session.user("Again")

    assert [e["parentId"] for e in lines(session)[1:]] == [None, "00000001", "00000001", None]


def test_id_parent_and_timestamp_can_be_given() -> None:
    """Given values win; a message has the time of its entry."""
    session = SessionBuilder()
    given = session.user("Hi", id="a", parent="b", timestamp="2026-01-05T09:00:00.500Z")
    session.label(given, "start", parent=MISSING, timestamp=MISSING)
    message, label = lines(session)[1:]

    assert (
        message["id"],
        message["parentId"],
        message["message"]["timestamp"],
    ) == ("a", "b", 1767603600500)
    assert label == {"type": "label", "id": "00000002", "targetId": "a", "label": "start"}


def test_a_reply_holds_thinking_text_and_calls_in_this_order() -> None:
    """A result takes the name of its call."""
    session = SessionBuilder()
    session.assistant("Yo", thinking="Hm", calls=[tool_call("read", {"path": "a"}, id="c")])
    session.tool_result("c", "text", is_error=True)
    session.tool_result("d", [image_block()])
    reply, result, other = (entry["message"] for entry in lines(session)[1:])

    assert reply["content"] == [
        {"type": "thinking", "thinking": "Hm"},
        {"type": "text", "text": "Yo"},
        {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}},
    ]
    assert reply["stopReason"] == "toolUse"
    assert ("read", True, [text_block("text")]) == (
        result["toolName"],
        result["isError"],
        result["content"],
    )
    assert ("bash", [image_block()]) == (other["toolName"], other["content"])


def test_keywords_of_a_reply_are_written() -> None:
    """Model, reason and any other key can be set or left out."""
    session = SessionBuilder()
    session.assistant(
        [text_block("a")],
        provider="cedar",
        api="openai-responses",
        model="cedar-1",
        thinking=thinking_block("", "sig", redacted=True),
        stop_reason="length",
        message={"usage": MISSING, "thinkingLevel": "low"},
    )

    assert lines(session)[1]["message"] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "", "thinkingSignature": "sig", "redacted": True},
            {"type": "text", "text": "a"},
        ],
        "api": "openai-responses",
        "provider": "cedar",
        "model": "cedar-1",
        "stopReason": "length",
        "timestamp": 1767600001000,
        "thinkingLevel": "low",
    }


def test_a_system_message_names_removed_tools_as_objects() -> None:
    """A compaction carries the same message, with its own time."""
    session = SessionBuilder()
    session.system("a", sections={"b": None}, tools_added=[tool("read")], tools_removed=["x"])
    session.compaction("s", first_kept="00000001", system_message=system_message("c"))
    said, compaction = lines(session)[1:]

    assert said["message"]["toolsRemoved"] == [{"name": "x"}]
    assert said["message"]["sections"] == {"b": None}
    assert compaction["systemMessage"]["content"] == "c"
    assert compaction["systemMessage"]["timestamp"] == 1767600002000


def test_an_edit_wraps_content() -> None:
    """A text or blocks are content, null takes out, an object stays as it is."""
    session = SessionBuilder()
    session.edit("a", "new")
    session.edit("a", {"content": [], "x": 1})
    session.omit("a")

    assert [entry["replacement"] for entry in lines(session)[1:]] == [
        {"content": "new"},
        {"content": [], "x": 1},
        None,
    ]


def test_every_kind_of_entry_has_its_fields() -> None:
    """Each method writes the type that it is named after."""
    session = SessionBuilder()
    session.name("n")
    session.custom({"a": 1})
    session.custom_message("c")
    session.branch_summary("s")
    session.bash("ls", "out", message={"exitCode": 1})
    session.model_change("p", "m")
    session.thinking_level("low")
    session.usage()

    assert [entry["type"] for entry in lines(session)[1:]] == [
        "session_info",
        "custom",
        "custom_message",
        "branch_summary",
        "message",
        "model_change",
        "thinking_level_change",
        "usage",
    ]


def test_anything_can_be_written_as_it_is() -> None:
    """Raw lines leave the tip alone, raw objects with an id become it."""
    session = SessionBuilder(header=False)
    session.raw_line(b"{oops")
    session.entry({"type": "custom", "id": 7})
    session.entry([1])
    session.custom()
    session.raw_line(b"torn", end=b"")
    first, *objects, last = session.data.split(b"\n")

    assert (first, last) == (b"{oops", b"torn")
    assert json.loads(objects[-1])["parentId"] == 7


def test_version_one_has_no_ids() -> None:
    """Neither ids nor parents are written, and no version."""
    session = SessionBuilder(version=MISSING, linked=False, provider="birch")
    session.name("n")
    header, entry = lines(session)

    assert list(header) == ["type", "id", "timestamp", "cwd", "provider"]
    assert list(entry) == ["type", "timestamp", "name"]


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    """Everything else that is no ASCII is written as it is."""
    session = SessionBuilder(header=False)
    session.entry("\ud83dä")

    assert session.data == b'"\\ud83d\xc3\xa4"\n'

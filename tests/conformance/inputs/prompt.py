"""The prompt: texts, sections and tools of all system messages on the path."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder, text_block, tool, tool_call

Vector = tuple[str, bytes]


def said(sentence: str, *messages: dict[str, Any]) -> Vector:
    """Say system messages (keywords of `system`), each followed by a user."""
    session = SessionBuilder()
    for number, keywords in enumerate(messages):
        session.system(**keywords)
        session.user(f"Question {number}.")
    return sentence, session.data


def texts(sentence: str, *contents: Any) -> Vector:
    """Say system messages of text alone."""
    return said(sentence, *({"content": content} for content in contents))


def sections(sentence: str, *patches: Any) -> Vector:
    """Say system messages of sections alone."""
    return said(sentence, *({"sections": patch} for patch in patches))


def tools(sentence: str, *changes: tuple[list[Any], list[str]]) -> Vector:
    """Say system messages that add and remove tools."""
    return said(
        sentence, *({"tools_added": added, "tools_removed": gone} for added, gone in changes)
    )


def none(sentence: str) -> Vector:
    """Say nothing but what user and model say."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.assistant("Cox.")
    return sentence, session.data


def late(sentence: str) -> Vector:
    """Say the first system message after a turn."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.assistant("Cox.")
    session.system("You know apples.", sections={"cwd": "/home"}, tools_added=[tool("read")])
    session.user("Another one.")
    return sentence, session.data


def branch(sentence: str) -> Vector:
    """Change the prompt on a branch that was left."""
    session = SessionBuilder()
    session.system("You know apples.", sections={"cwd": "/home"})
    question = session.user("Name an apple.")
    session.system("You know pears.", sections={"cwd": None})
    session.at(question)
    session.assistant("Cox.")
    return sentence, session.data


def used(sentence: str) -> Vector:
    """Remove a tool after it was used."""
    session = SessionBuilder()
    session.system("", tools_added=[tool("read"), tool("write")])
    session.user("Read the list.")
    session.assistant(calls=[tool_call("read")])
    session.tool_result("call-1", "Cox")
    session.system("", tools_removed=["read"])
    session.user("And now?")
    return sentence, session.data


A, B, C = (tool(name) for name in "abc")
NEW_A = tool("a", "Another tool.", {"type": "object", "properties": {"x": {"type": "string"}}})

VECTORS = {
    "none": none("Without a system message there is no prompt."),
    "text": texts("One text.", "You know apples."),
    "texts": texts("Texts are joined by an empty line.", "You know apples.", "And pears."),
    "texts-empty": texts("Empty texts are skipped.", "", "You know apples.", ""),
    "texts-blank": texts("Blank texts are not.", "You know apples.", " "),
    "text-array": texts(
        "Blocks are joined by a newline.", "a", [text_block("b"), text_block("c")], "", "d"
    ),
    "text-array-empty": texts("No blocks are an empty text.", [], "You know apples."),
    "text-array-empty-block": texts(
        "An empty block is joined too.", [text_block("a"), text_block(""), text_block("b")]
    ),
    "text-null": said("A text of null is empty.", {"content": None, "sections": {"cwd": "/home"}}),
    "text-missing": said(
        "A missing text is empty.", {"message": {"content": MISSING}, "sections": {"cwd": "/"}}
    ),
    "sections": sections(
        "Sections keep their order.", {"preamble": "You know apples.", "cwd": "<cwd>\n/\n</cwd>"}
    ),
    "sections-patched": sections(
        "A changed section keeps its place.", {"a": "1", "b": "2"}, {"a": "3"}
    ),
    "sections-added": sections("A new section comes last.", {"a": "1", "b": "2"}, {"c": "3"}),
    "sections-removed": sections("Null removes a section.", {"a": "1", "b": "2"}, {"a": None}),
    "sections-added-again": sections(
        "A section that comes back comes last.", {"a": "1", "b": "2"}, {"a": None}, {"a": "3"}
    ),
    "sections-removed-unknown": sections(
        "An unknown section may be removed.", {"a": "1"}, {"b": None}
    ),
    "sections-null-first": sections(
        "A section may start as null.", {"a": None}, {"b": "1"}, {"a": "2"}
    ),
    "sections-empty-text": sections("An empty section is kept.", {"a": "", "b": "2"}, {"b": ""}),
    "sections-all-removed": sections("No section may be left.", {"a": "1"}, {"a": None}),
    "sections-integer": sections(
        "Integer names come first in each message.", {"b": "1", "2": "2", "1": "3"}
    ),
    "sections-integer-late": sections("An integer name that comes later.", {"b": "1"}, {"1": "2"}),
    "sections-proto": sections("__proto__ names a section.", {"a": "1", "__proto__": "2"}),
    "sections-null": said(
        "Sections of null are none.", {"content": "a", "message": {"sections": None}}
    ),
    "sections-and-text": said(
        "Text comes before the sections.",
        {"sections": {"a": "1"}},
        {"content": "Later.", "sections": {"b": "2"}},
    ),
    "tools": tools("Tools keep their order.", ([A, B], [])),
    "tools-added": tools("A new tool comes last.", ([A, B], []), ([C], [])),
    "tools-removed": tools("A tool may be removed.", ([A, B], []), ([], ["a"])),
    "tools-removed-unknown": tools("An unknown tool may be removed.", ([A], []), ([], ["x"])),
    "tools-redefined": tools(
        "A tool that is added again keeps its place.", ([A, B], []), ([NEW_A], [])
    ),
    "tools-replaced": tools(
        "Removed and added in one message it comes last.", ([A, B], []), ([NEW_A], ["a"])
    ),
    "tools-added-again": tools(
        "A tool that comes back comes last.", ([A, B], []), ([], ["a"]), ([A], [])
    ),
    "tools-twice": tools("Of two declarations in a message the last counts.", ([A, B, NEW_A], [])),
    "tools-all-removed": tools("No tool may be left.", ([A], []), ([], ["a"])),
    "tools-integer": tools(
        "Integer names have no place of their own.", ([B, tool("1"), A], []), ([tool("0")], [])
    ),
    "tools-constrained": tools(
        "A declaration keeps all its keys.",
        ([{**A, "constrainedSampling": {"type": "json_schema"}, "x": 1}], []),
    ),
    "tools-removed-text": said(
        "A removed tool named by a text.",
        {"tools_added": [A]},
        {"message": {"toolsRemoved": ["a"]}},
    ),
    "tools-used": used("A tool may be removed after its use."),
    "late": late("The first system message may come late."),
    "other-branch": branch("A prompt of another branch does not count."),
}

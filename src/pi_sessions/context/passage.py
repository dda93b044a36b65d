"""The texts that stand in one entry, and in what way each of them can reach a model."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._json import dumps
from pi_sessions.context.prompt import added_tools, content_text, section_changes
from pi_sessions.table import FIRST_OTHER, FIRST_TYPE, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Container, Iterator


class Where(StrEnum):
    """What part of an entry a text is."""

    TEXT = "text"
    THINKING = "thinking"
    ARGUMENTS = "arguments"
    """A tool call's, with its name."""
    RESULT = "result"
    SHELL = "shell"
    SUMMARY = "summary"
    PROMPT = "prompt"
    """A system message's text outside of sections."""
    SECTION = "section"
    TOOL = "tool"
    """A declaration."""
    REPLACEMENT = "replacement"
    """What a context edit puts in the place of another entry's content."""
    STORED = "stored"
    """Anything else of a line: details, state of extensions, names; never sent."""


PROMPTS = frozenset({Where.PROMPT, Where.SECTION, Where.TOOL})


class Passage(msgspec.Struct, frozen=True):
    """A text of an entry."""

    line: int
    where: Where
    text: str
    name: str = ""
    """Of the section, or of the tool."""


def passages(table: Table, line: int) -> Iterator[Passage]:
    """Give the texts of a line that can reach a model, then all others as one passage each."""
    if table.kinds[line] >= FIRST_OTHER:
        yield Passage(line, Where.STORED, table.bytes(line).decode("utf-8", "replace"))
        return
    entry = table.raw(line)
    told = list(_told(table.kinds[line], line, entry))
    yield from told
    said = {passage.text for passage in told}
    for text in strings(entry, _STRUCTURE):
        if text not in said:
            yield Passage(line, Where.STORED, text)


_STRUCTURE = frozenset(
    {"type", "role", "id", "parentId", "timestamp", "targetId", "firstKeptEntryId", "toolCallId"}
)
"""Keys whose values are of the format, not of what somebody said."""


def strings(value: Any, without: Container[str] = ()) -> Iterator[str]:
    """Give every text in a JSON value, in order; names of keys and values of some are left out."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(value[key] for key in reversed(value) if key not in without)
        elif isinstance(value, list):
            stack.extend(reversed(value))


def _told(kind: int, line: int, entry: dict[str, Any]) -> Iterator[Passage]:
    if kind < FIRST_TYPE:
        yield from _message(kind, line, entry["message"])
    elif kind == Kind.CUSTOM_MESSAGE:
        yield from _texts(line, Where.TEXT, entry.get("content"))
    elif kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        yield from _text(line, Where.SUMMARY, entry.get("summary"))
        if kind == Kind.COMPACTION and isinstance(entry.get("systemMessage"), dict):
            yield from _system(line, entry["systemMessage"])
    elif kind == Kind.CONTEXT_EDIT and isinstance(entry.get("replacement"), dict):
        yield from _texts(line, Where.REPLACEMENT, entry["replacement"].get("content"))


def _message(kind: int, line: int, message: dict[str, Any]) -> Iterator[Passage]:
    content = message.get("content")
    if kind == Kind.ASSISTANT:
        yield from _reply(line, content)
    elif kind == Kind.SYSTEM:
        yield from _system(line, message)
    elif kind == Kind.BASH:
        for key in ("command", "output"):
            yield from _text(line, Where.SHELL, message.get(key))
    elif kind in (Kind.BRANCH_SUMMARY_ROLE, Kind.COMPACTION_SUMMARY_ROLE):
        yield from _text(line, Where.SUMMARY, message.get("summary"))
    elif kind == Kind.TOOL_RESULT:
        yield from _texts(line, Where.RESULT, content)
    elif kind in (Kind.USER, Kind.CUSTOM_ROLE):
        yield from _texts(line, Where.TEXT, content)


def _reply(line: int, content: Any) -> Iterator[Passage]:
    if not isinstance(content, list):
        yield from _text(line, Where.TEXT, content)
        return
    for block in content:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind in ("text", "thinking"):
            yield from _text(line, Where(kind), block.get(kind))
        elif kind == "toolCall":
            called = (block.get("name"), block.get("arguments"))
            for text in strings(list(called)):
                yield from _text(line, Where.ARGUMENTS, text)
            yield from _text(line, Where.ARGUMENTS, dumps(block.get("arguments")))


def _system(line: int, message: dict[str, Any]) -> Iterator[Passage]:
    yield from _text(line, Where.PROMPT, content_text(message.get("content")))
    for name, text in section_changes(message).items():
        yield from _text(line, Where.SECTION, text, name)
    for tool in added_tools(message):
        for text in strings(tool):
            yield from _text(line, Where.TOOL, text, tool["name"])


def _texts(line: int, where: Where, content: Any) -> Iterator[Passage]:
    if not isinstance(content, list):
        yield from _text(line, where, content)
        return
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text":
            yield from _text(line, where, block.get("text"))


def _text(line: int, where: Where, text: Any, name: str = "") -> Iterator[Passage]:
    if isinstance(text, str) and text:
        yield Passage(line, where, text, name)

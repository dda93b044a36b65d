"""The prompt: system messages replayed into the sections and tools that are in force.

Keeps, for each part, the line it came from. Rules: docs/format.md, "Prompt".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._json import object_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_sessions.context.message import ContextMessage


MISSING: Any = msgspec.UNSET
"""Stands for a key that is not there."""


class Prompt(msgspec.Struct, frozen=True):
    """The prompt that the system messages of a context add up to."""

    content: tuple[tuple[str, int | None], ...] = ()
    """Texts outside sections, each with its line."""
    sections: dict[str, str] = msgspec.field(default_factory=dict)
    tools: tuple[dict[str, Any], ...] = ()
    """Declarations in force, in the order of the request."""
    section_lines: dict[str, int | None] = msgspec.field(default_factory=dict)
    tool_lines: dict[str, int | None] = msgspec.field(default_factory=dict)
    """Line of each tool's declaration, by the tool's name."""
    timestamp: Any = MISSING
    """Time of the first system message that has one; without any the reference sees no prompt."""
    declared: bool = False
    """Whether there was any system message."""
    touched: dict[tuple[str, str], int | None] = msgspec.field(default_factory=dict)
    """Line that last set or removed each ("section" | "tool", name) that was ever set."""

    @property
    def base(self) -> str:
        """The texts outside sections, joined as the reference joins them."""
        return "\n\n".join(text for text, _ in self.content)

    @property
    def text(self) -> str:
        """The whole prompt as one text: base, then the sections; empty parts skipped."""
        return join_parts([self.base, *self.sections.values()])

    @property
    def is_sent(self) -> bool:
        """Whether a request has it: without tools and any time the reference sees no prompt."""
        return self.timestamp is not MISSING or bool(self.tools)

    @property
    def message(self) -> dict[str, Any] | None:
        """The prompt as one leading system message, None if nothing was declared."""
        if not self.is_sent:
            return None
        return {
            "role": "system",
            "content": self.base,
            **({"sections": self.sections} if self.sections else {}),
            **({"toolsAdded": list(self.tools)} if self.tools else {}),
            "timestamp": 0 if self.timestamp in (MISSING, None) else self.timestamp,
        }

    @property
    def lines(self) -> frozenset[int]:
        """Lines it takes to make it: texts, and the last word on each section and tool."""
        if not self.is_sent:
            return frozenset()
        lines = [*(line for _, line in self.content), *self.touched.values()]
        return frozenset(line for line in lines if line is not None)


def replay_prompt(messages: Iterable[ContextMessage]) -> Prompt:
    """Replay the system messages of a context, in order.

    Texts add up; a section is set by name and null removes it; in each message tools are removed
    before they are added. What is changed keeps its place, what comes anew goes last.
    """
    content: list[tuple[str, int | None]] = []
    sections: dict[str, tuple[str, int | None]] = {}
    tools: dict[str, tuple[dict[str, Any], int | None]] = {}
    touched: dict[tuple[str, str], int | None] = {}
    timestamp: Any = MISSING
    declared = False
    for message in messages:
        if message.role != "system":
            continue
        value, line = message.value, message.line
        if timestamp is None or timestamp is MISSING:
            timestamp = value.get("timestamp", MISSING)
        declared = True
        if text := content_text(value.get("content")):
            content.append((text, line))
        for name, section in section_changes(value).items():
            if section is not None:
                sections[name] = (section, line)
            elif sections.pop(name, None) is None:
                continue
            touched["section", name] = line
        for name in removed_tools(value):
            if tools.pop(name, None) is not None:
                touched["tool", name] = line
        for tool in added_tools(value):
            tools[tool["name"]] = (tool, line)
            touched["tool", tool["name"]] = line
    return Prompt(
        tuple(content),
        {name: sections[name][0] for name in object_order(sections)},
        tuple(tool for tool, _ in tools.values()),
        {name: line for name, (_, line) in sections.items()},
        {name: line for name, (_, line) in tools.items()},
        timestamp,
        declared,
        touched,
    )


def content_text(content: Any, separator: str = "\n") -> str:
    """Join the text blocks of a content, or give it as it is where it is text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return separator.join(
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


def join_parts(parts: Iterable[str]) -> str:
    """Join the parts of a prompt with a blank line, empty ones skipped."""
    return "\n\n".join(part for part in parts if part)


def section_changes(value: dict[str, Any]) -> dict[str, str | None]:
    """Give the sections a system message sets (text) or removes (None)."""
    sections = value.get("sections")
    if not isinstance(sections, dict):
        return {}
    return {name: text for name, text in sections.items() if text is None or isinstance(text, str)}


def added_tools(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the declarations a system message adds."""
    tools = value.get("toolsAdded")
    return [tool for tool in tools if _has_name(tool)] if isinstance(tools, list) else []


def removed_tools(value: dict[str, Any]) -> list[str]:
    """Give the names of the tools a system message removes."""
    tools = value.get("toolsRemoved")
    return [tool["name"] for tool in tools if _has_name(tool)] if isinstance(tools, list) else []


def _has_name(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def message_text(value: dict[str, Any]) -> str:
    """Give the text of a system message that leads: its content, then its sections."""
    sections = section_changes(value).values()
    return join_parts([content_text(value.get("content")), *(text for text in sections if text)])


def update_text(value: dict[str, Any]) -> str:
    """Give the text of a later system message, where a model takes those in place."""
    parts = [
        f'Removed system prompt section "{name}".'
        if text is None
        else f'Updated system prompt section "{name}":\n\n{text}'
        for name, text in section_changes(value).items()
    ]
    return join_parts([content_text(value.get("content")), *parts])

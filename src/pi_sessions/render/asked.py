"""The request of a point as blocks in order, each with the lines it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._json import dumps
from pi_sessions.context.replay import block_type
from pi_sessions.excerpt import one_line
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.payload import Payload
    from pi_sessions.context.prompt import Prompt
    from pi_sessions.table import Table

Lines = tuple[int, ...]


class Block(msgspec.Struct, frozen=True):
    """One block of a request."""

    role: str
    """`system`, `tools`, `user`, `assistant`, `tool`: whose it is in the request."""
    kind: str
    """`prompt`, `tools`, `text`, `thinking`, `call`, `result`, `picture`, `summary` or `other`."""
    text: str
    """What it says."""
    lines: Lines
    name: str = ""
    """Of a section, or of the tool that is called."""
    is_made: bool = False
    """Whether it stands in no line: `lines` are then those that caused it."""

    @property
    def brief(self) -> str:
        """Its beginning in one line."""
        return one_line(self.text, 220)


def blocks_of(payload: Payload, prompt: Prompt, table: Table) -> list[Block]:
    """Give the blocks of a request that was rebuilt; the prompt and the tools first."""
    made = {(part.text, part.because) for part in payload.synthetic}
    found = list(_prompt(prompt)) if prompt.is_sent else []
    for pointer, lines in _told(payload.provenance):
        block = _block(payload, pointer, lines, table)
        if block is None:
            continue
        if any(text == block.text and set(because) <= {*lines} for text, because in made):
            block = msgspec.structs.replace(block, is_made=True)
        found.append(block)
    return found


def blocks_of_messages(
    messages: Iterable[ContextMessage], prompt: Prompt, table: Table
) -> list[Block]:
    """Give the blocks of messages for a model whose requests are not built here."""
    found = list(_prompt(prompt)) if prompt.is_sent else []
    for message in messages:
        if message.role == "system":
            continue
        lines = message.because if message.line is None else (message.line, *message.because)
        content = message.value.get("content")
        role = "tool" if message.role == "toolResult" else message.role
        for inner in content if isinstance(content, list) else [content]:
            block = _value(role, inner, lines, table)
            found.append(msgspec.structs.replace(block, is_made=message.line is None))
    return found


def _prompt(prompt: Prompt) -> Iterator[Block]:
    for text, line in prompt.content:
        yield Block("system", "prompt", text, (line,) if line else ())
    for name, text in prompt.sections.items():
        line = prompt.section_lines.get(name)
        yield Block("system", "prompt", text, (line,) if line else (), name)
    by_line: dict[Lines, list[str]] = {}
    for tool in prompt.tools:
        line = prompt.tool_lines.get(tool["name"])
        by_line.setdefault((line,) if line else (), []).append(tool["name"])
    for lines, names in by_line.items():
        yield Block("tools", "tools", ", ".join(names), lines)


def _told(provenance: Mapping[str, Lines]) -> Iterator[tuple[str, Lines]]:
    """Give the pointers of messages that have no pointer inside them."""
    names = [name for name in provenance if "#" not in name]
    inside = {name.rpartition("/")[0] for name in names}
    for name in names:
        first, _, rest = name[1:].partition("/")
        if first not in ("messages", "input") or not rest or name in inside:
            continue
        # A list inside has a pointer of its own only in its members: /content/0, /tool_calls/0.
        if any(f"{name}/{key}" in inside for key in ("content", "tool_calls")):
            continue
        yield name, provenance[name]


def _block(payload: Payload, pointer: str, lines: Lines, table: Table) -> Block | None:
    whole = payload.at("/".join(pointer.split("/")[:3]))
    role = whole.get("role") or _ROLES.get(whole.get("type"), "assistant")
    if role in ("system", "developer") and not _is_update(pointer):
        return None
    value = payload.at(pointer)
    if pointer.endswith("/output") or role == "tool":
        return Block("tool", "result", _text(value), lines)
    if pointer.count("/") > 3 and isinstance(value, str) and "/content/" in pointer:
        return Block("tool", "result", value, lines)
    return _value(role, value, lines, table)


def _is_update(pointer: str) -> bool:
    """Say whether a system message stands among the others, not before them."""
    return pointer.split("/")[2] != "0"


_ROLES = {
    "function_call": "assistant",
    "function_call_output": "tool",
    "reasoning": "assistant",
    "message": "assistant",
}


def _value(role: str, value: Any, lines: Lines, table: Table) -> Block:
    """Tell a value that is one block of a message, in the form of any API or in Pi's own."""
    if isinstance(value, str):
        return _said(role, value, lines, table)
    kind = block_type(value)
    if not isinstance(value, dict):
        return Block(role, "other", dumps(value), lines)
    if kind in ("text", "input_text", "output_text", "refusal"):
        return _said(role, _text(value.get("text")), lines, table)
    if kind in ("thinking", "redacted_thinking", "reasoning"):
        text = value.get("thinking", value.get("summary", ""))
        return Block(role, "thinking", _text(text) or "(hidden by the provider)", lines)
    if kind in ("tool_use", "function_call", "function", "toolCall", "custom_tool_call"):
        inner = value.get("function")
        called = inner if isinstance(inner, dict) else value
        given = called.get("input", called.get("arguments"))
        text = given if isinstance(given, str) else dumps(given)
        return Block(role, "call", text, lines, _text(called.get("name")))
    if kind in ("tool_result", "function_call_output"):
        return Block("tool", "result", _text(value.get("content", value.get("output"))), lines)
    if kind in ("image", "image_url", "input_image"):
        return Block(role, "picture", "a picture", lines)
    if isinstance(value.get("content"), str):
        return _said(role, value["content"], lines, table)
    return Block(role, "other", dumps(value), lines)


_SUMMARIES = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.COMPACTION_SUMMARY_ROLE})


def _said(role: str, text: str, lines: Lines, table: Table) -> Block:
    is_summary = bool(lines) and table.kinds[lines[0]] in _SUMMARIES
    if role == "tool":
        return Block(role, "result", text, lines)
    return Block(role, "summary" if is_summary else "text", text, lines)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        texts = [block.get("text") for block in value if isinstance(block, dict)]
        return " ".join(text for text in texts if isinstance(text, str)) or dumps(value)
    return dumps(value)

"""What the parts of a request weigh, as Pi estimates tokens: 3.5 characters each.

Counted is what is left after the replay, the prompt as the sections and tools in force. Pi rounds
each message up; here blocks are counted as they are, so that parts add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import utf16_length
from pi_sessions.context.payload.limits import CHARACTERS, IMAGE
from pi_sessions.context.replay import block_type
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.prompt import Prompt


class Weight(msgspec.Struct, frozen=True):
    """One block of a request, and what it weighs."""

    part: str
    """`prompt`, `section NAME`, `tools`, `user`, `assistant`, `thinking`, `calls`, `result TOOL`,
    `images`, `summary`, `shell`, `custom`, or `stand-in` for what stands in no line."""
    line: int | None
    characters: int
    """UTF-16 code units; a picture counts for 4,800."""
    text: str
    """What it says, or the name of what it is."""

    @property
    def tokens(self) -> float:
        """The estimate."""
        return self.characters / CHARACTERS


def weigh(table: Table, messages: Iterable[ContextMessage], prompt: Prompt) -> list[Weight]:
    """Weigh the blocks of a request, the prompt first.

    Args:
        table: the lines.
        messages: the messages after the replay.
        prompt: the sections and tools in force.
    """
    found = list(_prompt(prompt))
    for message in messages:
        if message.role != "system":
            found += _message(table, message)
    return [weight for weight in found if weight.characters]


def by_part(weights: Sequence[Weight]) -> dict[str, float]:
    """Add up the tokens of each part; the prompt first, the rest as it comes."""
    totals: dict[str, float] = {}
    for weight in weights:
        totals[weight.part] = totals.get(weight.part, 0) + weight.tokens
    return totals


def _prompt(prompt: Prompt) -> Iterator[Weight]:
    for text, line in prompt.content:
        yield Weight("prompt", line, utf16_length(text), text)
    for name, text in prompt.sections.items():
        yield Weight(f"section {name}", prompt.section_lines.get(name), utf16_length(text), text)
    for tool in prompt.tools:
        size = utf16_length(_json.dumps(tool))
        yield Weight("tools", prompt.tool_lines.get(tool["name"]), size, tool["name"])


_USER_PARTS = {
    Kind.COMPACTION: "summary",
    Kind.BRANCH_SUMMARY: "summary",
    Kind.BRANCH_SUMMARY_ROLE: "summary",
    Kind.COMPACTION_SUMMARY_ROLE: "summary",
    Kind.BASH: "shell",
    Kind.CUSTOM_MESSAGE: "custom",
    Kind.CUSTOM_ROLE: "custom",
}


def _message(table: Table, message: ContextMessage) -> Iterator[Weight]:
    content, line = message.value.get("content"), message.line
    if line is None:
        part = "stand-in"
    elif message.role == "toolResult":
        name = message.value.get("toolName")
        part = f"result {name}" if isinstance(name, str) else "result"
    elif message.role == "assistant":
        part = "assistant"
    else:
        part = _USER_PARTS.get(Kind(table.kinds[line]), "user")
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        yield _block(block, part, line)


def _block(block: Any, part: str, line: int | None) -> Weight:
    kind = block_type(block)
    if kind == "image":
        return Weight("images", line, IMAGE, str(block.get("mimeType", "image")))
    if kind == "toolCall":
        name, arguments = block.get("name"), _json.dumps(block.get("arguments"))
        text = f"{name}({arguments})" if isinstance(name, str) else arguments
        size = utf16_length(arguments) + (utf16_length(name) if isinstance(name, str) else 0)
        return Weight("calls", line, size, text)
    said = block.get(kind) if kind in ("text", "thinking") else None
    text = said if isinstance(said, str) else ""
    return Weight("thinking" if kind == "thinking" else part, line, utf16_length(text), text)

"""One line of plain text that tells what a line of a session holds.

Session content is hostile: control characters, escape sequences, directional overrides and lone
surrogates are made visible or harmless here, so that an excerpt can be printed anywhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import string
from pi_sessions._json import dumps
from pi_sessions.context.prompt import content_text, section_changes
from pi_sessions.table import FIRST_OTHER, FIRST_TYPE, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 160
"""Characters of an excerpt, at most."""
_READ = 4 * WIDTH
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufff9-\ufffb]"
)
_CONTROL = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}
_CONTROL |= dict.fromkeys(range(0x80, 0xA0), "�")
_HIDDEN = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
_CONTROL |= dict.fromkeys([*_HIDDEN, *range(0xD800, 0xE000), *range(0xFFF9, 0xFFFC)], "�")


def safe(text: str) -> str:
    """Make control characters, directional marks and lone surrogates visible; lines stay lines."""
    kept = {ord("\n"): "\n", ord("\t"): "    "}
    return text.translate(_CONTROL | kept)


def harmless(text: str) -> str:
    """Make a text one line that acts on no terminal; nothing is cut."""
    return text.translate(_CONTROL)


def one_line(text: str, width: int = WIDTH) -> str:
    """Squeeze a text into one safe line of at most `width` characters."""
    head = text if len(text) <= 2 * width else text[: 2 * width]
    squeezed = " ".join(head.split())
    if _UNSAFE.search(squeezed):
        squeezed = squeezed.translate(_CONTROL)
    cut = len(squeezed) > width or len(text) > 2 * width
    return squeezed[: width - 1].rstrip() + "…" if cut else squeezed


def excerpt(table: Table, line: int) -> str:
    """Tell what a line holds, whatever it is."""
    kind = table.kinds[line]
    if kind >= FIRST_OTHER and kind not in (Kind.HEADER, Kind.SECOND_HEADER):
        data = table.source.read(table.offsets[line], min(table.length(line), _READ))
        return one_line(data.decode("utf-8", "replace"))
    if kind <= Kind.TOOL_RESULT:
        return one_line(message_excerpt(_glance(table, line)))
    entry = table.header if kind == Kind.HEADER else table.raw(line)
    return one_line(_tell(kind, entry))


class _Message(msgspec.Struct, gc=False):
    """The fields of a message that an excerpt tells; decoding it skips the rest."""

    role: Any = None
    content: Any = None
    toolName: Any = "?"  # noqa: N815 - the format's own name
    isError: Any = None  # noqa: N815
    stopReason: Any = None  # noqa: N815
    errorMessage: Any = ""  # noqa: N815


class _Entry(msgspec.Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Entry).decode


def _glance(table: Table, line: int) -> dict[str, Any]:
    """Read what an excerpt needs of a message; for lists of many lines, where most is skipped."""
    try:
        message = _decode(table.bytes(line)).message
    except (msgspec.MsgspecError, RecursionError):
        value: dict[str, Any] = table.raw(line)["message"]
        return value
    return {key: getattr(message, key) for key in message.__struct_fields__}


def _tell(kind: int, entry: dict[str, Any]) -> str:
    if kind < FIRST_TYPE:
        return message_excerpt(entry["message"])
    return _TELLERS.get(kind, _unusual)(entry)


def message_excerpt(message: dict[str, Any]) -> str:
    """Tell what a message holds: its text, else its calls, pictures or thinking."""
    role = message.get("role")
    if role == "system":
        return _system(message)
    if role == "bashExecution":
        mark = "!!" if message.get("excludeFromContext") else "!"
        return f"{mark}{string(message.get('command', ''))}"
    if role in ("branchSummary", "compactionSummary"):
        return string(message.get("summary", ""))
    told = content_excerpt(message.get("content"))
    if role == "toolResult":
        failed = " failed" if message.get("isError") else ""
        return f"{string(message.get('toolName', '?'))}{failed}: {told}"
    if not told and message.get("stopReason") in ("error", "aborted"):
        return f"({message['stopReason']}) {string(message.get('errorMessage', ''))}"
    return told


def content_excerpt(content: Any) -> str:
    """Tell what a content holds."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [_block(block) for block in content if isinstance(block, dict)]
    thinking = [part for part in parts if part.startswith("(thinking)")]
    others = [part for part in parts if part and not part.startswith("(thinking)")]
    return " ".join(others or thinking)


def _block(block: dict[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return string(block.get("text", ""))[:_READ]
    if kind == "thinking":
        return f"(thinking) {string(block.get('thinking', ''))[:_READ]}"
    if kind == "toolCall":
        return f"→ {string(block.get('name', '?'))}({_arguments(block.get('arguments'))})"
    if kind == "image":
        return f"[{string(block.get('mimeType', 'image'))}]"
    return f"[{string(kind)}]"


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, dict) and len(arguments) == 1:
        (value,) = arguments.values()
        return value[:_READ] if isinstance(value, str) else dumps(value)[:_READ]
    return "" if arguments is None else dumps(arguments)[:_READ]


def _system(message: dict[str, Any]) -> str:
    parts = [content_text(message.get("content"))]
    changes = section_changes(message)
    if changes:
        named = (name if text is not None else f"−{name}" for name, text in changes.items())
        parts.append("sections " + ", ".join(named))
    for key, sign in (("toolsAdded", "+"), ("toolsRemoved", "−")):
        tools = message.get(key)
        if isinstance(tools, list) and tools:
            names = (string(tool.get("name")) for tool in tools if isinstance(tool, dict))
            parts.append("tools " + " ".join(sign + name for name in names))
    return " · ".join(part for part in parts if part)


def _edit(entry: dict[str, Any]) -> str:
    target = string(entry.get("targetId", "?"))
    replacement = entry.get("replacement")
    if replacement is None:
        return f"omit {target}"
    content = replacement.get("content") if isinstance(replacement, dict) else None
    return f"replace {target}: {content_excerpt(content)}"


def _label(entry: dict[str, Any]) -> str:
    text = entry.get("label")
    target = string(entry.get("targetId", "?"))
    return f"“{string(text)}” on {target}" if text else f"label of {target} cleared"


def _usage(entry: dict[str, Any]) -> str:
    usage = entry.get("usage")
    total = usage.get("totalTokens") if isinstance(usage, dict) else None
    tokens = f", {string(total)} tokens" if total is not None else ""
    return f"{string(entry.get('kind', '?'))}: {string(entry.get('model', '?'))}{tokens}"


def _custom_message(entry: dict[str, Any]) -> str:
    return f"{string(entry.get('customType', '?'))}: {content_excerpt(entry.get('content'))}"


def _custom(entry: dict[str, Any]) -> str:
    data = f": {dumps(entry['data'])[:_READ]}" if "data" in entry else ""
    return f"{string(entry.get('customType', '?'))}{data}"


def _header(entry: dict[str, Any]) -> str:
    version = string(entry.get("version", 1))
    return (
        f"version {version}, {string(entry.get('timestamp', '?'))}, {string(entry.get('cwd', '?'))}"
    )


def _unusual(entry: dict[str, Any]) -> str:
    rest = {k: v for k, v in entry.items() if k not in ("type", "id", "parentId", "timestamp")}
    return dumps(rest)[:_READ]


_TELLERS: dict[int, Callable[[dict[str, Any]], str]] = {
    Kind.COMPACTION: lambda entry: string(entry.get("summary", "")),
    Kind.BRANCH_SUMMARY: lambda entry: string(entry.get("summary", "")),
    Kind.CONTEXT_EDIT: _edit,
    Kind.CUSTOM_MESSAGE: _custom_message,
    Kind.CUSTOM: _custom,
    Kind.LABEL: _label,
    Kind.SESSION_INFO: lambda entry: string(entry.get("name", "")) or "name cleared",
    Kind.USAGE: _usage,
    Kind.MODEL_CHANGE: lambda e: f"{string(e.get('provider'))}/{string(e.get('modelId'))}",
    Kind.THINKING_LEVEL_CHANGE: lambda entry: string(entry.get("thinkingLevel")),
    Kind.HEADER: _header,
    Kind.SECOND_HEADER: _header,
}

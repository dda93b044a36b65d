"""What takes the room in a session file: every byte of every line counted once, by what it is.

A line is decoded as far as its parts are; a part is measured as it stands in the file, escapes and
quotes included. What no part takes (ids, times, usage, keys) is the line's frame.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import date_value

if TYPE_CHECKING:
    from datetime import tzinfo


class What(StrEnum):
    """What bytes are for; the order is that of a conversation."""

    PROMPT = "prompt"
    USER = "user"
    REPLY = "reply"
    THINKING = "thinking"
    SIGNATURE = "signature"
    TOOL_CALL = "tool-call"
    TOOL_RESULT = "tool-result"
    TOOL_DETAILS = "tool-details"
    IMAGE = "image"
    SHELL = "shell"
    SUMMARY = "summary"
    EDIT = "edit"
    EXTENSION_STATE = "extension-state"
    EXTENSION_MESSAGE = "extension-message"
    BOOKKEEPING = "bookkeeping"
    FRAME = "frame"
    OTHER = "other"
    UNREADABLE = "unreadable"


Part = tuple[What, str]
"""What it is, and of which tool, extension or type; "" where there is no such thing."""

_NONE = msgspec.Raw(b"")


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: msgspec.Raw = _NONE
    textSignature: msgspec.Raw = _NONE  # noqa: N815 - the format's own names
    thinking: msgspec.Raw = _NONE
    thinkingSignature: msgspec.Raw = _NONE  # noqa: N815
    thoughtSignature: msgspec.Raw = _NONE  # noqa: N815
    data: msgspec.Raw = _NONE
    name: Any = None
    arguments: msgspec.Raw = _NONE


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: msgspec.Raw = _NONE
    details: msgspec.Raw = _NONE
    toolName: Any = None  # noqa: N815
    customType: Any = None  # noqa: N815
    command: msgspec.Raw = _NONE
    output: msgspec.Raw = _NONE
    timestamp: Any = None


class _Line(msgspec.Struct, gc=False):
    type: str
    customType: Any = None  # noqa: N815
    content: msgspec.Raw = _NONE
    timestamp: Any = None
    message: _Message | None = None


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_blocks = msgspec.json.Decoder(list[_Block]).decode
_ENTRIES = {
    "session": What.BOOKKEEPING,
    "compaction": What.SUMMARY,
    "branch_summary": What.SUMMARY,
    "context_edit": What.EDIT,
    "custom": What.EXTENSION_STATE,
    "label": What.BOOKKEEPING,
    "session_info": What.BOOKKEEPING,
    "usage": What.BOOKKEEPING,
    "model_change": What.BOOKKEEPING,
    "thinking_level_change": What.BOOKKEEPING,
}
"""What whole lines of these types are; what else an entry says stands in its parts."""
_ROLES = {
    "system": What.PROMPT,
    "branchSummary": What.SUMMARY,
    "compactionSummary": What.SUMMARY,
}
_TEXTS = {
    "user": What.USER,
    "assistant": What.REPLY,
    "toolResult": What.TOOL_RESULT,
    "custom": What.EXTENSION_MESSAGE,
    "hookMessage": What.EXTENSION_MESSAGE,
}
"""What texts are in messages of a role."""


class Weights:
    """The bytes of one file, or of some, by what they are."""

    def __init__(self, zone: tzinfo) -> None:
        self.parts: dict[Part, int] = {}
        self.lines = 0
        self.size = 0
        self.users = 0
        self.replies = 0
        self.active = math.nan
        """Latest user message or reply, in milliseconds since 1970."""
        self._zone = zone

    def add(self, line: bytes) -> None:
        """Count a line with its newline."""
        self.lines += 1
        self.size += len(line)
        try:
            entry = _decode_line(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._count(_odd(line), len(line))
            return
        message = entry.message
        if entry.type == "message" and message is not None:
            self._message(entry, message, len(line))
        elif entry.type == "custom_message":
            of = _text(entry.customType)
            used = self._content(entry.content, What.EXTENSION_MESSAGE, of)
            self._count((What.FRAME, ""), len(line) - used)
        else:
            what = _ENTRIES.get(entry.type, What.OTHER)
            is_state = what is What.EXTENSION_STATE
            self._count((what, _text(entry.customType) if is_state else entry.type), len(line))

    def _message(self, entry: _Line, message: _Message, length: int) -> None:
        role = message.role
        if role in _ROLES:
            self._count((_ROLES[role], role), length)
            return
        if role == "bashExecution":
            used = len(message.command) + len(message.output)
            self._count((What.SHELL, ""), used)
        elif role in _TEXTS:
            of = ""
            if role == "toolResult":
                of = _text(message.toolName)
                self._count((What.TOOL_DETAILS, of), used := len(message.details))
            elif role in ("user", "assistant"):
                used = 0
                self._note(entry, message, is_reply=role == "assistant")
            else:
                of = _text(message.customType)
                self._count((What.EXTENSION_MESSAGE, of), used := len(message.details))
            used += self._content(message.content, _TEXTS[role], of)
        else:
            self._count((What.OTHER, role), length)
            return
        self._count((What.FRAME, ""), length - used)

    def _content(self, content: msgspec.Raw, what: What, of: str) -> int:
        """Count the blocks of a content; gives the bytes that are told."""
        data = memoryview(content)
        if data[:1].tobytes() != b"[":
            self._count((what, of), len(data))
            return len(data)
        try:
            blocks = _decode_blocks(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._count((what, of), len(data))
            return len(data)
        used = 0
        for block in blocks:
            kind, name, bytes_ = what, of, 0
            if block.type == "text":
                bytes_ = len(block.text)
                signed = block.textSignature
            elif block.type == "thinking":
                kind, name, bytes_ = What.THINKING, "", len(block.thinking)
                signed = block.thinkingSignature
            elif block.type == "toolCall":
                kind, name = What.TOOL_CALL, _text(block.name)
                bytes_, signed = len(block.arguments), block.thoughtSignature
            elif block.type == "image":
                kind, bytes_, signed = What.IMAGE, len(block.data), _NONE
                name = of or ("the user" if what is What.USER else "")
            else:
                continue
            self._count((kind, name), bytes_)
            if signature := len(signed):
                self._count((What.SIGNATURE, ""), signature)
            used += bytes_ + signature
        return used

    def _count(self, part: Part, size: int) -> None:
        if size:
            self.parts[part] = self.parts.get(part, 0) + size

    def _note(self, entry: _Line, message: _Message, *, is_reply: bool) -> None:
        """Note that somebody spoke, and when."""
        if is_reply:
            self.replies += 1
        else:
            self.users += 1
        time = message.timestamp
        if type(time) is not int and type(time) is not float:
            time = date_value(entry.timestamp, self._zone)
        if not self.active >= time:
            self.active = time


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _odd(line: bytes) -> Part:
    """Tell what a line is that is not decoded by its parts: all of it is one thing."""
    if not line.strip():
        return What.FRAME, ""
    try:
        value = _json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except _json.JSONError:
        return What.UNREADABLE, ""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return What.OTHER, ""
    message = value.get("message")
    if value["type"] == "message" and isinstance(message, dict):
        role = message.get("role")
        role = role if isinstance(role, str) else ""
        what = _ROLES.get(role) or _TEXTS.get(role) or What.OTHER
        name = message.get("toolName")
        return what, name if what is What.TOOL_RESULT and isinstance(name, str) else role
    return _ENTRIES.get(value["type"], What.OTHER), value["type"]


def mostly(parts: dict[Part, int]) -> Part:
    """Give what takes most of some bytes; of equals, the first by name."""
    return min(parts, key=lambda part: (-parts[part], part)) if parts else (What.FRAME, "")

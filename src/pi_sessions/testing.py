"""Small session files for tests, written by a few calls and the same bytes every time.

    session = SessionBuilder()
    question = session.user("Name an apple.")
    session.assistant("Cox.", calls=[tool_call("read", {"path": "prices.txt"}, id="call-1")])
    session.tool_result("call-1", "Cox 2.60")
    session.at(question)  # the next entry starts a second branch
    session.assistant("Boskoop.")
    pi_sessions.loads(session.data)

The n-th entry has the id `n` in 8 hex digits and stands n seconds after the header. Nothing is
checked: a builder that refuses odd files could not make the ones a reader has to survive.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JSON = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

Block = dict[str, Any]
"""A content block: `{"type": "text", "text": ...}`, an image, thinking or a tool call."""

Content = str | list[Block] | None
"""What a message says: a text or a list of blocks; null where a file is odd."""

START: Final = datetime(2026, 1, 5, 8, tzinfo=UTC)
"""The moment of every header."""

USAGE: Final = {"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}
"""The usage of every reply."""

GIF: Final = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
"""A picture of one pixel, in base64."""

MISSING: Final[Any] = type("_Missing", (), {"__repr__": lambda _: "MISSING"})()
"""In place of a value: leave its key out."""


class Placement(TypedDict, total=False):
    """Keywords that every entry takes."""

    id: Any
    """Id in place of the next number; `MISSING` writes none."""
    parent: Any
    """Parent in place of the entry before; any JSON value, or `MISSING`."""
    timestamp: Any
    """Time in place of the clock's, as it is written: `"2026-01-05T08:00:01.000Z"`."""
    extra: Mapping[str, Any]
    """Keys to set on the entry last; `MISSING` removes one."""


class MessagePlacement(Placement, total=False):
    """Keywords that every message entry takes."""

    message: Mapping[str, Any]
    """Keys to set on the message last; `MISSING` removes one."""


class Reply(MessagePlacement, total=False):
    """Keywords of an assistant message."""

    provider: str
    api: str
    model: str
    thinking: str | Block | None
    """Thinking that comes before the text: a text (unsigned) or a `thinking_block`."""
    calls: Sequence[Block]
    """Tool calls after the text, made by `tool_call`."""
    stop_reason: str
    """`toolUse` if there are calls, else `stop`; also `length`, `error`, `aborted`."""
    usage: JSON
    """`{"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"}`."""


def text_block(text: str, **keys: JSON) -> Block:
    """Make `{"type": "text", "text": ...}`, with keys such as `textSignature` after it."""
    return {"type": "text", "text": text, **keys}


def image_block(data: str = GIF, mime_type: str = "image/gif") -> Block:
    """Make `{"type": "image", "data": ..., "mimeType": ...}`."""
    return {"type": "image", "data": data, "mimeType": mime_type}


def thinking_block(text: str, signature: str | None = None, *, redacted: bool = False) -> Block:
    """Make `{"type": "thinking", "thinking": ...}`, signed or redacted where asked for."""
    block: Block = {"type": "thinking", "thinking": text}
    if signature is not None:
        block["thinkingSignature"] = signature
    if redacted:
        block["redacted"] = True
    return block


def tool_call(name: str, args: JSON = None, *, id: str = "call-1", **keys: JSON) -> Block:  # noqa: A002 - the format's own name
    """Make `{"type": "toolCall", "id": ..., "name": ..., "arguments": {...}}`."""
    arguments = {} if args is None else args
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments, **keys}


def tool(name: str, description: str = "A tool.", parameters: JSON = None) -> dict[str, Any]:
    """Make a declaration for `tools_added`: `{"name", "description", "parameters"}`."""
    if parameters is None:
        parameters = {"type": "object", "properties": {}, "required": []}
    return {"name": name, "description": description, "parameters": parameters}


def system_message(
    content: Content = "",
    *,
    sections: Mapping[str, str | None] | None = None,
    tools_added: Sequence[JSON] = (),
    tools_removed: Sequence[str] = (),
) -> dict[str, Any]:
    """Make a system message without its time.

    Args:
        content: text that no section holds.
        sections: `{name: text}`; null takes a section away.
        tools_added: declarations made by `tool`.
        tools_removed: names of tools; written as `[{"name": ...}]`.
    """
    message: dict[str, Any] = {"role": "system", "content": content}
    if sections is not None:
        message["sections"] = dict(sections)
    if tools_added:
        message["toolsAdded"] = list(tools_added)
    if tools_removed:
        message["toolsRemoved"] = [{"name": name} for name in tools_removed]
    return message


class SessionBuilder:
    """Collects the lines of one session file.

    Every method that adds an entry makes it the child of the entry before, returns its id, and
    takes the keywords of `Placement`; those that add a message also take `message=`.
    """

    def __init__(
        self,
        *,
        id: JSON = "session-1",  # noqa: A002 - the format's own name
        version: JSON = 3,
        cwd: JSON = "/home/dev/orchard",
        timestamp: JSON = None,
        header: bool = True,
        linked: bool = True,
        **fields: JSON,
    ) -> None:
        """Start a file with its header, whose fields may be any value, or `MISSING`.

        Args:
            id: id of the session.
            version: version of the format.
            cwd: directory of the session.
            timestamp: time in place of `START`.
            header: false writes no header.
            linked: false writes neither `id` nor `parentId`, as in version 1.
            fields: more keys of the header, such as `parentSession`.
        """
        self.tip: JSON = None
        """Id of the entry that the next one follows."""
        self._lines: list[bytes] = []
        self._count = 0
        self._linked = linked
        self._tool_names: dict[Any, Any] = {}
        if header:
            keys = {"version": version, "id": id, "timestamp": timestamp or _iso(0), "cwd": cwd}
            self._write(_merged({"type": "session"}, {**keys, **fields}))

    @property
    def data(self) -> bytes:
        """The file so far."""
        return b"".join(self._lines)

    def raw_line(self, data: bytes, end: bytes = b"\n") -> None:
        """Add bytes as they are; the next entry still follows the one before them."""
        self._lines.append(data + end)

    def entry(self, value: JSON) -> JSON:
        """Add a JSON value as it is and return the tip: its id, if it is an object with one."""
        self._count += 1
        self._write(value)
        if isinstance(value, dict) and "id" in value:
            self.tip = value["id"]
        return self.tip

    def add(self, type: JSON, fields: Mapping[str, JSON], **placement: Unpack[Placement]) -> str:  # noqa: A002 - the format's own name
        """Add an entry of any type: `{"type", "id", "parentId", "timestamp", **fields}`."""
        self._count += 1
        entry_id: str = placement.get("id", f"{self._count:08x}")
        keys = {"type": type}
        if self._linked or "id" in placement:
            keys["id"] = entry_id
        if self._linked or "parent" in placement:
            keys["parentId"] = placement.get("parent", self.tip)
        keys["timestamp"] = placement.get("timestamp", _iso(self._count))
        self._write(_merged({}, keys, fields, placement.get("extra", {})))
        self.tip = entry_id
        return entry_id

    def at(self, entry_id: JSON) -> None:
        """Go to an entry, or with None before the first, so that the next one branches there."""
        self.tip = entry_id

    # Messages

    def message(self, message: JSON, **placement: Unpack[Placement]) -> str:
        """Add a message entry with its message as it is."""
        return self.add("message", {"message": message}, **placement)

    def user(self, content: Content, **placement: Unpack[MessagePlacement]) -> str:
        """Add what the user said."""
        return self._say({"role": "user", "content": content}, placement)

    def assistant(self, content: Content = "", **reply: Unpack[Reply]) -> str:
        """Add a reply; blocks given as `content` come between the thinking and the calls.

        See `Reply` for the keywords. An empty text adds no block.
        """
        blocks: list[Block] | None = None
        calls = list(reply.get("calls", ()))
        if content is not None:
            thinking = reply.get("thinking")
            blocks = [thinking_block(thinking) if isinstance(thinking, str) else thinking or {}]
            blocks += [text_block(content)] if isinstance(content, str) and content else []
            blocks += content if isinstance(content, list) else []
            blocks = [block for block in blocks if block] + calls
        self._tool_names |= {call.get("id"): call.get("name") for call in calls}
        message = {
            "role": "assistant",
            "content": blocks,
            "api": reply.get("api", "openai-completions"),
            "provider": reply.get("provider", "birch"),
            "model": reply.get("model", "birch-1"),
            "usage": reply.get("usage", dict(USAGE)),
            "stopReason": reply.get("stop_reason", "toolUse" if calls else "stop"),
        }
        return self._say(message, reply)

    def tool_result(
        self,
        call_id: str,
        content: Content = "done",
        *,
        is_error: bool = False,
        name: str | None = None,
        **placement: Unpack[MessagePlacement],
    ) -> str:
        """Add the result of a call; a text becomes one block, the name is that of the call."""
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name or self._tool_names.get(call_id, "bash"),
            "content": [text_block(content)] if isinstance(content, str) else content,
            "isError": is_error,
        }
        return self._say(message, placement)

    def system(
        self,
        content: Content = "",
        *,
        sections: Mapping[str, str | None] | None = None,
        tools_added: Sequence[JSON] = (),
        tools_removed: Sequence[str] = (),
        **placement: Unpack[MessagePlacement],
    ) -> str:
        """Add a system message; see `system_message` for its parts."""
        changes: Any = {"tools_added": tools_added, "tools_removed": tools_removed}
        return self._say(system_message(content, sections=sections, **changes), placement)

    def bash(self, command: str, output: str = "", **placement: Unpack[MessagePlacement]) -> str:
        """Add a command the user ran; `message={"exitCode": 1}` and the like change the rest."""
        message = {"role": "bashExecution", "command": command, "output": output}
        ended = {"exitCode": 0, "cancelled": False, "truncated": False}
        return self._say({**message, **ended}, placement)

    # Other entries

    def custom_message(
        self,
        content: Content,
        *,
        custom_type: str = "note",
        display: bool = True,
        **placement: Unpack[Placement],
    ) -> str:
        """Add a message of an extension."""
        fields = {"customType": custom_type, "content": content, "display": display}
        return self.add("custom_message", fields, **placement)

    def custom(
        self, data: JSON = None, *, custom_type: str = "board", **placement: Unpack[Placement]
    ) -> str:
        """Add what an extension remembers and no model sees."""
        return self.add("custom", {"customType": custom_type, "data": data}, **placement)

    def compaction(
        self,
        summary: JSON = "Earlier talk.",
        *,
        first_kept: JSON = MISSING,
        system_message: JSON = MISSING,
        **placement: Unpack[Placement],
    ) -> str:
        """Add a compaction.

        Args:
            summary: what stands for the entries that are no longer sent.
            first_kept: id of the first entry before it that is still sent.
            system_message: the prompt at this point, made by `system_message`.
            placement: see `Placement`.
        """
        if isinstance(system_message, dict):
            system_message = {"timestamp": _milliseconds(None, self._count + 1), **system_message}
        fields = {
            "summary": summary,
            "firstKeptEntryId": first_kept,
            "tokensBefore": 1000,
            "systemMessage": system_message,
        }
        return self.add("compaction", fields, **placement)

    def branch_summary(
        self, summary: JSON, from_id: JSON = "root", **placement: Unpack[Placement]
    ) -> str:
        """Add the summary of a branch that was left at `from_id`."""
        return self.add("branch_summary", {"fromId": from_id, "summary": summary}, **placement)

    def edit(self, target: JSON, replacement: JSON, **placement: Unpack[Placement]) -> str:
        """Add a context edit; a text or a list of blocks is put in as `{"content": ...}`."""
        if isinstance(replacement, str | list):
            replacement = {"content": replacement}
        fields = {"targetId": target, "replacement": replacement}
        return self.add("context_edit", fields, **placement)

    def omit(self, target: JSON, **placement: Unpack[Placement]) -> str:
        """Add a context edit that takes its target out: `"replacement": null`."""
        return self.edit(target, None, **placement)

    def label(self, target: JSON, label: JSON, **placement: Unpack[Placement]) -> str:
        """Add a label for an entry; null or an empty text clears it."""
        return self.add("label", {"targetId": target, "label": label}, **placement)

    def name(self, name: JSON, **placement: Unpack[Placement]) -> str:
        """Add a name for the session."""
        return self.add("session_info", {"name": name}, **placement)

    def model_change(self, provider: str, model: str, **placement: Unpack[Placement]) -> str:
        """Add a choice of model."""
        return self.add("model_change", {"provider": provider, "modelId": model}, **placement)

    def thinking_level(self, level: JSON, **placement: Unpack[Placement]) -> str:
        """Add a choice of thinking level."""
        return self.add("thinking_level_change", {"thinkingLevel": level}, **placement)

    def usage(self, usage: JSON = None, **placement: Unpack[Placement]) -> str:
        """Add tokens that no reply accounts for."""
        fields = {"kind": "title", "provider": "birch", "model": "birch-1", "usage": usage or {}}
        return self.add("usage", fields, **placement)

    def _say(self, message: dict[str, Any], placement: MessagePlacement) -> str:
        time = _milliseconds(placement.get("timestamp"), self._count + 1)
        message = _merged(message, {"timestamp": time}, placement.get("message", {}))
        keywords: Any = placement
        return self.add("message", {"message": message}, **keywords)

    def _write(self, value: JSON) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # A lone surrogate has no bytes of its own; JavaScript writes it as an escape as well.
        escaped = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
        self._lines.append(escaped.encode() + b"\n")


def _merged(*parts: Mapping[str, JSON]) -> dict[str, Any]:
    merged = {key: value for part in parts for key, value in part.items()}
    return {key: value for key, value in merged.items() if value is not MISSING}


def _iso(seconds: int) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S.000Z}"


def _milliseconds(timestamp: JSON, seconds: int) -> int:
    """Give a time as messages have it; in place of an odd one, that of the clock."""
    try:
        return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except (TypeError, ValueError):
        return round(START.timestamp() + seconds) * 1000

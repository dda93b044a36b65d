"""From JSON objects to values and back; the format's own names stand here and nowhere else.

Decoding never fails: a field of the wrong type becomes its default and stays in `raw`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import content, entries, messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_sessions.content import Block
    from pi_sessions.entries import EntryValue, Header
    from pi_sessions.messages import Message

    _Fields = Callable[[dict[str, Any]], dict[str, Any]]


def encode(value: Header | EntryValue | Message | Block) -> dict[str, Any]:
    """Give back the JSON object of a value, as it was read."""
    return value.raw


def decode_header(raw: dict[str, Any]) -> Header:
    """Decode a header that was brought to version 3."""
    parent = raw.get("parentSession", raw.get("branchedFrom"))
    return entries.Header(
        raw=raw,
        id=_text(raw, "id") or "",
        version=raw.get("version", 1),
        timestamp=_text(raw, "timestamp"),
        cwd=_text(raw, "cwd"),
        parent_session=parent if isinstance(parent, str) else None,
    )


def decode_entry(raw: dict[str, Any]) -> EntryValue:
    """Decode an entry; one of an unknown type becomes `UnknownEntry`."""
    kind = _text(raw, "type") or ""
    make, fields = _ENTRIES.get(kind, (entries.UnknownEntry, _nothing))
    return make(
        raw=raw,
        type=kind,
        id=_text(raw, "id"),
        parent_id=_text(raw, "parentId"),
        timestamp=_text(raw, "timestamp"),
        **fields(raw),
    )


def decode_message(raw: dict[str, Any]) -> Message:
    """Decode a message; one of an unknown role becomes `UnknownMessage`."""
    role = _text(raw, "role") or ""
    make, fields = _MESSAGES.get(role, (messages.UnknownMessage, _nothing))
    return make(raw=raw, role=role, timestamp=_number(raw, "timestamp"), **fields(raw))


def decode_block(raw: dict[str, Any]) -> Block:
    """Decode a content block; one of an unknown type, or without its fields, stays unknown."""
    kind = _text(raw, "type") or ""
    text = _text(raw, {"text": "text", "thinking": "thinking", "image": "data"}.get(kind, ""))
    if kind == "text" and text is not None:
        return content.TextBlock(raw=raw, text=text, signature=_text(raw, "textSignature"))
    if kind == "thinking" and text is not None:
        return content.ThinkingBlock(
            raw=raw,
            thinking=text,
            signature=_text(raw, "thinkingSignature"),
            redacted=raw.get("redacted") is True,
        )
    if kind == "image" and text is not None:
        return content.ImageBlock(raw=raw, data=text, mime_type=_text(raw, "mimeType") or "")
    call_id, name = _text(raw, "id"), _text(raw, "name")
    if kind == "toolCall" and call_id is not None and name is not None:
        return content.ToolCall(
            raw=raw,
            id=call_id,
            name=name,
            arguments=raw.get("arguments"),
            thought_signature=_text(raw, "thoughtSignature"),
        )
    return content.UnknownBlock(raw=raw, type=kind)


def decode_content(value: Any) -> tuple[Block, ...]:
    """Decode a content: a text becomes one block, what is no block is left out."""
    if isinstance(value, str):
        return (content.TextBlock(raw={"type": "text", "text": value}, text=value),)
    if not isinstance(value, list):
        return ()
    return tuple(decode_block(block) for block in value if isinstance(block, dict))


def decode_usage(value: Any) -> messages.Usage | None:
    """Decode tokens and cost, None if there are none."""
    if not isinstance(value, dict):
        return None
    cost = value.get("cost")
    return messages.Usage(
        input=_number(value, "input") or 0,
        output=_number(value, "output") or 0,
        cache_read=_number(value, "cacheRead") or 0,
        cache_write=_number(value, "cacheWrite") or 0,
        total_tokens=_number(value, "totalTokens") or 0,
        cost=(_number(cost, "total") or 0) if isinstance(cost, dict) else 0,
    )


def _text(raw: dict[str, Any], key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) else None


def _number(raw: dict[str, Any], key: str) -> float | None:
    value = raw.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _flag(raw: dict[str, Any], key: str) -> bool:
    return raw.get(key) is True


def _nothing(_: dict[str, Any]) -> dict[str, Any]:
    return {}


def _plain(raw: dict[str, Any]) -> dict[str, Any]:
    return {"content": decode_content(raw.get("content"))}


def _system(raw: dict[str, Any]) -> dict[str, Any]:
    sections = raw.get("sections")
    added, removed = (_objects(raw.get(key)) for key in ("toolsAdded", "toolsRemoved"))
    names = (_text(tool, "name") for tool in removed)
    return _plain(raw) | {
        "sections": {
            name: text
            for name, text in (sections.items() if isinstance(sections, dict) else ())
            if text is None or isinstance(text, str)
        },
        "tools_added": added,
        "tools_removed": tuple(name for name in names if name is not None),
    }


def _objects(value: Any) -> tuple[dict[str, Any], ...]:
    return tuple(v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()


def _assistant(raw: dict[str, Any]) -> dict[str, Any]:
    return _plain(raw) | {
        "api": _text(raw, "api"),
        "provider": _text(raw, "provider"),
        "model": _text(raw, "model"),
        "stop_reason": _text(raw, "stopReason"),
        "error_message": _text(raw, "errorMessage"),
        "response_id": _text(raw, "responseId"),
        "usage": decode_usage(raw.get("usage")),
    }


def _tool_result(raw: dict[str, Any]) -> dict[str, Any]:
    return _plain(raw) | {
        "tool_call_id": _text(raw, "toolCallId"),
        "tool_name": _text(raw, "toolName"),
        "is_error": _flag(raw, "isError"),
    }


def _bash(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "command": _text(raw, "command") or "",
        "output": _text(raw, "output") or "",
        "exit_code": _number(raw, "exitCode"),
        "cancelled": _flag(raw, "cancelled"),
        "truncated": _flag(raw, "truncated"),
        "full_output_path": _text(raw, "fullOutputPath"),
        "exclude_from_context": _flag(raw, "excludeFromContext"),
    }


def _custom_message(raw: dict[str, Any]) -> dict[str, Any]:
    return _plain(raw) | {
        "custom_type": _text(raw, "customType"),
        "display": _flag(raw, "display"),
        "details": raw.get("details"),
    }


def _summary_message(raw: dict[str, Any]) -> dict[str, Any]:
    return {"summary": _text(raw, "summary") or ""}


_MESSAGES: dict[str, tuple[type[Message], _Fields]] = {
    "system": (messages.SystemMessage, _system),
    "user": (messages.UserMessage, _plain),
    "assistant": (messages.AssistantMessage, _assistant),
    "toolResult": (messages.ToolResultMessage, _tool_result),
    "bashExecution": (messages.BashExecution, _bash),
    "custom": (messages.CustomMessage, _custom_message),
    "branchSummary": (messages.SummaryMessage, _summary_message),
    "compactionSummary": (messages.SummaryMessage, _summary_message),
}


def _message(raw: dict[str, Any]) -> dict[str, Any]:
    message = raw.get("message")
    return {"message": decode_message(message) if isinstance(message, dict) else None}


def _summary(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "summary": _text(raw, "summary"),
        "from_hook": _flag(raw, "fromHook"),
        "details": raw.get("details"),
        "usage": decode_usage(raw.get("usage")),
    }


def _compaction(raw: dict[str, Any]) -> dict[str, Any]:
    checkpoint = raw.get("systemMessage")
    decoded = decode_message(checkpoint) if isinstance(checkpoint, dict) else None
    return _summary(raw) | {
        "first_kept_entry_id": _text(raw, "firstKeptEntryId"),
        "tokens_before": _number(raw, "tokensBefore"),
        "system_message": decoded if isinstance(decoded, messages.SystemMessage) else None,
    }


def _branch_summary(raw: dict[str, Any]) -> dict[str, Any]:
    return _summary(raw) | {"from_id": _text(raw, "fromId")}


def _context_edit(raw: dict[str, Any]) -> dict[str, Any]:
    replacement = raw.get("replacement", {})
    stored = replacement.get("content") if isinstance(replacement, dict) else None
    return {
        "target_id": _text(raw, "targetId"),
        "omits": replacement is None,
        "content": decode_content(stored),
    }


def _usage(raw: dict[str, Any]) -> dict[str, Any]:
    texts = {key: _text(raw, key) for key in ("kind", "provider", "model", "note")}
    return texts | {"usage": decode_usage(raw.get("usage"))}


_ENTRIES: dict[str, tuple[type[EntryValue], _Fields]] = {
    "message": (entries.MessageEntry, _message),
    "compaction": (entries.CompactionEntry, _compaction),
    "branch_summary": (entries.BranchSummaryEntry, _branch_summary),
    "context_edit": (entries.ContextEditEntry, _context_edit),
    "custom_message": (entries.CustomMessageEntry, _custom_message),
    "custom": (
        entries.CustomEntry,
        lambda raw: {"custom_type": _text(raw, "customType"), "data": raw.get("data")},
    ),
    "label": (
        entries.LabelEntry,
        lambda raw: {"target_id": _text(raw, "targetId"), "label": _text(raw, "label")},
    ),
    "session_info": (entries.SessionInfoEntry, lambda raw: {"name": _text(raw, "name")}),
    "usage": (entries.UsageEntry, _usage),
    "model_change": (
        entries.ModelChangeEntry,
        lambda raw: {"provider": _text(raw, "provider"), "model_id": _text(raw, "modelId")},
    ),
    "thinking_level_change": (
        entries.ThinkingLevelChangeEntry,
        lambda raw: {"thinking_level": _text(raw, "thinkingLevel")},
    ),
}

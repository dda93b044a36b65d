"""What an API's request keeps of each replayed message, block by block.

The replay is the same for every API; after it, each leaves out or re-tells some blocks: blank text,
thinking it cannot carry, pictures of tool results. This module says which, without building a body.
Rules: docs/format.md, "Delivery".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import has_lone_surrogates, trim, truthy
from pi_sessions.context.message import ContextMessage, Dropped, Reason, Staged, Synthetic
from pi_sessions.context.prompt import content_text
from pi_sessions.context.replay import block_type, reply_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_sessions.context.target import Target

COMPLETIONS = "openai-completions"
ANTHROPIC = "anthropic-messages"
RESPONSES = "openai-responses"

_REASONING_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_text"})
_ATTACHED = "Attached image(s) from tool result:"


class _Kept(msgspec.Struct, frozen=True):
    """What is left of a message."""

    changes: tuple[Reason, ...] = ()
    anything: bool = True
    """Whether anything is left to send."""


def deliver(staged: Staged, api: str) -> Staged:
    """Note on each replayed message what a request of the API keeps of it.

    Messages of which nothing is left go to `dropped` as EMPTY. The JSON values stay as they are:
    they are the messages, not the request. For an API that is not known here nothing changes.
    """
    if api not in _RULES:
        return staged
    messages: list[ContextMessage] = []
    dropped: list[Dropped] = []
    synthetic = list(staged.synthetic)
    for message in staged.messages:
        kept = _kept(message, api)
        if kept.anything:
            messages.append(message.altered(*kept.changes))
        elif message.line is not None:
            dropped.append(Dropped(message.line, Reason.EMPTY, message.because))
    if api == COMPLETIONS:
        synthetic += _attached(messages)
    return Staged(tuple(messages), staged.dropped + tuple(dropped), tuple(synthetic))


def undecided(staged: Staged, target: Target, *, assumed: bool) -> list[tuple[str, str]]:
    """Name what the file does not decide about a request, as (what, why).

    Args:
        staged: the replayed messages.
        target: the model they go to.
        assumed: whether what the model takes in is assumed, not told by a configuration.
    """
    found = []
    if not target.api:
        name = "/".join(filter(None, (target.provider, target.model))) or "the model"
        found.append(("api", f"no reply in the file tells which API {name} speaks"))
    elif target.api not in _RULES:
        found.append(("form", f"what {target.api} leaves out or re-tells is not known here"))
    if assumed and any(_images(message.value) for message in staged.messages):
        found.append(("images", "that the model takes pictures is assumed: its settings tell"))
    if sum(1 for message in staged.messages if message.role == "system") > 1:
        why = "taken as folded into one prompt; models that take them later get them in place"
        found.append(("system messages", why))
    return found


def _kept(message: ContextMessage, api: str) -> _Kept:
    rule = _RULES[api].get(message.role)
    kept = rule(message.value) if rule else _Kept()
    if kept.anything and Reason.TRIMMED not in kept.changes and _is_cleaned(message.value, api):
        return _Kept((Reason.TRIMMED, *kept.changes))
    return kept


def _is_cleaned(value: dict[str, Any], api: str) -> bool:
    """Say whether unpaired surrogates are removed from its texts."""
    content = value.get("content")
    if isinstance(content, str):
        return has_lone_surrogates(content)
    keys = ("text", "thinking") if api == ANTHROPIC else ("text",)
    texts = (block.get(key) for block in _blocks(content) for key in keys)
    return any(isinstance(text, str) and has_lone_surrogates(text) for text in texts)


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _text(block: dict[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _is_blank(block: dict[str, Any]) -> bool:
    return block_type(block) == "text" and not trim(_text(block))


def _of(kept: int, total: int, *more: Reason) -> _Kept:
    """Tell a message of which `kept` of `total` blocks are sent whole."""
    trimmed = (Reason.TRIMMED,) if kept < total else ()
    return _Kept((*trimmed, *more), anything=kept > 0)


def _chat_user(value: dict[str, Any]) -> _Kept:
    if isinstance(value.get("content"), str):
        return _Kept()
    blocks = _blocks(value.get("content"))
    return _of(sum(1 for b in blocks if block_type(b) != "text" or _text(b)), len(blocks))


def _anthropic_user(value: dict[str, Any]) -> _Kept:
    content = value.get("content")
    if isinstance(content, str):
        return _Kept(anything=bool(trim(content)))
    blocks = _blocks(content)
    return _of(sum(1 for block in blocks if not _is_blank(block)), len(blocks))


def _responses_user(value: dict[str, Any]) -> _Kept:
    content = value.get("content")
    return _Kept(anything=isinstance(content, str) or bool(_blocks(content)))


def _chat_reply(value: dict[str, Any]) -> _Kept:
    blocks = _blocks(reply_blocks(value))
    thinking = [block for block in blocks if block_type(block) == "thinking"]
    spoken = [block for block in blocks if block_type(block) != "thinking"]
    sent = sum(1 for block in spoken if not _is_blank(block))
    carried = sum(1 for block in thinking if _is_carried(block, thinking))
    # Thinking alone makes no message: without text and calls the reply vanishes.
    return _of(sent + carried if sent else 0, len(blocks))


def _is_carried(block: dict[str, Any], thinking: list[dict[str, Any]]) -> bool:
    """Say whether thinking goes into the field its first signature names, or into details."""
    if any(_has_details(other) for other in thinking):
        return _has_details(block)
    loud = [other for other in thinking if trim(str(other.get("thinking") or ""))]
    return bool(loud) and block in loud and loud[0].get("thinkingSignature") in _REASONING_FIELDS


def _has_details(block: dict[str, Any]) -> bool:
    signature = block.get("thinkingSignature")
    if not isinstance(signature, str) or not signature.startswith("["):
        return False
    try:
        details = _json.loads(signature.encode("utf-8", "surrogatepass"))
    except _json.JSONError:
        return False
    return isinstance(details, list) and bool(details)


def _anthropic_reply(value: dict[str, Any]) -> _Kept:
    blocks = _blocks(reply_blocks(value))
    whole = sum(1 for block in blocks if _is_whole(block))
    # Unsigned thinking is told as text: sent, but not as it is.
    told = sum(1 for block in blocks if not _is_whole(block) and _speaks(block))
    trimmed = (Reason.TRIMMED,) if whole < len(blocks) else ()
    return _Kept(trimmed, anything=whole + told > 0)


def _is_whole(block: dict[str, Any]) -> bool:
    if block_type(block) == "thinking":
        signature = block.get("thinkingSignature")
        signed = isinstance(signature, str) and bool(trim(signature))
        return truthy(block.get("redacted")) or signed
    return not _is_blank(block)


def _speaks(block: dict[str, Any]) -> bool:
    thinking = block.get("thinking")
    return block_type(block) == "thinking" and isinstance(thinking, str) and bool(trim(thinking))


def _responses_reply(value: dict[str, Any]) -> _Kept:
    blocks = _blocks(reply_blocks(value))
    unsigned = sum(
        1
        for block in blocks
        if block_type(block) == "thinking" and not truthy(block.get("thinkingSignature"))
    )
    return _of(len(blocks) - unsigned, len(blocks))


def _is_silent(value: dict[str, Any]) -> bool:
    return not trim(content_text(value.get("content")))


def _images(value: dict[str, Any]) -> bool:
    return any(block_type(block) == "image" for block in _blocks(value.get("content")))


def _chat_result(value: dict[str, Any]) -> _Kept:
    trimmed = (Reason.TRIMMED,) if _is_silent(value) and not _images(value) else ()
    return _Kept((*trimmed, *((Reason.MOVED,) if _images(value) else ())))


def _anthropic_result(value: dict[str, Any]) -> _Kept:
    return _Kept((Reason.MOVED,) if value.get("isError") is True and _images(value) else ())


def _responses_result(value: dict[str, Any]) -> _Kept:
    silent = _is_silent(value)
    vanishes = any(_is_blank(block) for block in _blocks(value.get("content")))
    return _Kept((Reason.TRIMMED,) if silent and (vanishes or not _images(value)) else ())


def _attached(messages: Iterable[ContextMessage]) -> list[Synthetic]:
    """Give the messages that carry the pictures of each run of tool results."""
    found: list[Synthetic] = []
    run: list[int] = []
    for message in [*messages, None]:
        if message is not None and message.role == "toolResult":
            if _images(message.value) and message.line is not None:
                run.append(message.line)
        elif run:
            found.append(Synthetic("attached-images", _ATTACHED, tuple(run)))
            run = []
    return found


_RULES: dict[str, dict[str, Callable[[dict[str, Any]], _Kept]]] = {
    COMPLETIONS: {"user": _chat_user, "assistant": _chat_reply, "toolResult": _chat_result},
    ANTHROPIC: {
        "user": _anthropic_user,
        "assistant": _anthropic_reply,
        "toolResult": _anthropic_result,
    },
    RESPONSES: {
        "user": _responses_user,
        "assistant": _responses_reply,
        "toolResult": _responses_result,
    },
}

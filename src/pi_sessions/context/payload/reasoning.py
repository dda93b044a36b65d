"""What of a reply's thinking a chat host gets back: a field, or structured details.

Rules: docs/requests.md, "Chat completions", on reasoning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions.context.payload.draft import is_blank, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.context.model import Model

_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_text"})
_TEXTS = {
    "reasoning.summary": "summary",
    "reasoning.encrypted": "data",
    "reasoning.text": "text",
}
"""The key that holds the text of each type of detail."""


class Reasoning(msgspec.Struct, frozen=True):
    """The thinking of one reply, as a chat host takes it."""

    told: tuple[str, ...] = ()
    """The thinking that is not blank."""
    field: str = ""
    """The field it was received in and goes back in; "" if the reply does not say."""
    details: list[Any] | None = None
    """Structured details, which go back in the place of the field."""
    lossy: bool = False
    """Whether some of the thinking goes back in neither way."""


def reasoning_of(blocks: Sequence[dict[str, Any]], model: Model) -> Reasoning:
    """Find out how the thinking of a reply's blocks goes back to the model that thought it."""
    thoughts = [block for block in blocks if block.get("type") == "thinking"]
    details, carrier = _signed_details(thoughts)
    if details is None:
        details = _details_of_calls(blocks)
    if not thoughts:
        return Reasoning(details=details)
    told = [block for block in thoughts if not is_blank(text_of(block, "thinking"))]
    texts = tuple(text_of(block, "thinking") for block in told)
    if details is not None:
        lossy = any(block is not carrier for block in thoughts)
        return Reasoning(texts, "", details, lossy)
    field = told[0].get("thinkingSignature") if told else None
    if field == "reasoning" and model.provider == "opencode-go":
        field = "reasoning_content"
    if isinstance(field, str) and field in _FIELDS:
        return Reasoning(texts, field, lossy=len(told) < len(thoughts))
    return Reasoning(texts, lossy=True)


def _signed_details(thoughts: Sequence[dict[str, Any]]) -> tuple[list[Any] | None, Any]:
    """Give the details of the first thinking block that is signed with some, and that block."""
    for block in thoughts:
        signature = block.get("thinkingSignature")
        # Most signatures are a field's name; only a list can be details.
        if isinstance(signature, str) and signature.lstrip(" \t\n\r")[:1] == "[":
            details = _parsed(signature)
            if isinstance(details, list) and details and all(map(_is_detail, details)):
                return details, block
    return None, None


def _details_of_calls(blocks: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Give the encrypted details that older releases kept with the calls."""
    found = []
    for block in blocks:
        signature = block.get("thoughtSignature") if block.get("type") == "toolCall" else None
        if isinstance(signature, str) and signature:
            detail = _parsed(signature)
            if (
                _is_detail(detail)
                and detail["type"] == "reasoning.encrypted"
                and detail["data"]
                and isinstance(detail.get("id"), str)
                and detail["id"]
            ):
                found.append(detail)
    return found or None


def _parsed(text: str) -> Any:
    try:
        return _json.loads(text.encode("utf-8", "surrogatepass"))
    except _json.JSONError:
        return None


def _is_detail(detail: Any) -> bool:
    if not isinstance(detail, dict):
        return False
    kind, index = detail.get("type"), detail.get("index", 0)
    key = _TEXTS.get(kind) if isinstance(kind, str) else None
    if key is None or not isinstance(detail.get(key), str):
        return False
    if key == "text" and not isinstance(detail.get("signature", ""), str | None):
        return False
    return (
        isinstance(detail.get("id"), str | None)
        and isinstance(detail.get("format", ""), str)
        and isinstance(index, int | float)
        and not isinstance(index, bool)
    )

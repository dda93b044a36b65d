"""The estimate of a context's tokens, and the output limit that is left beside it.

Rules: docs/requests.md, "Token limit". Estimated are the messages before the replay.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions._javascript import truthy, utf16_length
from pi_sessions.context.prompt import message_text
from pi_sessions.context.replay import block_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.model import Model

CHARACTERS = 3.5
"""Characters a token is taken to have."""
IMAGE = 4800
"""Characters a picture counts for."""
_MARGIN = 4096
_ROOM = 32_768
"""Output room below which the margin of 15 % gives way to the fixed one."""


def estimate(value: dict[str, Any]) -> int:
    """Estimate the tokens of one message, 3.5 characters each; a picture counts 4,800."""
    role = value.get("role")
    content = value.get("content")
    if role == "system":
        return (
            _tokens(utf16_length(message_text(value)))
            + _declared(value.get("toolsAdded"))
            + _declared(value.get("toolsRemoved"))
        )
    if isinstance(content, str):
        return _tokens(utf16_length(content))
    blocks = content if isinstance(content, list) else []
    if role == "assistant":
        return _tokens(sum(_reply_length(block) for block in blocks))
    return _tokens(sum(_length(block) for block in blocks))


def estimate_context(messages: Sequence[ContextMessage]) -> float:
    """Estimate the tokens of a context: what the last reply reported, and what came after it."""
    base, used = usage_base(messages)
    return used + sum(estimate(message.value) for message in messages[base + 1 :])


def usage_base(messages: Sequence[ContextMessage]) -> tuple[int, float]:
    """Find the last reply whose usage tells the size of all up to it; (-1, 0) without any.

    A reply's usage counts if no message before it is newer; otherwise the context was changed
    since, for one by a compaction. Without any, all messages are estimated.
    """
    for place in reversed(candidates(messages)):
        reported = usage_tokens(messages[place].value.get("usage"))
        if reported > 0:
            return place, reported
    return -1, 0.0


def candidates(messages: Sequence[ContextMessage]) -> list[int]:
    """Give the places of the replies whose usage is looked at."""
    times = [_number(message.value.get("timestamp", math.nan)) for message in messages]
    # A time that is missing spoils the comparison for all replies behind it.
    last = next((place for place, time in enumerate(times) if math.isnan(time)), len(times))
    newest = [-math.inf, *accumulate(times[:last], max)]
    return [
        place
        for place in range(last)
        if messages[place].value["role"] == "assistant"
        and messages[place].value.get("stopReason") not in ("aborted", "error")
        and times[place] >= newest[place]
    ]


def usage_tokens(usage: Any) -> float:
    """Give the tokens a reply reported: the total, else the sum; NaN where a number is missing."""
    if not isinstance(usage, dict):
        return math.nan
    if truthy(usage.get("totalTokens")):
        return _number(usage["totalTokens"])
    keys = ("input", "output", "cacheRead", "cacheWrite")
    return sum(_number(usage.get(key, math.nan)) for key in keys)


def output_limit(model: Model, used: float, wanted: float) -> float:
    """Give the output limit of a request whose context has `used` tokens."""
    if model.context_window <= 0:
        return max(1, wanted)
    if math.isinf(used):
        # A reply may report any number that JSON can tell.
        return whole(min(wanted, 1))
    room = model.context_window - used - max(_MARGIN, math.ceil(used * 0.15))
    if room < _ROOM:
        room = min(_ROOM, model.context_window - used - _MARGIN)
    return whole(min(wanted, max(1, room)))


def whole(value: float) -> float:
    """Give a number as an int where it is one: the two are written alike in JavaScript."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tokens(characters: int) -> int:
    return math.ceil(characters / CHARACTERS)


def _declared(tools: Any) -> int:
    if not isinstance(tools, list) or not tools:
        return 0
    return _tokens(utf16_length(_json.encode(tools).decode()))


def _length(block: Any) -> int:
    return _text_length(block, "text") if block_type(block) == "text" else IMAGE


def _reply_length(block: Any) -> int:
    kind = block_type(block)
    if kind in ("text", "thinking"):
        return _text_length(block, kind)
    arguments = len("undefined")
    if isinstance(block, dict) and "arguments" in block:
        arguments = utf16_length(_json.encode(block["arguments"]).decode())
    return _text_length(block, "name") + arguments


def _text_length(block: Any, key: str) -> int:
    text = block.get(key) if isinstance(block, dict) else None
    return utf16_length(text) if isinstance(text, str) else 0


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    return value if isinstance(value, int | float) else math.nan

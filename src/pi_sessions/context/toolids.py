"""Tool-call ids as an API takes them, for replies of other models.

Rules: docs/format.md, "Tool-call ids".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import short_hash, utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_sessions.context.rules import Rules
    from pi_sessions.context.target import Target

_BAD = re.compile(r"[^A-Za-z0-9_-]")
_LIMIT = 64
_CHAT_LIMIT = 40
_OPENAI = frozenset({"openai", "openai-codex", "opencode"})
"""Providers whose ids keep the form call|item."""


def normaliser(target: Target, rules: Rules) -> Callable[[str, dict[str, Any]], str] | None:
    """Give the function (id, assistant message) → id of a target's API, None for an unknown API."""
    forms: dict[str, Callable[[str, dict[str, Any]], str]] = {
        "openai-completions": lambda call_id, _: _CHAT[rules.chat_call_ids](call_id, target),
        "anthropic-messages": lambda call_id, _: _ANTHROPIC[rules.anthropic_call_ids](call_id),
        "openai-responses": (
            (lambda call_id, source: _responses(call_id, source, target))
            if rules.responses_call_ids == "whole"
            else (lambda call_id, _: call_id)
        ),
    }
    return forms.get(target.api)


def _replaced(text: str) -> str:
    # JavaScript replaces each UTF-16 unit: one sign for each half of a pair.
    return _BAD.sub(lambda match: "_" * utf16_length(match[0]), text)


def _sanitised(text: str) -> str:
    return _replaced(text)[:_LIMIT]


def _chat(call_id: str, target: Target) -> str:
    call, bar, item = call_id.partition("|")
    if bar:
        call, item = _replaced(call), _replaced(item)
        joined = f"{call}_{item}" if item else call
        if len(joined) <= _CHAT_LIMIT:
            return joined
        digest = short_hash(call_id)[:8]
        return f"{call[: _CHAT_LIMIT - 1 - len(digest)]}_{digest}"
    if target.provider == "openai" and utf16_length(call_id) > _CHAT_LIMIT:
        return _cut_units(call_id, _CHAT_LIMIT)
    return call_id


def _call_part(call_id: str, target: Target) -> str:
    call, bar, _ = call_id.partition("|")
    if bar:
        return _replaced(call)[:_CHAT_LIMIT]
    return _chat(call_id, target)


_CHAT: dict[str, Callable[[str, Target], str]] = {
    "kept": lambda call_id, _: call_id,
    "call": _call_part,
    "joined": _chat,
}
"""By the value of `Rules.chat_call_ids`."""
_ANTHROPIC: dict[str, Callable[[str], str]] = {
    "replaced": _replaced,
    "removed": lambda call_id: _BAD.sub("", call_id)[:_CHAT_LIMIT],
    "cut": _sanitised,
}
"""By the value of `Rules.anthropic_call_ids`."""


def _responses(call_id: str, source: dict[str, Any], target: Target) -> str:
    if target.provider not in _OPENAI or "|" not in call_id:
        return _sanitised(call_id).rstrip("_")
    # What stands after a second "|" is not looked at.
    call, item, *_ = call_id.split("|")
    foreign = source.get("provider") != target.provider or source.get("api") != target.api
    name = f"fc_{short_hash(item)}" if foreign else _sanitised(item).rstrip("_")
    if not name.startswith("fc_"):
        name = _sanitised(f"fc_{name}").rstrip("_")
    return f"{_sanitised(call).rstrip('_')}|{name}"


def _cut_units(text: str, units: int) -> str:
    data = text.encode("utf-16-le", "surrogatepass")[: units * 2]
    return data.decode("utf-16-le", "surrogatepass")

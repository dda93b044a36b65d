"""Thinking levels: which a model has, what it calls them, and how many tokens they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_sessions.context.model import Model

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
OFF = "off"
_EXTENDED = frozenset({"xhigh", "max"})
"""Levels a model has only if its configuration names them."""

BUDGETS: Mapping[str, float] = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}
ANSWER = 1024
"""Tokens that a budget leaves for the answer."""


def supported_levels(model: Model) -> tuple[str, ...]:
    """Give the levels a model has, from the least to the most."""
    if not model.reasoning:
        return (OFF,)
    names = model.thinking_level_map
    return tuple(
        level
        for level in LEVELS
        if names.get(level, "") is not None and (level not in _EXTENDED or level in names)
    )


def clamp_level(model: Model, level: str) -> str:
    """Give the level that is used: the one asked for, else the next above, else the next below."""
    supported = supported_levels(model)
    if level in supported:
        return level
    if level not in LEVELS:
        return supported[0] if supported else OFF
    place = LEVELS.index(level)
    for candidate in (*LEVELS[place:], *reversed(LEVELS[:place])):
        if candidate in supported:
            return candidate
    return OFF


def asked_level(model: Model, level: str) -> str:
    """Give the level an OpenAI API is asked for; off is never clamped."""
    return OFF if level == OFF else clamp_level(model, level)


def effort(model: Model, level: str) -> str:
    """Give what the provider calls a level, the level itself where nothing else is configured."""
    name = model.thinking_level_map.get(level)
    return level if name is None else name


def budget(level: str, custom: Mapping[str, Any]) -> float:
    """Give the tokens a level may think for; levels above high have the budget of high."""
    if level in _EXTENDED:
        level = "high"
    tokens = custom.get(level, BUDGETS.get(level, 0))
    return tokens if isinstance(tokens, int | float) else 0


def sampling_params(model: Model, level: str) -> dict[str, Any]:
    """Give the configured fields that are laid over a finished body."""
    of_level = model.sampling_params_by_level.get(clamp_level(model, level))
    return {**(model.sampling_params or {}), **(of_level if isinstance(of_level, dict) else {})}

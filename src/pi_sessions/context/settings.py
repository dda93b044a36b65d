"""Model and thinking level in force at a point; they hang on the full path, not on compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.target import Target
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Settings(msgspec.Struct, frozen=True):
    """What the entries of a path say about the model."""

    provider: Any = None
    model: Any = None
    """Provider and model id of the last model change or reply; a reply names no virtual model."""
    model_line: int = 0
    """The entry that says so, 0 if none does."""
    thinking_level: Any = "off"

    @property
    def named_model(self) -> dict[str, Any] | None:
        """The model as the reference gives it, None if no entry names one."""
        if not self.model_line:
            return None
        names = (("provider", self.provider), ("modelId", self.model))
        return {key: value for key, value in names if value is not MISSING}


MISSING: Any = object()
"""Stands for a key that is not there, where null is another thing."""


def settings_of(table: Table, path: Sequence[int]) -> Settings:
    """Read model and thinking level off a path (root first)."""
    kinds = table.kinds
    level_line = _last(kinds, path, (Kind.THINKING_LEVEL_CHANGE,))
    level = table.raw(level_line).get("thinkingLevel") if level_line else "off"
    model_line = _last(kinds, path, (Kind.MODEL_CHANGE, Kind.ASSISTANT))
    if not model_line:
        return Settings(thinking_level=level)
    entry = table.raw(model_line)
    if kinds[model_line] == Kind.ASSISTANT:
        entry, key = entry["message"], "model"
    else:
        key = "modelId"
    provider, model = entry.get("provider", MISSING), entry.get(key, MISSING)
    return Settings(provider, model, model_line, level)


def has_level(table: Table, path: Sequence[int]) -> bool:
    """Say whether an entry of a path names a thinking level."""
    return bool(_last(table.kinds, path, (Kind.THINKING_LEVEL_CHANGE,)))


def _last(kinds: bytearray, path: Sequence[int], wanted: Iterable[int]) -> int:
    wanted = tuple(wanted)
    if not any(kind in kinds for kind in wanted):
        return 0
    return next((line for line in reversed(path) if kinds[line] in wanted), 0)


def current_target(table: Table, path: Sequence[int]) -> Target:
    """Give the model a next request would go to.

    A model change does not name the API: it is taken from a reply of that model, the nearest on
    the path, else the last in the file; "" without any.
    """
    settings = settings_of(table, path)
    provider = settings.provider if isinstance(settings.provider, str) else ""
    model = settings.model if isinstance(settings.model, str) else ""
    for line in _replies(table, path):
        message = table.raw(line)["message"]
        if message.get("provider") == provider and message.get("model") == model:
            api = message.get("api")
            if isinstance(api, str):
                return Target(api, provider, model)
    return Target("", provider, model)


def _replies(table: Table, path: Sequence[int]) -> Iterator[int]:
    """Give the replies of a path from its end, then those of the whole file from its end."""
    kinds = table.kinds
    yield from (line for line in reversed(path) if kinds[line] == Kind.ASSISTANT)
    yield from reversed(list(table.of_kind(Kind.ASSISTANT)))

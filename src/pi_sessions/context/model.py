"""A model as its configuration tells it: what a request body hangs on besides the session.

How one is found is in `models`; what its flags mean for one API is in `payload.compat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from pi_sessions.context.target import Target

WINDOW = 128_000
OUTPUT = 16_384
"""Context window and output limit of a custom model that states none."""


class Found(StrEnum):
    """Where a model's configuration was found."""

    MODELS_JSON = "models.json"
    STORE = "models-store.json"
    CATALOGUE = "catalogue"
    NOWHERE = "nowhere"


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model and its configuration; the defaults are those of a custom model that states none."""

    api: str
    provider: str
    id: str
    base_url: str = ""
    reasoning: bool = False
    input: tuple[str, ...] = ("text",)
    context_window: float = WINDOW
    max_tokens: float = OUTPUT
    thinking_level_map: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    """What the provider calls a thinking level; None for one it does not have."""
    sampling_params: Mapping[str, Any] | None = None
    sampling_params_by_level: Mapping[str, Any] = msgspec.field(default_factory=dict)
    compat: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Flags as they are configured; those that are absent are found from the host."""
    found: Found = Found.NOWHERE
    configured_api: str = ""
    """The API its configuration names, where that is not `api`: the configuration is newer."""

    @property
    def target(self) -> Target:
        """The model as the replay knows it."""
        return Target(self.api, self.provider, self.id, self.input)

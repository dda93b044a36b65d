"""The model a request is built for, as far as the replay needs to know it."""

from __future__ import annotations

from typing import Any

import msgspec


class Target(msgspec.Struct, frozen=True):
    """A model: the three names that make it the same model, and what it takes in."""

    api: str
    provider: str
    model: str
    input: tuple[str, ...] = ("text", "image")

    @property
    def takes_images(self) -> bool:
        """Whether pictures may be sent."""
        return "image" in self.input

    def wrote(self, message: dict[str, Any]) -> bool:
        """Say whether an assistant message is this very model's own."""
        return (
            message.get("provider") == self.provider
            and message.get("api") == self.api
            and message.get("model") == self.model
        )

    def served(self, message: dict[str, Any]) -> bool:
        """Say whether an assistant message is of a model of this provider and API."""
        return message.get("provider") == self.provider and message.get("api") == self.api

    def __str__(self) -> str:
        """Name the target as API/PROVIDER/MODEL."""
        return f"{self.api}/{self.provider}/{self.model}"


def target_of(message: dict[str, Any], accepted: tuple[str, ...] = ("text", "image")) -> Target:
    """Take the model that wrote an assistant message as the target.

    Args:
        message: the assistant message.
        accepted: the inputs the model takes; the file does not say.
    """
    names = (message.get(key) for key in ("api", "provider", "model"))
    api, provider, model = (name if isinstance(name, str) else "" for name in names)
    return Target(api, provider, model, accepted)

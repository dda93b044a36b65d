"""What the builders of all three APIs start from and what they hand back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pi_sessions._javascript import string, trim
from pi_sessions.context.payload.limits import estimate_context, output_limit
from pi_sessions.context.payload.trace import Part, Trace
from pi_sessions.context.rules import CURRENT, Rules

if TYPE_CHECKING:
    from pi_sessions.context.message import ContextMessage, Staged
    from pi_sessions.context.model import Model
    from pi_sessions.context.payload.telling import Course

Retention = Literal["short", "long", "none"]

SEE_IMAGE = "(see attached image)"
"""What a tool result is told as that has pictures and no text."""
IMAGES = "Attached image(s) from tool result:"
"""What stands before pictures of tool results that are sent in a message of their own."""
_CACHE_KEY = 64
"""Characters of a session id that are sent as the key of the prompt cache."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a request hangs on besides the session and the model.

    None stands for a setting that is not known: its default is taken, and what hangs on it is
    noted as unknown.
    """

    thinking_level: str = "off"
    thinking_budgets: Mapping[str, Any] | None = None
    """The setting `thinkingBudgets`: tokens by level, over the defaults."""
    block_images: bool | None = None
    """The setting `images.blockImages`."""
    codemode_only: bool | None = None
    """The setting `codemode.mode` "only": other tools are declared to scripts, not to the model."""
    cache_retention: Retention | None = None
    """Long where the environment's `PI_CACHE_RETENTION` said so."""
    session_id: str | None = None
    """The header's id."""
    rules: Rules = CURRENT

    @property
    def budgets(self) -> Mapping[str, Any]:
        """The budgets that are set."""
        return self.thinking_budgets or {}

    @property
    def retention(self) -> Retention:
        """How long prompts are cached; a short while unless something else is said."""
        return self.cache_retention or "short"


class Draft(msgspec.Struct, frozen=True):
    """A request that is about to be built."""

    messages: Sequence[ContextMessage]
    """LLM messages, as settings leave them."""
    model: Model
    options: Options
    trace: Trace
    used: float
    """The estimate of the context's tokens."""
    course: Course | None = None
    """What was told for the request before, if this one may go on from there."""

    @property
    def limit(self) -> float:
        """The output limit that is left beside the context."""
        return output_limit(self.model, self.used, self.model.max_tokens)

    @property
    def cache_key(self) -> str | None:
        """The key of the prompt cache, None if the session has no id."""
        key = self.options.session_id
        return None if key is None else key[:_CACHE_KEY]

    def cache_control(self, *, long: bool) -> dict[str, Any] | None:
        """Give Anthropic's marker for the prompt cache, None where nothing is cached.

        Args:
            long: whether the host keeps a prompt for an hour.
        """
        if self.options.retention == "none":
            return None
        if self.options.retention == "long" and long:
            return {"type": "ephemeral", "ttl": "1h"}
        return {"type": "ephemeral"}


class Built(msgspec.Struct, frozen=True):
    """A body, the parts its pointers are read off, and the replay it was built from."""

    body: dict[str, Any]
    places: Mapping[str, list[Part]]
    """The lists of parts, by their pointers."""
    replayed: Staged


def draft(
    messages: Sequence[ContextMessage],
    model: Model,
    options: Options,
    trace: Trace,
    course: Course | None = None,
) -> Draft:
    """Estimate the context and put together what a builder needs."""
    return Draft(messages, model, options, trace, estimate_context(messages), course)


def blocks_of(message: ContextMessage) -> list[dict[str, Any]]:
    """Give the blocks of a message; a text as content counts as one, what is no block as none."""
    content = message.value.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    if len(content) == 1 and isinstance(content[0], dict):
        return content
    return [block for block in content if isinstance(block, dict)]


def text_of(block: Mapping[str, Any], key: str = "text") -> str:
    """Give the text of a block, "" where it has none."""
    text = block.get(key)
    return text if isinstance(text, str) else ""


def is_blank(text: str) -> bool:
    """Say whether a text has nothing but white space, as JavaScript sees it."""
    return not text[:1].isalnum() and not trim(text)


def data_url(image: Mapping[str, Any]) -> str:
    """Give a picture as the URL that holds it; what is missing is told as the reference does."""
    kind, data = (
        string(image[key]) if key in image else "undefined" for key in ("mimeType", "data")
    )
    return f"data:{kind};base64,{data}"


def present(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Give the keys that are there."""
    return {key: value[key] for key in keys if key in value}

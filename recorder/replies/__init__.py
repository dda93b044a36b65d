"""The three streaming formats: a step becomes server-sent events of one API.

Each module has one function, ``events(step, reply)``; this one knows which API a path belongs to.
"""

from __future__ import annotations

from . import anthropic, chat, responses
from .event import Dialect, Event, Reply

__all__ = ["Event", "Reply", "dialect_for"]


def dialect_for(path: str) -> tuple[str, Dialect]:
    """API name and event writer for a request path."""
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return "openai-completions", chat.events
    if path.endswith("/messages"):
        return "anthropic-messages", anthropic.events
    if path.endswith("/responses"):
        return "openai-responses", responses.events
    raise LookupError(f"no API is scripted for {path}")

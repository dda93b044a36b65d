"""Messages of a form in which the reference fails, where here something is made of them.

Nothing checks what extensions and editors write into a session; Pi itself never writes such. Rules:
docs/requests.md, "Requests that fail".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.context.payload.limits import candidates, usage_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.payload.draft import Draft

_TOLD = ("user", "assistant", "toolResult")


def failures(draft: Draft) -> Iterator[str]:
    """Say why the reference fails to build a request, once for each message that makes it fail."""
    # Without a context window nothing is estimated.
    estimates = draft.model.context_window > 0
    base = usage_base(draft.messages)[0]
    for place, message in enumerate(draft.messages):
        if message.value["role"] not in _TOLD:
            continue
        content = message.value.get("content")
        if content is None:
            if estimates and place > base:
                yield _told(message, "has no content")
        elif isinstance(content, str):
            if not _takes_text(message, draft):
                yield _told(message, "has a text in the place of its blocks")
        elif not isinstance(content, list):
            yield _told(message, "has a content that is neither text nor blocks")
        elif None in content:
            yield _told(message, "has null in the place of a block")
    if estimates:
        for place in candidates(draft.messages):
            if draft.messages[place].value.get("usage") is None:
                yield _told(draft.messages[place], "has no usage")


def _takes_text(message: ContextMessage, draft: Draft) -> bool:
    """Say whether the reference takes a text as content; of results it makes blanks, or fails."""
    role = message.value["role"]
    return role == "user" or (role == "toolResult" and not draft.model.target.takes_images)


def _told(message: ContextMessage, what: str) -> str:
    line = "" if message.line is None else f" in line {message.line}"
    return f"the {message.value['role']} message{line} {what}"

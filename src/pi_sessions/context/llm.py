"""From agent messages to the four roles a model's API knows.

Rules: docs/format.md, "To LLM messages". The texts are the reference's own; a byte matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string, truthy
from pi_sessions.context.message import ContextMessage, Dropped, Reason, Staged
from pi_sessions.context.rules import CURRENT, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PASSED = frozenset({"system", "user", "assistant", "toolResult"})
"""Roles that pass this stage unchanged."""

_BRANCH = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
)
_COMPACTION = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n"
)
_UNDEFINED = "undefined"


def convert(messages: Iterable[ContextMessage], rules: Rules = CURRENT) -> Staged:
    """Tell shell runs, custom messages and summaries as user text; leave out what has no telling.

    `Dropped` has UNKNOWN_ROLE and EXCLUDED_SHELL.
    """
    if rules.attachments_again:
        messages = _with_attachments(tuple(messages))
    kept: list[ContextMessage] = []
    dropped: list[Dropped] = []
    for message in messages:
        role, value = message.role, message.value
        if role in PASSED:
            kept.append(message)
        elif role == "bashExecution" and truthy(value.get("excludeFromContext")):
            dropped.append(_drop(message, Reason.EXCLUDED_SHELL))
        elif role in _TOLD:
            content = _TOLD[role](value)
            if rules.summary_as_text and role == "compactionSummary":
                content = content[0]["text"]
            kept.append(_told(message, content))
        else:
            dropped.append(_drop(message, Reason.UNKNOWN_ROLE))
    return Staged(tuple(kept), tuple(dropped))


def _with_attachments(messages: Sequence[ContextMessage]) -> Iterator[ContextMessage]:
    """Add the pictures of a user's attachments to a content that has them already.

    The first releases did so once a message was stored, which is when it was answered.
    """
    last = max((n for n, told in enumerate(messages) if told.role == "assistant"), default=-1)
    for number, message in enumerate(messages):
        content, attached = message.value.get("content"), message.value.get("attachments")
        if number < last and isinstance(content, list) and isinstance(attached, list):
            pictures = [
                {"type": "image", "data": item.get("content"), "mimeType": item.get("mimeType")}
                for item in attached
                if isinstance(item, dict) and item.get("type") == "image"
            ]
            yield message.altered(value={**message.value, "content": [*content, *pictures]})
        else:
            yield message


def _drop(message: ContextMessage, reason: Reason) -> Dropped:
    assert message.line is not None, "every message of a projection comes from a line"
    return Dropped(message.line, reason, message.because)


def _told(message: ContextMessage, content: Any) -> ContextMessage:
    value: dict[str, Any] = {"role": "user"}
    if content is not None or "content" in message.value:
        value["content"] = content
    if "timestamp" in message.value:
        value["timestamp"] = message.value["timestamp"]
    return message.altered(Reason.CONVERTED, value=value)


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _custom(value: dict[str, Any]) -> Any:
    content = value.get("content")
    return _text(content) if isinstance(content, str) else content


def _branch_summary(value: dict[str, Any]) -> Any:
    return _text(_BRANCH + _string(value, "summary") + "</summary>")


def _compaction_summary(value: dict[str, Any]) -> Any:
    return _text(_COMPACTION + _string(value, "summary") + "\n</summary>")


def shell_text(value: dict[str, Any]) -> str:
    """Tell a shell run of the user as the model reads it."""
    text = f"Ran `{_string(value, 'command')}`\n"
    if truthy(value.get("output")):
        text += f"```\n{string(value['output'])}\n```"
    else:
        text += "(no output)"
    code = value.get("exitCode")
    if truthy(value.get("cancelled")):
        text += "\n\n(command cancelled)"
    elif code is not None and not (
        isinstance(code, int | float) and not isinstance(code, bool) and code == 0
    ):
        text += f"\n\nCommand exited with code {string(code)}"
    if truthy(value.get("truncated")) and truthy(value.get("fullOutputPath")):
        text += f"\n\n[Output truncated. Full output: {string(value['fullOutputPath'])}]"
    return text


def _shell(value: dict[str, Any]) -> Any:
    return _text(shell_text(value))


def _string(value: dict[str, Any], key: str) -> str:
    return string(value[key]) if key in value else _UNDEFINED


_TOLD = {
    "custom": _custom,
    "bashExecution": _shell,
    "branchSummary": _branch_summary,
    "compactionSummary": _compaction_summary,
}

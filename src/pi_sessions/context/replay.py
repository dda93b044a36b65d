"""From LLM messages to the messages for one target model.

Failed replies go, thinking of other models goes, tool-call ids take the form of the target's API,
pictures give way to a text where the model takes none, and calls without a result get a stand-in.
System messages stay in place. Rules: docs/format.md, "Replay"; the same for every API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import trim, truthy
from pi_sessions.context.message import ContextMessage, Dropped, Reason, Staged, Synthetic
from pi_sessions.context.toolids import normaliser

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.context.target import Target

NO_RESULT = "No result provided"
USER_IMAGE = "(image omitted: model does not support images)"
TOOL_IMAGE = "(tool image omitted: model does not support images)"


def replay(messages: Iterable[ContextMessage], target: Target) -> Staged:
    """Replay LLM messages for a target.

    `Dropped` has FAILED_REPLY; `synthetic` has the stand-in results, which also stand among the
    messages with line None and the time 0.
    """
    shows = target.takes_images
    adapted = [
        message if shows and message.value.get("content") is not None else _adapt(message, target)
        for message in messages
    ]
    return _close_calls(_adapt_replies(adapted, target))


def _adapt(message: ContextMessage, target: Target) -> ContextMessage:
    """Make a missing content an empty list, and pictures a text for models that take none."""
    value = message.value
    if value.get("content") is None:
        value = {**value, "content": []}
        message = message.altered(value=value)
    content = value["content"]
    if target.takes_images or not isinstance(content, list):
        return message
    if message.role not in ("user", "toolResult"):
        return message
    placeholder = USER_IMAGE if message.role == "user" else TOOL_IMAGE
    told = replace_images(content, placeholder)
    if told == content:
        return message
    return message.altered(Reason.TRIMMED, value={**value, "content": told})


def replace_images(content: Sequence[Any], placeholder: str) -> list[Any]:
    """Put one text in the place of each run of pictures; none after a text that says the same."""
    result: list[Any] = []
    said = False
    for block in content:
        if block_type(block) == "image":
            if not said:
                result.append({"type": "text", "text": placeholder})
            said = True
        else:
            result.append(block)
            said = isinstance(block, dict) and block.get("text") == placeholder
    return result


def block_type(block: Any) -> str:
    """Name the type of a content block, "" for one that has none."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _adapt_replies(messages: list[ContextMessage], target: Target) -> list[ContextMessage]:
    normalise = normaliser(target)
    renamed: dict[str, str] = {}
    result = []
    for message in messages:
        value = message.value
        role = value["role"]
        if role == "toolResult":
            call_id = value.get("toolCallId")
            new_id = renamed.get(call_id) if renamed and isinstance(call_id, str) else None
            if new_id and new_id != call_id:
                value = {**value, "toolCallId": new_id}
                message = message.altered(Reason.RENAMED, value=value)  # noqa: PLW2901
        elif role == "assistant":
            message = _adapt_reply(message, target, normalise, renamed)  # noqa: PLW2901
        result.append(message)
    return result


def _adapt_reply(
    message: ContextMessage, target: Target, normalise: Any, renamed: dict[str, str]
) -> ContextMessage:
    own = target.wrote(message.value)
    blocks = reply_blocks(message.value)
    if own and blocks is message.value["content"] and all(map(_stays, blocks)):
        # Nothing to copy; of most sessions these are nearly all replies.
        return message
    changes: list[Reason] = []
    content: list[Any] = []
    for block in blocks:
        kind = block_type(block)
        if kind == "thinking":
            if own and _is_replayed(block):
                content.append(block)
            else:
                changes.append(Reason.TRIMMED)
        elif kind == "text" and not own:
            content.append({"type": "text", **_key(block, "text")})
        elif kind == "toolCall" and not own:
            call = {key: item for key, item in block.items() if key != "thoughtSignature"}
            if not truthy(block.get("thoughtSignature")):
                call = block
            call_id = block.get("id")
            new_id = (
                normalise(call_id, message.value) if normalise and _is_text(call_id) else call_id
            )
            if new_id != call_id:
                renamed[call_id] = new_id
                call = {**call, "id": new_id}
                changes.append(Reason.RENAMED)
            content.append(call)
        else:
            content.append(block)
    return message.altered(*changes, value={**message.value, "content": content})


def _stays(block: Any) -> bool:
    """Say whether a block goes back to the model that wrote it."""
    return block_type(block) != "thinking" or _is_replayed(block)


def reply_blocks(value: dict[str, Any]) -> list[Any]:
    """Give the blocks of a reply; a text as content counts as one block (the reference fails)."""
    content = value.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _key(block: dict[str, Any], key: str) -> dict[str, Any]:
    return {key: block[key]} if key in block else {}


def _is_replayed(block: dict[str, Any]) -> bool:
    """Say whether the model's own thinking is sent back: redacted, signed or not blank."""
    if truthy(block.get("redacted")) or truthy(block.get("thinkingSignature")):
        return True
    thinking = block.get("thinking")
    return isinstance(thinking, str) and trim(thinking) != ""


class _Closing:
    """The calls that wait for results, and the system messages held back until they are closed."""

    def __init__(self) -> None:
        self.messages: list[ContextMessage] = []
        self.synthetic: list[Synthetic] = []
        self.calls: list[tuple[Any, Any]] = []
        self.caller: ContextMessage | None = None
        self.answered: list[Any] = []
        self.held: list[ContextMessage] = []

    def close(self) -> None:
        """Add stand-ins for the calls that got no result, then what was held back."""
        for call_id, name in self.calls:
            if call_id not in self.answered:
                self.stand_in(call_id, name)
        if self.calls:
            self.calls, self.answered = [], []
        # Held back means moved only if results came between.
        self.messages.extend(self.held)
        self.held.clear()

    def stand_in(self, call_id: Any, name: Any) -> None:
        assert self.caller is not None, "open calls have a caller"
        line = self.caller.line
        because = () if line is None else (line,)
        value = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": [{"type": "text", "text": NO_RESULT}],
            "isError": True,
            "timestamp": 0,
        }
        self.messages.append(ContextMessage(value, None, because))
        self.synthetic.append(Synthetic("stand-in-result", NO_RESULT, because))

    def hold(self, message: ContextMessage) -> None:
        self.held.append(message)

    def open(self, message: ContextMessage) -> None:
        """Take up the calls of a reply that is sent."""
        calls = [
            (block.get("id"), block.get("name"))
            for block in message.value["content"]
            if block_type(block) == "toolCall"
        ]
        if calls:
            self.calls, self.answered, self.caller = calls, [], message
        self.messages.append(message)


def _close_calls(messages: list[ContextMessage]) -> Staged:
    state = _Closing()
    dropped: list[Dropped] = []
    for message in messages:
        role = message.value["role"]
        if role == "assistant":
            state.close()
            if message.value.get("stopReason") in ("error", "aborted"):
                assert message.line is not None, "replies come from lines"
                dropped.append(Dropped(message.line, Reason.FAILED_REPLY, message.because))
            else:
                state.open(message)
        elif role == "system" and state.calls:
            state.hold(message)
        else:
            if role == "user":
                state.close()
            elif role == "toolResult":
                state.answered.append(message.value.get("toolCallId"))
                if state.held:
                    state.held = [held.altered(Reason.MOVED) for held in state.held]
            state.messages.append(message)
    state.close()
    return Staged(tuple(state.messages), tuple(dropped), tuple(state.synthetic))

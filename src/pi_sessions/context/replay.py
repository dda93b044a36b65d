"""From LLM messages to the messages for one target model.

Failed replies go, thinking of other models goes, tool-call ids take the form of the target's API,
pictures give way to a text where the model takes none, and calls without a result get a stand-in.
System messages stay in place. Rules: docs/format.md, "Replay"; the same for every API.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import trim, truthy
from pi_sessions.context.message import ContextMessage, Dropped, Reason, Staged, Synthetic
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.context.toolids import normaliser

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.context.target import Target

NO_RESULT = "No result provided"
USER_IMAGE = "(image omitted: model does not support images)"
TOOL_IMAGE = "(tool image omitted: model does not support images)"


def replay(messages: Iterable[ContextMessage], target: Target, rules: Rules = CURRENT) -> Staged:
    """Replay LLM messages for a target, by the rules of a release.

    `Dropped` has FAILED_REPLY; `synthetic` has the stand-in results, which also stand among the
    messages with line None and the time 0.
    """
    replaying = Replaying(target, rules)
    replaying.take(messages)
    return replaying.staged()


class Replaying:
    """A replay that takes in messages as they come; a copy goes on by itself."""

    def __init__(self, target: Target, rules: Rules = CURRENT) -> None:
        self._target = target
        self._rules = rules
        self._normalise = normaliser(target, rules)
        self._renamed: dict[str, str] = {}
        self._closing = _Closing(rules)

    @property
    def messages(self) -> list[ContextMessage]:
        """What is left so far; calls that are open may get stand-ins behind it."""
        return self._closing.messages

    def take(self, messages: Iterable[ContextMessage]) -> None:
        """Replay more messages."""
        target, renamed, closing = self._target, self._renamed, self._closing
        rules, shows = self._rules, target.takes_images
        for message in messages:
            if not shows or message.value.get("content") is None:
                message = _adapt(message, target, rules)  # noqa: PLW2901
            role = message.value["role"]
            if role == "assistant":
                closing.reply(_adapt_reply(message, target, rules, self._normalise, renamed))
            elif role == "toolResult":
                closing.result(_adapt_result(message, renamed) if renamed else message)
            elif role == "system":
                closing.system(message)
            else:
                closing.other(message)

    def staged(self) -> Staged:
        """Close what is open, and give the whole."""
        closing = self._closing
        closing.close()
        return Staged(tuple(closing.messages), tuple(closing.dropped), tuple(closing.synthetic))

    def copy(self) -> Replaying:
        """Give a replay that goes on by itself."""
        other = copy(self)
        other._renamed = dict(self._renamed)  # noqa: SLF001 - of the same class
        other._closing = self._closing.copy()  # noqa: SLF001
        return other


def _adapt(message: ContextMessage, target: Target, rules: Rules) -> ContextMessage:
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
    if rules.image_placeholders:
        told = replace_images(content, USER_IMAGE if message.role == "user" else TOOL_IMAGE)
    elif message.role == "user":
        told = [block for block in content if block_type(block) != "image"]
    else:
        return message
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


def _adapt_result(message: ContextMessage, renamed: dict[str, str]) -> ContextMessage:
    """Let a result follow the new id of its call."""
    call_id = message.value.get("toolCallId")
    new_id = renamed.get(call_id) if isinstance(call_id, str) else None
    if not new_id or new_id == call_id:
        return message
    return message.altered(Reason.RENAMED, value={**message.value, "toolCallId": new_id})


def _adapt_reply(
    message: ContextMessage, target: Target, rules: Rules, normalise: Any, renamed: dict[str, str]
) -> ContextMessage:
    value = message.value
    own = target.wrote(value) if rules.model_id_counts else target.served(value)
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
                content += [] if own else _retold(block, rules)
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


def _retold(block: dict[str, Any], rules: Rules) -> list[dict[str, Any]]:
    """Give what another model gets of thinking: nothing, or by rules of old its text."""
    thinking = block.get("thinking")
    if rules.foreign_thinking == "dropped" or truthy(block.get("redacted")):
        return []
    if not isinstance(thinking, str) or not trim(thinking):
        return []
    if rules.foreign_thinking == "tagged":
        thinking = tagged(thinking)
    return [{"type": "text", "text": thinking}]


def tagged(thinking: str) -> str:
    """Tell thinking as old releases did where it could not be sent as such."""
    return f"<thinking>\n{thinking}\n</thinking>"


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

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.messages: list[ContextMessage] = []
        self.dropped: list[Dropped] = []
        self.synthetic: list[Synthetic] = []
        self.calls: list[tuple[Any, Any]] = []
        self.caller: ContextMessage | None = None
        self.answered: list[Any] = []
        self.held: list[ContextMessage] = []

    def copy(self) -> _Closing:
        other = copy(self)
        for name in ("messages", "dropped", "synthetic", "calls", "answered", "held"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def reply(self, message: ContextMessage) -> None:
        """Close what is open, and take up the calls of a reply that is sent."""
        self.close()
        value = message.value
        if (stop := value.get("stopReason")) in ("error", "aborted"):
            if self.rules.drops_failed if stop == "error" else self.rules.drops_aborted:
                assert message.line is not None, "replies come from lines"
                self.dropped.append(Dropped(message.line, Reason.FAILED_REPLY, message.because))
                return
            if stop == "error" and not self.rules.answers_failed_calls:
                self.messages.append(message)
                return
        calls = [
            (block.get("id"), block.get("name"))
            for block in value["content"]
            if block_type(block) == "toolCall"
        ]
        if calls:
            self.calls, self.answered, self.caller = calls, [], message
        self.messages.append(message)

    def result(self, message: ContextMessage) -> None:
        """Take a result; what is held back has moved behind it."""
        self.answered.append(message.value.get("toolCallId"))
        if self.held:
            self.held = [held.altered(Reason.MOVED) for held in self.held]
        self.messages.append(message)

    def system(self, message: ContextMessage) -> None:
        """Hold a system message back while calls are open."""
        (self.held if self.calls else self.messages).append(message)

    def other(self, message: ContextMessage) -> None:
        """Take a message of the user, who does not wait for results."""
        if message.value["role"] == "user":
            self.close()
        self.messages.append(message)

    def close(self) -> None:
        """Add stand-ins for the calls that got no result, then what was held back."""
        open_calls = [call for call in self.calls if call[0] not in self.answered]
        if open_calls and self.rules.unanswered == "removed":
            self.remove({call_id for call_id, _ in open_calls})
        else:
            for call_id, name in open_calls:
                self.stand_in(call_id, name)
        if self.calls:
            self.calls, self.answered = [], []
        # Held back means moved only if results came between.
        self.messages.extend(self.held)
        self.held.clear()

    def remove(self, call_ids: set[Any]) -> None:
        """Take calls out of the reply that made them, by the rules of the first releases."""
        caller = self.caller
        assert caller is not None, "open calls have a caller"
        content = [
            block
            for block in caller.value["content"]
            if block_type(block) != "toolCall" or block.get("id") not in call_ids
        ]
        told = caller.altered(Reason.TRIMMED, value={**caller.value, "content": content})
        self.messages[self.messages.index(caller)] = told

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

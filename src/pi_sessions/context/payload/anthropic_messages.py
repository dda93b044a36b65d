"""The messages of an Anthropic body, told one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string, truthy
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.payload.compat import AnthropicCompat
from pi_sessions.context.payload.draft import (
    SEE_IMAGE,
    blocks_of,
    is_blank,
    present,
    text_of,
)
from pi_sessions.context.payload.strict import refused_by_anthropic
from pi_sessions.context.payload.telling import Teller
from pi_sessions.context.payload.tools import (
    Sampling,
    Tool,
    real_removals,
)
from pi_sessions.context.payload.trace import Part, lines_of, union
from pi_sessions.context.prompt import added_tools, update_text
from pi_sessions.context.replay import replace_images, tagged

if TYPE_CHECKING:
    from pi_sessions.context.payload.draft import Draft

IMAGE_BELOW = "(image attached after the tool results)"
EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
"""Efforts a marker among the messages may tell."""


def _image(block: dict[str, Any]) -> dict[str, Any]:
    source = {"type": "base64"}
    if "mimeType" in block:
        source["media_type"] = block["mimeType"]
    return {"type": "image", "source": source | present(block, "data")}


class AnthropicMessages(Teller):
    """The messages of a body while they are told one after the other."""

    growing = ("parts", "held", "run", "levels")

    def __init__(
        self, draft: Draft, compat: AnthropicCompat, *, native: bool, managed: bool, leads: bool
    ) -> None:
        sampling = Sampling(draft.trace, compat.supports_strict_tools, refuses=refused_by_anthropic)
        super().__init__(sampling, skipped=int(leads))
        self.model = draft.model
        self.rules = draft.options.rules
        self.compat = compat
        self.native = native
        """Whether changes of the tools are told in place."""
        self.run: list[ContextMessage] = []
        """Results that stand side by side."""
        self.held: list[tuple[ContextMessage, Part]] = []
        """System messages that wait for the next reply: none may stand before a user message."""
        self.levels: dict[int, tuple[str, Part]] | None = {} if managed else None
        """The effort of earlier replies, by their place, where markers tell it."""

    def tell(self, message: ContextMessage) -> None:
        """Tell one message; the leading prompt is told elsewhere."""
        role = message.value["role"]
        if role == "toolResult":
            self.run.append(message)
            return
        self.close_run()
        if role == "assistant":
            self.reply(message)
        elif role == "user":
            self.user(message)
        elif role == "system":
            self.system(message)

    def close_run(self) -> None:
        """Tell the results that stand side by side."""
        if self.run:
            self.results(self.run)
            self.run = []

    def finish(self) -> None:
        """Tell what was held back."""
        self.close_run()
        self.release()

    def system(self, message: ContextMessage) -> None:
        """Take up an update of the prompt and, where the model takes them, of the tools."""
        lines = lines_of(message)
        blocks: list[dict[str, Any]] = []
        if text := update_text(message.value):
            blocks.append({"type": "text", "text": self.trace.clean(message, text)})
        if self.native:
            for name in real_removals(message.value):
                reference = {"type": "tool_reference", "name": name}
                blocks.append({"type": "tool_removal", "tool": reference})
            for tool in added_tools(message.value):
                definition = {"type": "tool_definition", "definition": self.declaration(tool)}
                blocks.append({"type": "tool_addition", "tool": definition})
        if blocks:
            part = Part({"role": "system"}, lines)
            part.put("content", [Part(block, lines) for block in blocks])
            self.held.append((message, part))
            self.trace.changed(message, Reason.CONVERTED)

    def release(self) -> None:
        """Tell the system messages that were held back."""
        for _, part in self.held:
            self.parts.append(part)
        self.held.clear()

    def add(self, part: Part) -> None:
        """Add a message of the conversation; what is held back falls behind it."""
        self.parts.append(part)
        for message, _ in self.held:
            self.trace.changed(message, Reason.MOVED)

    def user(self, message: ContextMessage) -> None:
        """Tell a user message; blank texts are left out, and with them the whole of it."""
        lines = lines_of(message)
        content = message.value.get("content")
        part = Part({"role": "user"}, lines)
        if isinstance(content, str):
            if is_blank(content):
                self.trace.left_out(message)
            else:
                self.add(part.tell("content", self.trace.clean(message, content)))
            return
        blocks = []
        for block in blocks_of(message):
            if block.get("type") != "text":
                blocks.append(Part(_image(block), lines))
            elif not is_blank(text := self.trace.clean(message, text_of(block))):
                blocks.append(Part({"type": "text", "text": text}, lines))
            else:
                self.trace.changed(message, Reason.TRIMMED)
        if blocks:
            self.add(part.put("content", blocks))
        else:
            self.trace.left_out(message)

    def reply(self, message: ContextMessage) -> None:
        """Tell a reply block by block; one without any left is left out."""
        lines = lines_of(message)
        blocks = []
        for block in blocks_of(message):
            told = self.block(message, block)
            if told is None:
                self.trace.changed(message, Reason.TRIMMED)
            else:
                blocks.append(Part(told, lines))
        if not blocks:
            self.trace.left_out(message)
            return
        if self.held:
            self.release()
        part = Part({"role": "assistant"}, lines).put("content", blocks)
        self.parts.append(part)
        if self.levels is not None:
            self.note_level(message.value, part)

    def note_level(self, value: dict[str, Any], part: Part) -> None:
        """Note the effort that a reply was asked with, if the marker of it may be sent."""
        level = value.get("providerThinkingLevel")
        if (
            self.levels is not None
            and value.get("api") == "anthropic-messages"
            and value.get("provider") == self.model.provider
            and isinstance(level, str)
            and level in EFFORTS
        ):
            self.levels[len(self.parts) - 1] = (level, part)

    def block(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any] | None:
        """Tell one block of a reply, None for one that is left out."""
        match block.get("type"):
            case "text":
                text = text_of(block)
                if is_blank(text):
                    return None
                return {"type": "text", "text": self.trace.clean(message, text)}
            case "thinking":
                return self.thinking(message, block)
            case "toolCall":
                arguments = block.get("arguments")
                return {
                    "type": "tool_use",
                    **present(block, "id", "name"),
                    "input": {} if arguments is None else arguments,
                }
            case _:
                return None

    def thinking(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any] | None:
        """Tell thinking; without a signature it can only be said."""
        signature = block.get("thinkingSignature")
        if truthy(block.get("redacted")):
            data = {} if "thinkingSignature" not in block else {"data": signature}
            return {"type": "redacted_thinking", **data}
        thinking = text_of(block, "thinking")
        is_signed = isinstance(signature, str) and not is_blank(signature)
        if is_blank(thinking) and not (is_signed and self.rules.keeps_empty_signed_thinking):
            return None
        text = self.trace.clean(message, thinking)
        if is_signed:
            return {"type": "thinking", "thinking": text, "signature": signature}
        if self.compat.allow_empty_signature or self.rules.unsigned_thinking == "signed":
            return {"type": "thinking", "thinking": text, "signature": ""}
        self.trace.changed(message, Reason.TRIMMED)
        if self.rules.unsigned_thinking == "tagged":
            text = tagged(text)
        return {"type": "text", "text": text}

    def results(self, run: list[ContextMessage]) -> None:
        """Tell a run of tool results as one user message, pictures of errors behind them."""
        results: list[Part] = []
        pictures: list[Part] = []
        for message in run:
            blocks = blocks_of(message)
            images = [block for block in blocks if block.get("type") == "image"]
            if images and truthy(message.value.get("isError")):
                blocks = replace_images(blocks, IMAGE_BELOW)
                pictures += self.pictures(message, images)
                images = []
            results.append(self.result(message, blocks, has_images=bool(images)))
        lines = results[0].lines if len(results) == 1 else union(results)
        self.add(Part({"role": "user"}, lines).put("content", results + pictures))

    def result(
        self, message: ContextMessage, blocks: list[dict[str, Any]], *, has_images: bool
    ) -> Part:
        """Tell a tool result: one text, or blocks where there are pictures."""
        value = message.value
        lines = lines_of(message)
        part = Part({"type": "tool_result"}, lines)
        if "toolCallId" in value:
            part.value["tool_use_id"] = value["toolCallId"]
        if has_images:
            parts = [Part(self.result_block(message, block), lines) for block in blocks]
            if all(part.value["type"] != "text" for part in parts):
                parts.insert(0, Part({"type": "text", "text": SEE_IMAGE}, lines))
                self.trace.add("placeholder", SEE_IMAGE, lines)
            part.put("content", parts)
        else:
            text = "\n".join([text_of(block) for block in blocks])
            part.tell("content", self.trace.clean(message, text))
        if "isError" in value:
            part.value["is_error"] = value["isError"]
        return part

    def result_block(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any]:
        """Tell one block of a tool result with pictures."""
        if block.get("type") == "text":
            return {"type": "text", "text": self.trace.clean(message, text_of(block))}
        return _image(block)

    def pictures(self, message: ContextMessage, images: list[dict[str, Any]]) -> list[Part]:
        """Give the pictures of a failed call, which may not stand in its result."""
        lines = lines_of(message)
        name, call_id = (
            string(message.value[key]) if key in message.value else "undefined"
            for key in ("toolName", "toolCallId")
        )
        caption = f"Images from the error result of tool call {call_id} ({name}):"
        self.trace.add("caption", caption, lines)
        self.trace.changed(message, Reason.MOVED)
        return [
            Part({"type": "text", "text": caption}, lines),
            *(Part(_image(image), lines) for image in images),
        ]

    def declaration(self, tool: Tool) -> dict[str, Any]:
        """Declare a tool; only strict schemas keep keywords at their root."""
        parameters, strict = self.sampling.parameters(tool)
        schema = parameters if isinstance(parameters, dict) else {}
        shape = {
            "type": "object",
            "properties": _or(schema.get("properties"), {}),
            "required": _or(schema.get("required"), []),
            **present(schema, "additionalProperties", "$defs", "definitions"),
        }
        return {
            **present(tool, "name", "description"),
            **(
                {"eager_input_streaming": True}
                if self.compat.supports_eager_tool_input_streaming
                else {}
            ),
            **({"strict": True} if strict else {}),
            "input_schema": {**schema, **shape} if strict else shape,
        }


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value

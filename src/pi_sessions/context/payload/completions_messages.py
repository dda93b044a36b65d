"""The messages of a chat completions body, told one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.payload.compat import CompletionsCompat
from pi_sessions.context.payload.draft import (
    IMAGES,
    SEE_IMAGE,
    blocks_of,
    data_url,
    is_blank,
    present,
    text_of,
)
from pi_sessions.context.payload.reasoning import Reasoning, reasoning_of
from pi_sessions.context.payload.telling import Teller
from pi_sessions.context.payload.tools import (
    Sampling,
    Tool,
    declared,
)
from pi_sessions.context.payload.trace import Lines, Part, lines_of, union
from pi_sessions.context.payload.transcript import Leading, leading_prompt
from pi_sessions.context.prompt import added_tools, update_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_sessions.context.payload.draft import Draft
    from pi_sessions.context.prompt import Prompt

FILLER = "I have processed the tool results."


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(block)}}


class ChatMessages(Teller):
    """The messages of a body while they are told one after the other."""

    growing = ("parts", "images")

    def __init__(
        self,
        draft: Draft,
        compat: CompletionsCompat,
        sampling: Sampling,
        grammars: Mapping[str, str],
        system: tuple[int, Prompt | None],
    ) -> None:
        super().__init__(sampling)
        self.model = draft.model
        self.rules = draft.options.rules
        self.compat = compat
        self.grammars = grammars
        self.instructions = (
            "developer" if draft.model.reasoning and compat.supports_developer_role else "system"
        )
        self.leading: Leading | None = None
        self.folded, self.prompt = system
        self.last_role = ""
        """Role of the last message that left something behind, "toolResult" after results."""
        self.system_count = 0
        self.images: list[Part] = []
        """Pictures of the results that stand side by side; they follow the run."""

    def tell(self, message: ContextMessage) -> None:
        """Tell one message; the first leads, also where only dropped replies stood before it."""
        role = message.value["role"]
        if role == "toolResult":
            self.result(message)
            return
        self.close_run()
        if role == "assistant":
            self.reply(message)
        elif role == "user":
            self.user(message)
        elif role == "system":
            leads = self.count == 0
            if leads:
                self.leading = leading_prompt([message], self.prompt)
            self.system(message, leads=leads)

    def finish(self) -> None:
        """Tell the pictures that wait for the end of their run."""
        self.close_run()

    def system(self, message: ContextMessage, *, leads: bool) -> None:
        """Tell a system message: the prompt if it leads, an update if it does not."""
        lines = lines_of(message)
        reason = Reason.FOLDED if leads else Reason.CONVERTED
        added = added_tools(message.value) if self.system_count >= self.folded else []
        self.system_count += 1
        self.last_role = "system"
        if added:
            tools = declared(((tool, lines) for tool in added), self.declaration)
            # Kimi's form of declaring tools in place; its role is never "developer".
            self.parts.append(Part({"role": "system"}, lines).put("tools", tools))
            self.trace.changed(message, reason)
        leading = self.leading if leads else None
        text = leading.text if leading else "" if leads else update_text(message.value)
        if text:
            part = Part(
                {"role": self.instructions},
                leading.lines if leading else lines,
                leading.sections if leading else None,
            )
            self.parts.append(part.tell("content", self.trace.clean(message, text)))
            self.trace.changed(message, reason)

    def user(self, message: ContextMessage) -> None:
        """Tell a user message; one without any block is left out."""
        lines = lines_of(message)
        if self.last_role == "toolResult":
            self.fill(lines)
        content = message.value.get("content")
        part = Part({"role": "user"}, lines)
        if isinstance(content, str):
            part.tell("content", self.trace.clean(message, content))
        else:
            blocks = []
            for block in blocks_of(message):
                if block.get("type") != "text":
                    blocks.append(Part(_image(block), lines))
                elif text := text_of(block):
                    text = self.trace.clean(message, text)
                    blocks.append(Part(_text(text), lines))
                else:
                    self.trace.changed(message, Reason.TRIMMED)
            if not blocks:
                self.trace.left_out(message)
                return
            part.put("content", blocks)
        self.add(part, "user")

    def fill(self, because: Lines) -> None:
        """Put a reply of no one's between results and what follows, where a host wants one."""
        if self.compat.requires_assistant_after_tool_result:
            part = Part({"role": "assistant"}, because).tell("content", FILLER)
            self.parts.append(part)
            self.trace.add("filler", FILLER, because)

    def add(self, part: Part, role: str) -> None:
        """Add a message that is sent."""
        self.parts.append(part)
        self.last_role = role

    def reply(self, message: ContextMessage) -> None:
        """Tell a reply; one without text and calls is left out, whatever it thought."""
        part = Part({"role": "assistant", "content": None}, lines_of(message))
        if (nothing := self.nothing) is not None:
            part.tell("content", nothing)
        blocks = blocks_of(message)
        reasoning = reasoning_of(blocks, self.model)
        texts = [text_of(block) for block in blocks if block.get("type") == "text"]
        kept = [self.trace.clean(message, text) for text in texts if not is_blank(text)]
        text = "".join(kept)
        if reasoning.told and self.compat.requires_thinking_as_text:
            thought = "\n\n".join(self.trace.clean(message, told) for told in reasoning.told)
            told = [Part(_text(piece), part.lines) for piece in (thought, *kept)]
            part.put("content", told)
        else:
            if text and self.rules.chat_replies_as_blocks:
                part.put("content", [Part(_text(piece), part.lines) for piece in kept])
            elif text:
                part.tell("content", text)
            if reasoning.field:
                part.tell(reasoning.field, "\n".join(reasoning.told))
        calls = [block for block in blocks if block.get("type") == "toolCall"]
        if calls:
            part.put("tool_calls", [Part(self.call(message, call), part.lines) for call in calls])
        if not calls and not part.value["content"]:
            self.trace.left_out(message)
            return
        if reasoning.details is not None:
            part.tell("reasoning_details", reasoning.details)
        if self.wants_reasoning and "reasoning_content" not in part.value:
            part.value["reasoning_content"] = ""
        if len(kept) < len(texts) or self.loses(reasoning):
            self.trace.changed(message, Reason.TRIMMED)
        self.add(part, "assistant")

    @property
    def nothing(self) -> str | None:
        """What stands for a content that is empty."""
        compat = self.compat
        if (
            compat.requires_assistant_after_tool_result
            or compat.requires_non_null_assistant_content
        ):
            return ""
        return None

    @property
    def wants_reasoning(self) -> bool:
        """Whether every reply must have the field of reasoning, if only an empty one."""
        compat = self.compat
        return self.model.reasoning and compat.requires_reasoning_content_on_assistant_messages

    def loses(self, reasoning: Reasoning) -> bool:
        """Say whether some thinking does not arrive, or only as if it had been said."""
        return reasoning.lossy or (self.compat.requires_thinking_as_text and bool(reasoning.told))

    def call(self, message: ContextMessage, call: dict[str, Any]) -> dict[str, Any]:
        """Tell a tool call."""
        name = present(call, "name")
        argument = self.grammars.get(text_of(call, "name"))
        if argument is not None:
            text = self.sampling.input(message, call, argument)
            return {**present(call, "id"), "type": "custom", "custom": {**name, "input": text}}
        arguments = _json.encode(call["arguments"]).decode() if "arguments" in call else None
        function = name if arguments is None else {**name, "arguments": arguments}
        return {**present(call, "id"), "type": "function", "function": function}

    def result(self, message: ContextMessage) -> None:
        """Tell a tool result as text; its pictures wait for the end of the run."""
        lines = lines_of(message)
        blocks = blocks_of(message)
        texts = [text_of(block) for block in blocks if block.get("type") == "text"]
        images = [block for block in blocks if block.get("type") == "image"]
        text = "\n".join(texts)
        if is_blank(text):
            text = SEE_IMAGE if images else self.rules.empty_result
            self.trace.add("placeholder", text, lines)
            if texts or not images:
                self.trace.changed(message, Reason.TRIMMED)
        part = Part({"role": "tool"}, lines).tell("content", self.trace.clean(message, text))
        if "toolCallId" in message.value:
            part.value["tool_call_id"] = message.value["toolCallId"]
        if self.compat.requires_tool_result_name and message.value.get("toolName"):
            part.value["name"] = message.value["toolName"]
        if images and self.model.target.takes_images:
            self.images += [Part(_image(image), lines) for image in images]
            self.trace.changed(message, Reason.MOVED)
        elif images:
            # Where a text stands for them, none comes as far as here.
            self.trace.changed(message, Reason.TRIMMED)
        self.add(part, "toolResult")
        if self.rules.chat_images_after_each_result:
            self.close_run()

    def close_run(self) -> None:
        """Tell the pictures of a run of results as one user message behind it."""
        if self.images:
            lines = union(self.images)
            self.fill(lines)
            caption = Part(_text(IMAGES), lines)
            self.parts.append(Part({"role": "user"}, lines).put("content", [caption, *self.images]))
            self.trace.add("attached-images", IMAGES, lines)
            self.last_role = "user"
            self.images = []

    def declaration(self, tool: Tool) -> dict[str, Any]:
        """Declare a tool."""
        named = present(tool, "name", "description")
        if grammar := self.sampling.grammar(tool):
            definition = {"syntax": grammar.syntax, "definition": grammar.definition}
            form = {"type": "grammar", "grammar": definition}
            return {"type": "custom", "custom": {**named, "format": form}}
        parameters, strict = self.sampling.parameters(tool)
        function = {**named, "parameters": parameters}
        if self.compat.supports_strict_mode:
            function["strict"] = strict
        return {"type": "function", "function": function}

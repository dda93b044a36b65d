"""The input of a responses body, message after message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json
from pi_sessions._javascript import short_hash, utf16_length
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.payload.compat import ResponsesCompat
from pi_sessions.context.payload.draft import (
    IMAGES,
    SEE_IMAGE,
    blocks_of,
    data_url,
    is_blank,
    present,
    text_of,
)
from pi_sessions.context.payload.telling import Teller
from pi_sessions.context.payload.thinking import OFF, asked_level, effort
from pi_sessions.context.payload.tools import (
    Sampling,
    Support,
    Tool,
    declared,
    real_removals,
)
from pi_sessions.context.payload.trace import Lines, Part, lines_of
from pi_sessions.context.payload.transcript import Leading, leading_prompt
from pi_sessions.context.prompt import added_tools, join_parts, update_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_sessions.context.payload.draft import Draft
    from pi_sessions.context.prompt import Prompt

INCREMENT = (
    "This is an incremental tools update. Previously declared tools remain available unless "
    "explicitly marked unavailable. A tool declared again here is available again, and its latest "
    "definition replaces the earlier one."
)
REMOVAL = "The following tools are no longer available. Do not call them:"
_ID = 64
"""Longest id of a message."""


def _image(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "input_image", "detail": "auto", "image_url": data_url(block)}


class ResponsesInput(Teller):
    """The input of a body while messages are told one after the other."""

    growing = ("parts", "unavailable")

    def __init__(
        self,
        draft: Draft,
        compat: ResponsesCompat,
        sampling: Sampling,
        grammars: Mapping[str, str],
        system: tuple[int, Support, Prompt | None],
    ) -> None:
        super().__init__(sampling)
        self.model = draft.model
        self.rules = draft.options.rules
        self.compat = compat
        self.folded, self.support, self.prompt = system
        self.grammars = grammars
        self.instructions = (
            "developer" if draft.model.reasoning and compat.supports_developer_role else "system"
        )
        self.leading: Leading | None = None
        level = asked_level(draft.model, draft.options.thinking_level)
        managed = compat.supports_mid_convo_effort and level != OFF
        self.effort = effort(draft.model, level) if managed else None
        """The effort asked now, where it is told among the messages."""
        self.number = 0
        """Counts the messages told; makes the ids of texts that have none."""
        self.system_count = 0
        self.has_declared = False
        self.unavailable: dict[str, None] = {}
        """Tools that were removed and not declared again, in order."""

    def tell(self, message: ContextMessage) -> None:
        """Tell one message; the first leads, also where only dropped replies stood before it."""
        role = message.value["role"]
        leads = self.count == 0 and role == "system"
        is_told = True
        if leads:
            self.leading = leading_prompt([message], self.prompt)
        if role == "system":
            self.system(message, leads=leads)
        elif role == "user":
            is_told = self.user(message)
        elif role == "assistant":
            is_told = self.reply(message)
        elif role == "toolResult":
            self.result(message)
        self.number += is_told and not leads

    def finish(self) -> None:
        """Tell the effort that is asked now, where it is told among the messages."""
        if self.effort is not None:
            self.update_effort(self.effort, ())

    def update_effort(self, effort_name: Any, lines: Lines) -> None:
        """Tell the effort of what follows."""
        update = {"type": "configuration_update", "reasoning": {"effort": effort_name}}
        self.parts.append(Part(update, lines))
        self.trace.add("effort", str(effort_name), lines)

    def system(self, message: ContextMessage, *, leads: bool) -> None:
        """Tell a system message: its tools where they are told in place, then its text."""
        leading = self.leading if leads else None
        lines = leading.lines if leading else lines_of(message)
        reason = Reason.FOLDED if leads else Reason.CONVERTED
        texts = [leading.text if leading else "" if leads else update_text(message.value)]
        is_placed = self.system_count >= self.folded
        self.system_count += 1
        if is_placed:
            if self.add_tools(message):
                self.trace.changed(message, reason)
            if removed := real_removals(message.value):
                texts.append("\n".join([REMOVAL, *(f"- {name}" for name in removed)]))
                self.unavailable.update(dict.fromkeys(removed))
        if text := join_parts(texts):
            part = Part({"role": self.instructions}, lines, leading.sections if leading else None)
            self.parts.append(part.tell("content", self.trace.clean(message, text)))
            self.trace.changed(message, reason)

    def add_tools(self, message: ContextMessage) -> bool:
        """Declare the tools a message adds, in place; says whether there are any."""
        lines = lines_of(message)
        added = added_tools(message.value)
        for tool in added:
            self.unavailable.pop(tool["name"], None)
        if not added:
            return False
        if self.support is Support.CHANGES:
            if self.has_declared:
                self.notice(lines)
            self.has_declared = True
            tools = declared(((tool, lines) for tool in added), self.declaration)
            head = Part({"type": "additional_tools", "role": "developer"}, lines)
            self.parts.append(head.put("tools", tools))
        else:
            self.search(added, lines)
        return True

    def notice(self, lines: Lines) -> None:
        """Say that tools which follow come in addition."""
        text = INCREMENT
        if self.unavailable:
            text += f"\nStill unavailable: {', '.join(self.unavailable)}."
        self.parts.append(Part({"role": self.instructions}, lines).tell("content", text))
        self.trace.add("notice", text, lines)

    def search(self, added: list[Tool], lines: Lines) -> None:
        """Tell tools as the result of a search for them that the model never made."""
        names = [tool["name"] for tool in added]
        seed = f"system:{self.number}:{','.join(names)}"
        call_id = f"pi_tool_load_{short_hash(seed)}"
        head = {"call_id": call_id, "execution": "client", "status": "completed"}
        query = " ".join(names)
        arguments = {"query": query, "limit": len(names)}
        call = {"type": "tool_search_call", **head, "arguments": arguments}
        self.parts.append(Part(call, lines))
        tools = declared(((tool, lines) for tool in added), self.found)
        self.parts.append(Part({"type": "tool_search_output", **head}, lines).put("tools", tools))
        self.trace.add("tool-search", query, lines)

    def user(self, message: ContextMessage) -> bool:
        """Tell a user message; one without blocks is left out."""
        lines = lines_of(message)
        blocks = [Part(self.input_block(message, block), lines) for block in blocks_of(message)]
        if not blocks:
            self.trace.left_out(message)
            return False
        self.parts.append(Part({"role": "user"}, lines).put("content", blocks))
        return True

    def input_block(self, message: ContextMessage, block: dict[str, Any]) -> dict[str, Any]:
        """Tell one block of a user message."""
        if block.get("type") != "text":
            return _image(block)
        return {"type": "input_text", "text": self.trace.clean(message, text_of(block))}

    def reply(self, message: ContextMessage) -> bool:
        """Tell a reply, each block an item of its own."""
        lines = lines_of(message)
        value, model = message.value, self.model
        is_near = value.get("provider") == model.provider and value.get("api") == model.api
        is_own = is_near and value.get("model") == model.id
        blocks = blocks_of(message)
        if value.get("stopReason") == "error":
            # Only rules of old let it come as far as here, and they told its texts alone.
            blocks = [block for block in blocks if block.get("type") == "text"]
        parts: list[Part] = []
        texts = 0
        for block in blocks:
            kind = block.get("type")
            if kind == "text":
                parts.append(self.text(message, block, texts))
                texts += 1
            elif kind == "toolCall":
                call = self.call(
                    message,
                    block,
                    keeps_id=is_own or self.rules.responses_call_ids == "kept" or not is_near,
                )
                if is_own:
                    call |= present(block, "namespace")
                parts.append(Part(call, lines))
            elif kind == "thinking" and (item := self.thinking(block)) is not None:
                parts.append(Part(item, lines))
            else:
                self.trace.changed(message, Reason.TRIMMED)
        if not parts:
            self.trace.left_out(message)
            return False
        if self.effort is not None and is_own and "providerThinkingLevel" in value:
            self.update_effort(value["providerThinkingLevel"], lines)
        self.parts += parts
        return True

    def thinking(self, block: dict[str, Any]) -> Any:
        """Give the item that thinking was received as, which its signature holds."""
        signature = block.get("thinkingSignature")
        if not isinstance(signature, str) or not signature:
            return None
        try:
            return _json.loads(signature.encode("utf-8", "surrogatepass"))
        except _json.JSONError:
            self.sampling.refuse("a signature of thinking is not JSON")
            return None

    def text(self, message: ContextMessage, block: dict[str, Any], before: int) -> Part:
        """Tell a text of a reply.

        Args:
            message: the reply.
            block: its text.
            before: how many texts of the reply come before it.
        """
        own_id, phase = _signature(block.get("textSignature"))
        if not own_id:
            own_id = self.own_id(before)
        elif utf16_length(own_id) > _ID:
            own_id = f"msg_{short_hash(own_id)}"
        part = Part({"type": "message", "role": "assistant"}, lines_of(message))
        text = self.trace.clean(message, text_of(block))
        output = {"type": "output_text", "text": text, "annotations": []}
        part.put("content", [Part(output, part.lines)])
        part.value |= {"status": "completed", "id": own_id, **({"phase": phase} if phase else {})}
        return part

    def own_id(self, before: int) -> str:
        """Make an id for a text that has none."""
        if self.rules.message_ids != "own":
            return f"msg_{self.number}"
        return f"msg_pi_{self.number}" + (f"_{before}" if before else "")

    def call(
        self, message: ContextMessage, block: dict[str, Any], *, keeps_id: bool
    ) -> dict[str, Any]:
        """Tell a tool call.

        Args:
            message: the reply.
            block: the call.
            keeps_id: whether the id of its item may be sent: another model of the same API has
                items of its own, and the API checks that they belong together.
        """
        argument = self.grammars.get(text_of(block, "name"))
        call_id, _, item = text_of(block, "id").partition("|")
        item = item.partition("|")[0]
        prefix = "fc_" if argument is None else "ctc_"
        head = {"id": item} if keeps_id and item.startswith(prefix) else {}
        head |= {"call_id": call_id, **present(block, "name")}
        if argument is not None:
            text = self.sampling.input(message, block, argument)
            return {"type": "custom_tool_call", **head, "input": text}
        if "arguments" in block:
            head["arguments"] = _json.encode(block["arguments"]).decode()
        return {"type": "function_call", **head}

    def result(self, message: ContextMessage) -> None:
        """Tell a tool result."""
        lines, value = lines_of(message), message.value
        is_grammar = text_of(value, "toolName") in self.grammars
        kind = "custom_tool_call_output" if is_grammar else "function_call_output"
        call_id = text_of(value, "toolCallId").partition("|")[0]
        part = Part({"type": kind, "call_id": call_id}, lines)
        blocks = blocks_of(message)
        texts = [text_of(block) for block in blocks if block.get("type") == "text"]
        images = [block for block in blocks if block.get("type") == "image"]
        text = "\n".join(texts)
        # Judged as it is stored: a lone surrogate is not blank, and nothing once it is removed.
        blank = is_blank(text)
        text = self.trace.clean(message, text)
        if blank and (texts or not images):
            self.trace.changed(message, Reason.TRIMMED)
        pictures = [Part(_image(image), lines) for image in images]
        if not self.model.target.takes_images:
            pictures = []
        if pictures and self.rules.responses_images_in_result:
            texts_told = [] if blank else [Part({"type": "input_text", "text": text}, lines)]
            part.put("output", texts_told + pictures)
            pictures = []
        else:
            if blank:
                text = SEE_IMAGE if images else self.rules.empty_result
                self.trace.add("placeholder", text, lines)
            part.tell("output", text)
        self.parts.append(part)
        if pictures:
            self.attach(message, pictures)

    def attach(self, message: ContextMessage, pictures: list[Part]) -> None:
        """Tell the pictures of a result behind it, by the rules of old releases."""
        lines = lines_of(message)
        caption = Part({"type": "input_text", "text": IMAGES}, lines)
        self.parts.append(Part({"role": "user"}, lines).put("content", [caption, *pictures]))
        self.trace.add("attached-images", IMAGES, lines)
        self.trace.changed(message, Reason.MOVED)

    def declaration(self, tool: Tool) -> dict[str, Any]:
        """Declare a tool."""
        return self.declare(tool, {})

    def found(self, tool: Tool) -> dict[str, Any]:
        """Declare a tool as the result of a search."""
        return self.declare(tool, {"defer_loading": True})

    def declare(self, tool: Tool, extra: dict[str, Any]) -> dict[str, Any]:
        """Declare a tool, with keys that stand before `strict`."""
        named = present(tool, "name", "description")
        if grammar := self.sampling.grammar(tool):
            form = {
                "type": "grammar",
                "syntax": grammar.syntax,
                "definition": grammar.definition,
            }
            return {"type": "custom", **named, "format": form, **extra}
        parameters, strict = self.sampling.parameters(tool)
        function = {"type": "function", **named, "parameters": parameters, **extra}
        if self.compat.supports_strict_mode:
            function["strict"] = strict
        return function


def _signature(signature: Any) -> tuple[str, str]:
    """Read the id and the phase of a text's signature: JSON of version 1, or the id itself."""
    if not isinstance(signature, str):
        return "", ""
    if signature.startswith("{"):
        try:
            parsed = _json.loads(signature.encode("utf-8", "surrogatepass"))
        except _json.JSONError:
            return signature, ""
        version = parsed.get("v")
        if version == 1 and version is not True and isinstance(parsed.get("id"), str):
            phase = parsed.get("phase")
            return parsed["id"], phase if phase in ("commentary", "final_answer") else ""
    return signature, ""

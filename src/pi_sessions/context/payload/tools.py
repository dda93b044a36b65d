"""Tool declarations: where in a body they stand, and what of them all APIs share.

Rules: docs/requests.md, "Tools".
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import trim
from pi_sessions.context.message import ContextMessage, Reason
from pi_sessions.context.outcome import system_outcome
from pi_sessions.context.payload.strict import NotStrictError, Refusal, strict_schema
from pi_sessions.context.payload.trace import FAILS, Lines, Part
from pi_sessions.context.prompt import Prompt, added_tools, removed_tools, replay_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.context.payload.trace import Trace
    from pi_sessions.context.payload.transcript import Transcript

Tool = dict[str, Any]


class Support(Enum):
    """How tool changes are told in the middle of a conversation."""

    NONE = auto()
    """Not at all: the tools in force are listed on top."""
    ADDITIONS = auto()
    """New tools in place; all up to the last removal or redeclaration is listed on top."""
    CHANGES = auto()
    """All in place, the leading message's too; nothing is listed on top."""


class Placement(msgspec.Struct, frozen=True):
    """Where the tools of a transcript stand."""

    listed: tuple[tuple[Tool, Lines], ...]
    """The tools listed on top, each with the lines it came from."""
    folded: int
    """How many of the first system messages are listed there; the tools of others are in place."""


def place_tools(transcript: Transcript, support: Support, trace: Trace) -> Placement:
    """Say which tools are listed on top, and note the system messages that are told by that."""
    if transcript.prompt is not None:
        return Placement(_with_lines(transcript.prompt), 1)
    if support is Support.CHANGES:
        return Placement((), 0)
    system = [message for message in transcript.messages if message.value["role"] == "system"]
    folded = len(system)
    if support is Support.ADDITIONS:
        folded = max(int(transcript.leads), _last_change(system) + 1)
    declaring = [_tools_only(message) for message in system[:folded]]
    prompt = replay_prompt(declaring)
    for message in declaring:
        outcome = system_outcome(message, prompt)
        if outcome.leading is Reason.FOLDED:
            trace.changed(message, Reason.FOLDED)
        elif outcome.leading is Reason.SUPERSEDED:
            trace.otherwise(message, outcome)
    return Placement(_with_lines(prompt), folded)


def _with_lines(prompt: Prompt) -> tuple[tuple[Tool, Lines], ...]:
    lines = prompt.tool_lines
    return tuple((tool, _line(lines.get(tool["name"]))) for tool in prompt.tools)


def _line(line: int | None) -> Lines:
    return () if line is None else (line,)


def _tools_only(message: ContextMessage) -> ContextMessage:
    kept = {key: item for key, item in message.value.items() if key not in ("content", "sections")}
    return message.altered(value=kept)


def _last_change(system: Sequence[ContextMessage]) -> int:
    """Find the last message that removes a tool, or declares a name again; -1 without one."""
    seen: set[str] = set()
    last = -1
    for place, message in enumerate(system):
        if message.value.get("toolsRemoved"):
            last = place
        for tool in added_tools(message.value):
            if tool["name"] in seen:
                last = place
            seen.add(tool["name"])
    return last


def real_removals(value: dict[str, Any]) -> list[str]:
    """Give the names a system message removes and does not declare anew."""
    added = {tool["name"] for tool in added_tools(value)}
    return [name for name in removed_tools(value) if name not in added]


def declared(tools: Iterable[tuple[Tool, Lines]], declare: Callable[[Tool], Tool]) -> list[Part]:
    """Declare tools in the form of an API."""
    return [Part(declare(tool), lines) for tool, lines in tools]


class Grammar(msgspec.Struct, frozen=True):
    """A grammar that a tool's input follows, and the argument that holds the input."""

    syntax: str
    definition: str
    argument: str


class Sampling(msgspec.Struct, frozen=True):
    """What a model supports of tools whose calls are bound to a schema or a grammar."""

    trace: Trace
    strict: bool
    grammars: bool = False
    refuses: Refusal | None = None
    """Keywords that strict mode does not take, besides those that nobody takes."""

    def parameters(self, tool: Tool) -> tuple[Any, bool]:
        """Give a tool's schema, in strict form where that is asked for and can be had."""
        schema = tool.get("parameters")
        bound = tool.get("constrainedSampling")
        if not isinstance(bound, dict) or bound.get("type") != "json_schema":
            return schema, False
        why = "the model takes no strict tools"
        if self.strict:
            try:
                return strict_schema(schema, self.refuses), True
            except NotStrictError as error:
                why = str(error)
        if bound.get("strict") == "require":
            self.refuse(f"tool {tool['name']} must be strict and cannot be: {why}")
        return schema, False

    def grammar(self, tool: Tool) -> Grammar | None:
        """Give the grammar of a tool, None for a tool that has none the model can use."""
        bound = tool.get("constrainedSampling")
        if not self.grammars or not isinstance(bound, dict) or bound.get("type") != "grammar":
            return None
        variants = bound.get("variants")
        variants = variants if isinstance(variants, dict) else {}
        argument = _only_argument(tool.get("parameters"))
        for syntax in ("lark", "regex"):
            definition = variants.get(f"openai_{syntax}")
            if isinstance(definition, str) and trim(definition) and argument:
                return Grammar(syntax, definition, argument)
        self.refuse(f"tool {tool['name']} has no grammar that can be used")
        return None

    def arguments(self, messages: Iterable[ContextMessage]) -> dict[str, str]:
        """Give, by name, the argument that is sent as input of each grammar tool ever declared."""
        if not self.grammars:
            return {}
        latest = {
            tool["name"]: tool
            for message in messages
            if message.value["role"] == "system"
            for tool in added_tools(message.value)
        }
        grammars = {name: self.grammar(tool) for name, tool in latest.items()}
        return {name: grammar.argument for name, grammar in grammars.items() if grammar}

    def input(self, message: ContextMessage, call: dict[str, Any], argument: str) -> str:
        """Give the input of a grammar tool's call."""
        arguments = call.get("arguments")
        text = arguments.get(argument) if isinstance(arguments, dict) else None
        if isinstance(text, str):
            return self.trace.clean(message, text)
        self.refuse(f"the input of a call of {call.get('name')} is no text")
        return ""

    def refuse(self, why: str) -> None:
        """Note that the reference fails here: it sends no request at all."""
        if not any(unknown.why.endswith(why) for unknown in self.trace.unknown):
            self.trace.doubt("", f"{FAILS}: {why}")


def _only_argument(schema: Any) -> str:
    """Name the one required text property of a schema, "" if it is not like that."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ""
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or len(required) != 1 or not isinstance(properties, dict):
        return ""
    name = required[0]
    kind = properties.get(name) if isinstance(name, str) else None
    return name if isinstance(kind, dict) and kind.get("type") == "string" else ""

"""What an entry says, as HTML: texts, thinking, calls, results, pictures, prompts."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions._json import dumps
from pi_sessions.context.prompt import added_tools, content_text, removed_tools, section_changes
from pi_sessions.context.replay import block_type
from pi_sessions.excerpt import one_line
from pi_sessions.render import terminal
from pi_sessions.render.code import highlighted, language_of
from pi_sessions.render.edits import difference, edits_of
from pi_sessions.render.markup import EMPTY, Markup, Writer, joined, tag
from pi_sessions.render.pictures import picture
from pi_sessions.render.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Whole = Callable[[], str | None]

HEAD = 12
"""Lines of a long text that stand open; the rest is folded."""
MOST = 60_000
"""Characters of one text on a page; a longer one goes on in the raw view."""
ALL, OPEN, NONE = 2, 1, 0
COLOURS: ContextVar[int] = ContextVar("COLOURS", default=ALL)
"""Which code of tools has colours: all, what is not folded, or none. They are most of the work."""
_KEY_ARGUMENT = ("command", "path", "file_path", "pattern", "query", "url", "name")
_SHORT = 200


def long_text(text: str, *, language: str = "", most: int = MOST) -> Markup:
    """Show a text of a tool: its first lines open, the rest folded and counted."""
    text = text.removesuffix("\n")
    rest = len(text) - most
    text = text[:most]
    lines = text.split("\n")
    colours = COLOURS.get()
    language = language if colours else ""
    more = len(lines) - HEAD
    if more <= HEAD // 2 and len(text) < 4_000:
        shown = _pre(text, language)
    else:
        cut = sum(map(len, lines[:HEAD])) + HEAD
        cut = min(cut, 3_000)
        folded = _pre(text[cut:], language if colours == ALL else "")
        told = f"{more:,} more lines" if more > 1 else f"{len(text) - cut:,} more characters"
        shown = joined(
            (
                _pre(text[:cut].removesuffix("\n"), language),
                tag("details", tag("summary", told), folded, class_="more"),
            )
        )
    if rest <= 0:
        return shown
    note = tag("p", f"{rest:,} more characters are in the raw line.", class_="note")
    return joined((shown, note))


def _pre(text: str, language: str) -> Markup:
    if terminal.has_colours(text):
        return tag("pre", terminal.coloured(text))
    return tag("pre", highlighted(text, language))


def content(value: Any, calls: Callable[[dict[str, Any]], Markup] | None = None) -> Markup:
    """Show the content of a message: a text, or blocks in order."""
    return joined(_content(value, calls or call))


def _content(value: Any, calls: Callable[[dict[str, Any]], Markup]) -> Iterator[Markup]:
    for block in value if isinstance(value, list) else [{"type": "text", "text": value}]:
        match block_type(block):
            case "text":
                if text := _text(block.get("text")):
                    yield prose(text)
            case "thinking":
                yield thinking(block)
            case "toolCall":
                yield calls(block)
            case "image":
                yield picture(block)
            case _:
                yield long_text(dumps(block), language="json")


def _text(value: Any) -> str:
    return "" if value is None else string(value)


def thinking(block: dict[str, Any]) -> Markup:
    """Show thinking, folded to its first words."""
    text = _text(block.get("thinking"))
    if not text.strip():
        told = "hidden by the provider" if block.get("redacted") else "empty"
        return tag("p", f"Thinking: {told}", class_="note")
    first = tag("span", one_line(text, 90), class_="faint")
    summary = tag("summary", "Thinking ", first)
    return tag("details", summary, prose(text), class_="thinking")


def call(block: dict[str, Any], result: str = EMPTY) -> Markup:
    """Show a call: its tool and main argument, then an edit as a difference, the rest folded."""
    name, arguments = string(block.get("name", "?")), block.get("arguments")
    key, brief = _brief(arguments)
    head = tag("p", tag("b", name), " ", tag("code", brief), result, class_="call")
    edits = edits_of(arguments)
    parts = [head, *(difference(old, new) for old, new in edits)]
    others = _others(arguments, key, has_edits=bool(edits))
    if others:
        parts.append(tag("details", tag("summary", "all arguments"), others, class_="more"))
    return tag("div", *parts, class_="called")


def _brief(arguments: Any) -> tuple[str, str]:
    """Give the argument that tells most, its name and its value in one line."""
    if not isinstance(arguments, dict):
        return "", "" if arguments is None else one_line(dumps(arguments), _SHORT)
    for key in _KEY_ARGUMENT:
        if isinstance(arguments.get(key), str):
            return key, one_line(arguments[key], _SHORT)
    key = next(iter(arguments), "")
    value = arguments.get(key, "")
    return key, one_line(value if isinstance(value, str) else dumps(value), _SHORT)


def brief(arguments: Any) -> str:
    """Give the argument of a call that tells most, in one line."""
    return _brief(arguments)[1]


def _others(arguments: Any, key: str, *, has_edits: bool) -> Markup:
    """Show the arguments that are not told yet."""
    if not isinstance(arguments, dict):
        return EMPTY
    language = language_of(arguments.get("path", arguments.get("file_path")))
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else dumps(value)
        if has_edits and name in ("edits", "oldText", "newText", "old_string", "new_string"):
            continue
        if name == key and len(text) <= _SHORT and "\n" not in text:
            continue
        shown = long_text(text, language=language if isinstance(value, str) else "json")
        parts.append(tag("p", name, class_="label"))
        parts.append(shown)
    return joined(parts)


def result(message: dict[str, Any], language: str = "") -> Markup:
    """Show what a tool gave back."""
    parts = []
    value = message.get("content")
    for block in value if isinstance(value, list) else [{"type": "text", "text": value}]:
        match block_type(block):
            case "text":
                parts.append(long_text(_text(block.get("text")), language=language))
            case "image":
                parts.append(picture(block))
            case _:
                parts.append(long_text(dumps(block), language="json"))
    return joined(parts)


def shell(message: dict[str, Any]) -> Markup:
    """Show a command that the user ran, and what came of it."""
    command = string(message.get("command", ""))
    output = string(message.get("output", ""))
    writer = Writer()
    writer.add(tag("pre", f"$ {command}", class_="command"))
    if output:
        writer.add(long_text(output))
    code = message.get("exitCode")
    if code not in (0, None):
        writer.add(tag("p", f"exit code {string(code)}", class_="note"))
    return writer.done()


def system(message: dict[str, Any]) -> Markup:
    """Show a system message: what it sets and what it removes."""
    writer = Writer()
    if base := content_text(message.get("content")):
        writer.add(long_text(base))
    for name, text in section_changes(message).items():
        if text is None:
            writer.add(tag("p", tag("b", "section "), tag("del", name), " removed"))
            continue
        size = tag("span", f" {len(text):,} characters", class_="faint")
        summary = tag("summary", tag("b", "section "), name, size)
        writer.add(tag("details", summary, long_text(text), class_="section"))
    for name in removed_tools(message):
        writer.add(tag("p", tag("b", "tool "), tag("del", name), " removed"))
    for tool in added_tools(message):
        writer.add(declaration(tool))
    return writer.done()


def declaration(tool: dict[str, Any], line: str = EMPTY) -> Markup:
    """Show the declaration of a tool, folded to its name and first words."""
    told = one_line(string(tool.get("description", "")), 100)
    summary = tag(
        "summary", tag("b", "tool "), string(tool["name"]), " ", tag("span", told, class_="faint")
    )
    parameters = tool.get("parameters")
    return tag(
        "details",
        summary,
        line,
        tag("p", string(tool.get("description", "")), class_="raw"),
        tag("pre", highlighted(_pretty(parameters), "json")),
        class_="section",
    )


def _pretty(value: Any) -> str:
    from pi_sessions.render.pretty import pretty  # noqa: PLC0415 - seldom asked for

    return pretty(value)


def foreign(data: bytes) -> Markup:
    """Show a line that is no entry."""
    return long_text(data[: 4 * MOST].decode("utf-8", "replace"), most=4_000)

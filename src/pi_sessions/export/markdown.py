"""The conversation of a branch as Markdown, each entry with what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions._json import dumps
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.context.prompt import added_tools, content_text, removed_tools, section_changes
from pi_sessions.context.replay import block_type
from pi_sessions.excerpt import excerpt, message_excerpt
from pi_sessions.export.marking import code, escaped, fenced, quoted
from pi_sessions.export.options import Tools, explanation_of
from pi_sessions.table import FIRST_TYPE, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.export.options import Options
    from pi_sessions.session import Session

STATES = {
    Verdict.SENT: "● sent",
    Verdict.CHANGED: "◐ changed",
    Verdict.NOT_SENT: "○ not sent",
}
"""How the verdicts are told."""

_TOLD = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CUSTOM_MESSAGE, *range(FIRST_TYPE)})
"""Kinds that have a heading; of the others one line tells."""


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give a heading, then a section for each message, and a line for each other entry."""
    explanation = explanation_of(session, options)
    yield _encoded(_head(session, options, explanation))
    for line in explanation.point.path:
        if not options.has(line) or not session.table.is_entry(line):
            continue
        kind = session.table.kinds[line]
        if options.prompts and kind != Kind.USER:
            continue
        if kind in _TOLD:
            yield _encoded(_section(session, options, explanation, line))
        else:
            what = session.table.type_of(line) or ""
            told = f"- line {line} · {escaped(what)} · {escaped(excerpt(session.table, line))}"
            yield _encoded([told])


def _encoded(parts: list[str]) -> bytes:
    return ("\n\n".join(parts) + "\n\n").encode("utf-8", "replace")


def _head(session: Session, options: Options, explanation: Explanation) -> list[str]:
    header = session.table.header
    rows = [f"- session {code(session.id)}"]
    if session.cwd:
        rows.append(f"- in {code(session.cwd)}")
    if isinstance(header.get("timestamp"), str):
        rows.append(f"- begun {escaped(header['timestamp'])}")
    if options.states:
        counts = explanation.counts
        told = ", ".join(f"{counts[verdict]} {word}" for verdict, word in STATES.items())
        rows.append(f"- {len(session.table)} lines: {told} {_where(session, explanation)}")
    return [f"# {escaped(session.name or 'A session')}", "\n".join(rows)]


def _where(session: Session, explanation: Explanation) -> str:
    point, ids = explanation.point, session.table.ids
    if point.response:
        return f"for the reply {code(string(ids[point.response]))} on line {point.response}"
    if point.leaf:
        return f"for the next request after {code(string(ids[point.leaf]))} on line {point.leaf}"
    return "before the first entry"


def _section(session: Session, options: Options, explanation: Explanation, line: int) -> list[str]:
    table = session.table
    entry = table.raw(line)
    who = table.role_of(line) or table.type_of(line) or ""
    told = [escaped(who), f"line {line}"]
    if options.states:
        told.append(_state(explanation, line))
    if options.times and isinstance(entry.get("timestamp"), str):
        told.append(escaped(entry["timestamp"]))
    level = "##" if table.kinds[line] == Kind.USER else "###"
    message = entry["message"] if entry.get("type") == "message" else entry
    return [f"{level} {' · '.join(told)}", *_parts(message, options)]


def _state(explanation: Explanation, line: int) -> str:
    reason = explanation.reason(line)
    if reason is Reason.AS_STORED:
        return STATES[reason.verdict]
    because = explanation.because(line)
    by = f" by line {', '.join(map(str, because[:3]))}" if because else ""
    return f"{STATES[reason.verdict]}: {reason}{by}"


def _parts(message: dict[str, Any], options: Options) -> Iterator[str]:
    """Give what a message holds, part by part."""
    role = message.get("role")
    if role == "toolResult":
        yield from _result(message, options)
    elif role == "system":
        yield from _system(message, options)
    elif role == "bashExecution":
        yield from _shell(message, options)
    elif "summary" in message:
        yield quoted(string(message["summary"]))
        if isinstance(message.get("systemMessage"), dict):
            yield from _system(message["systemMessage"], options)
    else:
        yield from _content(message.get("content"), options)
    if message.get("stopReason") in ("error", "aborted"):
        told = f"{message['stopReason']}: {string(message.get('errorMessage', ''))}"
        yield f"**{escaped(told)}**"


def _content(content: Any, options: Options) -> Iterator[str]:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        kind = block_type(block)
        if kind == "text":
            if block.get("text"):
                yield quoted(string(block["text"]))
        elif kind == "thinking":
            if options.thinking and block.get("thinking"):
                yield "*Thinking:*"
                yield quoted(string(block["thinking"]))
        elif kind == "toolCall":
            yield from _call(block, options)
        elif kind == "image":
            yield _picture(block)
        else:
            yield fenced(dumps(block), "json")


def _call(block: dict[str, Any], options: Options) -> Iterator[str]:
    if options.tools is Tools.NONE:
        return
    if options.tools is Tools.BRIEF:
        yield f"→ {code(_brief(message_excerpt({'content': [block]}).removeprefix('→ ')))}"
        return
    name, call_id = string(block.get("name", "?")), string(block.get("id", "?"))
    yield f"→ {code(name)} (call {code(call_id)})"
    arguments = block.get("arguments")
    for key, value in arguments.items() if isinstance(arguments, dict) else [("", arguments)]:
        if isinstance(value, str) and "\n" in value:
            yield f"{code(key)}:\n\n{fenced(value)}"
        else:
            yield f"{code(key)}: {code(value if isinstance(value, str) else dumps(value))}"


_WIDTH = 160
"""Characters of what is told in brief."""


def _brief(text: str) -> str:
    told = " ".join(text[: 2 * _WIDTH].split())
    is_whole = len(told) <= _WIDTH and len(text) <= 2 * _WIDTH
    return told if is_whole else told[:_WIDTH] + "…"


def _result(message: dict[str, Any], options: Options) -> Iterator[str]:
    if options.tools is Tools.NONE:
        return
    if options.tools is Tools.BRIEF:
        yield f"← {code(_brief(message_excerpt(message)))}"
        return
    failed = " failed" if message.get("isError") else ""
    call_id = string(message.get("toolCallId", "?"))
    yield f"← {code(string(message.get('toolName', '?')))}{failed} (call {code(call_id)})"
    content = message.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    for block in blocks:
        if block_type(block) == "text":
            yield fenced(string(block.get("text", "")))
        elif block_type(block) == "image":
            yield _picture(block)
        elif block is not None:
            yield fenced(block if isinstance(block, str) else dumps(block))


def _picture(block: dict[str, Any]) -> str:
    data = block.get("data")
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return f"*[picture: {escaped(string(block.get('mimeType', '?')))}, about {size} bytes]*"


def _system(message: dict[str, Any], options: Options) -> Iterator[str]:
    if options.tools is not Tools.FULL:
        yield code(_brief(message_excerpt({**message, "role": "system"})))
        return
    if text := content_text(message.get("content")):
        yield fenced(text)
    for name, section in section_changes(message).items():
        yield f"section {code(name)}" + ("" if section is not None else " removed")
        if section is not None:
            yield fenced(section)
    for name in removed_tools(message):
        yield f"tool {code(name)} removed"
    for tool in added_tools(message):
        yield f"tool {code(tool['name'])}"
        yield fenced(dumps(tool), "json")


def _shell(message: dict[str, Any], options: Options) -> Iterator[str]:
    mark = "!!" if message.get("excludeFromContext") else "!"
    yield fenced(mark + string(message.get("command", "")), "sh")
    output = string(message.get("output", ""))
    if output and options.tools is not Tools.NONE:
        brief = options.tools is Tools.BRIEF and len(output) > 2 * _WIDTH
        yield fenced(output[: 2 * _WIDTH] + "…" if brief else output)

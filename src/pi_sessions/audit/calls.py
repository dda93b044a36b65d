"""The tool calls of a session and what came back: when, with what exit status, whole or cut off."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.passage import strings
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.session import Session

WRITING = frozenset({"write", "edit", "write_file", "edit_file", "apply_patch", "create_file"})
"""Names of tools that change files; what they are given was not looked at."""
READING = frozenset({"read", "read_file", "view", "cat"})
"""Names of tools that give a file's text."""
LOOKING = frozenset({"grep", "find", "ls", "glob", "search"})
"""Names of tools that give a part of files, or their names."""

_EXITED = re.compile(r"(?:Command exited with code|exit code|exited with code)\s+(-?\d+)\s*$")
_ENDED = re.compile(r"Command (?:aborted|timed out|terminated)[^\n]*$")
_SHOWING = re.compile(r"\[Showing lines (\d+)-(\d+) of (\d+)\b[^\]]*\]\s*$")
_MORE = re.compile(
    r"(?:\[(\d+) more lines in file\.[^\]]*\]|\.\.\. \((\d+) more lines not shown\.[^)]*\))\s*$"
)
"""Of this release, and of those of 2025."""
_CUT = re.compile(
    r"\[(?:Showing last [^\]]*|(?:output |response |content )?truncated[^\]]*|[\d,.]+ "
    r"(?:characters|bytes|chars|lines) (?:truncated|omitted)[^\]]*)\]|"
    r"<(?:response|output) clipped>|\.\.\.\s*\(truncated\)",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"(?:^|[|;&]\s*)(?:\S*/)?(?:(?:tail|e?grep|rg|cut|sed -n|awk|jq|wc|xargs|md5sum|sha256sum)\b"
    r"|head\s+-c)"
)
_TOP = re.compile(
    r"(?:^|[|;&]\s*)(?:\S*/)?(?:head(?:\s+(?:-n\s*|--lines[= ]|-)(\d{1,9}))?"
    r"|sed -n\s+['\"]?1,(\d{1,9})p['\"]?)(?=\s|$)"
)
"""What gives the first lines: all of them, if there are fewer."""


class Call(msgspec.Struct, frozen=True):
    """One thing a model, or the person, had done."""

    session: str
    """Path of the session."""
    line: int
    """Line of the reply that asked for it; of a run by the person its own."""
    result: int
    """Line of what came back; 0 where nothing did."""
    name: str
    arguments: dict[str, Any]
    output: str
    exit: int | None
    """Exit status of a shell command, None where it is not known."""
    is_failed: bool
    timestamp: str
    """When it was over, else when it was asked for; ISO 8601, "" where it is not known."""
    is_cut: bool
    """Whether less came back than there was."""
    window: tuple[int, int, int] | None = None
    """Of a read file: the first line, the last, and all it has."""

    @property
    def command(self) -> str:
        """The shell command, "" where it is none."""
        value = self.arguments.get("command")
        return value if isinstance(value, str) and self.name not in WRITING else ""

    @property
    def path(self) -> str:
        """The file it is about, as it was named; "" where it is about none."""
        for key in ("path", "file_path", "filePath", "file"):
            value = self.arguments.get(key)
            if isinstance(value, str):
                return value
        return ""

    @property
    def date(self) -> datetime | None:
        """When it was over."""
        return moment(self.timestamp)

    @property
    def asked(self) -> str:
        """What was asked for, in one text."""
        if self.command:
            return self.command
        return " ".join([self.name, *strings(self.arguments)])

    @property
    def note(self) -> str:
        """Tell time and exit, for a person."""
        parts = [self.timestamp] if self.timestamp else []
        if self.exit is not None:
            parts.append(f"exit {self.exit}")
        elif self.is_failed:
            parts.append("failed")
        if not self.result:
            parts.append("nothing came back")
        return ", ".join(parts)


def moment(timestamp: str) -> datetime | None:
    """Read a time; None where it is none. A time without a zone is taken for UTC."""
    try:
        read = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return read if read.tzinfo else datetime.fromisoformat(timestamp + "+00:00")


def calls_of(session: Session) -> list[Call]:
    """Give all calls and runs of a session, in file order."""
    results = _results(session)
    found: list[Call] = []
    table = session.table
    for entry in session.entries:
        kind = table.kinds[entry.line]
        if kind == Kind.BASH:
            found.append(_run(session.path, entry.line, entry.raw))
        elif kind == Kind.ASSISTANT:
            found += _calls(session.path, entry.line, entry.raw, results)
    return found


def _results(session: Session) -> dict[Any, list[tuple[int, dict[str, Any]]]]:
    found: dict[Any, list[tuple[int, dict[str, Any]]]] = {}
    for line in session.table.of_kind(Kind.TOOL_RESULT):
        raw = session.table.raw(line)
        key = raw["message"].get("toolCallId")
        if isinstance(key, str):
            found.setdefault(key, []).append((line, raw))
    return found


def _calls(
    path: str, line: int, raw: dict[str, Any], results: dict[Any, list[tuple[int, dict[str, Any]]]]
) -> Iterator[Call]:
    content = raw["message"].get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict) or block.get("type") != "toolCall":
            continue
        arguments = block.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {"input": arguments}
        key = block.get("id")
        answers = results.get(key, []) if isinstance(key, str) else []
        place, answer = next(((n, r) for n, r in answers if n > line), (0, raw))
        name = str(block.get("name", ""))
        yield _call(path, line, place, name, arguments, answer)


def _call(
    path: str, line: int, result: int, name: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> Call:
    message = answer["message"] if result else {}
    output = text_of(message.get("content"))
    failed = message.get("isError") is True or not result
    is_shell = isinstance(arguments.get("command"), str) and name not in WRITING
    window = _window(arguments, output) if name in READING else None
    cut = bool(_CUT.search(output)) or _details_cut(message.get("details"))
    if window:
        cut = window[0] > 1 or window[1] < window[2]
    elif is_shell:
        cut = cut or bool(_SHOWING.search(output)) or _is_cut_by(arguments["command"], output)
    return Call(
        path,
        line,
        result,
        name,
        arguments,
        output,
        _exit(message, output, failed) if is_shell and result else None,
        failed,
        _text(answer.get("timestamp")),
        cut,
        window,
    )


def _run(path: str, line: int, raw: dict[str, Any]) -> Call:
    message = raw["message"]
    code = message.get("exitCode")
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    command = _text(message.get("command"))
    return Call(
        path,
        line,
        line,
        "!",
        {"command": command},
        _text(message.get("output")),
        status,
        status != 0 or message.get("cancelled") is True,
        _text(raw.get("timestamp")),
        message.get("truncated") is True or _is_cut_by(command, _text(message.get("output"))),
    )


def _exit(message: dict[str, Any], output: str, failed: bool) -> int | None:
    structured = message.get("structuredContent")
    told = structured.get("exit_code") if isinstance(structured, dict) else None
    if isinstance(told, int) and not isinstance(told, bool):
        return told
    if not failed:
        return 0
    exited = _EXITED.search(output)
    return int(exited[1][:9]) if exited and not _ENDED.search(output) else None


def _is_cut_by(command: str, output: str) -> bool:
    """Say whether a command itself gave a part of what it had."""
    lines = output.rstrip("\n").count("\n") + 1
    tops = [int(top[1] or top[2] or 10) for top in _TOP.finditer(command)]
    rest = _TOP.sub(" ", command)
    return bool(_STAGE.search(rest)) or any(lines >= most for most in tops)


def _details_cut(details: Any) -> bool:
    truncation = details.get("truncation") if isinstance(details, dict) else None
    return isinstance(truncation, dict) and truncation.get("truncated") is True


def _window(arguments: dict[str, Any], output: str) -> tuple[int, int, int] | None:
    """Give the lines of a file that a reading showed."""
    offset = arguments.get("offset")
    first = offset if isinstance(offset, int) and offset > 0 else 1
    showing, more = _SHOWING.search(output), _MORE.search(output)
    if showing:
        start, stop, total = (int(number[:12]) for number in showing.groups())
        return start, stop, total
    text = output[: more.start()].rstrip("\n") if more else output
    last = first + max(0, text.count("\n") + (not text.endswith("\n")) - 1)
    return first, last, last + int((more[1] or more[2])[:12]) if more else last


def text_of(content: Any) -> str:
    """Give the text of a message's content."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

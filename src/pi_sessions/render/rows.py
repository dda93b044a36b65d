"""The transcript: for each line who spoke, what became of it, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import tree
from pi_sessions._javascript import string
from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.render import blocks
from pi_sessions.render.code import language_of
from pi_sessions.render.figures import clock, count, money, nearer, short
from pi_sessions.render.markup import EMPTY, Markup, joined, tag
from pi_sessions.render.states import QUIET, State, state_of
from pi_sessions.table import FIRST_OTHER, FIRST_TYPE, Kind, Table, id_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_sessions.context.explain import Explanation
    from pi_sessions.render.addresses import Addresses
    from pi_sessions.session import Session

WHO = {
    Kind.USER: "User",
    Kind.ASSISTANT: "Assistant",
    Kind.TOOL_RESULT: "Result",
    Kind.SYSTEM: "System prompt",
    Kind.BASH: "Shell",
    Kind.CUSTOM_ROLE: "Extension",
    Kind.BRANCH_SUMMARY_ROLE: "Branch summary",
    Kind.COMPACTION_SUMMARY_ROLE: "Summary",
    Kind.UNUSUAL_ROLE: "Unknown role",
    Kind.COMPACTION: "Compaction",
    Kind.BRANCH_SUMMARY: "Branch summary",
    Kind.CONTEXT_EDIT: "Context edit",
    Kind.CUSTOM_MESSAGE: "Extension",
    Kind.CUSTOM: "Extension state",
    Kind.LABEL: "Label",
    Kind.SESSION_INFO: "Session name",
    Kind.USAGE: "Usage",
    Kind.MODEL_CHANGE: "Model",
    Kind.THINKING_LEVEL_CHANGE: "Thinking level",
    Kind.UNUSUAL_TYPE: "Unknown type",
    Kind.BLANK: "Blank line",
    Kind.MALFORMED: "Broken line",
    Kind.FALSY: "No entry",
    Kind.FOREIGN: "No entry",
    Kind.SECOND_HEADER: "Second header",
    Kind.HEADER: "Header",
}
"""Who speaks in a line of each kind."""


_KEPT = [n for n, reason in enumerate(REASONS) if reason.verdict is not Verdict.NOT_SENT]


_PARALLEL = 100
"""Results between a reply and the last of its own, at most."""


class Row(msgspec.Struct, frozen=True):
    """One line of the file in the transcript."""

    line: int
    who: str
    kind: str
    """`user`, `assistant`, `result`, `aside` (a line of one row) or `other`: how it looks."""
    state: State
    body: Markup
    chips: tuple[str, ...] = ()
    """Figures of a reply: context, output, cost."""
    about: str = ""
    """Model of a reply, call of a result."""
    time: str = ""
    """When it was written, in full."""
    label: str = ""
    reply: int = 0
    """The number of a reply among the replies, from 1; 0 for all else."""
    is_joined: bool = False
    """Whether it is the result of a call just above."""
    cut: str = ""
    """What is told above it where a compaction begins."""


class Bodies:
    """What lines say, which is the same at every point: most of the work of a row.

    Args:
        most: characters that are kept; when there are more, all are forgotten.
    """

    def __init__(self, most: int = 12_000_000) -> None:
        self._most = most
        self._size = 0
        self._told: dict[int, Markup] = {}

    def of(self, line: int, make: Callable[[], Markup]) -> Markup:
        """Give what a line says, made once."""
        body = self._told.get(line)
        if body is None:
            body = make()
            self._size += len(body)
            if self._size > self._most:
                self._told.clear()
                self._size = len(body)
            self._told[line] = body
        return body


class Teller:
    """Makes the rows of one session at one point.

    Args:
        session: the file.
        explanation: what became of its lines.
        addresses: of the views.
        bodies: what lines of the session were found to say at other points.
    """

    def __init__(
        self,
        session: Session,
        explanation: Explanation,
        addresses: Addresses,
        bodies: Bodies | None = None,
    ) -> None:
        self.session = session
        self.table: Table = session.table
        self.explanation = explanation
        self.addresses = addresses
        self._bodies = Bodies(0) if bodies is None else bodies
        self._labels = tree.labels(self.table)
        self._numbers = {entry.line: n for n, entry in enumerate(session.responses, 1)}
        self._asked: tuple[int, dict[str, Any]] = (0, {})
        """The reply that was read last, and its calls by id: results follow in a row."""

    def row(self, line: int) -> Row:
        """Tell one line."""
        table, kind = self.table, self.table.kinds[line]
        state = state_of(self.explanation, line)
        label = self.label(line)
        if kind >= FIRST_OTHER or Reason(state.reason) in QUIET:
            return Row(line, WHO[Kind(kind)], "aside", state, self._aside(line), label=label)
        entry = table.raw(line)
        if kind == Kind.ASSISTANT:
            return self._reply(line, state, entry, label)
        if kind == Kind.TOOL_RESULT:
            return self._result(line, state, entry, label)
        return Row(
            line,
            self._who(kind, entry),
            "user" if kind == Kind.USER else "other",
            state,
            self._body(kind, line, entry),
            label=label,
            about=self._about(kind, line, entry),
            chips=tuple(clock(entry.get("timestamp"))),
            time=_time(entry),
            cut=self._cut(line) if kind == Kind.COMPACTION else "",
        )

    def label(self, line: int) -> str:
        """Give the label of an entry, "" where it has none."""
        entry_id = self.table.ids[line]
        label = None if entry_id is None else self._labels.get(id_key(entry_id))
        return one_line(label.text, 60) if label else ""

    def _aside(self, line: int) -> Markup:
        return tag("span", excerpt(self.table, line) or "nothing in it")

    def _who(self, kind: int, entry: dict[str, Any]) -> str:
        if kind == Kind.BASH and entry["message"].get("excludeFromContext"):
            return "Shell !!"
        if kind in (Kind.CUSTOM_MESSAGE, Kind.CUSTOM):
            return f"Extension {one_line(string(entry.get('customType', '?')), 40)}"
        return WHO[Kind(kind)]

    def _about(self, kind: int, line: int, entry: dict[str, Any]) -> str:
        if kind == Kind.COMPACTION:
            before = entry.get("tokensBefore")
            return f"from {short(before)} tokens" if isinstance(before, int | float) else ""
        if kind in (Kind.UNUSUAL_TYPE, Kind.UNUSUAL_ROLE):
            return one_line(self.table.unusual.get(line, ""), 40)
        return ""

    def _cut(self, line: int) -> str:
        explanation = self.explanation
        if line != explanation.compaction:
            return ""
        counted = explanation.reasons[1:line]
        gone = counted.count(REASONS.index(Reason.SUMMARISED))
        kept = sum(counted.count(n) for n in _KEPT)
        return f"{count(gone, 'line')} above told by its summary, {kept:,} kept as they are"

    def _body(self, kind: int, line: int, entry: dict[str, Any]) -> Markup:
        if kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            body = blocks.content(entry.get("summary"))
            prompt = entry.get("systemMessage")
            if isinstance(prompt, dict):
                about = tag("summary", "Checkpoint of the prompt and tools")
                body += tag("details", about, blocks.system(prompt), class_="section")
            return body
        if kind == Kind.CONTEXT_EDIT:
            return self._edit(line, entry)
        if kind == Kind.CUSTOM_MESSAGE:
            return blocks.content(entry.get("content"))
        if kind >= FIRST_TYPE:
            return blocks.long_text(excerpt(self.table, line))
        message = entry["message"]
        if kind == Kind.SYSTEM:
            return blocks.system(message)
        if kind == Kind.BASH:
            return blocks.shell(message)
        if kind in (Kind.BRANCH_SUMMARY_ROLE, Kind.COMPACTION_SUMMARY_ROLE):
            return blocks.content(message.get("summary"))
        body = self._bodies.of(line, lambda: blocks.content(message.get("content")))
        return self._with_edit(line, body)

    def _edit(self, line: int, entry: dict[str, Any]) -> Markup:
        """Show what an edit does, and to which line."""
        replacement = entry.get("replacement")
        target = self.explanation.because(line)[:1]
        named = (
            tag("a", f"line {target[0]}", href=self.addresses.line(target[0]))
            if target
            else one_line(string(entry.get("targetId", "?")), 60)
        )
        if replacement is None:
            return tag("p", "takes ", named, " out of later requests")
        said = replacement.get("content") if isinstance(replacement, dict) else None
        told = tag("p", "puts this in the place of what ", named, " says")
        return told + tag("div", blocks.result({"content": said}), class_="went")

    def _with_edit(self, line: int, body: Markup) -> Markup:
        """Show what went in the place of a content that an edit replaced."""
        if self.explanation.reason(line) is not Reason.EDITED:
            return body
        edit = next((n for n in self.explanation.because(line) if self._is_edit(n)), 0)
        if not edit:
            return body
        replacement = self.table.raw(edit).get("replacement")
        said = replacement.get("content") if isinstance(replacement, dict) else None
        return joined(
            (
                tag("div", tag("p", "as stored", class_="label"), body, class_="was"),
                tag(
                    "div",
                    tag("p", f"what went instead, by line {edit}", class_="label"),
                    blocks.result({"content": said}),
                    class_="went",
                ),
            )
        )

    def _is_edit(self, line: int) -> bool:
        return self.table.kinds[line] == Kind.CONTEXT_EDIT

    def _reply(self, line: int, state: State, entry: dict[str, Any], label: str) -> Row:
        message = entry["message"]
        return Row(
            line,
            "Assistant",
            "assistant",
            state,
            self._with_edit(line, self._bodies.of(line, lambda: _answer(message))),
            chips=tuple(_chips(message, entry.get("timestamp"))),
            time=_time(entry),
            about=one_line(string(message.get("model", "")), 60),
            label=label,
            reply=self._numbers.get(line, 0),
        )

    def _result(self, line: int, state: State, entry: dict[str, Any], label: str) -> Row:
        message = entry["message"]
        call_id = message.get("toolCallId")
        reply, calls = self._calls_above(line)
        asked = calls.get(call_id) if isinstance(call_id, str) else None
        arguments = asked.get("arguments") if asked else None
        brief = nearer(blocks.brief(arguments), self.session.cwd)
        path = arguments.get("path") if isinstance(arguments, dict) else None
        name = one_line(string(message.get("toolName", "?")), 60)
        language = language_of(path) if name == "read" else ""
        body = self._bodies.of(line, lambda: blocks.result(message, language))
        failed = tag("p", tag("b", "failed"), class_="failed") if message.get("isError") else EMPTY
        return Row(
            line,
            f"Result of {name}",
            "result",
            state,
            self._with_edit(line, joined((failed, body))),
            about=brief,
            label=label,
            time=_time(entry),
            is_joined=asked is not None and line - reply <= len(calls),
        )

    def _calls_above(self, line: int) -> tuple[int, dict[str, Any]]:
        """Find the reply that a result answers, over the results between, and its calls by id."""
        kinds, parents = self.table.kinds, self.table.parents
        above = parents[line]
        for _ in range(_PARALLEL):
            if above <= 0 or kinds[above] != Kind.TOOL_RESULT:
                break
            above = parents[above]
        if above <= 0 or kinds[above] != Kind.ASSISTANT:
            return 0, {}
        if self._asked[0] != above:
            said = self.table.raw(above)["message"].get("content")
            calls = [b for b in said if _is_call(b)] if isinstance(said, list) else []
            self._asked = above, {string(block.get("id")): block for block in calls}
        return self._asked


def _answer(message: dict[str, Any]) -> Markup:
    """Show what a reply says, and how it ended where it did not end well."""
    said = message.get("content")
    calls = [b for b in said if _is_call(b)] if isinstance(said, list) else []
    parts = [blocks.content(said)] if said else []
    if len(calls) > 1:
        parts.append(tag("p", f"{len(calls)} calls in parallel", class_="note"))
    if message.get("stopReason") in ("error", "aborted", "length"):
        why = one_line(string(message.get("errorMessage", "")), 400)
        stop = string(message["stopReason"])
        parts.append(tag("p", tag("b", stop), " ", why, class_="failed"))
    return joined(parts)


def _time(entry: dict[str, Any]) -> str:
    time = entry.get("timestamp")
    return one_line(time, 40) if isinstance(time, str) else ""


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "toolCall"


def _chips(message: dict[str, Any], time: Any) -> list[str]:
    """Tell the figures that a reply reports; money only where it cost some."""
    usage = message.get("usage")
    chips = []
    if isinstance(usage, dict):
        read = [usage.get(key) for key in ("input", "cacheRead", "cacheWrite")]
        numbers = [n for n in read if isinstance(n, int | float) and not isinstance(n, bool)]
        if sum(numbers):
            chips.append(f"{short(sum(numbers))} ctx")
        if isinstance(out := usage.get("output"), int | float) and out:
            chips.append(f"{short(out)} out")
        cost = usage.get("cost")
        total = cost.get("total") if isinstance(cost, dict) else None
        if isinstance(total, int | float) and total:
            chips.append(money(total))
    return [*chips, *clock(time)]

"""The tables a session falls into: their columns, and their rows one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import tree
from pi_sessions._javascript import string
from pi_sessions._json import dumps
from pi_sessions.context.glimpse import times
from pi_sessions.context.replay import block_type
from pi_sessions.excerpt import excerpt
from pi_sessions.export.options import Options, explanation_of, lines_of
from pi_sessions.session import Session
from pi_sessions.table import FIRST_TYPE, Kind, id_key
from pi_sessions.usage import spent

if TYPE_CHECKING:
    from pi_sessions.context.visibility import Visibility

Cell = str | int | float | bool | None
Row = tuple[Cell, ...]

INTEGER, NUMBER, TEXT, TRUTH = "integer", "number", "text", "truth"
"""Kinds of columns."""


class Sheet(msgspec.Struct, frozen=True):
    """One table."""

    about: str
    columns: dict[str, str]
    """Kind of each column, by name, in order."""
    rows: Callable[[Session, Options], Iterator[Row]]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else string(value)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 2**53 else None


def _id(session: Session, line: int) -> str | None:
    return _text(session.table.ids[line])


def _time(session: Session, line: int) -> str | None:
    stored = times(session.table, line)[0]
    return stored if isinstance(stored, str) else None


def _entries(session: Session, options: Options) -> Iterator[Row]:
    table = session.table
    explanation = explanation_of(session, options)
    on_path = frozenset(explanation.point.path)
    labels = tree.labels(table)
    for line in lines_of(session, options):
        parent = max(table.parents[line], 0) or None
        label = labels.get(id_key(table.ids[line])) if table.ids[line] is not None else None
        yield (
            line,
            table.offsets[line],
            table.length(line),
            _id(session, line),
            _id(session, parent) if parent else None,
            parent,
            table.type_of(line),
            table.role_of(line),
            _time(session, line),
            line in on_path,
            str(explanation.verdict(line)),
            str(explanation.reason(line)),
            " ".join(map(str, explanation.because(line))),
            label.text if label else None,
            excerpt(table, line),
        )


def _messages(session: Session, options: Options) -> Iterator[Row]:
    table = session.table
    for line in lines_of(session, options):
        entry = table.raw(line)
        message = entry["message"] if table.kinds[line] < FIRST_TYPE else entry
        role = table.role_of(line) or table.type_of(line)
        for number, (kind, name, call_id, text) in enumerate(_parts(message)):
            failed = message.get("isError")
            yield (
                line,
                _id(session, line),
                role,
                number,
                kind,
                name,
                call_id,
                failed if isinstance(failed, bool) else None,
                len(text),
                None if kind == "image" else text,
            )


Part = tuple[str, str | None, str | None, str]
"""Kind, name, call and text."""


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    """Give what a message holds, block by block."""
    name, call_id = _text(message.get("toolName")), _text(message.get("toolCallId"))
    for key in ("command", "output", "summary"):
        if isinstance(message.get(key), str):
            yield key, None, None, message[key]
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    if isinstance(content, str) and content:
        yield "text", name, call_id, content
    for block in blocks:
        kind = block_type(block)
        if kind == "toolCall":
            called = _text(block.get("name")), _text(block.get("id"))
            yield kind, *called, dumps(block.get("arguments"))
        elif kind in ("text", "thinking"):
            yield kind, name, call_id, _text(block.get(kind)) or ""
        elif kind == "image":
            yield kind, name, call_id, _text(block.get("data")) or ""
        else:
            yield kind or "unknown", name, call_id, dumps(block)
    sections = message.get("sections")
    for section, text in sections.items() if isinstance(sections, dict) else ():
        yield "section", section, None, _text(text) or ""


def _responses(session: Session, options: Options) -> Iterator[Row]:
    table = session.table
    for line in lines_of(session, options):
        if table.kinds[line] != Kind.ASSISTANT or line in table.shadowed:
            continue
        entry = table.raw(line)
        message = entry["message"]
        usage = message.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        cost = usage.get("cost")
        content = message.get("content")
        calls = content if isinstance(content, list) else []
        yield (
            line,
            _id(session, line),
            _text(entry.get("timestamp")),
            *(_text(message.get(key)) for key in ("api", "provider", "model", "thinkingLevel")),
            _text(message.get("stopReason")),
            *(_integer(usage.get(key)) for key in _TOKENS),
            _number(cost.get("total")) if isinstance(cost, dict) else None,
            sum(block_type(block) == "toolCall" for block in calls),
            _integer(message.get("durationMs")),
            _text(message.get("errorMessage")),
        )


_TOKENS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")


def _visibility(session: Session, options: Options) -> Iterator[Row]:
    seen = session.visibility(
        model_of=options.model_of, preferences=options.preferences, release=options.release
    )
    table = session.table
    last = max(seen.replies, default=0)
    for line in lines_of(session, options):
        what = (line, _id(session, line), table.type_of(line), table.role_of(line))
        runs = list(_runs(seen, line))
        for run in runs:
            yield (*what, *run)
        if not runs:
            yield (*what, 0, None, None, _text(seen.reason(last, line)) if last else None)


def _runs(seen: Visibility, line: int) -> Iterator[Row]:
    """Give the runs of replies that had an entry, each with the reason why the next had not."""
    order = seen.order
    for span in seen.spans(line):
        reason = seen.reason(order[span.stop], line) if span.stop < len(order) else None
        told = str(reason) if reason else None
        yield span.stop - span.start, order[span.start], order[span.stop - 1], told
    for reply in seen.circular:
        if seen.reason(reply, line) is None:
            yield 1, reply, reply, None


def _usage(session: Session, options: Options) -> Iterator[Row]:
    """Give what replies, tools, summaries and usage entries report, each in a row."""
    table = session.table
    wanted = frozenset(lines_of(session, options))
    for item in spent(table.source, session.zone):
        if item.line not in wanted:
            continue
        totals, again = item.totals, item.again
        yield (
            item.line,
            _id(session, item.line),
            _time(session, item.line),
            item.kind,
            item.model or None,
            item.tool or None,
            *(
                _integer(n)
                for n in (totals.input, totals.output, totals.cache_read, totals.cache_write)
            ),
            _integer(totals.tokens),
            _number(totals.cost),
            item.is_complete,
            _integer(again.tokens) if again else None,
            item.why or None,
        )


SHEETS = {
    "entries": Sheet(
        "a row for each entry, with its verdict",
        {
            "line": INTEGER,
            "offset": INTEGER,
            "bytes": INTEGER,
            "id": TEXT,
            "parentId": TEXT,
            "parentLine": INTEGER,
            "type": TEXT,
            "role": TEXT,
            "timestamp": TEXT,
            "onBranch": TRUTH,
            "verdict": TEXT,
            "reason": TEXT,
            "because": TEXT,
            "label": TEXT,
            "excerpt": TEXT,
        },
        _entries,
    ),
    "messages": Sheet(
        "a row for each block of each message",
        {
            "line": INTEGER,
            "id": TEXT,
            "role": TEXT,
            "block": INTEGER,
            "kind": TEXT,
            "name": TEXT,
            "toolCallId": TEXT,
            "isError": TRUTH,
            "characters": INTEGER,
            "text": TEXT,
        },
        _messages,
    ),
    "responses": Sheet(
        "a row for each reply, with its tokens and cost",
        {
            "line": INTEGER,
            "id": TEXT,
            "timestamp": TEXT,
            "api": TEXT,
            "provider": TEXT,
            "model": TEXT,
            "thinkingLevel": TEXT,
            "stopReason": TEXT,
            **dict.fromkeys(_TOKENS, INTEGER),
            "cost": NUMBER,
            "toolCalls": INTEGER,
            "durationMs": INTEGER,
            "errorMessage": TEXT,
        },
        _responses,
    ),
    "visibility": Sheet(
        "a row for each run of replies, in the order of the tree, that had an entry before them",
        {
            "line": INTEGER,
            "id": TEXT,
            "type": TEXT,
            "role": TEXT,
            "responses": INTEGER,
            "firstResponse": INTEGER,
            "lastResponse": INTEGER,
            "then": TEXT,
        },
        _visibility,
    ),
    "usage": Sheet(
        "a row for each entry that reports tokens or money: replies, tools, summaries, usage",
        {
            "line": INTEGER,
            "id": TEXT,
            "timestamp": TEXT,
            "kind": TEXT,
            "model": TEXT,
            "tool": TEXT,
            **dict.fromkeys(_TOKENS, INTEGER),
            "cost": NUMBER,
            "complete": TRUTH,
            "paidAgain": INTEGER,
            "why": TEXT,
        },
        _usage,
    ),
}
"""The tables by name."""

"""What is wrong with a session: every tolerated defect, with line, offset and consequence.

`structure` looks at what opening has read already; `contents` reads every line once more. Nothing
is mended here.
"""

from __future__ import annotations

import math
from datetime import UTC
from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import date_value
from pi_sessions._json import dumps
from pi_sessions.context.writers import lost_turns
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.migrations import CURRENT
from pi_sessions.table import FIRST_OTHER, FIRST_TYPE, Kind, Table, id_key
from pi_sessions.tree import Tree, path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_sessions.context.message import ContextMessage


def structure(table: Table, tree: Tree) -> list[Diagnostic]:
    """Find the defects of lines, ids, parents and targets, in line order."""
    found = list(table.diagnostics)
    found += _version(table)
    found += _links(table, tree)
    found += _targets(table)
    return sorted(found, key=lambda item: (item.line, item.offset, item.code))


def _at(table: Table, code: Code, line: int, message: str) -> Diagnostic:
    return Diagnostic(code, line, table.offsets[line], message)


def _told(value: Any) -> str:
    """Write a value of the file into a sentence, long ones cut; works at any depth."""
    text = dumps(value)
    return text if len(text) <= _TOLD else text[: _TOLD - 1] + "…"


def _told_key(key: object) -> str:
    """Write the value of an `id_key`."""
    if not isinstance(key, tuple):
        return _told(key)
    return "[object]" if key[0] == "object" else _told(key[-1] if len(key) > 1 else None)


_TOLD = 80
"""Characters of a value in a sentence, at most."""


def _version(table: Table) -> Iterator[Diagnostic]:
    version, line = table.stored_version, table.header_line
    if version < CURRENT:
        yield _at(
            table,
            Code.MIGRATED,
            line,
            f"read as version 3; the file itself stays version {version:g}",
        )
    elif version > CURRENT:
        yield _at(
            table,
            Code.FUTURE_VERSION,
            line,
            f"version {version:g} is newer than 3: read by the rules of version 3",
        )
    elif math.isnan(version):
        yield _at(table, Code.WRONG_TYPE, line, "the version in the header is no number")


def _links(table: Table, tree: Tree) -> Iterator[Diagnostic]:
    for line, replaced_by in table.shadowed.items():
        if table.kinds[line] < FIRST_OTHER:
            yield _at(
                table,
                Code.DUPLICATE_ID,
                line,
                f"line {replaced_by} has the same id and takes its place",
            )
    lost, counted = 0, 1
    for line, parent in sorted(table.missing_parents.items()):
        lost += sum(1 for kind in table.kinds[counted:line] if kind < FIRST_OTHER)
        counted = line
        yield _at(
            table,
            Code.ORPHAN,
            line,
            f"parent {_told(parent)} is not in the file: {lost} earlier "
            f"{'entry is' if lost == 1 else 'entries are'} out of its reach",
        )
    for ring in tree.cycles():
        if len(ring) == 1:
            yield _at(
                table, Code.SELF_PARENT, ring[0], "its own parent; read as a root, Pi hangs on it"
            )
        else:
            told = " → ".join(str(line) for line in (*ring, ring[0]))
            yield _at(
                table, Code.CYCLE, ring[0], f"parents in a circle (lines {told}); Pi hangs on it"
            )


def _targets(table: Table) -> Iterator[Diagnostic]:
    for kind, key, what in (
        (Kind.LABEL, "targetId", "label"),
        (Kind.CONTEXT_EDIT, "targetId", "edit"),
    ):
        for line in table.of_kind(kind):
            target = table.raw(line).get(key)
            if id_key(target) not in table.lines_by_id:
                yield _at(
                    table,
                    Code.DANGLING_TARGET,
                    line,
                    f"the {what}'s target {_told(target)} is not in the file",
                )
    for line in table.of_kind(Kind.COMPACTION):
        entry = table.raw(line)
        kept = entry.get("firstKeptEntryId")
        wanted = table.lines_by_id.get(id_key(kept), 0)
        if not wanted or not _is_above(table, wanted, line):
            where = "on its branch" if wanted else "in the file"
            yield _at(
                table,
                Code.DANGLING_FIRST_KEPT,
                line,
                f"the first kept entry {_told(kept)} is not {where}: nothing before it is kept",
            )


def _is_above(table: Table, wanted: int, line: int) -> bool:
    """Say whether a line is on the path to another, that one included; most are near."""
    for _ in range(len(table) + 1):
        if line == wanted or line <= 0:
            break
        line = table.parents[line]
    return line == wanted


def leaf(table: Table, tree: Tree) -> Iterator[Diagnostic]:
    """Find a leaf that a late bookkeeping line has put on an older branch than the conversation's.

    That is so where the last message of the file is off the leaf's path, and nothing was said on
    that path since it left the last message's own.
    """
    spoken = (Kind.BRANCH_SUMMARY, Kind.CUSTOM_MESSAGE, *range(FIRST_TYPE))
    last = max((line for line in table.entries() if table.kinds[line] < FIRST_TYPE), default=0)
    here = path(table, table.leaf)
    shared = set(path(table, last))
    apart = [line for line in here if line not in shared]
    if last and last not in here and not any(table.kinds[line] in spoken for line in apart):
        yield _at(
            table,
            Code.LEAF_ON_DEAD_BRANCH,
            table.leaf,
            f"the file opens on an older branch: the conversation went on to line {last}",
        )
    yield from _interleaved(table, tree)


def _interleaved(table: Table, tree: Tree) -> Iterator[Diagnostic]:
    """Find siblings whose branches were written in turns: two programs had the file open."""
    if all(len(children) < 2 for children in tree.children_of.values()):
        return
    last = _last_lines(tree)
    for children in tree.children_of.values():
        other = 0
        for child in sorted(children):
            end = last.get(child, child)
            if end > child and last.get(other, 0) > child:
                yield _at(
                    table,
                    Code.INTERLEAVED_WRITERS,
                    child,
                    f"written while the branch of line {other} was still growing: two writers",
                )
            if end > last.get(other, 0):
                other = child


def _last_lines(tree: Tree) -> dict[int, int]:
    """Give the last line of the branches that begin at each entry; cycles are left out."""
    last: dict[int, int] = {}
    for line in reversed([line for line, _ in tree.walk()]):
        last[line] = max(line, *(last[child] for child in tree.children(line)), 0)
    return last


_TEXT_FIELDS: dict[Kind, tuple[str, ...]] = {
    Kind.COMPACTION: ("summary",),
    Kind.BRANCH_SUMMARY: ("summary",),
    Kind.CUSTOM_MESSAGE: ("customType",),
    Kind.CUSTOM: ("customType",),
    Kind.LABEL: ("targetId",),
    Kind.MODEL_CHANGE: ("provider", "modelId"),
    Kind.THINKING_LEVEL_CHANGE: ("thinkingLevel",),
    Kind.CONTEXT_EDIT: ("targetId",),
    Kind.USAGE: ("kind", "provider", "model"),
}


def _stale_fork(table: Table) -> Iterator[Diagnostic]:
    if stretch := lost_turns(table, UTC):
        told = (
            f"a fork without a turn of its own, copied from what Pi {stretch.writer} wrote: some "
            "of these releases wrote what was said after a fork into the file that was forked"
        )
        yield _at(table, Code.STALE_FORK, table.header_line, told)


def contents(table: Table) -> Iterator[Diagnostic]:
    """Read every entry whole and find what is wrong inside: times, fields, usage, bytes."""
    seen = {(item.code, item.line) for item in table.diagnostics}
    yield from _line_ends(table)
    yield from _stale_fork(table)
    for line in table.entries():
        data = table.bytes(line)
        if not data.isascii() and (Code.INVALID_UTF8, line) not in seen:
            yield from _bytes(table, line, data)
        entry = table.raw(line)
        if math.isnan(date_value(entry.get("timestamp", math.nan))):
            yield _at(
                table,
                Code.BAD_TIMESTAMP,
                line,
                f"its time {_told(entry.get('timestamp'))} is no date",
            )
        kind = Kind(table.kinds[line])
        if kind < FIRST_TYPE:
            yield from _message(table, line, entry["message"])
        for key in _TEXT_FIELDS.get(kind, ()):
            yield from _field(table, line, entry, key)


def _line_ends(table: Table) -> Iterator[Diagnostic]:
    """Find where the ends of the lines begin to be others than that of the first one."""
    first, counts = b"", [0, 0]
    other = 0
    for line, data in table.read(range(1, len(table) + (table.ends_with_newline))):
        end = data[-1:] if data.endswith(b"\r") else b""
        if line == 1:
            first = end
        elif end != first and not other:
            other = line
        counts[bool(end)] += 1
    if other:
        told = f"{counts[1]} lines end with CR LF and {counts[0]} with LF alone; all are read"
        yield _at(table, Code.MIXED_LINE_ENDS, other, told)


def _bytes(table: Table, line: int, data: bytes) -> Iterator[Diagnostic]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = table.offsets[line] + error.start
        yield Diagnostic(Code.INVALID_UTF8, line, offset, "bytes that are not UTF-8 read as U+FFFD")


def _field(table: Table, line: int, entry: dict[str, Any], key: str) -> Iterator[Diagnostic]:
    if key not in entry:
        yield _at(table, Code.MISSING_FIELD, line, f"it has no {key}")
    elif not isinstance(entry[key], str):
        yield _at(table, Code.WRONG_TYPE, line, f"its {key} is no text")


def _message(table: Table, line: int, message: dict[str, Any]) -> Iterator[Diagnostic]:
    kind = table.kinds[line]
    content = message.get("content")
    if kind <= Kind.SYSTEM:
        if content is None:
            yield _at(table, Code.MISSING_FIELD, line, "a message without content, read as empty")
        elif not isinstance(content, list | str) or (
            kind in (Kind.ASSISTANT, Kind.TOOL_RESULT) and isinstance(content, str)
        ):
            yield _at(table, Code.WRONG_TYPE, line, "its content is not a list of blocks")
    if kind == Kind.ASSISTANT and lacks_usage(message):
        told = "a reply without complete usage: its cost is unknown, and Pi's window fails on it"
        yield _at(table, Code.INCOMPLETE_USAGE, line, told)


def lacks_usage(message: dict[str, Any]) -> bool:
    """Say whether a reply lacks numbers of its usage that the reference counts on."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return True
    cost = usage.get("cost")
    numbers = [usage.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    numbers.append(cost.get("total") if isinstance(cost, dict) else None)
    return not all(isinstance(number, int | float) for number in numbers)


def conversation(
    table: Table, projected: Sequence[ContextMessage], response: int = 0
) -> list[Diagnostic]:
    """Find calls and results that do not match in one context: orphans, open and double answers.

    Args:
        table: the lines.
        projected: LLM messages of the point, before any stand-in is added.
        response: the reply the context belongs to, 0 for a leaf.
    """
    found: list[Diagnostic] = []
    open_calls: dict[object, int] = {}
    answered: dict[object, int] = {}
    for message in projected:
        line = message.line or 0
        if message.role == "assistant":
            found += _unanswered(table, open_calls, answered)
            failed = message.value.get("stopReason") in ("error", "aborted")
            open_calls = {} if failed else dict.fromkeys(_call_ids(message.value), line)
            answered = {}
        elif message.role == "user":
            unanswered = _unanswered(table, open_calls, answered)
            found += unanswered
            if unanswered:
                answered |= {key: at for key, at in open_calls.items() if key not in answered}
        elif message.role == "toolResult":
            found += _result(table, line, message.value.get("toolCallId"), open_calls, answered)
    if table.leaf and projected and not response:
        found += _unanswered(table, open_calls, answered)
    unique = {(item.code, item.line, item.message): item for item in found}
    return sorted(unique.values(), key=lambda item: item.line)


def _call_ids(value: dict[str, Any]) -> Iterable[object]:
    content = value.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            yield id_key(block.get("id"))


def _unanswered(
    table: Table, calls: dict[object, int], answered: dict[object, int]
) -> list[Diagnostic]:
    return [
        _at(
            table,
            Code.UNANSWERED_CALL,
            line,
            f'its call {_told_key(call)} has no result; the model is told "No result provided"',
        )
        for call, line in calls.items()
        if call not in answered
    ]


def _result(
    table: Table,
    line: int,
    call_id: object,
    calls: dict[object, int],
    answered: dict[object, int],
) -> list[Diagnostic]:
    key = id_key(call_id)
    if key not in calls:
        return [
            _at(
                table, Code.ORPHAN_RESULT, line, f"no reply before it has the call {_told(call_id)}"
            )
        ]
    if key in answered:
        return [
            _at(
                table,
                Code.ANSWERED_TWICE,
                line,
                f"the call {_told(call_id)} of line {calls[key]} is answered a second time",
            )
        ]
    answered[key] = line
    return []

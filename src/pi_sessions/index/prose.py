"""Lines in which somebody speaks, with the most that a find in them can count.

A find in what was said counts more than any find elsewhere. So these lines are kept one by one, in
the order of what they can count, and the best finds of a common word are had without the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, scan
from pi_sessions._lines import BytesSource
from pi_sessions.context.passage import Where
from pi_sessions.errors import SessionError
from pi_sessions.finding import WEIGHTS, score_of, texts
from pi_sessions.index import words

if TYPE_CHECKING:
    from pi_sessions.context.passage import Passage
    from pi_sessions.table import Table

SAID = frozenset({Where.TEXT, Where.SUMMARY, Where.REPLACEMENT})
"""Kinds of text that are kept by line."""
ELSEWHERE = 2 * max(weight for where, weight in WEIGHTS.items() if where not in SAID)
"""The most that a find counts in any other kind of text."""
_HIGHEST = 6000
_RESULT = b',"message":{"role":"toolResult"'
_SILENT = ("toolResult", "bashExecution", "system")
_TYPES = ("compaction", "branch_summary", "context_edit", "custom_message")


class Said(msgspec.Struct, frozen=True, array_like=True):
    """A line in which somebody speaks."""

    line: int
    rank: int
    """How far it falls short of the most a find can count, in thousandths."""
    words: str
    """The text, or its words."""


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    text: Any = None


class _Message(msgspec.Struct, gc=False):
    role: str
    content: str | list[_Block] | None = None


class _Entry(msgspec.Struct, gc=False):
    type: str
    message: _Message | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def score_at(rank: int) -> float:
    """Give the most that a find can count in lines of a rank."""
    return (_HIGHEST - rank) / 1000


def is_silent(body: bytes) -> bool:
    """Say at a glance, of most lines that are results of tools, that nobody speaks in them."""
    return body.startswith(_RESULT) and body.count(b'"role":') == 1


def said(line: int, data: bytes, header: dict[str, Any]) -> Said | None:
    """Read a line of a version 3 session; None if nobody speaks in it."""
    try:
        entry = _decode(data)
        message = entry.message
        if entry.type == "message" and message is not None:
            if message.role in _SILENT:
                return None
            if message.role in ("user", "assistant"):
                return _said(line, [(Where.TEXT, text) for text in _texts(message.content)])
        elif entry.type not in _TYPES:
            return None
    except (msgspec.MsgspecError, RecursionError):
        pass
    table = scan.read_part(BytesSource(data), header, [(0, data)])
    found = [(passage.where, passage.text) for passage in _spoken(table)]
    return _said(line, found)


def _spoken(table: Table) -> list[Passage]:
    """Give what is said in the only line of a table."""
    try:
        return [passage for passage in texts(table, 1) if passage.where in SAID]
    except (SessionError, _json.JSONError, KeyError):
        return []


def _texts(content: str | list[_Block] | None) -> list[str]:
    if isinstance(content, str):
        return [content] if content else []
    return [
        block.text
        for block in content or ()
        if block.type == "text" and isinstance(block.text, str) and block.text
    ]


def _said(line: int, found: list[tuple[Where, str]]) -> Said | None:
    if not found:
        return None
    score = max(score_of(where, len(text)) for where, text in found)
    told = "\n".join(text for _, text in found).replace("\0", " ")
    if not told.isascii():
        data = told.encode("utf-8", "replace")
        told = data.decode()
        if words.has_lookalikes(data):
            told += f" {words.ODD}"
    return Said(line, _HIGHEST - round(score * 1000), f"{words.ALL} {told}")


def in_pieces(text: str) -> str:
    """Write a text that has a long word as its words, the long ones in pieces."""
    data = text.encode()
    if words.HAS_LONG(data) is None:
        return text
    return words.spelled(words.words_of(data))

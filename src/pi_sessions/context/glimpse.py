"""A look at one entry that skips all it does not need; a tenth of what decoding it costs.

A sweep over a hundred thousand entries asks each for its time, the model that wrote it and whether
it says anything. `Table.raw` has all the rest.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from pi_sessions.table import FIRST_TYPE, Table


class Block(msgspec.Struct, gc=False):
    """The type of a content block, and its text."""

    type: Any = None
    text: Any = None


class Message(msgspec.Struct, gc=False):
    """What is looked at of a message; a content of another form is told as an empty list."""

    content: str | list[Block] | None = None
    timestamp: Any = math.nan
    api: Any = None
    provider: Any = None
    model: Any = None
    stopReason: Any = None  # noqa: N815 - the format's own name

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the content, none where it is a text."""
        return self.content if isinstance(self.content, list) else []

    @property
    def failed(self) -> bool:
        """Whether it is a reply that no later request has."""
        return self.stopReason in ("error", "aborted")

    @property
    def names(self) -> tuple[str, str, str]:
        """API, provider and id of the model that wrote it; what is no text is ""."""
        api, provider, model = self.api, self.provider, self.model
        return (
            api if isinstance(api, str) else "",
            provider if isinstance(provider, str) else "",
            model if isinstance(model, str) else "",
        )


class Glimpse(msgspec.Struct, gc=False):
    """The time of an entry and, of a message entry, its message."""

    timestamp: Any = math.nan
    message: Message | None = None


class _Times(msgspec.Struct, gc=False):
    timestamp: Any = math.nan


class _Timed(msgspec.Struct, gc=False):
    timestamp: Any = math.nan
    message: _Times | None = None


_glimpse = msgspec.json.Decoder(Glimpse).decode
_timed = msgspec.json.Decoder(_Timed).decode


def glimpse(table: Table, line: int, data: bytes | None = None) -> Glimpse:
    """Look at an entry; `data` is its line, where that has been read already.

    Raises:
        UnreadableError: the file is no longer what it was.
    """
    try:
        return _glimpse(table.bytes(line) if data is None else data)
    except (msgspec.MsgspecError, RecursionError):
        return _of(table, line)


def times(table: Table, line: int, data: bytes | None = None) -> tuple[Any, Any]:
    """Give the time of an entry and that of the message in it, NaN for one that is not there."""
    is_message = table.kinds[line] < FIRST_TYPE
    try:
        found = _timed(table.bytes(line) if data is None else data)
    except (msgspec.MsgspecError, RecursionError):
        exact = _of(table, line)
        return exact.timestamp, exact.message.timestamp if exact.message else math.nan
    return found.timestamp, found.message.timestamp if is_message and found.message else math.nan


def _of(table: Table, line: int) -> Glimpse:
    """Look at an entry the exact way: what the typed decoder refuses may be good JSON."""
    entry = table.raw(line)
    value = entry.get("message") if table.kinds[line] < FIRST_TYPE else None
    if not isinstance(value, dict):
        return Glimpse(entry.get("timestamp", math.nan))
    keys = ("api", "provider", "model", "stopReason")
    message = Message(
        _content(value.get("content")),
        value.get("timestamp", math.nan),
        *(value.get(key) for key in keys),
    )
    return Glimpse(entry.get("timestamp", math.nan), message)


def _content(content: Any) -> str | list[Block]:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return [Block(b.get("type"), b.get("text")) for b in blocks if isinstance(b, dict)]

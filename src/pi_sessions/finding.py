"""Looking for a text in one session file, without any index.

The raw bytes are searched first, capitals put aside; only a file that can hold the text is read,
and only its lines that can hold it are decoded. What is not found here is not there.
"""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import reader, scan
from pi_sessions._javascript import date_value
from pi_sessions._lines import BytesSource, open_source
from pi_sessions.context.passage import Passage, Where, passages
from pi_sessions.needle import file_may_hold, may_hold

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from pi_sessions.table import Table

_AROUND = (40, 110)
"""Characters of a passage shown before and after what was found."""
WEIGHTS: dict[Where, float] = {
    Where.TEXT: 3,
    Where.SUMMARY: 2,
    Where.THINKING: 1.5,
    Where.ARGUMENTS: 1.5,
    Where.RESULT: 1,
    Where.SHELL: 1.5,
    Where.PROMPT: 0.5,
    Where.SECTION: 0.5,
    Where.TOOL: 0.5,
    Where.REPLACEMENT: 2,
    Where.STORED: 1,
}
"""How much a find in each kind of text counts."""


class Query(msgspec.Struct, frozen=True):
    """What is looked for."""

    text: str
    """The text, or the regular expression."""
    is_regex: bool = False
    is_exact: bool = False
    """Whether capitals matter."""
    roles: tuple[str, ...] = ()
    """Roles, or types of entries without a role; none: all."""
    where: tuple[Where, ...] = ()
    """Kinds of text; none: all."""
    branch: str = ""
    """`live` for the branch of the leaf alone, `abandoned` for all others."""
    seen: bool | None = None
    """Whether some reply must have had it in front of it, or none may have."""
    tools: tuple[str, ...] = ()
    """Names of tools: only calls of them, and what they gave; none: all."""
    models: tuple[str, ...] = ()
    """Parts of PROVIDER/MODEL: only replies of such models; none: all."""
    since: float | None = None
    """The first moment, in milliseconds since 1970."""
    until: float | None = None
    """The first moment after the last."""

    @property
    def is_of_lines(self) -> bool:
        """Whether a line alone tells if it is a find: no branch is asked for, and no reply."""
        return not self.branch and self.seen is None

    def pattern(self) -> re.Pattern[str]:
        """Give the expression that finds it.

        Raises:
            re.error: it is none.
        """
        text = self.text if self.is_regex else re.escape(self.text)
        with warnings.catch_warnings():
            # What an expression may mean in a later Python does not matter here.
            warnings.simplefilter("ignore")
            return re.compile(text, 0 if self.is_exact else re.IGNORECASE)


class Hit(msgspec.Struct, frozen=True):
    """A text that was found in an entry."""

    path: str
    session: str
    line: int
    entry: str | None
    role: str | None
    """Role of a message, type of another entry."""
    where: str
    excerpt: str
    score: float


def find(path: str, query: Query, zone: tzinfo) -> list[Hit]:
    """Find a text in a session file, in file order.

    Raises:
        UnreadableError: the file cannot be read.
        NotASessionError: it is no session.
        re.error: the expression is none.
    """
    folds = not query.is_exact
    if not query.is_regex and not file_may_hold(open_source(path), query.text, ignore_case=folds):
        return []
    session = reader.load(path, zone=zone)
    table, search = session.table, Search(query, zone)
    live = {entry.line for entry in session.branch()} if query.branch else ()
    hits = [
        hit
        for line in _lines(table, query)
        if not query.branch or (table.is_entry(line) and (line in live) == (query.branch == "live"))
        for hit in search.hits(table, line)
    ]
    if query.seen is not None and hits:
        visibility = session.visibility()
        hits = [hit for hit in hits if bool(visibility.of(hit.line)) == query.seen]
    return hits


def _lines(table: Table, query: Query) -> Iterator[int]:
    """Give the lines that can hold it."""
    if query.is_regex:
        yield from range(1, len(table) + 1)
    else:
        yield from may_hold(table, query.text, ignore_case=not query.is_exact)


class Search:
    """A query put to single lines."""

    def __init__(self, query: Query, zone: tzinfo) -> None:
        """Make ready.

        Raises:
            re.error: the expression is none.
        """
        self.query, self.zone = query, zone
        self._pattern = query.pattern()

    def hits(self, table: Table, line: int, number: int = 0) -> Iterator[Hit]:
        """Give what a line has of it: one find for each kind of text.

        Args:
            table: with the line; its header is that of the session.
            line: in the table.
            number: the line's in its file, if the table has only a part of that.
        """
        query = self.query
        if query.roles and (table.role_of(line) or table.type_of(line)) not in query.roles:
            return
        is_meant: bool | None = None
        held: set[Where] = set()
        for passage in texts(table, line):
            if query.where and passage.where not in query.where:
                continue
            if passage.where in held or (held and passage.where is Where.STORED):
                continue
            if found := self._pattern.search(passage.text):
                if is_meant is None:
                    is_meant = self._is_meant(table, line)
                if not is_meant:
                    return
                held.add(passage.where)
                yield _hit(table, line, number or line, passage, found)

    def _is_meant(self, table: Table, line: int) -> bool:
        """Say whether a line passes the filters for which it has to be decoded."""
        query = self.query
        if not (query.tools or query.models or query.since or query.until):
            return True
        if not table.is_entry(line):
            return False
        entry = table.raw(line)
        message = entry.get("message")
        message = message if isinstance(message, dict) else {}
        if query.tools and not _tools(message).intersection(query.tools):
            return False
        if query.models and not _is_of(query.models, message):
            return False
        return self._is_within(entry, message)

    def _is_within(self, entry: dict[str, Any], message: dict[str, Any]) -> bool:
        since, until = self.query.since, self.query.until
        if since is None and until is None:
            return True
        time = date_value(entry.get("timestamp", math.nan), self.zone)
        if math.isnan(time):
            stamp = message.get("timestamp")
            time = float(stamp) if isinstance(stamp, int | float) else math.nan
        return (since is None or time >= since) and (until is None or time < until)


def _tools(message: dict[str, Any]) -> set[str]:
    """Name the tools a message calls, or comes from."""
    if message.get("role") == "toolResult":
        names = [message.get("toolName")]
    elif message.get("role") == "assistant" and isinstance(message.get("content"), list):
        blocks = (block for block in message["content"] if isinstance(block, dict))
        names = [block.get("name") for block in blocks if block.get("type") == "toolCall"]
    else:
        names = []
    return {name for name in names if isinstance(name, str)}


def _is_of(models: tuple[str, ...], message: dict[str, Any]) -> bool:
    if message.get("role") != "assistant":
        return False
    name = f"{message.get('provider') or ''}/{message.get('model') or ''}".casefold()
    return any(model.casefold() in name for model in models)


_SEALED = re.compile(
    rb'"(?:(?:thinking|text|thought)Signature":"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    rb'|data":"[A-Za-z0-9+/=_-]{64,}")'
)
"""Signatures of providers and the bytes of images, as writers put them: nothing to look for."""
_MARKS = (b'Signature":"', b'"data":"')


def without_sealed(data: bytes) -> bytes:
    """Take out of lines what is never looked into: signatures, and the bytes of images."""
    if any(mark in data for mark in _MARKS):
        return _SEALED.sub(b'"":""', data)
    return data


def texts(table: Table, line: int) -> Iterator[Passage]:
    """Give the texts of a line that are looked into."""
    data = table.bytes(line)
    bare = without_sealed(data)
    if bare is data or len(bare) == len(data):
        yield from passages(table, line)
        return
    if not table.header_line:  # a part of a file
        alone = scan.read_part(BytesSource(bare), table.header, [(0, bare)])
    else:
        header = table.bytes(table.header_line) if line != table.header_line else b""
        alone = scan.read(BytesSource(header + b"\n" + bare if header else bare))
    for passage in passages(alone, len(alone)):
        yield msgspec.structs.replace(passage, line=line)


def _hit(table: Table, line: int, number: int, passage: Passage, found: re.Match[str]) -> Hit:
    begin = max(0, found.start() - _AROUND[0])
    around = passage.text[begin : found.end() + _AROUND[1]]
    entry = table.ids[line] if table.is_entry(line) else None
    return Hit(
        path=table.source.name,
        session=str(table.header["id"]),
        line=number,
        entry=entry if isinstance(entry, str) else None,
        role=table.role_of(line) or table.type_of(line),
        where=str(passage.where),
        excerpt=("…" if begin else "") + around,
        score=score_of(passage.where, len(passage.text)),
    )


def score_of(where: Where, length: int) -> float:
    """Say how much a find in a text counts: by its kind, the more the shorter the text is."""
    return round(WEIGHTS[where] * (1 + 80 / (80 + length)), 3)

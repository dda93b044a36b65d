"""Looking for a text in one session file, without any index.

The raw bytes are searched first, capitals put aside; only a file that can hold the text is read,
and only its lines that can hold it are decoded. What is not found here is not there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import reader
from pi_sessions._lines import FileSource
from pi_sessions.context.passage import Passage, Where, passages
from pi_sessions.needle import file_may_hold, may_hold

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from datetime import tzinfo

    from pi_sessions.session import Session

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

    def pattern(self) -> re.Pattern[str]:
        """Give the expression that finds it.

        Raises:
            re.error: it is none.
        """
        text = self.text if self.is_regex else re.escape(self.text)
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
    if not query.is_regex and not file_may_hold(FileSource(path), query.text, ignore_case=folds):
        return []
    session = reader.load(path, zone=zone)
    pattern = query.pattern()
    live = {entry.line for entry in session.branch()} if query.branch else ()
    hits = [
        _hit(session, passage, found)
        for line in _lines(session, query)
        if _is_asked(session, line, query, live)
        for passage in _first(passages(session.table, line), pattern, query)
        if (found := pattern.search(passage.text))
    ]
    if query.seen is not None and hits:
        visibility = session.visibility()
        hits = [hit for hit in hits if bool(visibility.of(hit.line)) == query.seen]
    return hits


def _lines(session: Session, query: Query) -> Iterator[int]:
    """Give the lines that can hold it."""
    if query.is_regex:
        yield from range(1, len(session.table) + 1)
    else:
        yield from may_hold(session.table, query.text, ignore_case=not query.is_exact)


def _is_asked(session: Session, line: int, query: Query, live: Container[int]) -> bool:
    table = session.table
    told = table.role_of(line) or table.type_of(line)
    if query.roles and told not in query.roles:
        return False
    if query.branch and not table.is_entry(line):
        return False
    return not query.branch or (line in live) == (query.branch == "live")


def _first(found: Iterator[Passage], pattern: re.Pattern[str], query: Query) -> Iterator[Passage]:
    """Give one passage of each kind that holds the text."""
    held: set[Where] = set()
    for passage in found:
        if query.where and passage.where not in query.where:
            continue
        if passage.where in held or (held and passage.where is Where.STORED):
            continue
        if pattern.search(passage.text):
            held.add(passage.where)
            yield passage


def _hit(session: Session, passage: Passage, found: re.Match[str]) -> Hit:
    table, line = session.table, passage.line
    begin = max(0, found.start() - _AROUND[0])
    around = passage.text[begin : found.end() + _AROUND[1]]
    entry = table.ids[line] if table.is_entry(line) else None
    return Hit(
        path=session.path,
        session=session.id,
        line=line,
        entry=entry if isinstance(entry, str) else None,
        role=table.role_of(line) or table.type_of(line),
        where=str(passage.where),
        excerpt=("…" if begin else "") + around,
        score=round(WEIGHTS[passage.where] * (1 + 80 / (80 + len(passage.text))), 3),
    )

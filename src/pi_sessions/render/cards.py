"""A card for each thing the user asked: what it led to, and what that cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import string
from pi_sessions.context.glimpse import times
from pi_sessions.excerpt import one_line
from pi_sessions.table import Kind, Table
from pi_sessions.usage import spent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_sessions.context.forest import Forest
    from pi_sessions.session import Session

_WORDS = 420
"""Characters of a prompt on its card."""
_CHANGING = frozenset({"edit", "write", "multi_edit", "apply_patch"})
"""Tools whose path is a file that was changed."""


class Card(msgspec.Struct):
    """A prompt and what it led to, up to the next prompt on each way below it."""

    line: int
    """Its line; 0 for what comes before any prompt."""
    told: str = ""
    replies: int = 0
    last: str = ""
    """The last words that came of it."""
    tools: Counter[str] = msgspec.field(default_factory=Counter)
    failed: int = 0
    """Calls that failed."""
    files: dict[str, int] = msgspec.field(default_factory=dict)
    """Files that were changed, each with the number of calls."""
    shells: int = 0
    cost: float = 0
    tokens: float = 0
    begun: str = ""
    ended: str = ""


def cards(session: Session, forest: Forest, lines: Iterable[int]) -> list[Card]:
    """Make the cards of some lines, in the order of the file."""
    table, found = session.table, dict[int, Card]()
    owners = _owners(table, forest)
    within = f"{session.cwd.rstrip('/')}/" if session.cwd else ""
    costs = {item.line: item.totals for item in spent(table.source, session.zone)}
    for line in lines:
        if not table.is_entry(line):
            continue
        owner = owners[line]
        card = found.get(owner)
        if card is None:
            card = found[owner] = Card(owner)
        if totals := costs.get(line):
            card.cost += totals.cost
            card.tokens += totals.tokens
        if table.kinds[line] in _TELLING:
            _add(card, table.kinds[line], table.raw(line)["message"], within)
            when = times(table, line)[0]
            if isinstance(when, str):
                card.begun = card.begun or when
                card.ended = when
    return [found[line] for line in sorted(found) if line or found[line].replies]


_TELLING = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH})


def _owners(table: Table, forest: Forest) -> list[int]:
    """Give for each line the prompt above it, itself if it is one; 0 if there is none."""
    owners = [0] * (len(table) + 1)
    for line in sorted(table.entries(), key=lambda n: forest.enter[n]):
        is_prompt = table.kinds[line] == Kind.USER
        owners[line] = line if is_prompt else owners[forest.above[line]]
    return owners


def _add(card: Card, kind: int, message: dict[str, Any], within: str) -> None:
    content = message.get("content")
    if kind == Kind.USER:
        card.told = one_line(_texts(content), _WORDS) or "a picture, no words"
    elif kind == Kind.TOOL_RESULT:
        card.failed += bool(message.get("isError"))
    elif kind == Kind.BASH:
        card.shells += 1
    else:
        card.replies += 1
        if words := one_line(_texts(content), _WORDS // 2):
            card.last = words
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "toolCall":
                _add_call(card, block, within)


def _add_call(card: Card, block: dict[str, Any], within: str) -> None:
    name, arguments = one_line(string(block.get("name", "?")), 40), block.get("arguments")
    card.tools[name] += 1
    if name in _CHANGING and isinstance(arguments, dict):
        path = arguments.get("path", arguments.get("file_path"))
        if isinstance(path, str):
            told = one_line(path.removeprefix(within), 160)
            card.files[told] = card.files.get(told, 0) + 1


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content[: 4 * _WORDS]
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    return " ".join(text[: 4 * _WORDS] for text in texts if isinstance(text, str))

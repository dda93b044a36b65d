"""The tree beside the transcript: which entries there are, on which branch, in which order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.render.figures import nearer
from pi_sessions.render.rows import WHO
from pi_sessions.render.states import State, state_of
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.render.rows import Teller
    from pi_sessions.session import Session

DEEPEST = 8
"""Levels that are drawn; branches of branches beyond stand at the last."""
_LEFT_OUT = frozenset(
    {
        Kind.CUSTOM,
        Kind.LABEL,
        Kind.SESSION_INFO,
        Kind.USAGE,
        Kind.MODEL_CHANGE,
        Kind.THINKING_LEVEL_CHANGE,
    }
)


_CALL = re.compile(
    r'(\w+)\(\{"(?:path|file_path|command|pattern)":"((?:[^"\\]|\\.)*)(?:".*|\Z)', re.DOTALL
)
_PATH = re.compile(r"[./~][^\s'\"()]{40,}")


def _brief(told: str, cwd: str | None) -> str:
    """Shorten what an entry says for the tree: of a call what it is about, of a path its end."""
    told = _CALL.sub(r"\1(\2)", nearer(told, cwd))
    return _PATH.sub(lambda found: f"…{found[0][-34:]}", told)


class Branch(msgspec.Struct, frozen=True):
    """One row of the tree."""

    line: int
    level: int
    is_live: bool
    who: str
    told: str
    state: State
    label: str


class Shape:
    """The rows of a session's tree in order: a branch that was left before the one that goes on."""

    def __init__(self, session: Session, live: Iterable[int]) -> None:
        self.table = session.table
        self.live = frozenset(live)
        tree = session.tree
        self.lines: list[int] = []
        self.levels: list[int] = []
        stack = [(root, 0) for root in self._ordered(tree.roots)]
        while stack:
            line, level = stack.pop()
            is_live = line in self.live
            if self.table.kinds[line] not in _LEFT_OUT:
                self.lines.append(line)
                self.levels.append(level)
            children = tree.children(line)
            if len(children) == 1 and (not is_live or children[0] in self.live):
                # Nearly all of a long session.
                stack.append((children[0], level))
                continue
            for child in self._ordered(children):
                inner = level
                if child not in self.live and (is_live or len(children) > 1):
                    inner = level + 1
                stack.append((child, inner))
        self.left_out = sum(1 for kind in self.table.kinds if kind in _LEFT_OUT)
        self.place = {line: n for n, line in enumerate(self.lines)}

    def _ordered(self, lines: Sequence[int]) -> list[int]:
        """Give the order in which they go on a stack: the live one lowest, so it comes last."""
        return sorted(lines, key=lambda line: (line not in self.live, -line))

    def near(self, line: int, most: int) -> tuple[int, int]:
        """Give (first, end) of the places to show around a line."""
        place = self.place.get(line)
        if place is None:
            place = max(0, len(self.lines) - 1)
        first = max(0, min(place - most // 2, len(self.lines) - most))
        return first, min(len(self.lines), first + most)

    def rows(self, teller: Teller, explanation: Explanation, first: int, end: int) -> list[Branch]:
        """Tell the rows of some places."""
        return [
            Branch(
                line,
                min(self.levels[place], DEEPEST),
                line in self.live,
                WHO[Kind(self.table.kinds[line])],
                one_line(_brief(excerpt(self.table, line), teller.session.cwd), 90),
                state_of(explanation, line),
                teller.label(line),
            )
            for place, line in enumerate(self.lines[first:end], first)
        ]

"""What the context of every reply is made of, estimated in one pass from the sizes of the lines.

Rebuilding the request of each of fifty thousand replies would take minutes. The sizes of the lines
on the way to a reply add up to nearly the same shares, and only compactions need to be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions.context.payload.limits import CHARACTERS, IMAGE
from pi_sessions.context.projection import target_key
from pi_sessions.context.replay import block_type
from pi_sessions.context.selection import first_kept_key
from pi_sessions.table import FIRST_OTHER, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = ("prompt", "summary", "talk", "results")
"""The parts, from the ground up."""
_PROMPT, _SUMMARY, _TALK, _RESULTS = 1, 2, 3, 4
_PART = {
    Kind.SYSTEM: _PROMPT,
    Kind.BRANCH_SUMMARY: _SUMMARY,
    Kind.BRANCH_SUMMARY_ROLE: _SUMMARY,
    Kind.COMPACTION_SUMMARY_ROLE: _SUMMARY,
    Kind.USER: _TALK,
    Kind.ASSISTANT: _TALK,
    Kind.CUSTOM_MESSAGE: _TALK,
    Kind.CUSTOM_ROLE: _TALK,
    Kind.TOOL_RESULT: _RESULTS,
    Kind.BASH: _RESULTS,
}
_BY_KIND = {int(kind): part for kind, part in _PART.items()}
_PARTS = bytes(_BY_KIND.get(kind, 0) for kind in range(256))
_REPLY, _OTHER = 520, 190
"""Bytes of a reply, and of another line, that say nothing to a model: ids, times, usage."""
_LONG = 40_000
"""Bytes from which on a line is read to be weighed: it may hold a picture."""
_SMALL = 1_000_000
"""Bytes of a file of which all lines are read."""
_READ = 8_000_000
"""Bytes that are read so at most; longer lines count as a picture then."""


class _Cut(msgspec.Struct, frozen=True):
    """A compaction."""

    base: int
    """The line whose sums are no part of the context any more."""
    summary: int
    prompt: int | None
    """Size of the checkpoint of the prompt, None where it has none."""


class Composition:
    """Sums of sizes along every branch.

    Args:
        table: the lines.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._left = _READ
        self._long = _LONG if table.offsets[-1] > _SMALL else 0
        self._cuts: dict[int, _Cut] = {}
        size = len(table) + 1
        self._sums: tuple[list[int], ...] = tuple([0] * size for _ in KEYS)
        self._cut_of = [0] * size
        self._walk()

    def _walk(self) -> None:
        """Carry the sums from each entry to its children; a parent stands above them."""
        table = self.table
        kinds, parents, offsets = table.kinds, table.parents, table.offsets
        prompt, summary, talk, results = self._sums
        cut_of = self._cut_of
        for line in range(1, len(table) + 1):
            kind = kinds[line]
            if kind >= FIRST_OTHER:
                continue
            above = parents[line]
            if not 0 < above < line:
                above = 0
            prompt[line], summary[line] = prompt[above], summary[above]
            talk[line], results[line] = talk[above], results[above]
            cut_of[line] = cut_of[above]
            if part := _PARTS[kind]:
                length = offsets[line + 1] - offsets[line]
                length -= _REPLY if kind == Kind.ASSISTANT else _OTHER
                if length > self._long:
                    length = self._weight(line, length)
                self._sums[part - 1][line] += max(length, 1)
            elif kind == Kind.COMPACTION:
                self._cuts[line] = self._compaction(line, above)
                cut_of[line] = line
            elif kind == Kind.CONTEXT_EDIT:
                self._edit(line)

    def _weight(self, line: int, length: int) -> int:
        """Weigh a long line by what it says."""
        self._left -= length
        if self._left < 0:
            return min(length, IMAGE)
        entry = self.table.raw(line)
        message = entry.get("message")
        content = (message if isinstance(message, dict) else entry).get("content")
        return sum(map(_size, content)) if isinstance(content, list) else length

    def _edit(self, line: int) -> None:
        """Take out what an edit takes out of later requests, and put in its replacement."""
        table, edit = self.table, self.table.raw(line)
        target = table.lines_by_id.get(target_key(edit), 0)
        cut = self._cuts.get(self._cut_of[line])
        part = _PARTS[table.kinds[target]] if 0 < target < line else 0
        if not part or (cut and target <= cut.base):
            return
        above, sums = table.parents[target], self._sums[part - 1]
        size = sums[target] - (sums[above] if 0 < above < target else 0)
        replacement = edit.get("replacement")
        said = replacement.get("content") if isinstance(replacement, dict) else None
        sums[line] -= size - (sum(map(_size, said)) if isinstance(said, list) else 0)

    def _compaction(self, line: int, above: int) -> _Cut:
        table, entry = self.table, self.table.raw(line)
        kept = table.lines_by_id.get(first_kept_key(table, line), 0)
        base = table.parents[kept] if 0 < kept < line else above
        said, prompt = entry.get("summary"), entry.get("systemMessage")
        return _Cut(
            max(base, 0) if base < line else 0,
            len(said) if isinstance(said, str) else 0,
            len(_json.dumps(prompt)) if isinstance(prompt, dict) else None,
        )

    def at(self, reply: int) -> tuple[float, ...]:
        """Give the tokens of each part in front of a reply, as Pi estimates them."""
        leaf = self.table.parents[reply]
        if not 0 < leaf < reply:
            return (0.0,) * len(KEYS)
        sizes = [sums[leaf] for sums in self._sums]
        if cut := self._cuts.get(self._cut_of[leaf]):
            for part in (_SUMMARY, _TALK, _RESULTS):
                sizes[part - 1] -= self._sums[part - 1][cut.base]
            sizes[_SUMMARY - 1] += cut.summary
            if cut.prompt is not None:
                sizes[0] += cut.prompt - self._sums[0][self._cut_of[leaf]]
        return tuple(max(size, 0) / CHARACTERS for size in sizes)


def shares(parts: Sequence[float], tokens: float) -> tuple[float, ...]:
    """Share out the tokens that a reply reported; without an estimate all are conversation."""
    total = sum(parts)
    if not total:
        return tuple(tokens if key == "talk" else 0.0 for key in KEYS)
    return tuple(part * tokens / total for part in parts)


def _size(block: Any) -> int:
    kind = block_type(block)
    if kind == "image":
        return IMAGE
    said = block.get(kind) if kind in ("text", "thinking") else block
    if kind == "toolCall":
        said = block.get("arguments")
    return len(said) if isinstance(said, str) else len(_json.dumps(said))

"""A report as the checks see it: its parts in order, each with its line.

Everything is a `Block`: a paragraph, an item of a list, a row of a table, a piece of code, a quoted
paragraph. `markdown` makes them; here is what can be asked of them.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_ENDS = re.compile(r"[.!?][\"”')]*\s+(?=[A-Z`\"“(\[*])|;\s|\n\s*\n")
_REACH = 400
"""Characters of a sentence that are looked at, on either side."""


def sentence_at(text: str, start: int, stop: int) -> tuple[int, int]:
    """Give begin and end of the sentence around a place, or of as much of it as is near."""
    low, high = max(0, start - _REACH), min(len(text), stop + _REACH)
    ends = [match.end() for match in _ENDS.finditer(text, low, start)]
    end = _ENDS.search(text, stop, high)
    return ends[-1] if ends else low, end.end() if end else high


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    """A paragraph in a list."""
    HEAD = "head"
    """The head of a table."""
    ROW = "row"
    CODE = "code"
    QUOTE = "quote"
    """A paragraph in a block quote."""
    HTML = "html"


class Span(msgspec.Struct, frozen=True):
    """A code span or a link in a text, by its place there."""

    start: int
    stop: int
    url: str = ""
    """Of a link; "" for a code span."""


class Text(msgspec.Struct, frozen=True):
    """What a reader sees of a text, without its marks."""

    text: str
    line: int
    """Line of the report on which it begins."""
    spans: tuple[Span, ...] = ()
    breaks: int = 0
    """Hard breaks within a cell."""

    def line_at(self, offset: int) -> int:
        """Give the line on which a character stands."""
        return self.line if self.breaks else self.line + self.text.count("\n", 0, offset)

    @property
    def codes(self) -> list[str]:
        """The code spans."""
        return [self.text[span.start : span.stop] for span in self.spans if not span.url]

    def is_code(self, offset: int) -> bool:
        """Say whether a character stands in a code span."""
        return any(span.start <= offset < span.stop for span in self.spans if not span.url)


class Block(msgspec.Struct, frozen=True):
    """A part of a report that belongs together."""

    kind: BlockKind
    texts: tuple[Text, ...]
    """One text; for a row one for each cell."""
    line: int
    last: int
    """The last line of it."""
    level: int = 0
    """Of a heading: 1 to 6. Of an item: how deep its list is, from 1."""
    table: int = 0
    """Of a row and a head: the number of its table, from 1."""
    info: str = ""
    """Of code: the language named."""
    begins: bool = False
    """Of an item: it is the first paragraph of its list item."""
    width: int = 0
    """Of a row: the cells that were really written."""

    @property
    def text(self) -> str:
        """All of its text; cells apart."""
        return " | ".join(text.text for text in self.texts)


class Table(msgspec.Struct, frozen=True):
    """A table of a report."""

    head: Block
    rows: tuple[Block, ...]

    @property
    def names(self) -> list[str]:
        """What its head says."""
        return [text.text for text in self.head.texts]


class Section(msgspec.Struct, frozen=True):
    """A heading and all up to the next of its level, or of one above it."""

    title: str
    level: int
    line: int
    blocks: tuple[Block, ...]
    """Without the heading itself."""

    @property
    def text(self) -> str:
        """All of its text."""
        return "\n".join(block.text for block in self.blocks)

    def tables(self) -> Iterator[Table]:
        """Give its tables, in order."""
        head: Block | None = None
        rows: list[Block] = []
        for block in self.blocks:
            if block.kind is BlockKind.HEAD:
                if head:
                    yield Table(head, tuple(rows))
                head, rows = block, []
            elif block.kind is BlockKind.ROW and head and block.table == head.table:
                rows.append(block)
        if head:
            yield Table(head, tuple(rows))

    def units(self) -> list[Unit]:
        """Give the things it lists: rows, else subsections, else items, else itself as one.

        What stands before the first of them introduces them and is no unit.
        """
        rows = [Unit((row,), table.head) for table in self.tables() for row in table.rows]
        if rows:
            return rows
        for is_start in (_is_heading, _is_item):
            units: list[list[Block]] = []
            for block in self.blocks:
                if is_start(block):
                    units.append([block])
                elif units:
                    units[-1].append(block)
            if units:
                return [Unit(tuple(unit)) for unit in units]
        return [Unit(self.blocks)] if self.blocks else []


class Unit(msgspec.Struct, frozen=True):
    """One of the things that a section lists."""

    blocks: tuple[Block, ...]
    head: Block | None = None
    """Of a row: the head of its table."""

    @property
    def line(self) -> int:
        """The line it begins on."""
        return self.blocks[0].line

    @property
    def text(self) -> str:
        """All of its text; of a row with the name of each column before what it holds."""
        if self.head is None:
            return "\n".join(block.text for block in self.blocks)
        pairs = zip(self.head.texts, self.blocks[0].texts, strict=False)
        return "\n".join(f"{name.text}: {cell.text}" for name, cell in pairs if cell.text.strip())


def _is_heading(block: Block) -> bool:
    return block.kind is BlockKind.HEADING


def _is_item(block: Block) -> bool:
    return block.kind is BlockKind.ITEM and block.level == 1 and block.begins


class Report(msgspec.Struct, frozen=True, dict=True):
    """A report in Markdown, taken apart."""

    path: str
    source: str
    blocks: tuple[Block, ...]

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, the first at 0."""
        return re.split(r"\r\n|\r|\n", self.source)

    def sections(self, level: int) -> list[Section]:
        """Give the sections under headings of a level."""
        return _sections(self.blocks, level)

    @cached_property
    def headings(self) -> list[Block]:
        """All headings."""
        return [block for block in self.blocks if block.kind is BlockKind.HEADING]


def _sections(blocks: Sequence[Block], level: int) -> list[Section]:
    found: list[Section] = []
    current: list[Block] | None = None
    head: Block | None = None
    for block in [*blocks, None]:
        ends = block is None or (block.kind is BlockKind.HEADING and block.level <= level)
        if ends and head is not None and current is not None:
            found.append(Section(head.text, head.level, head.line, tuple(current)))
            head = current = None
        if block is None:
            break
        if block.kind is BlockKind.HEADING and block.level == level:
            head, current = block, []
        elif current is not None:
            current.append(block)
    return found

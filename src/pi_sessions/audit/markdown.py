"""Takes a report's Markdown apart with markdown-it; tables written as HTML are read as well."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from pi_sessions.audit.report import Block, BlockKind, Report, Span, Text

if TYPE_CHECKING:
    from markdown_it.token import Token

_BARE_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"'`|\u3000-\u303f\uff00-\uffef]+")
_TRAILING = ".,;:!?*_…。，"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_OPEN = re.compile(r"<(?=[^<>]*(?:<|\Z))")
"""The begin of a tag that does not end; each would be looked for to the end of the text."""
_TAG_NAME = re.compile(r"</?([A-Za-z][\w-]*)")
_TAGS = frozenset(
    (
        *("a", "abbr", "b", "big", "br", "cite", "code", "del", "details", "div", "em", "font"),
        *("i", "img", "input", "ins", "kbd", "label", "mark", "p", "q", "s", "samp", "small"),
        *("span", "strike", "strong", "sub", "summary", "sup", "tt", "u", "var", "wbr"),
    )
)


def parse(source: str, path: str = "") -> Report:
    """Take a report apart; any text is a report.

    Args:
        source: Markdown; tables and strike-through as on GitHub, HTML allowed.
        path: what it is called.
    """
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 60})
    parser.enable(["table", "strikethrough"])
    walk = _Walk()
    for token in parser.parse(source):
        walk.take(token)
    return Report(path, source, tuple(walk.blocks))


class _Walk:
    """Collects blocks from the flat sequence of tokens."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.lists = self.quotes = self.tables = 0
        self.begins = False
        self.heading = 0
        self.cells: list[Text] | None = None
        self.width = 0
        self.in_head = False

    def take(self, token: Token) -> None:
        """Take the next token."""
        kind = token.type
        if kind == "inline":
            self.inline(token)
        elif kind in ("fence", "code_block"):
            self.code(token)
        elif kind == "html_block":
            self.html(token)
        elif kind == "heading_open":
            self.heading = int(token.tag[1:])
        elif kind == "heading_close":
            self.heading = 0
        elif kind == "list_item_open":
            self.begins = True
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self.lists += 1
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.lists -= 1
        elif kind == "blockquote_open":
            self.quotes += 1
        elif kind == "blockquote_close":
            self.quotes -= 1
        else:
            self.table(token)

    def table(self, token: Token) -> None:
        kind = token.type
        if kind == "table_open":
            self.tables += 1
        elif kind in ("thead_open", "thead_close"):
            self.in_head = kind == "thead_open"
        elif kind == "tr_open":
            self.cells = []
        elif kind == "tr_close" and self.cells is not None:
            line = self.cells[0].line if self.cells else 1
            kept = BlockKind.HEAD if self.in_head else BlockKind.ROW
            cells = tuple(self.cells)
            self.blocks.append(Block(kept, cells, line, line, table=self.tables, width=len(cells)))
            self.cells = None

    def inline(self, token: Token) -> None:
        first, end = token.map or [0, 1]
        text = _inline(token, first + 1)
        if self.cells is not None:
            self.cells.append(text)
            return
        kind, level = BlockKind.PARAGRAPH, 0
        if self.heading:
            kind, level = BlockKind.HEADING, self.heading
        elif self.quotes:
            kind = BlockKind.QUOTE
        elif self.lists:
            kind, level = BlockKind.ITEM, self.lists
        begins = kind is BlockKind.ITEM and self.begins
        self.begins = self.begins and not begins
        self.blocks.append(Block(kind, (text,), first + 1, end, level, begins=begins))

    def code(self, token: Token) -> None:
        first, end = token.map or [0, 1]
        inner = first + 1 if token.type == "fence" else first
        text = Text(token.content, inner + 1)
        info = token.info.strip().split(" ")[0].lower()
        self.blocks.append(Block(BlockKind.CODE, (text,), first + 1, end, info=info))

    def html(self, token: Token) -> None:
        first, end = token.map or [0, 1]
        reader = _Html(first + 1)
        if "<table" in token.content.lower():
            reader.feed(_OPEN.sub(" ", _without_comments(token.content)))
            reader.close()
            reader.finish()
        else:
            reader.loose = token.content
        if reader.rows:
            self.tables += 1
            self.blocks += [
                Block(kind, tuple(cells), line, line, table=self.tables, width=len(cells))
                for kind, line, cells in reader.rows
            ]
        elif reader.loose.strip():
            text = Text(reader.loose.strip("\n"), first + 1)
            self.blocks.append(Block(BlockKind.HTML, (text,), first + 1, end))


def _inline(token: Token, line: int) -> Text:
    """Give the visible text of an inline token, with its code spans and links."""
    parts: list[str] = []
    spans: list[Span] = []
    length = breaks = 0
    opened: list[tuple[int, str]] = []
    for child in token.children or ():
        piece = ""
        if child.type in ("text", "text_special"):
            piece = child.content
        elif child.type == "code_inline":
            piece = child.content
            spans.append(Span(length, length + len(piece)))
        elif child.type in ("softbreak", "hardbreak"):
            piece = "\n"
        elif child.type == "html_inline":
            name = _TAG_NAME.match(child.content)
            if name and name[1].lower() == "br":
                piece, breaks = "\n", breaks + 1
            elif name and name[1].lower() not in _TAGS:
                piece = child.content  # a placeholder such as <path>, and no tag
        elif child.type == "image":
            piece = child.content
            spans.append(Span(length, length + len(piece), str(child.attrs.get("src", ""))))
        elif child.type == "link_open":
            opened.append((length, str(child.attrs.get("href", ""))))
        elif child.type == "link_close" and opened:
            start, url = opened.pop()
            spans.append(Span(start, length, url))
        parts.append(piece)
        length += len(piece)
    text = "".join(parts)
    linked = [span for span in spans if span.url]
    for url, start in bare_urls(text):
        if not any(span.start <= start < span.stop for span in linked):
            spans.append(Span(start, start + len(url), url))
    return Text(text, line, tuple(spans), breaks)


def _without_comments(text: str) -> str:
    """Blank the comments of HTML, keeping its lines; one that does not end loses its mark alone."""
    parts: list[str] = []
    place = 0
    while (begin := text.find("<!--", place)) >= 0:
        end = text.find("-->", begin)
        parts.append(text[place:begin])
        if end < 0:
            return "".join(parts) + text[begin:].replace("<!", "  ")
        parts.append("\n" * text.count("\n", begin, end))
        place = end + 3
    return "".join([*parts, text[place:]])


def bare_urls(text: str) -> list[tuple[str, int]]:
    """Find the URLs that stand in a text as they are, and where; closing marks left out."""
    found = []
    for match in _BARE_URL.finditer(text):
        url = match[0]
        while url and (
            url[-1] in _TRAILING
            or (url[-1] in _PAIRS and url.count(url[-1]) > url.count(_PAIRS[url[-1]]))
        ):
            url = url[:-1]
        found.append((url, match.start()))
    return found


class _Html(HTMLParser):
    """Reads the tables of an HTML block; nested ones become text of their cell."""

    def __init__(self, line: int) -> None:
        super().__init__(convert_charrefs=True)
        self.first = line
        self.rows: list[tuple[BlockKind, int, list[Text]]] = []
        self.loose = ""
        self.depth = 0
        self.cell: list[str] | None = None
        self.began = line
        self.links: list[str] = []

    @property
    def here(self) -> int:
        return self.first + self.getpos()[0] - 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.depth += 1
        if self.depth == 1 and tag == "tr":
            kind = BlockKind.ROW if self.rows else BlockKind.HEAD
            self.rows.append((kind, self.here, []))
        elif self.depth == 1 and tag in ("td", "th") and self.rows:
            self.finish()
            self.cell, self.began = [], self.here
        elif tag == "br" and self.cell is not None:
            self.cell.append("\n")
        elif tag == "a" and self.cell is not None:
            self.links += [value for name, value in attrs if name == "href" and value]

    def handle_endtag(self, tag: str) -> None:
        if self.depth == 1 and tag in ("td", "th", "tr", "table"):
            self.finish()
        if tag == "table" and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)
        elif not self.depth:
            self.loose += data

    def finish(self) -> None:
        if self.cell is None:
            return
        text = "".join(self.cell).strip()
        spans = [Span(0, len(text), url) for url in self.links]
        spans += [Span(start, start + len(url), url) for url, start in bare_urls(text)]
        self.rows[-1][2].append(Text(text, self.began, tuple(spans), text.count("\n")))
        self.cell, self.links = None, []

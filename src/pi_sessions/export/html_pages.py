"""A long session as a folder: `index.html`, and the transcript in pages that lead to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.export.html_book import SCRIPT, STYLES, Book, Page
from pi_sessions.render import single
from pi_sessions.render.figures import count, money, short
from pi_sessions.render.markup import tag
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.export.options import Options
    from pi_sessions.render.cards import Card
    from pi_sessions.session import Session

LARGE = 24_000_000
"""Bytes of a session from which on one page would be too much for a browser."""
_BYTES, _ROWS = 1_500_000, 400
"""What a page holds at most."""
_LISTED = 5_000
"""Prompts up to which the index names each; beyond, it names the first of each page."""


def files(session: Session, options: Options) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Give the files of the folder, each with its name and its bytes; the index comes last."""
    book = Book(session, options)
    book.divide(list(_pages(book)))
    for page in book.pages:
        yield page.name, (part.encode("utf-8", "replace") for part in book.page(page))
    yield "index.html", (part.encode("utf-8", "replace") for part in _index(book))


def _pages(book: Book) -> Iterator[Page]:
    """Divide the lines, where it can be before a prompt."""
    table, lines = book.table, book.lines
    part: list[int] = []
    size = number = 0
    for line in lines:
        length = min(table.length(line), 300_000)
        is_full = size + length > _BYTES or len(part) >= _ROWS
        is_good = table.kinds[line] == Kind.USER and (
            3 * size > 2 * _BYTES or 3 * len(part) > 2 * _ROWS
        )
        if part and (is_full or is_good):
            number += 1
            yield Page(f"p{number:04}.html", tuple(part))
            part, size = [], 0
        part.append(line)
        size += length
    if part:
        yield Page(f"p{number + 1:04}.html", tuple(part))


def _index(book: Book) -> Iterator[str]:
    yield single.head(book.title, styles=STYLES, script=SCRIPT, kind="export")
    cwd = tag("span", book.cwd, " ", class_="soft")
    yield (
        '<header class="top"><span class="brand">pi-sessions</span>'
        f"{tag('p', cwd, tag('b', book.title), class_='crumb')}"
        '<button type="button" class="theme" data-do="theme" hidden>Theme</button></header>\n'
        '<main id="main" class="plain">\n'
    )
    yield str(tag("h1", book.title)) + str(book.about(book.cards))
    yield book.counted()
    by_page: dict[str, list[tuple[int, Card]]] = {page.name: [] for page in book.pages}
    for number, card in enumerate(book.cards, 1):
        by_page[book.page_of(card.line)].append((number, card))
    is_short = len(book.cards) > _LISTED
    for page in book.pages:
        yield from _listed(page, by_page[page.name], 1 if is_short else len(book.cards))
    yield "</main>\n" + single.foot(SCRIPT)


def _listed(page: Page, cards: list[tuple[int, Card]], most: int) -> Iterator[str]:
    first, last = page.lines[0], page.lines[-1]
    cost = sum(card.cost for _, card in cards)
    told = f" · {count(len(cards), 'prompt')}" + (f" · {money(cost)}" if cost else "")
    link = tag("a", f"Lines {first:,} to {last:,}", href=page.name)
    yield str(tag("h2", link, told)) + '\n<ol class="listed">\n'
    for number, card in cards[:most]:
        words = tag("a", card.told or "Before the first prompt", href=f"{page.name}#L{card.line}")
        figures = [count(card.replies, "reply")]
        figures += [f"{short(card.tokens)} tokens"] if card.tokens else []
        figures += [money(card.cost)] if card.cost else []
        about = tag("span", " · ".join(figures), class_="soft num")
        yield str(tag("li", tag("span", f"{number} ", words), about)) + "\n"
    yield "</ol>\n"

"""What the pages of an exported session have in common, and how one of them is written."""

from __future__ import annotations

from bisect import bisect_right
from contextvars import copy_context
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, _process
from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.export.html_near import Neighbours
from pi_sessions.export.options import explanation_of
from pi_sessions.render import requested, single
from pi_sessions.render.blocks import COLOURS, NONE, OPEN
from pi_sessions.render.branches import Shape
from pi_sessions.render.cards import Card, cards
from pi_sessions.render.figures import count, money, short
from pi_sessions.render.markup import Markup, island, tag
from pi_sessions.render.requested import Had, Requested
from pi_sessions.render.rows import Teller
from pi_sessions.render.states import CLASSES, SIGNS, WORDS, State, state_of
from pi_sessions.render.window import Runs
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.export.options import Options
    from pi_sessions.session import Session

STYLES, SCRIPT = ("page.css", "export.css"), "export.js"
_SPLIT = 300_000
"""Bytes of lines from which on a second process makes half of the rows."""
_BRIEF = 160
"""Characters that are told of a line that stands on another page."""


class Page(msgspec.Struct, frozen=True):
    """A part of the transcript that is one file."""

    name: str
    """Of the file in its folder; "" for the only one."""
    lines: tuple[int, ...]


class Book:
    """A session as it is exported.

    Args:
        session: the session.
        options: the point, the range, the models.
    """

    def __init__(self, session: Session, options: Options) -> None:
        self.session, self.options, self.table = session, options, session.table
        self.explanation = explanation_of(session, options)
        self.pages: list[Page] = []
        self._firsts: list[int] = []
        self.addresses = single.InFile()
        self.teller = Teller(session, self.explanation, self.addresses)
        self.runs = Runs(self.explanation)
        self._briefs: dict[int, str] = {}

    def divide(self, pages: Sequence[Page]) -> None:
        """Take the pages that the transcript falls into."""
        self.pages = list(pages)
        self._firsts = [page.lines[0] for page in pages]

    @cached_property
    def lines(self) -> list[int]:
        """The lines that are exported."""
        on_path = frozenset(self.explanation.point.path) if self.options.is_part else None
        found = (line for line in range(1, len(self.table) + 1) if self.options.has(line))
        return [line for line in found if on_path is None or line in on_path]

    @cached_property
    def requested(self) -> Requested:
        """Which replies had which lines."""
        options = self.options
        seen = self.session.visibility(
            model_of=options.model_of, preferences=options.preferences, release=options.release
        )
        return Requested(seen, seen.explained)

    @cached_property
    def asked(self) -> list[list[int]]:
        """The runs of all lines."""
        return list(self.requested.lines(range(1, len(self.table) + 1)))

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.asked)

    @cached_property
    def had(self) -> dict[int, Had]:
        """What each reply had, by its line."""
        order = self.requested.seen.order
        told = requested.had(self.asked, len(order), len(self.table), single.RUNS)
        return dict(zip(order, told, strict=True))

    @cached_property
    def cards(self) -> list[Card]:
        """The cards of all prompts."""
        return cards(self.session, self.requested.seen.forest, self.lines)

    @cached_property
    def _numbered(self) -> dict[int, tuple[int, Card]]:
        return {card.line: (number, card) for number, card in enumerate(self.cards, 1)}

    @cached_property
    def replies(self) -> list[list[int]]:
        """The replies in the order of the tree."""
        return self.requested.replies()

    @cached_property
    def shape(self) -> Shape:
        """The tree, with the branch of the point as the live one."""
        point = self.explanation.point
        return Shape(self.session, (*point.path, point.response or point.leaf or 0))

    @cached_property
    def title(self) -> str:
        """The name of the session, else its first words."""
        first = next((card.told for card in self.cards if card.line), "")
        return one_line(self.session.name or first or self.session.id, 90)

    @property
    def cwd(self) -> str:
        """The working directory of the session."""
        return one_line(self.session.cwd or "", 80)

    def page(self, page: Page) -> Iterator[str]:
        """Write a page."""
        name = f"{self.title} · {page.name}" if page.name else self.title
        yield single.head(name, styles=STYLES, script=SCRIPT, kind="export")
        addresses = self._addresses(page)
        self.teller.addresses = addresses
        if not page.name:
            with self.table.remembering():
                yield from self._page(page, addresses)
        else:
            yield from self._page(page, addresses)
        yield single.foot(SCRIPT)

    def _addresses(self, page: Page) -> single.InFile:
        if not page.name:
            return single.InFile()
        first, last = page.lines[0], page.lines[-1]
        return single.InFile(lambda n: "" if first <= n <= last else self.page_of(n))

    def page_of(self, line: int) -> str:
        """Name the page of a line."""
        return self.pages[max(0, bisect_right(self._firsts, line) - 1)].name

    def _page(self, page: Page, addresses: single.InFile) -> Iterator[str]:
        yield self._top(page)
        yield f'<div id="view" class="two">\n{self._tree(page, addresses)}\n'
        yield '<main id="main" class="transcript">\n'
        yield from self._prompts(page, addresses)
        yield '<section id="transcript" aria-label="Transcript">\n'
        yield self.counted()
        yield '<div class="rows">\n'
        yield from self._rows(page, addresses)
        yield "</div>\n" + self._turn(page) + "</section>\n</main>\n"
        yield '<section class="saw" id="saw" aria-label="What the model saw" hidden></section>\n'
        yield "</div>\n" + self._data(page) + "\n"

    def _top(self, page: Page) -> str:
        title: Markup = tag("b", self.title)
        if page.name:
            title = tag("a", title, href="index.html")
        tabs = [tag("a", "Prompts", href="#prompts"), tag("a", "Transcript", href="#transcript")]
        cwd = tag("span", self.cwd, class_="soft")
        return (
            f'<header class="top"><span class="brand">pi-sessions</span>'
            f"{tag('p', cwd, ' ', title, class_='crumb')}"
            f"{tag('nav', *tabs, class_='tabs', aria_label='Parts')}"
            '<button type="button" class="theme" data-do="theme" hidden>Theme</button></header>\n'
        )

    def _tree(self, page: Page, addresses: single.InFile) -> str:
        first, last = page.lines[0] if page.lines else 1, page.lines[-1] if page.lines else 0
        found = (self.shape.place.get(line) for line in page.lines)
        places = sorted(place for place in found if place is not None)
        rows: list[Any] = []
        for start, end in _runs(places):
            rows += self.shape.rows(self.teller, self.explanation, start, end + 1)
        about = f"lines {first:,} to {last:,}" if page.name else ""
        summary = tag("summary", tag("b", "Tree"), " ", tag("span", about, class_="soft small"))
        inside = single.tree(rows, addresses)
        return (
            f'<nav class="tree" aria-label="Tree"><details open>{summary}{inside}</details></nav>'
        )

    def _prompts(self, page: Page, addresses: single.InFile) -> Iterator[str]:
        own = list(enumerate(self.cards, 1))
        if page.name:
            own = [self._numbered[line] for line in page.lines if line in self._numbered]
        yield '<section id="prompts" aria-label="Prompts">\n'
        yield str(tag("h1", self.title)) + str(self.about(self.cards if not page.name else None))
        yield '<ol class="cards">\n'
        for number, card in own:
            yield str(single.card(card, number, addresses, self._state(card.line))) + "\n"
        yield "</ol></section>\n"

    def _state(self, line: int) -> State | None:
        return state_of(self.explanation, line) if line else None

    def about(self, cards: Sequence[Card] | None) -> Markup:
        """Tell of the session in a line: when, how long, how much."""
        header = self.table.header.get("timestamp")
        told = [f"session {one_line(self.session.id, 60)}"]
        if isinstance(header, str):
            told.append(f"begun {one_line(header, 40)}")
        told += [count(len(self.table), "line"), count(len(self.session.responses), "reply")]
        if cards is not None:
            told.append(count(sum(1 for card in cards if card.line), "prompt"))
            tokens, cost = sum(c.tokens for c in cards), sum(c.cost for c in cards)
            told += [f"{short(tokens)} tokens"] if tokens else []
            told += [money(cost)] if cost else []
        return tag("p", " · ".join(told), class_="soft num about-all")

    def counted(self) -> str:
        """Count the lines of each state."""
        counts = self.explanation.counts
        tags = [
            tag(
                "span",
                f"{SIGNS[v]} ",
                tag("b", f"{counts[v]:,}"),
                f" {WORDS[v]}",
                class_=f"tag {CLASSES[v]}",
            )
            for v in counts
        ]
        point = self.explanation.point
        if point.response:
            where = f"as the reply on line {point.response} had them"
        else:
            where = "as the next request would have them"
        left = len(self.table) - len(self.lines)
        if left:
            where += f" · {count(left, 'line')} not in this export"
        total = tag("span", tag("b", f"{len(self.table):,}"), " lines", class_="num")
        shown = tag("span", where, class_="where", id="where")
        return str(tag("div", total, *tags, shown, class_="count")) + "\n"

    def _rows(self, page: Page, addresses: single.InFile) -> Iterator[str]:
        made = iter(self._made(page.lines, addresses))
        for run, lines in groupby(page.lines, self.runs.at):
            inside = list(lines)
            if run is None or len(inside) == 1:
                yield from (next(made) for _ in inside)
                continue
            yield single.fold(self.runs.fold(inside[0], inside[-1]))
            yield from (next(made) for _ in inside)
            yield single.FOLD_END

    def _made(self, lines: Sequence[int], addresses: single.InFile) -> list[str]:
        """Make the rows of lines; of many, half of them in another process."""
        had, teller = self.had, self.teller
        context = copy_context()
        context.run(COLOURS.set, NONE if self.pages else OPEN)

        def make(part: Sequence[int]) -> list[str]:
            return context.run(rows, part)

        def rows(part: Sequence[int]) -> list[str]:
            made = []
            for line in part:
                asked = single.asked(had[line]) if line in had else Markup()
                made.append(str(single.row(teller.row(line), addresses, asked)) + "\n")
            return made

        half = self._half(lines)
        child = _process.start(lambda: make(lines[half:])) if half else None
        if child is None:
            return make(lines)
        first, second = make(lines[:half]), _process.result(child)
        return first + (make(lines[half:]) if second is None else second)

    def _half(self, lines: Sequence[int]) -> int:
        """Find where half of the bytes of lines end; 0: they are made together."""
        sizes = [self.table.length(line) for line in lines]
        total, found = sum(sizes), 0
        if self.options.workers < 2 or total < _SPLIT:
            return 0
        for place, size in enumerate(sizes):
            found += size
            if 2 * found >= total:
                return place + 1
        return 0

    def _turn(self, page: Page) -> str:
        """Lead to the pages beside this one."""
        if not page.name:
            return ""
        place = self.pages.index(page)
        links = [tag("a", "All pages", href="index.html", class_="button")]
        if place:
            links.insert(0, tag("a", "← Before", href=self.pages[place - 1].name, class_="button"))
        if place + 1 < len(self.pages):
            links.append(tag("a", "Next →", href=self.pages[place + 1].name, class_="button"))
        return str(tag("nav", *links, class_="turn", aria_label="Pages")) + "\n"

    def _data(self, page: Page) -> str:
        """Give what the script puts the request of any reply of a page together from."""
        replies = self.replies
        value: dict[str, Any] = {"why": requested.reasons(), "total": len(self.table)}
        if not page.name:
            value["replies"], value["lines"] = replies, self.asked
            value["made"] = self.requested.made()
        else:
            shown = frozenset(page.lines)
            places = self.requested.places
            own = sorted(places[line] for line in page.lines if line in places)
            wanted = sorted({*own, *(replies[place][3] for place in own)} - {-1})
            value["replies"] = {place: replies[place] for place in wanted}
            near = self._neighbours.of(wanted, shown)
            value["lines"], value["far"] = near.rows, near.far
            known = {row[0] for row in value["lines"]}
            made = self.requested.made()
            of_page = [row for row in made["rows"] if known.issuperset(row[1])]
            value["made"] = {**made, "rows": of_page}
            value["pages"] = [[p.lines[0], p.name] for p in self.pages]
            value["briefs"] = {
                row[0]: self._brief(row[0]) for row in value["lines"] if row[0] not in shown
            }
        return str(island("requests", _json.encode(value).decode()))

    def _brief(self, line: int) -> list[str]:
        if line not in self._briefs:
            self._briefs[line] = one_line(excerpt(self.table, line), _BRIEF)
        return [single.who(Kind(self.table.kinds[line])), self._briefs[line]]


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give first and last of each run of neighbours."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        places = [number for _, number in run]
        yield places[0], places[-1]

"""A session as a file that stands alone: the rows of the local page without its server.

Styles, script and data are in the file, and its policy lets nothing else in. Without the script it
is read as it is: what is folded is `details`, and each reply tells the lines it had.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from pi_sessions.render import pages
from pi_sessions.render.figures import count, money, short
from pi_sessions.render.markup import EMPTY, Markup, Writer, escape, joined, plain, tag
from pi_sessions.render.rows import WHO
from pi_sessions.render.states import BY, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_sessions.render.branches import Branch
    from pi_sessions.render.cards import Card
    from pi_sessions.render.requested import Had
    from pi_sessions.render.rows import Row
    from pi_sessions.render.window import Fold
    from pi_sessions.table import Kind


class InFile:
    """The addresses of an exported file: places in it, or in another page of its folder.

    Args:
        page_of: names the file of a line; "" for the one that the address stands in.
        anchor: what stands before the number of a line in its place.
    """

    def __init__(self, page_of: Callable[[int], str] = lambda _: "", anchor: str = "L") -> None:
        self.page_of = page_of
        self.anchor = anchor

    def at(self, line: int) -> str:
        """What the model saw at the reply of a line."""
        return f"{self.page_of(line)}#at-{line}"

    def raw(self, line: int) -> str:
        """The place of a line: what is exported is not the file itself."""
        return self.line(line)

    def line(self, line: int) -> str:
        """The place of a line in the transcript."""
        return f"{self.page_of(line)}#{self.anchor}{line}"


@cache
def _static(name: str) -> str:
    return pages.static(name)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def head(title: str, *, styles: Sequence[str], script: str, kind: str) -> str:
    """Begin a file: its policy, its styles, its script.

    Args:
        title: what it is called.
        styles: style sheets of ours, by name.
        script: a script of ours, by name.
        kind: class of the body.
    """
    style = "".join(_static(name) for name in styles)
    code = _static(script)
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{_hash(style)}'; "
        f"script-src 'sha256-{_hash(code)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en" data-theme="auto">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" '
        f'content="no-referrer">\n<title>{escape(plain(title))}</title>\n'
        f'<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n'
        f'<body class="{kind}">\n<a class="skip" href="#main">Skip to the content</a>\n'
    )


def foot(script: str) -> str:
    """End a file; the script runs when all is there."""
    return f"<script>{_static(script)}</script>\n</body>\n</html>\n"


def who(kind: Kind) -> str:
    """Name who speaks in a line of a kind."""
    return WHO[kind]


def state(shown: State, addresses: InFile) -> Markup:
    """Tell a state: shape, word, reason, and the lines that explain it."""
    writer = Writer()
    writer.open("span", class_=f"tag {shown.letter}")
    writer.add(f"{shown.sign} {shown.word}")
    if shown.why:
        writer.add(f": {shown.why}")
    if shown.because:
        writer.add(f" {BY.get(shown.reason, 'see line')} ")
        for number, line in enumerate(shown.because):
            if number:
                writer.add(", ")
            writer.add(tag("a", str(line), href=addresses.line(line)))
    writer.close("span")
    return writer.done()


def row(item: Row, addresses: InFile, asked: Markup = EMPTY) -> Markup:
    """Show a line; `asked` tells what the model had, under a reply."""
    writer = Writer()
    if item.cut:
        writer.add(tag("div", tag("b", "Compaction"), " ", item.cut, class_="cut"))
    joins = " joined" if item.is_joined else ""
    named = f"row k-{item.kind} {item.state.letter}{joins}"
    number, place = str(item.line), f"{addresses.anchor}{item.line}"
    writer.open("article", class_=named, id=place)
    writer.add(tag("a", number, class_="ln", href=f"#{place}", aria_label=f"Line {number}"))
    writer.open("div", class_="card")
    writer.open("div", class_="meta")
    writer.add(tag("b", item.who, class_="who"))
    if item.about:
        writer.add(tag("span", item.about, class_="about"))
    writer.add(state(item.state, addresses))
    if item.label:
        writer.add(tag("span", item.label, class_="flag"))
    if item.kind == "aside":
        writer.add(tag("span", item.body, class_="aside"))
    if item.chips:
        writer.add(tag("span", " · ".join(item.chips), class_="chips num"))
    writer.close("div")
    writer.add(asked)
    if item.kind != "aside" and item.body:
        writer.add(tag("div", item.body, class_="body"))
    writer.close("div")
    writer.close("article")
    return writer.done()


RUNS = 12
"""Runs of lines that are told of one reply without the script."""


def asked(had: Had) -> Markup:
    """Tell which lines a reply had; the script shows the whole request in its place."""
    runs = [f"{first}–{last}" if last > first else str(first) for first, last in had.runs]
    is_all = not had.runs or had.runs[-1][1] == had.last
    more = "" if is_all else f", and more up to line {had.last}"
    words = tag("p", f"Told of {count(had.count, 'line')}: {', '.join(runs)}{more}")
    summary = tag("summary", "What did the model see here?", class_="ask")
    return tag("details", summary, words, class_="had")


def fold(item: Fold) -> str:
    """Begin a fold of neighbouring lines, told by what they have in common."""
    return f'<details class="folded" id="F{item.first}">{tag("summary", item.told)}'


FOLD_END = "</details>"


def tree(rows: Iterable[Branch], addresses: InFile) -> Markup:
    """Show rows of the tree."""
    return joined(
        tag(
            "a",
            tag("span", item.state.sign, class_="dot"),
            tag(
                "span",
                tag("span", item.who, class_="w"),
                f" {item.told} ",
                tag("span", item.label, class_="flag") if item.label else EMPTY,
                class_="told",
            ),
            class_=f"t l{item.level} {item.state.letter}{'' if item.is_live else ' off'}",
            href=addresses.line(item.line),
        )
        for item in rows
    )


_TOOLS, _FILES = 8, 6
"""Tools and files that are named on a card."""


def card(item: Card, number: int, addresses: InFile, shown: State | None) -> Markup:
    """Show a prompt with what it led to."""
    told = item.told or "Before the first prompt"
    first = tag("a", told, href=addresses.line(item.line), class_="asked") if item.line else told
    parts = [tag("p", tag("span", f"{number}", class_="n"), " ", first, class_="prompt")]
    if item.last:
        parts.append(tag("p", item.last, class_="led"))
    facts = [count(item.replies, "reply") if item.replies else "no reply"]
    tools = item.tools.most_common(_TOOLS)
    facts += [f"{n:,} {name}" for name, n in tools]
    if len(item.tools) > _TOOLS:
        facts.append(count(len(item.tools) - _TOOLS, "more tool"))
    if item.shells:
        facts.append(count(item.shells, "shell run"))
    chips = [tag("span", fact) for fact in facts]
    if item.failed:
        chips.append(tag("span", f"{item.failed:,} failed", class_="failed"))
    if shown and shown.letter != "s":
        chips.append(tag("span", f"{shown.sign} {shown.word}: {shown.why}", class_="tag n"))
    parts.append(tag("p", *chips, class_="facts"))
    if item.files:
        parts.append(_files(item.files))
    figures = [f"{short(item.tokens)} tokens"] if item.tokens else []
    figures += [money(item.cost)] if item.cost else []
    figures += _span(item.begun, item.ended)
    parts.append(tag("p", " · ".join(figures), class_="num figures"))
    return tag("li", *parts, class_="asks")


def _files(files: dict[str, int]) -> Markup:
    told: list[str] = ["changed "]
    for name, times in list(files.items())[:_FILES]:
        told.append(tag("code", name))
        told.append(f" ×{times} " if times > 1 else " ")
    if len(files) > _FILES:
        told.append(f"and {count(len(files) - _FILES, 'more file')}")
    return tag("p", *told, class_="files")


def _span(begun: str, ended: str) -> list[str]:
    """Tell when it began, and how long it took."""
    from datetime import datetime  # noqa: PLC0415 - start-up

    try:
        first, last = datetime.fromisoformat(begun), datetime.fromisoformat(ended)
        seconds = (last - first).total_seconds()
    except (ValueError, TypeError):
        return []
    told = [f"{first:%Y-%m-%d %H:%M}"]
    if seconds >= 1:
        hours, rest = divmod(int(seconds), 3600)
        minutes, rest = divmod(rest, 60)
        told.append(
            f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{rest} s"
        )
    return told

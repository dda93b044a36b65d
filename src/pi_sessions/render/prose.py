"""Markdown of people and models, with HTML as text and pictures told in words."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pi_sessions.render.code import highlighted
from pi_sessions.render.markup import Markup, Writer, is_link, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 100_000
"""Characters of a text that is read as Markdown; a longer one is shown as it is."""
_SIGNS = frozenset("*_`#[|~>-+\\<&=1234567890")


def prose(text: str) -> Markup:
    """Show a text that is Markdown."""
    if len(text) > LONGEST:
        return tag("p", text, class_="raw")
    if _SIGNS.isdisjoint(text) and "\n" not in text:
        return tag("p", text)
    writer = Writer()
    _walk(writer, _parser().parse(text))
    return writer.done()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - start-up

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.validateLink = is_link  # type: ignore[method-assign,assignment]
    return parser.enable(["table", "strikethrough"])


def _walk(writer: Writer, tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "inline":
            _walk(writer, token.children or ())
        elif token.nesting == 1:
            if not token.hidden:
                _open(writer, token)
        elif token.nesting == -1:
            if not token.hidden:
                writer.close(token.tag)
        else:
            _single(writer, token)


def _open(writer: Writer, token: Token) -> None:
    if token.tag == "a":
        address = str(token.attrs.get("href", ""))
        away = None if address.startswith(("#", "?")) else "noreferrer noopener nofollow"
        target = "_blank" if ":" in address else None
        link = address if is_link(address) else None
        writer.open("a", href=link, rel=away, target=target, title=address)
    elif token.tag in ("th", "td"):
        is_right = "right" in str(token.attrs.get("style", ""))
        writer.open(token.tag, class_="right" if is_right else None)
    elif token.tag == "ol" and "start" in token.attrs:
        writer.open("ol", start=str(token.attrs["start"])[:9])
    else:
        writer.open(token.tag)


def _single(writer: Writer, token: Token) -> None:
    match token.type:
        case "text" | "text_special" | "html_inline" | "html_block":
            writer.add(token.content)
        case "softbreak" | "hardbreak":
            writer.open("br")
        case "hr":
            writer.open("hr")
        case "code_inline":
            writer.add(tag("code", token.content))
        case "fence":
            language = token.info.strip().partition(" ")[0]
            writer.add(tag("pre", highlighted(token.content.removesuffix("\n"), language)))
        case "code_block":
            writer.add(tag("pre", token.content.removesuffix("\n")))
        case "image":
            address = str(token.attrs.get("src", ""))
            told = f"[picture: {token.content or 'no words'}]"
            link = address if is_link(address) else None
            rel = "noreferrer noopener nofollow"
            writer.add(tag("a", told, href=link, rel=rel, target="_blank", title=address))
        case _:
            writer.add(token.content)

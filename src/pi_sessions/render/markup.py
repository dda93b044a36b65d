"""The only module that marks a string as safe HTML.

A `Writer` puts elements and texts together: names of elements and attributes come from closed
lists, texts and values are escaped, links and pictures are checked. What it gives can be put into
a template; nothing else can.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from pi_sessions.excerpt import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["EMPTY", "Markup", "Writer", "escape", "is_link", "island", "joined", "plain", "tag"]

EMPTY = Markup()

_ELEMENTS = frozenset(
    {
        *(
            "a",
            "b",
            "blockquote",
            "br",
            "button",
            "code",
            "dd",
            "del",
            "details",
            "div",
            "dl",
            "dt",
        ),
        *(
            "em",
            "figure",
            "figcaption",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "i",
            "img",
            "ins",
        ),
        *("kbd", "li", "ol", "p", "pre", "s", "small", "span", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "th", "thead", "tr", "ul"),
        *("article", "nav", "section", "label", "input"),
        *("svg", "g", "path", "rect", "line", "circle", "text", "title"),
    }
)
_VOID = frozenset({"br", "hr", "img", "input"})
_NAME = re.compile(r"[a-z][a-zA-Z-]*\Z")
_LINKS = re.compile(r"(?:https?://|mailto:|(?![/\\]{2})[^:\\]*(?:[/?#]|\Z))", re.IGNORECASE)
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}\Z")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_HIDDEN = re.compile(
    "[\u00ad\u115f\u1160\u180e\u200b\u2028\u2029\u2060-\u206f\u3164\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Make every character of a text visible or harmless; lines and tabs stay."""
    if _UNSAFE.search(text) is None:
        return text
    return _HIDDEN.sub("\ufffd", "\t".join(map(safe, text.split("\t"))))


def is_link(address: str) -> bool:
    """Say whether an address may be followed: http, https, mailto, or relative."""
    return _UNSAFE.search(address) is None and _LINKS.match(address) is not None


def island(name: str, text: str) -> Markup:
    """Put a JSON text into a page as data: no browser runs it, and nothing in it ends it."""
    assert _NAME.match(name), f"{name!r} is no id"
    for sign in "<>&":
        # These signs stand in JSON within strings alone.
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json" id="{name}">{text}</script>')  # noqa: S704


def joined(parts: Iterable[Markup]) -> Markup:
    """Put pieces side by side."""
    return EMPTY.join(parts)


def tag(name: str, *children: str, **attributes: str | None) -> Markup:
    """Make one element; texts among the children are escaped, attributes that are None left out.

    An underscore in the name of an attribute is a hyphen, one at its end is nothing: `class_`.
    """
    writer = Writer()
    writer.open(name, **attributes)
    for child in children:
        writer.add(child)
    if name not in _VOID:
        writer.close(name)
    return writer.done()


class Writer:
    """Collects HTML."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def open(self, name: str, **attributes: str | None) -> None:
        """Open an element, or write one that has no content."""
        assert name in _ELEMENTS, f"the element {name!r} is not used here"
        parts = self._parts
        parts.append(f"<{name}")
        for key, value in attributes.items():
            if value is None:
                continue
            key = key.rstrip("_").replace("_", "-")  # noqa: PLW2901 - as it is written in HTML
            _check(key, value)
            parts.append(f' {key}="{escape(plain(value))}"')
        parts.append(">")

    def close(self, name: str) -> None:
        """Close an element."""
        assert name in _ELEMENTS, f"the element {name!r} is not used here"
        self._parts.append(f"</{name}>")

    def add(self, child: str) -> None:
        """Add a piece as it is, or a text, which is escaped and made visible."""
        self._parts.append(child if isinstance(child, Markup) else escape(plain(child)))

    def done(self) -> Markup:
        """Give what was collected."""
        return Markup("".join(self._parts))  # noqa: S704 - the one place; all parts are escaped


def _check(key: str, value: str) -> None:
    """Refuse attributes that could run something; they never hang on the content of a file."""
    assert _NAME.match(key), f"{key!r} is no attribute"
    assert not key.startswith("on"), f"{key!r} would run a script"
    assert key != "style", "styles stand in the style sheet"
    if key == "href":
        assert is_link(value), "links are checked before they are written"
    if key == "src":
        assert _DATA.match(value), "pictures are checked before they are written"

"""Putting foreign text into a Markdown document without letting it act as one.

What people and models wrote is Markdown already and stays it, inside a quote: there it can open
neither a heading nor a fence of ours, and what it leaves open ends with the quote. HTML and
pictures in it are told as text, so that no viewer runs or fetches anything; where that does not
come out as meant, the whole text is shown as code.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pi_sessions.excerpt import harmless, safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 200_000
"""Characters beyond which a text with angle brackets is shown as code without a closer look."""
_DEEPEST = 12
"""Levels of nesting beyond which the same holds."""
_SUSPECT = re.compile(r"<[A-Za-z/!?]|!\[")
_SIGNS = re.compile(r"([\\`*_\[\]<>#!|~&])")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_TICKS = re.compile("`+")


def plain(text: str) -> str:
    """Make a text harmless for a terminal; its lines and tabs stay."""
    return "\t".join(map(safe, text.split("\t")))


def escaped(text: str) -> str:
    """Give a text as one line in which no sign means anything to Markdown."""
    return _SIGNS.sub(r"\\\1", " ".join(harmless(text).split()))


def code(text: str) -> str:
    """Give a text as code within a line."""
    line = " ".join(harmless(text).split())
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Give a text as a block of code, whatever it holds."""
    body = plain(text).removesuffix("\n")
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def quoted(text: str) -> str:
    """Give a text as Markdown within a quote, or as code where that is not safe."""
    body = plain(text).strip("\n")
    if _SUSPECT.search(body) and (len(body) > LONGEST or _acts(_in_quote(body))):
        disarmed = _disarmed(body)
        is_safe = len(body) <= LONGEST and not _acts(_in_quote(disarmed))
        body = disarmed if is_safe else fenced(body, "text")
    return _in_quote(body)


def _in_quote(body: str) -> str:
    # What begins with a tab is code by itself, and none behind the sign of a quote.
    return "\n".join(f"> {line}" if line else ">" for line in body.split("\n"))


def _disarmed(text: str) -> str:
    """Put a backslash before what begins HTML or a picture, outside of what looks like code."""
    lines, in_code = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            line = _outside_code(line)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def _outside_code(line: str) -> str:
    done, start = [], 0
    for match in _CODE.finditer(line):
        done += [_SUSPECT.sub(r"\\\g<0>", line[start : match.start()]), match[0]]
        start = match.end()
    return "".join([*done, _SUSPECT.sub(r"\\\g<0>", line[start:])])


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _acts(text: str) -> bool:
    """Say whether a viewer would take part of a text for HTML or fetch a picture."""
    return any(_is_active(parser.parse(text)) for parser in _parsers())


@cache
def _parsers() -> tuple[MarkdownIt, ...]:
    # Where there are tables their bars cut through code, so both readings are asked.
    from markdown_it import MarkdownIt  # noqa: PLC0415 - start-up

    return MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table")


def _is_active(tokens: Iterable[Token]) -> bool:
    return any(
        token.type in ("html_block", "html_inline", "image")
        or token.level > _DEEPEST
        or _is_active(token.children or ())
        for token in tokens
    )

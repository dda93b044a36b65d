"""Text of a terminal: colours become classes, all other sequences are shown or left out."""

from __future__ import annotations

import re

from pi_sessions.render.markup import Markup, Writer

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)")
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "swap", 9: "strike"}
_ENDS = {22: ("bold", "dim"), 23: ("italic",), 24: ("under",), 27: ("swap",), 29: ("strike",)}
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_MOST = 2_000
"""Coloured stretches of one text; the rest of it is shown without."""


def has_colours(text: str) -> bool:
    """Say whether there is anything to do."""
    return "\x1b" in text


def coloured(text: str) -> Markup:
    """Show a text as a terminal would colour it; what would move or hide text is shown as signs."""
    writer, style, place = Writer(), _Style(), 0
    for count, found in enumerate(_SEQUENCE.finditer(text)):
        _put(writer, style, text[place : found.start()])
        place = found.end()
        if count > _MOST:
            style = _Style()
        elif found.group(1) is not None:
            style.apply(found.group(1))
    _put(writer, style, text[place:])
    return writer.done()


def _put(writer: Writer, style: _Style, text: str) -> None:
    if not text:
        return
    if classes := style.classes():
        writer.open("span", class_=classes)
        writer.add(text)
        writer.close("span")
    else:
        writer.add(text)


class _Style:
    """What the sequences so far add up to."""

    def __init__(self) -> None:
        self.marks: set[str] = set()
        self.ink = ""
        self.paper = ""

    def classes(self) -> str:
        named = [*sorted(self.marks)]
        named += [f"ink-{self.ink}"] if self.ink else []
        named += [f"paper-{self.paper}"] if self.paper else []
        return " ".join(f"t-{name}" for name in named)

    def apply(self, codes: str) -> None:
        numbers = [int(code[:4]) if code else 0 for code in re.split("[;:]", codes)]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.__init__()  # type: ignore[misc]
            elif number in _STYLES:
                self.marks.add(_STYLES[number])
            elif number in _ENDS:
                self.marks -= set(_ENDS[number])
            elif number in (38, 48):
                colour = _extended(numbers)
                if number == 38:
                    self.ink = colour
                else:
                    self.paper = colour
            else:
                self._named(number)

    def _named(self, number: int) -> None:
        tens, ones = divmod(number, 10)
        if ones < 8 and tens in (3, 9):
            self.ink = _NAMES[ones]
        elif ones < 8 and tens in (4, 10):
            self.paper = _NAMES[ones]
        elif number == 39:
            self.ink = ""
        elif number == 49:
            self.paper = ""


def _extended(numbers: list[int]) -> str:
    """Take a colour out of a table of 256, or of three parts, off the list; the nearest name."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:
        number = numbers.pop(0)
        if number < 16:
            return _NAMES[number % 8]
        if number >= 232:
            return "black" if number < 244 else "white"
        red, rest = divmod(number - 16, 36)
        return _nearest(red * 51, rest // 6 * 51, rest % 6 * 51)
    if kind == 2 and len(numbers) >= 3:
        parts = numbers[:3]
        del numbers[:3]
        return _nearest(*parts)
    return ""


def _nearest(red: int, green: int, blue: int) -> str:
    high = max(red, green, blue)
    bits = sum(1 << n for n, part in enumerate((red, green, blue)) if part > high * 0.6)
    return _NAMES[bits] if high > 40 else "black"

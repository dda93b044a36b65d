"""Edits of files as differences: what was taken out, what was put in."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from pi_sessions.render.markup import Markup, Writer, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 400
"""Lines up to which two texts are compared line by line; comparing takes their product."""
_AROUND = 2
"""Unchanged lines shown around a change."""


def edits_of(arguments: Any) -> list[tuple[str, str]]:
    """Give (old, new) of each replacement that the arguments of a tool call ask for."""
    if not isinstance(arguments, dict):
        return []
    found = []
    several = arguments.get("edits")
    for edit in [arguments, *(several if isinstance(several, list) else [])]:
        if not isinstance(edit, dict):
            continue
        for old, new in (("oldText", "newText"), ("old_string", "new_string")):
            if isinstance(edit.get(old), str) and isinstance(edit.get(new), str):
                found.append((edit[old], edit[new]))
    return found


def difference(old: str, new: str) -> Markup:
    """Show two texts as one, with the lines that went and those that came."""
    writer = Writer()
    for sign, lines in _pieces(old.split("\n"), new.split("\n")):
        if not lines:
            continue
        told = "\n".join(f"{sign} {line}" for line in lines) + "\n"
        match sign:
            case "-":
                writer.add(tag("del", told))
            case "+":
                writer.add(tag("ins", told))
            case _:
                writer.add(told)
    return tag("pre", writer.done(), class_="diff")


def _pieces(old: list[str], new: list[str]) -> Iterator[tuple[str, list[str]]]:
    if len(old) + len(new) > _LARGEST:
        yield "-", old
        yield "+", new
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            yield "-", old[a:b]
            yield "+", new[c:d]
        elif b - a <= 2 * _AROUND + 1:
            yield " ", old[a:b]
        else:
            yield " ", old[a : a + _AROUND]
            yield "⋮", [f"{b - a - 2 * _AROUND} lines as they were"]
            yield " ", old[b - _AROUND : b]

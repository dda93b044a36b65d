"""JSON with one value on each line; without recursion, for values of any depth."""

from __future__ import annotations

from typing import Any

from pi_sessions._json import dumps

_DEEPEST = 40
"""Levels that are indented; what lies deeper stands on one line."""


def pretty(value: Any, most: int = 400_000) -> str:
    """Write a JSON value over many lines; what is longer than `most` characters is cut."""
    parts: list[str] = []
    size = 0
    stack: list[Any] = [(0, "", value, "")]
    while stack and size < most:
        depth, key, inner, comma = stack.pop()
        pad = "  " * depth
        if key is None:
            told = f"{pad}{inner}{comma}\n"
        elif isinstance(inner, dict | list) and inner and depth < _DEEPEST:
            is_object = isinstance(inner, dict)
            told = f"{pad}{key}{'{' if is_object else '['}\n"
            stack.append((depth, None, "}" if is_object else "]", comma))
            rows = (
                [(f"{dumps(name)}: ", each) for name, each in inner.items()]
                if isinstance(inner, dict)
                else [("", each) for each in inner]
            )
            last = len(rows) - 1
            stack += [
                (depth + 1, name, each, "" if n == last else ",")
                for n, (name, each) in reversed(list(enumerate(rows)))
            ]
        else:
            told = f"{pad}{key}{dumps(inner)}{comma}\n"
        parts.append(told)
        size += len(told)
    text = "".join(parts)
    return text[:most] + ("…" if len(text) > most or stack else "")

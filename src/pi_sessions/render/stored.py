"""A stored line over many lines, as far as it is JSON."""

from __future__ import annotations

from pi_sessions import _json
from pi_sessions.render.code import highlighted
from pi_sessions.render.markup import Markup, tag
from pi_sessions.render.pretty import pretty

MOST = 200_000
"""Characters of a line that are shown; all of it can be kept as a file."""


def formatted(data: bytes) -> Markup | None:
    """Show the JSON of a line, one value to a row; None where it is none."""
    try:
        value = _json.loads(data)
    except _json.JSONError:
        return None
    return tag("pre", highlighted(pretty(value, MOST), "json"))

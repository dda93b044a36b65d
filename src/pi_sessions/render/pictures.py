"""Pictures of a session: shown only if their bytes are what they say, as a `data:` URL."""

from __future__ import annotations

import re
from typing import Any

from pi_sessions._javascript import string
from pi_sessions.render.markup import Markup, tag

LARGEST = 8_000_000
"""Characters of base64 beyond which a picture is told in words."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")
_BEGINS = {
    "image/png": "iVBORw0KGgo",
    "image/jpeg": "/9j/",
    "image/gif": "R0lGODdh|R0lGODlh",
    "image/webp": "UklGR",
}
"""How the base64 of each type begins."""


def picture(block: dict[str, Any]) -> Markup:
    """Show a picture, or say what stands there in its place."""
    kind, data = string(block.get("mimeType", "?")), block.get("data")
    text = data if isinstance(data, str) else ""
    size = len(text) * 3 // 4
    told = f"picture, {kind}, {size:,} bytes"
    is_sound = len(text) <= LARGEST and _BASE64.match(text) is not None
    if not is_sound or not text.startswith(tuple(_BEGINS.get(kind, "\0").split("|"))):
        return tag("p", f"[{told}: not shown, it is no checked picture]", class_="note")
    shown = tag("img", src=f"data:{kind};base64,{text}", alt=told, loading="lazy")
    return tag("figure", shown, tag("figcaption", told))

"""Which replies had a text in front of them: lines down, replies across, and why it stopped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_sessions.excerpt import one_line
from pi_sessions.render.sights import Sights, picture
from pi_sessions.web.views.shared import about, answer, opened_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_LONGEST = 400


def show(request: Request) -> Response:
    """Show where a text stands, and which replies had it."""
    opened = opened_of(request)
    words = request.query_params
    text = words.get("q", "")[:_LONGEST]
    is_regex, folds = "regex" in words, "fold" in words
    with opened.lock:
        view = view_of(opened)
        values: dict[str, Any] = about(opened, view, "saw")
        values |= {
            "text": text,
            "is_regex": is_regex,
            "folds": folds,
            "wrong": "",
            "sights": None,
            "addresses": view.addresses,
        }
        if text:
            try:
                values["sights"] = _sights(opened, text, is_regex=is_regex, folds=folds)
            except re.error as error:
                values["wrong"] = f"This is no regular expression: {one_line(str(error), 200)}."
        return answer(request, "seen.html", **values)


def _sights(opened: Any, text: str, *, is_regex: bool, folds: bool) -> Sights:
    key = f"sights {is_regex} {folds} {text}"
    if key not in opened.kept:
        pattern: Any = text
        if is_regex or folds:
            flags = re.IGNORECASE if folds else 0
            pattern = re.compile(text if is_regex else re.escape(text), flags)
        found = opened.session.look_for(pattern, visibility=opened.visibility())
        opened.keep(key, picture(opened.session, found))
    sights: Sights = opened.kept[key]
    return sights

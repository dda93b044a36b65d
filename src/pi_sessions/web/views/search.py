"""A text in the open session and in all of the store."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from pi_sessions import finding
from pi_sessions.errors import SessionError
from pi_sessions.excerpt import one_line
from pi_sessions.web.views.shared import answer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.catalog import Catalog

PATIENCE = 8.0
"""Seconds after which what was found so far is shown, with a way to go on."""
AT_ONCE = 0.4
"""The same for the palette, which asks again with every letter."""
_MOST = 200
"""Finds on one page."""


def show(request: Request) -> Response:
    """Show what was found; `?part=json` gives it to the palette."""
    words = request.query_params
    text, key = words.get("q", "").strip()[:400], words.get("in", "")
    is_part, is_regex = words.get("part") == "json", "regex" in words
    catalog: Catalog = request.app.state.catalog
    query = finding.Query(text, is_regex=is_regex)
    found = _Found(text)
    try:
        query.pattern()
    except re.error as error:
        found.wrong = f"This is no regular expression: {one_line(str(error), 200)}."
    if text and not found.wrong:
        patience = AT_ONCE if is_part else PATIENCE
        _look(catalog, query, key, found, patience, everywhere=not is_part)
    if is_part:
        return JSONResponse({"sessions": found.titles[:8], "lines": found.lines[:20]})
    return answer(
        request,
        "search.html",
        text=text,
        is_regex=is_regex,
        within=key,
        found=found,
        shown=found.lines[:_MOST],
    )


class _Found:
    """What was found so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.wrong = ""
        self.titles: list[dict[str, str]] = []
        self.lines: list[dict[str, Any]] = []
        self.looked, self.files = 0, 0
        self.unread: list[str] = []

    @property
    def is_whole(self) -> bool:
        """Whether every file was looked at."""
        return self.looked == self.files


def _look(
    catalog: Catalog,
    query: finding.Query,
    key: str,
    found: _Found,
    patience: float,
    *,
    everywhere: bool,
) -> None:
    """Look at the open session first, then at titles, then at all other files."""
    end = time.monotonic() + patience
    listed = catalog.look()
    zone = catalog.site.zone
    listed.sort(key=lambda each: (each.key != key, -each.file.modified))
    found.files = len(listed) if everywhere else sum(each.key == key for each in listed)
    pattern = (
        query.pattern() if query.is_regex else re.compile(re.escape(query.text), re.IGNORECASE)
    )
    for each in listed:
        title = catalog.title(each)
        if pattern.search(title) or pattern.search(each.found.id):
            place = {"url": f"/session/{each.key}", "cwd": one_line(each.found.cwd or "", 80)}
            found.titles.append({"title": one_line(title, 120), **place})
    for each in listed if everywhere else [each for each in listed if each.key == key]:
        if time.monotonic() > end or len(found.lines) >= _MOST:
            return
        try:
            hits = finding.find(str(each.found.path), query, zone)
        except SessionError as error:
            found.unread.append(one_line(str(error), 200))
            hits = []
        found.looked += 1
        hits.sort(key=lambda hit: -hit.score)
        title = one_line(catalog.title(each), 80) if hits else ""
        for hit in hits[:_MOST]:
            url = f"/session/{each.key}?line={hit.line}#L{hit.line}"
            row = {"line": hit.line, "excerpt": one_line(hit.excerpt, 220), "url": url}
            who = hit.role or hit.where
            found.lines.append(row | {"title": title, "who": who, "key": each.key})

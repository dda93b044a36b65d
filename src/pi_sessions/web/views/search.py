"""A text in the open session and in all of the store."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from pi_sessions import finding, index
from pi_sessions.errors import SessionError
from pi_sessions.excerpt import one_line
from pi_sessions.web.views.shared import answer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.catalog import Catalog, Listed

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

    def name(self, catalog: Catalog, listed: list[Listed], query: finding.Query) -> None:
        """Take the sessions whose name or id has the text."""
        pattern = query.pattern()
        for each in listed:
            title = catalog.title(each)
            if pattern.search(title) or pattern.search(each.found.id):
                place = {"url": f"/session/{each.key}", "cwd": one_line(each.found.cwd or "", 80)}
                self.titles.append({"title": one_line(title, 120), **place})

    @property
    def is_full(self) -> bool:
        """Whether there are as many finds as a page takes."""
        return len(self.lines) >= _MOST

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
    """Look at titles, into the open session, then into all others, with the index where it can."""
    end = time.monotonic() + patience
    listed = catalog.look()
    listed.sort(key=lambda each: (each.key != key, -each.file.modified))
    found.name(catalog, listed, query)
    meant = listed if everywhere else [each for each in listed if each.key == key]
    found.files = len(meant)
    by_path = {each.file.path: each for each in meant}
    cache, zone = catalog.site.cache, catalog.site.zone
    place = {path: number for number, path in enumerate(by_path)}
    hits: dict[str, list[finding.Hit]] = {}
    rest = [each.file for each in meant]
    if everywhere and cache is not None:
        told, rest = index.known(cache, rest, query, zone, _MOST)
        for hit in told:
            hits.setdefault(hit.path, []).append(hit)
        rest.sort(key=lambda file: place[file.path])
        found.looked = len(meant) - len(rest)
    for file in rest:
        if time.monotonic() > end or sum(map(len, hits.values())) >= _MOST:
            break
        try:
            told = finding.find(file.path, query, zone)
        except SessionError as error:
            found.unread.append(one_line(str(error), 200))
            told = []
        found.looked += 1
        if told:
            hits[file.path] = sorted(told, key=lambda hit: -hit.score)[:_MOST]
    # The open session first, then whose best find is best, then what was written last.
    order = {path: (by_path[path].key != key, -hits[path][0].score, place[path]) for path in hits}
    for path in sorted(hits, key=order.__getitem__):
        found.lines += [_row(catalog, by_path[path], hit) for hit in hits[path]]


def _row(catalog: Catalog, listed: Listed, hit: finding.Hit) -> dict[str, Any]:
    return {
        "line": hit.line,
        "excerpt": one_line(hit.excerpt, 220),
        "url": f"/session/{listed.key}?line={hit.line}#L{hit.line}",
        "title": one_line(catalog.title(listed), 80),
        "who": hit.role or hit.where,
        "key": listed.key,
    }

"""All sessions of the store, by project, those written last first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pi_sessions.excerpt import one_line
from pi_sessions.web.views.shared import answer, number, site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.summary import Summary
    from pi_sessions.web.catalog import Catalog, Listed

PAGE = 100
"""Sessions on one page."""
SORTS = {
    "written": "written last",
    "created": "newest",
    "size": "largest",
    "cost": "dearest",
    "messages": "longest",
}
"""The orders, and what they are called."""
_READS = ("cost", "messages", "created")
"""Orders that need every session to be read."""


def show(request: Request) -> Response:
    """Show a page of the list."""
    catalog: Catalog = request.app.state.catalog
    words = request.query_params
    project, text = words.get("project", ""), words.get("text", "").strip()[:200]
    sort = words.get("sort", "written")
    sort = sort if sort in SORTS else "written"
    listed = catalog.listed()
    projects = _projects(listed)
    if project:
        listed = [each for each in listed if (each.found.cwd or "") == project]
    if text:
        listed = [each for each in listed if _holds(catalog, each, text.casefold())]
    listed = _sorted(catalog, listed, sort)
    first = min(number(request, "from"), max(len(listed) - 1, 0)) // PAGE * PAGE
    shown = [(each, catalog.summary(each)) for each in listed[first : first + PAGE]]
    kept = {"project": project, "text": text, "sort": sort}
    return answer(
        request,
        "sessions.html",
        groups=_groups(shown),
        count=len(listed),
        first=first,
        end=first + len(shown),
        previous=_address(kept, first - PAGE) if first else "",
        following=_address(kept, first + PAGE) if first + PAGE < len(listed) else "",
        projects=projects,
        project=project,
        text=text,
        sort=sort,
        sorts=SORTS,
        names=catalog.names(),
        root=one_line(str(site_of(request).root or ""), 200),
    )


def _address(kept: dict[str, str], first: int) -> str:
    words = {key: value for key, value in kept.items() if value and value != "written"}
    return f"/sessions?{urlencode(words | ({'from': str(first)} if first > 0 else {}))}"


def _projects(listed: Sequence[Listed]) -> list[tuple[str, int]]:
    """Count the sessions of each project."""
    counts: dict[str, int] = {}
    for each in listed:
        cwd = each.found.cwd or ""
        counts[cwd] = counts.get(cwd, 0) + 1
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def _holds(catalog: Catalog, each: Listed, text: str) -> bool:
    """Say whether the words that stand in the list hold a text."""
    if text in each.found.id.casefold() or text in (each.found.cwd or "").casefold():
        return True
    summary = catalog.summary(each)
    if summary is None:
        return False
    return text in f"{summary.name or ''}\n{summary.first_message}".casefold()


def _sorted(catalog: Catalog, listed: Sequence[Listed], sort: str) -> list[Listed]:
    if sort in _READS:
        read = [(each, catalog.summary(each)) for each in listed]
        keyed = [(each, _key(summary, sort)) for each, summary in read]
        return [each for each, _ in sorted(keyed, key=lambda pair: pair[1], reverse=True)]
    if sort == "size":
        return sorted(listed, key=lambda each: -each.size)
    return sorted(listed, key=lambda each: -each.written)


def _key(summary: Summary | None, sort: str) -> Any:
    if summary is None:
        return "" if sort == "created" else 0
    keys = {"cost": summary.cost, "messages": summary.message_count, "created": summary.created}
    return keys[sort] or ("" if sort == "created" else 0)


def _groups(
    shown: Sequence[tuple[Listed, Summary | None]],
) -> list[tuple[str, list[tuple[Listed, Summary | None]]]]:
    """Put sessions of one project together, in the order of the first of each."""
    groups: dict[str, list[tuple[Listed, Summary | None]]] = {}
    for each, summary in shown:
        groups.setdefault(each.found.cwd or "", []).append((each, summary))
    return list(groups.items())

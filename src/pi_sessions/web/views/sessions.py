"""All sessions of the store, by project, those written last first, forks under what they are of."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec

from pi_sessions._javascript import date_value
from pi_sessions.excerpt import one_line
from pi_sessions.usage import day_of
from pi_sessions.web.views.shared import answer, number, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.summary import Summary
    from pi_sessions.web.catalog import Catalog, Listed

    Test = Callable[[Listed, Summary], bool]

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
_NESTED = ("written", "created")
"""Orders in which forks stand under what they were forked from."""
_WORDS = ("project", "text", "model", "since", "until", "named", "health", "sort")
_DEEPEST = 5


class Line(msgspec.Struct, frozen=True):
    """A session as the list shows it."""

    key: str
    id: str
    summary: Summary | None
    """None for one that cannot be read any more."""
    cwd: str
    size: int
    """Bytes of the file."""
    level: int
    """0, or how many sessions above it on the page it was forked from."""
    parent: str
    """Key of the session it was forked from, where that is here."""
    is_fork: bool


def show(request: Request) -> Response:
    """Show a page of the list."""
    catalog: Catalog = request.app.state.catalog
    asked = {name: request.query_params.get(name, "").strip()[:200] for name in _WORDS}
    asked["sort"] = asked["sort"] if asked["sort"] in SORTS else "written"
    everything = catalog.look()
    listed = everything
    if asked["project"]:
        listed = [each for each in listed if (each.found.cwd or "") == asked["project"]]
    if tests := _tests(asked, site_of(request).zone):
        known = catalog.summaries(listed)
        listed = [
            each
            for each in listed
            if each.key in known and all(test(each, known[each.key]) for test in tests)
        ]
    ordered = _ordered(catalog, listed, asked["sort"])
    first = min(number(request, "from"), max(len(ordered) - 1, 0)) // PAGE * PAGE
    page = ordered[first : first + PAGE]
    summaries = catalog.summaries([each for each, _ in page])
    keys = _keys(everything)
    lines = [_line(each, level, summaries.get(each.key), keys) for each, level in page]
    return answer(
        request,
        "sessions.html",
        groups=_groups(lines),
        count=len(ordered),
        first=first,
        end=first + len(page),
        previous=_address(asked, first - PAGE) if first else "",
        following=_address(asked, first + PAGE) if first + PAGE < len(ordered) else "",
        projects=_projects(everything),
        asked=asked,
        is_filtered=any(asked[name] for name in _WORDS if name != "sort"),
        has_more=any(asked[name] for name in ("model", "since", "until", "named", "health")),
        sorts=SORTS,
        root=one_line(str(site_of(request).root or ""), 200),
    )


def _address(asked: Mapping[str, str], first: int) -> str:
    words = {key: value for key, value in asked.items() if value and value != "written"}
    return f"/sessions?{urlencode(words | ({'from': str(first)} if first > 0 else {}))}"


def _projects(listed: Iterable[Listed]) -> list[tuple[str, int]]:
    """Count the sessions of each project."""
    counts: dict[str, int] = {}
    for each in listed:
        cwd = each.found.cwd or ""
        counts[cwd] = counts.get(cwd, 0) + 1
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def _tests(asked: Mapping[str, str], zone: tzinfo) -> list[Test]:
    """Give what a session must pass that can only be told from its summary."""
    found: list[Test] = []
    if text := asked["text"].casefold():
        found.append(lambda each, summary: _holds(each, summary, text))
    if model := asked["model"].casefold():
        found.append(lambda _, summary: any(model in name.casefold() for name in summary.models))
    if since := asked["since"]:
        found.append(lambda _, summary: _day(summary, zone) >= since)
    if until := asked["until"]:
        found.append(lambda _, summary: _day(summary, zone) <= until)
    if asked["named"]:
        found.append(lambda _, summary: summary.name is not None)
    if asked["health"]:
        found.append(lambda _, summary: summary.defects > 0)
    return found


def _day(summary: Summary, zone: tzinfo) -> str:
    return day_of(date_value(summary.modified, UTC), zone)


def _holds(each: Listed, summary: Summary, text: str) -> bool:
    """Say whether the words that stand in the list hold a text."""
    words = (each.found.id, each.found.cwd or "", summary.name or "", summary.first_message)
    return text in "\n".join(words).casefold()


def _ordered(catalog: Catalog, listed: Sequence[Listed], sort: str) -> list[tuple[Listed, int]]:
    """Put sessions in order, each with its level."""
    if sort == "size":
        return [(each, 0) for each in sorted(listed, key=lambda each: -each.file.size)]
    if sort == "written":
        ordered = sorted(listed, key=lambda each: -each.file.modified)
    else:
        known = catalog.summaries(listed)
        keyed = [(_key(known.get(each.key), sort), each) for each in listed]
        ordered = [each for _, each in sorted(keyed, key=lambda pair: pair[0], reverse=True)]
    return _nested(ordered) if sort in _NESTED else [(each, 0) for each in ordered]


def _key(summary: Summary | None, sort: str) -> Any:
    if sort == "created":
        return (summary.created if summary else None) or ""
    if summary is None:
        return 0
    return summary.cost if sort == "cost" else summary.message_count


def _nested(ordered: Sequence[Listed]) -> list[tuple[Listed, int]]:
    """Put forks under what they were forked from; the whole stands where its first one would."""
    keys = _keys(ordered)
    named = {each.key: each for each in ordered}
    above: dict[str, str] = {}
    below: dict[str, list[Listed]] = {}
    for each in ordered:
        parent = keys.get(each.parent, "")
        # Those of another project stand in their own one.
        if parent and named[parent].found.cwd == each.found.cwd and parent != each.key:
            above[each.key] = parent
            below.setdefault(parent, []).append(each)
    done: set[str] = set()
    found: list[tuple[Listed, int]] = []
    for each in ordered:
        top, climbed = each.key, {each.key}
        while top in above and above[top] not in climbed:  # sessions may claim to be in a circle
            top = above[top]
            climbed.add(top)
        waiting = [(named[top], 0)]
        while waiting:
            one, level = waiting.pop()
            if one.key not in done:
                done.add(one.key)
                found.append((one, min(level, _DEEPEST)))
                waiting += [(child, level + 1) for child in reversed(below.get(one.key, ()))]
    return found


def _keys(listed: Iterable[Listed]) -> dict[str, str]:
    """Give keys by file name."""
    return {each.name: each.key for each in listed}


def _line(each: Listed, level: int, summary: Summary | None, keys: Mapping[str, str]) -> Line:
    parent = keys.get(each.parent, "")
    cwd, size = each.found.cwd or "", each.file.size
    return Line(each.key, each.found.id, summary, cwd, size, level, parent, bool(each.parent))


def _groups(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Put sessions of one project together, in the order of the first of each."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.cwd, []).append(line)
    return list(groups.items())

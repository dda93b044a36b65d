"""What the sessions of the store cost: by day, model, project and kind; what was copied, once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pi_sessions import index, store
from pi_sessions.excerpt import one_line
from pi_sessions.usage import Again, Copies, Row, Totals, added_up
from pi_sessions.web.views.shared import answer, site_of
from pi_sessions.web.views.usage import lost, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.summary import Summary
    from pi_sessions.web.catalog import Catalog, Listed
    from pi_sessions.web.site import Site

_DEAREST = 12


def show(request: Request) -> Response:
    """Show tokens and money of all sessions, or of those of a project."""
    catalog: Catalog = request.app.state.catalog
    site, project = site_of(request), request.query_params.get("project", "")[:400]
    listed = catalog.look()
    projects = sorted({each.found.cwd or "" for each in listed})
    if project:
        listed = [each for each in listed if (each.found.cwd or "") == project]
    sums, copies = _added(site, listed)
    return answer(
        request,
        "spending.html",
        total=_total(row for row, _ in sums),
        tables=[
            ("Day", shares(_by(sums, lambda row, _: row.day or "no time"), by_name=True)),
            ("Model", shares(_by(sums, lambda row, _: row.model or "tools and summaries"))),
            ("Project", shares(_by(sums, lambda _, each: each.found.cwd or "no directory"))),
            ("Kind", shares(_by(sums, lambda row, _: row.kind))),
        ],
        again=lost(_again(sums)),
        dearest=_dearest(catalog, sums),
        copies=copies,
        count=len(listed),
        projects=projects,
        project=project,
        root=one_line(str(site.root or ""), 200),
    )


def _added(site: Site, listed: Sequence[Listed]) -> tuple[list[tuple[Row, Listed]], Copies]:
    """Give the rows of each session, entries that several have in the oldest alone."""
    related = _related(listed)
    by_path = {each.file.path: each for each in listed}
    reads = list(_reads(site, [each.file for each in listed], related))
    # Names begin with the time a session was made.
    reads.sort(key=lambda read: (by_path[read.file.path].name, read.file.path))
    copies, sums = Copies(), []
    for read in reads:
        if read.summary is not None:
            rows = read.summary.rows
            if read.spent is not None:
                rows = added_up(copies.without(read.spent), site.zone)
            sums += [(row, by_path[read.file.path]) for row in rows]
    return sums, copies


def _reads(
    site: Site, files: Sequence[store.StoredFile], singly: Container[str]
) -> Iterator[store.Read]:
    if site.cache is None:
        return store.read_all(files, site.zone, singly=singly)
    return index.summaries([site.cache], files, site.zone, singly=singly)


def _related(listed: Sequence[Listed]) -> set[str]:
    """Say which files may share entries: forks, what they came from, and files of one id."""
    ids = Counter(each.found.id for each in listed)
    parents = {each.parent for each in listed}
    return {
        each.file.path
        for each in listed
        if each.parent or each.name in parents or ids[each.found.id] > 1
    }


def _by(sums: Sequence[tuple[Row, Listed]], key: Callable[[Row, Listed], str]) -> dict[str, Totals]:
    found: dict[str, Totals] = {}
    for row, each in sums:
        found.setdefault(key(row, each), Totals()).add(row.totals)
    return found


def _total(rows: Iterator[Row]) -> Totals:
    total = Totals()
    for row in rows:
        total.add(row.totals)
    return total


def _again(sums: Sequence[tuple[Row, Listed]]) -> dict[str, Again]:
    found: dict[str, Again] = {}
    for row, _ in sums:
        for why, again in row.again.items():
            found.setdefault(why, Again()).add(again)
    return found


def _dearest(catalog: Catalog, sums: Sequence[tuple[Row, Listed]]) -> list[dict[str, Any]]:
    """Give the sessions that cost most, each without what it has copied."""
    totals: dict[str, Totals] = {}
    listed: dict[str, Listed] = {}
    for row, each in sums:
        totals.setdefault(each.key, Totals()).add(row.totals)
        listed[each.key] = each
    most = sorted(totals, key=lambda key: -totals[key].cost)[:_DEAREST]
    known = catalog.summaries([listed[key] for key in most])
    return [{"key": key, "title": _title(known.get(key), key), "row": totals[key]} for key in most]


def _title(summary: Summary | None, key: str) -> str:
    said = (summary.name or summary.first_message) if summary else ""
    return one_line(said or key, 90)

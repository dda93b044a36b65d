"""What an audit found: the report on the left, findings and the session lines on the right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from pi_sessions.excerpt import one_line
from pi_sessions.export.html_audit import findings_side, report_side
from pi_sessions.render.addresses import OnPage
from pi_sessions.render.markup import joined
from pi_sessions.web.views.shared import answer, site_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.render.markup import Markup
    from pi_sessions.web.catalog import Catalog
    from pi_sessions.web.opened import Opened
    from pi_sessions.web.site import Audited


def show(request: Request) -> Response:
    """Show the audit this run was started with."""
    audited = site_of(request).audited
    if audited is None:
        raise HTTPException(404, "This page was started without a report to audit.")
    opened = _opened(request.app.state.catalog, audited)
    values = {
        "name": one_line(audited.result.report, 120),
        "report": report_side(audited.result, audited.report),
        "findings": _findings(audited, opened),
        "sessions": [(number, f"#S{number}") for number, _ in enumerate(opened, 1)],
    }
    return answer(request, "audit.html", **values)


def _opened(catalog: Catalog, audited: Audited) -> list[Opened]:
    """Open the sessions of an audit, in its order.

    Raises:
        HTTPException: one is not there any more.
    """
    opened = []
    for path in audited.result.sessions:
        key = catalog.key_of(Path(path))
        found = catalog.open(key) if key else None
        if found is None:
            raise HTTPException(404, f"This session is not there any more: {one_line(path, 200)}")
        opened.append(found)
    return opened


def _findings(audited: Audited, opened: list[Opened]) -> Markup:
    def open_at(number: int, line: int) -> str:
        one = opened[number - 1]
        return OnPage(one.key, one.session.table).line(line)

    if not opened:
        return joined(findings_side(audited.result, []))
    first = opened[0]
    with first.lock:
        # It hangs on all of the sessions; what is appended to them changes no finding.
        if "audit" not in first.kept:
            parts = findings_side(audited.result, [one.session for one in opened], open_at)
            first.keep("audit", joined(parts))
        found: Markup = first.kept["audit"]  # type: ignore[assignment]
        return found

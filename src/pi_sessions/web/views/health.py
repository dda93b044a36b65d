"""What is wrong with the file, what it does to the next request, and the command that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.repair.catalogue import REMEDIES, command
from pi_sessions.web.views.shared import about, answer, opened_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.opened import Opened

_MOST = 300
"""Findings and stretches that are shown; more are counted."""


def show(request: Request) -> Response:
    """Show the findings of `check`, and who wrote the file."""
    opened = opened_of(request)
    with opened.lock:
        view = view_of(opened)
        found = opened.checked()
        stretches = opened.session.writers()
        values: dict[str, Any] = about(opened, view, "health")
        values |= {
            "found": [_row(opened, item) for item in found[:_MOST]],
            "more": max(0, len(found) - _MOST),
            "addresses": view.addresses,
            "path": str(opened.path),
            "version": opened.session.version,
            "release": view.explanation.point.rules.release,
            "stretches": stretches[:_MOST],
            "more_stretches": max(0, len(stretches) - _MOST),
        }
        return answer(request, "health.html", **values)


def _row(opened: Opened, item: Any) -> dict[str, Any]:
    remedy = REMEDIES[item.code]
    entry = opened.session.table.ids[item.line]
    return {
        "item": item,
        "remedy": remedy,
        "command": command(remedy, str(opened.path), entry, item.line),
    }

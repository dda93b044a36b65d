"""What all views of a session have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.render import pages
from pi_sessions.table import Kind
from pi_sessions.web.guard import form_token

if TYPE_CHECKING:
    from starlette.requests import Request

    from pi_sessions.web.opened import Opened, View
    from pi_sessions.web.site import Site


def site_of(request: Request) -> Site:
    """Give what this run shows."""
    site: Site = request.app.state.site
    return site


def theme_of(request: Request) -> str:
    """Give the theme that was chosen on the page: `dark`, `light`, or `auto`."""
    theme = request.cookies.get("pi_sessions_theme", "")
    return theme if theme in ("dark", "light") else "auto"


def opened_of(request: Request) -> Opened:
    """Open the session of an address.

    Raises:
        HTTPException: there is none.
    """
    opened: Opened | None = request.app.state.catalog.open(request.path_params["key"])
    if opened is None:
        raise HTTPException(404, "There is no session of this id here.")
    return opened


def view_of(opened: Opened, where: str = "", named: str = "") -> View:
    """Give the point of an address.

    Raises:
        HTTPException: there is no such entry, or it is no reply.
    """
    point = opened.point(where, named)
    if point is None:
        what = "reply of the model" if where == "at" else "entry"
        raise HTTPException(404, f"There is no {what} of this id in the session.")
    return opened.view(point)


def number(request: Request, name: str) -> int:
    """Give a whole number of the query, 0 where there is none."""
    text = request.query_params.get(name, "")
    return int(text[:9]) if text.isascii() and text.isdigit() else 0


def answer(request: Request, template: str, **values: Any) -> Response:
    """Fill a template with what every page has."""
    site = site_of(request)
    shared = {
        "theme": theme_of(request),
        "has_store": site.root is not None,
        "form_token": form_token(site.token),
        "can_write": not site.is_read_only,
    }
    return HTMLResponse(pages.page(template, **(shared | values)))


def about(opened: Opened, view: View | None, tab: str) -> dict[str, Any]:
    """Give what the head of each page of a session tells."""
    session = opened.session
    base = f"/session/{opened.key}"
    suffix = opened.suffix(view.point) if view else ""
    return {
        "base": base,
        "suffix": suffix,
        "tab": tab,
        "title": one_line(session.name or first_words(opened) or session.id, 80),
        "cwd": one_line(session.cwd or "", 80),
        "name": session.name or "",
        "lines": len(session.table),
        "replies": len(session.responses),
        "tabs": _tabs(base, suffix),
    }


def _tabs(base: str, suffix: str) -> list[tuple[str, str, str]]:
    """Give key, name and address of each view; those of a point stay at it."""
    return [
        ("transcript", "Transcript", base),
        ("at", "What the model saw", f"{base}{suffix or '/next'}"),
        ("saw", "Saw it?", f"{base}/saw"),
        ("prompt", "Prompt", f"{base}/prompt{suffix}"),
        ("usage", "Usage", f"{base}/usage"),
        ("health", "Health", f"{base}/health"),
    ]


def first_words(opened: Opened) -> str:
    """Give the first thing the user said, in few words."""
    if "first words" not in opened.kept:
        line = next(opened.session.table.of_kind(Kind.USER), 0)
        opened.kept["first words"] = excerpt(opened.session.table, line) if line else ""
    return str(opened.kept["first words"])

"""The routes of the local page."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pi_sessions.errors import SessionError, WriteRefusedError
from pi_sessions.excerpt import one_line
from pi_sessions.render import pages
from pi_sessions.web.catalog import Catalog
from pi_sessions.web.guard import Guard
from pi_sessions.web.site import Site
from pi_sessions.web.views import (
    actions,
    audit,
    health,
    live,
    prompt,
    raw,
    search,
    seen,
    sessions,
    spending,
    transcript,
    usage,
)
from pi_sessions.web.views.shared import theme_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

_TYPES = {
    "page.css": "text/css",
    "views.css": "text/css",
    "audit.css": "text/css",
    "page.js": "text/javascript",
    "steps.js": "text/javascript",
}


def create_app(site: Site) -> ASGIApp:
    """Make the page as an application of ASGI."""
    routes = [
        Route("/", _first),
        Route("/static/{name}", _static),
        Route("/session/{key}", transcript.show),
        Route("/session/{key}/at/{entry}", transcript.show_at),
        Route("/session/{key}/next", transcript.show_next),
        Route("/session/{key}/next/{entry}", transcript.show_next),
        Route("/session/{key}/reply", transcript.go),
        Route("/session/{key}/saw", seen.show),
        Route("/session/{key}/prompt", prompt.show),
        Route("/session/{key}/prompt/at/{entry}", prompt.show_at),
        Route("/session/{key}/prompt/next/{entry}", prompt.show_next),
        Route("/session/{key}/usage", usage.show),
        Route("/session/{key}/health", health.show),
        Route("/session/{key}/raw/{line:int}", raw.show),
        Route("/session/{key}/raw/{line:int}/bytes", raw.download),
        Route("/session/{key}/live", live.show),
        Route("/session/{key}/name", actions.rename, methods=["POST"]),
        Route("/session/{key}/label/{entry}", actions.label, methods=["POST"]),
        Route("/sessions", sessions.show),
        Route("/search", search.show),
        Route("/usage", spending.show),
        Route("/audit", audit.show),
    ]
    app = Starlette(
        routes=routes, exception_handlers={HTTPException: _not_found, SessionError: _failed}
    )
    app.state.catalog = Catalog(site)
    app.state.site = site
    app.state.listeners = 0
    app.state.stopping = None
    Thread(target=_prepare, args=(app.state.catalog, site), daemon=True).start()
    return Guard(app, site.token, site.authorities, f"pi_sessions_{site.port}")


def _prepare(catalog: Catalog, site: Site) -> None:
    """Read the session that is shown first while the browser is still on its way."""
    with suppress(SessionError, OSError):
        key = catalog.key_of(site.session) if site.session else None
        opened = catalog.open(key) if key else None
        pages.prepare()
        if opened is not None:
            opened.prepare()


def _first(request: Request) -> Response:
    site: Site = request.app.state.site
    if site.audited:
        return RedirectResponse("/audit", 303)
    if site.session:
        key = request.app.state.catalog.key_of(site.session)
        return RedirectResponse(f"/session/{key}", 303)
    return RedirectResponse("/sessions", 303)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return _not_found(request, Exception())
    return Response(pages.static(name), media_type=_TYPES[name])


def _not_found(request: Request, error: Exception) -> Response:
    code = getattr(error, "status_code", 404)
    told = getattr(error, "detail", "")
    if told in ("", "Not Found"):
        told = "There is nothing at this address."
    return _told(request, told, code)


def _failed(request: Request, error: Exception) -> Response:
    told = one_line(str(error), 400)
    return _told(request, told, 409 if isinstance(error, WriteRefusedError) else 500)


def _told(request: Request, told: str, code: int) -> Response:
    values = {"theme": theme_of(request), "has_store": request.app.state.site.root is not None}
    return HTMLResponse(pages.page("error.html", told=told, **values), code)

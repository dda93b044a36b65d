"""What may be written from the page: the name of a session, and the label of an entry.

Both append one line through the writer, as the commands do. A form holds a token of this run, and
the guard has checked that it comes from this page.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from pi_sessions.render.addresses import line_of
from pi_sessions.web.guard import form_token
from pi_sessions.web.views.shared import opened_of, site_of
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.opened import Opened

LONGEST = 400
"""Characters of a name or a label."""
_MOST = 16_384
"""Bytes of a form."""


async def rename(request: Request) -> Response:
    """Name the session; a blank name takes it away."""
    words = await _words(request)
    name = words.get("name", "").strip()
    return await run_in_threadpool(_rename, request, name)


async def label(request: Request) -> Response:
    """Label an entry; a blank label takes it away."""
    words = await _words(request)
    told = words.get("label", "").strip()
    return await run_in_threadpool(_label, request, told)


async def _words(request: Request) -> dict[str, str]:
    """Read a form of this page.

    Raises:
        HTTPException: nothing may be written, or it is no form of this page.
    """
    site = site_of(request)
    if site.is_read_only:
        raise HTTPException(403, "Only looking is allowed: this page was started so.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "This is no form of this page.")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST:
            raise HTTPException(413, "This is longer than any form of this page.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise HTTPException(400, "This is no form of this page.") from None
    words = dict(pairs)
    given = words.pop("form", "").encode()
    if not hmac.compare_digest(given, form_token(site.token).encode()):
        raise HTTPException(403, "This form is not of this run of the page: load the page again.")
    if any(len(value) > LONGEST for value in words.values()):
        raise HTTPException(400, f"That is longer than {LONGEST} characters.")
    return words


def _rename(request: Request, name: str) -> Response:
    opened = opened_of(request)
    if name or opened.session.name:
        _write(opened, lambda writer: writer.append_name(name))
    return RedirectResponse(f"/session/{request.path_params['key']}", 303)


def _label(request: Request, told: str) -> Response:
    opened = opened_of(request)
    table = opened.session.table
    line = line_of(table, request.path_params["entry"])
    entry = table.ids[line] if line and table.is_entry(line) else None
    if not isinstance(entry, str):
        raise HTTPException(404, "There is no entry of this id that could have a label.")
    _write(opened, lambda writer: writer.append_label(entry, told or None))
    return RedirectResponse(f"/session/{request.path_params['key']}/raw/{line}", 303)


def _write(opened: Opened, append: Callable[[SessionWriter], str]) -> None:
    """Append a line.

    Raises:
        WriteRefusedError: it cannot be, and nothing was written.
    """
    with opened.lock, SessionWriter.open(opened.path) as writer:
        append(writer)

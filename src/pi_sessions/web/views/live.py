"""What happens to an open session, as it happens: server-sent events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from pi_sessions import _json
from pi_sessions.errors import SessionError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.opened import Opened

_PATIENCE = 1000
"""Milliseconds after which the file is looked at though nothing told of a change."""
_MOST = 24
"""Pages that may listen at once."""


async def show(request: Request) -> Response:
    """Tell how many lines there are, again whenever that changes."""
    state = request.app.state
    opened = await run_in_threadpool(state.catalog.open, request.path_params["key"])
    if opened is None:
        raise HTTPException(404, "There is no session of this id here.")
    if state.listeners >= _MOST:
        raise HTTPException(503, "Too many pages listen already.")
    stream = _events(request, opened)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _events(request: Request, opened: Opened) -> AsyncIterator[str]:
    from watchfiles import awatch  # noqa: PLC0415 - only where somebody listens

    state = request.app.state
    state.listeners += 1
    try:
        told = ""
        path = opened.path.resolve()
        async for _ in awatch(
            path.parent,
            watch_filter=lambda _, changed: changed == str(path),
            debounce=100,
            step=30,
            rust_timeout=_PATIENCE,
            yield_on_timeout=True,
            recursive=False,
            stop_event=state.stopping,
        ):
            if await request.is_disconnected():
                return
            now = await run_in_threadpool(_told, opened)
            if now != told:
                yield f"data: {now}\n\n"
            else:
                yield ": nothing new\n\n"
            told = now
    except asyncio.CancelledError:
        return
    finally:
        state.listeners -= 1


def _told(opened: Opened) -> str:
    try:
        opened.refresh()
    except SessionError:
        return _json.dumps({"gone": True})
    with opened.lock:
        session = opened.session
        return _json.dumps({"lines": len(session.table), "replies": len(session.responses)})

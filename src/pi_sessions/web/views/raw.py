"""One line as it is stored: formatted, and byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from pi_sessions import _json
from pi_sessions.render import states
from pi_sessions.render.addresses import handle
from pi_sessions.render.dump import dump
from pi_sessions.render.rows import WHO
from pi_sessions.render.stored import formatted
from pi_sessions.table import Kind
from pi_sessions.web.views.shared import about, answer, number, opened_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BYTES = 2048
"""Bytes that are shown at once."""


def show(request: Request) -> Response:
    """Show a line; `?at=N` shows its bytes from the Nth on."""
    opened = opened_of(request)
    with opened.lock:
        table, line = opened.session.table, int(request.path_params["line"])
        if not 0 < line <= len(table):
            raise HTTPException(404, f"The session has {len(table):,} lines.")
        view = view_of(opened)
        data = table.bytes(line)
        first = min(number(request, "at"), max(0, len(data) - 1)) // 16 * 16
        values: dict[str, Any] = about(opened, view, "raw")
        values |= {
            "line": line,
            "can_label": table.is_entry(line) and isinstance(table.ids[line], str),
            "label": opened.session.labels.get(table.ids[line]) or "",
            "handle": handle(table, line),
            "who": WHO[Kind(table.kinds[line])],
            "state_": states.state_of(view.explanation, line),
            "by": states.BY,
            "addresses": view.addresses,
            "offset": table.offsets[line],
            "length": len(data),
            "has_newline": table.offsets[line + 1] - table.offsets[line] > len(data),
            "formatted": formatted(data),
            "dump": dump(data[first : first + BYTES], first),
            "first": first,
            "shown": BYTES,
            "found": [item for item in opened.checked() if item.line == line],
        }
        return answer(request, "raw.html", **values)


def download(request: Request) -> Response:
    """Give the bytes of a line, as a file to keep."""
    from starlette.responses import Response  # noqa: PLC0415 - the type is checked above

    opened = opened_of(request)
    with opened.lock:
        table, line = opened.session.table, int(request.path_params["line"])
        if not 0 < line <= len(table):
            raise HTTPException(404, f"The session has {len(table):,} lines.")
        data = table.bytes(line)
    try:
        _json.loads(data)
        kind = "json"
    except _json.JSONError:
        kind = "txt"
    headers = {"content-disposition": f'attachment; filename="line-{line}.{kind}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)

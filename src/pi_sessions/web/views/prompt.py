"""The prompt at a point: sections and tools in force, each with its line, and how it came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.prompt import added_tools, content_text, removed_tools, section_changes
from pi_sessions.render import blocks, states
from pi_sessions.render.figures import clock
from pi_sessions.table import Kind
from pi_sessions.web.views.shared import about, answer, opened_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.web.opened import Opened, View

_MOST = 400
"""Patches that are listed; of more, the last."""


def show(request: Request) -> Response:
    """Show the prompt of the next request."""
    return _show(request, "", "")


def show_at(request: Request) -> Response:
    """Show the prompt a reply had."""
    return _show(request, "at", request.path_params["entry"])


def show_next(request: Request) -> Response:
    """Show the prompt of the request after an entry."""
    return _show(request, "next", request.path_params["entry"])


def _show(request: Request, where: str, named: str) -> Response:
    opened = opened_of(request)
    with opened.lock:
        view = view_of(opened, where, named)
        prompt = opened.session.prompt(**view.point.words(opened.session))
        patches = _patches(opened, view)
        values: dict[str, Any] = about(opened, view, "prompt")
        values |= {
            "prompt": prompt,
            "point": view.point,
            "addresses": view.addresses,
            "tools": [
                (blocks.declaration(tool), prompt.tool_lines.get(tool["name"]))
                for tool in prompt.tools
            ],
            "patches": patches[-_MOST:],
            "more": max(0, len(patches) - _MOST),
            "long_text": blocks.long_text,
        }
        return answer(request, "prompt.html", **values)


def _patches(opened: Opened, view: View) -> list[dict[str, Any]]:
    """Give what each system message on the way to the point set and removed."""
    table = opened.session.table
    found = []
    for line in view.explanation.point.path:
        if table.kinds[line] not in (Kind.SYSTEM, Kind.COMPACTION):
            continue
        entry = table.raw(line)
        is_checkpoint = table.kinds[line] == Kind.COMPACTION
        message = entry.get("systemMessage" if is_checkpoint else "message")
        if not isinstance(message, dict):
            continue
        changes = section_changes(message)
        found.append(
            {
                "line": line,
                "is_checkpoint": is_checkpoint,
                "time": " ".join(clock(entry.get("timestamp"))),
                "state": states.state_of(view.explanation, line),
                "has_text": bool(content_text(message.get("content"))),
                "set": [name for name, text in changes.items() if text is not None],
                "removed": [name for name, text in changes.items() if text is None],
                "added": [str(tool["name"]) for tool in added_tools(message)],
                "taken": removed_tools(message),
            }
        )
    return found

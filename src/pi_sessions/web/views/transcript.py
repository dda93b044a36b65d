"""The session: its tree, its transcript, and what the model had at one of its replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from pi_sessions.context.message import Verdict
from pi_sessions.render import states
from pi_sessions.render.saw import Point
from pi_sessions.render.strip import place_of
from pi_sessions.render.window import Window, window
from pi_sessions.web.views.shared import about, answer, number, opened_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pi_sessions.render.saw import Saw
    from pi_sessions.web.opened import Opened, View

_TREE = 140
"""Rows of the tree on one page."""
_LETTERS = "scn"
_ABOVE = 4
"""Rows above a line that was asked for."""
_FIRST, _LAST = 14, 70
"""Blocks of a request that are shown without being asked for: the first and the last of them."""


def show(request: Request) -> Response:
    """Show the session as the next request would have it."""
    return _show(request, "", "", panel=False)


def show_at(request: Request) -> Response:
    """Show it as a reply had it."""
    return _show(request, "at", request.path_params["entry"], panel=True)


def show_next(request: Request) -> Response:
    """Show what would be sent after an entry, or after the last."""
    named = request.path_params.get("entry", "")
    return _show(request, "next" if named else "", named, panel=True)


def go(request: Request) -> Response:
    """Go to a reply by its number, as the slider does."""
    opened = opened_of(request)
    with opened.lock:
        replies = opened.session.responses
        if not replies:
            raise HTTPException(404, "The session has no reply.")
        wanted = min(max(number(request, "n"), 1), len(replies))
        address = opened.view(Point()).addresses.at(replies[wanted - 1].line)
        is_step = request.query_params.get("part") == "step"
        return RedirectResponse(f"{address}?part=step" if is_step else address, 303)


def _show(request: Request, where: str, named: str, *, panel: bool) -> Response:
    opened = opened_of(request)
    with opened.lock, opened.session.table.remembering():
        view = view_of(opened, where, named)
        shown = _shown(request)
        line = number(request, "line") or view.point.response or view.point.leaf
        rows = _rows(request, opened, view, shown, line)
        values = about(opened, view, "at" if panel else "transcript")
        values |= _point(opened, view, shown)
        values |= {"window": rows, "line": line}
        part = request.query_params.get("part")
        if part in ("rows", "count"):
            return answer(request, f"{part}.html", **values)
        if part == "strip":
            return answer(request, "strip.html", **values, **_strip(opened, values["place"]))
        if part != "blocks":
            values |= _tree(request, opened, view, line or rows.last)
        if part == "tree":
            return answer(request, "tree.html", **values)
        in_full = "open" in request.query_params
        values["saw"] = opened.saw(view.point, in_full=in_full) if panel else None
        values["is_brief"] = bool(view.point.response) and opened.is_large and not in_full
        # The picture of a very long session is drawn when the page already stands.
        is_later = opened.is_long and "strip" not in request.query_params
        values |= _LATER if is_later or part == "step" else _strip(opened, values["place"])
        if panel:
            values |= _blocks(request, values["saw"])
        return answer(request, "blocks.html" if part == "blocks" else "session.html", **values)


_LATER = {"strip": None, "strip_at": 0, "strip_later": True}


def _strip(opened: Opened, place: int) -> dict[str, Any]:
    drawn = opened.strip()
    at = place_of(drawn, place) if drawn and place else 0
    return {"strip": drawn, "strip_at": at, "strip_later": False}


def _shown(request: Request) -> str:
    """Give the states that are shown; all of them if none is named."""
    asked = request.query_params.get("show", _LETTERS)
    return "".join(letter for letter in _LETTERS if letter in asked) or _LETTERS


def _rows(request: Request, opened: Opened, view: View, shown: str, line: int) -> Window:
    runs, teller = opened.runs(view, shown), view.teller
    first, last = number(request, "from"), number(request, "to")
    is_open = number(request, "open")
    if last:
        return window(teller, runs, last=last, open_at=is_open)
    if first:
        return window(teller, runs, first=first, open_at=is_open)
    if not line:
        return window(teller, runs)
    # A point stands at the bottom of what led to it; a line that was asked for, near the top.
    if line in (view.point.response, view.point.leaf):
        return window(teller, runs, last=min(line + 1, len(teller.table)), open_at=line)
    return window(teller, runs, first=max(1, line - _ABOVE), open_at=is_open or line)


def _point(opened: Opened, view: View, shown: str) -> dict[str, Any]:
    """Give the counter, and where the point is among the replies."""
    replies = [entry.line for entry in opened.session.responses]
    reply = view.point.response
    place = replies.index(reply) + 1 if reply in replies else 0
    addresses = view.addresses
    return {
        "counts": _counts(view, shown),
        "shown": shown,
        "point": view.point,
        "place": place,
        "previous": addresses.at(replies[place - 2]) if place > 1 else "",
        "following": addresses.at(replies[place]) if 0 < place < len(replies) else "",
        "last_reply": addresses.at(replies[-1]) if replies else "",
        "addresses": addresses,
        "by": states.BY,
        "why": states.WHY,
    }


def _counts(view: View, shown: str) -> list[dict[str, Any]]:
    """Give each state with its count, and which would be shown after a click on it."""
    counts = view.explanation.counts
    found = []
    for verdict in Verdict:
        letter = states.CLASSES[verdict]
        toggled = "".join(x for x in _LETTERS if (x in shown) != (x == letter))
        found.append(
            {
                "letter": letter,
                "sign": states.SIGNS[verdict],
                "word": states.WORDS[verdict],
                "count": counts[verdict],
                "is_shown": letter in shown,
                "toggled": toggled or _LETTERS,
            }
        )
    return found


def _tree(request: Request, opened: Opened, view: View, line: int) -> dict[str, Any]:
    shape = opened.shape(view)
    first, end = shape.near(line, _TREE)
    if asked := number(request, "tree"):
        first = min(asked - 1, max(0, len(shape.lines) - 1))
        end = min(len(shape.lines), first + _TREE)
    return {
        "tree": shape.rows(view.teller, view.explanation, first, end),
        "tree_first": first,
        "tree_end": end,
        "tree_size": len(shape.lines),
        "tree_left_out": shape.left_out,
        "tree_before": max(1, first - _TREE + 1),
    }


def _blocks(request: Request, saw: Saw) -> dict[str, Any]:
    """Give the blocks to show, those in the middle of a long request left out and counted."""
    blocks = list(enumerate(saw.blocks, 1))
    head, tail = blocks, []
    if start := number(request, "block"):
        head = blocks[start - 1 : start - 1 + _FIRST + _LAST]
    elif len(blocks) > _FIRST + _LAST:
        head, tail = blocks[:_FIRST], blocks[-_LAST:]
    before = head[0][0] - 1 if head else 0
    after = len(blocks) - head[-1][0] if head and not tail else 0
    return {
        "head": head,
        "tail": tail,
        "skipped_before": before,
        "skipped": tail[0][0] - head[-1][0] - 1 if tail else after,
        "came": frozenset(saw.difference.came) if saw.difference else frozenset(),
        "changed": frozenset(saw.difference.changed) if saw.difference else frozenset(),
        "first_skipped": head[-1][0] + 1 if head else 1,
    }

"""What can be wrong with one line, told in words; the reading of lines asks, and reports it."""

from __future__ import annotations

from typing import Any

from pi_sessions import _json
from pi_sessions._javascript import trim


def no_header(value: Any) -> str | None:
    """Say why the first JSON value of a file is no header, None if it is one."""
    if not isinstance(value, dict):
        return f"its first JSON value is {named(value)}, not a header"
    if value.get("type") != "session":
        kind = value.get("type")
        told = f"of type {kind!r}" if isinstance(kind, str) else "without a type"
        return f"its first entry is {told}, and a header must come first"
    if not isinstance(value.get("id"), str):
        return "its header has no id" if "id" not in value else "the id of its header is no text"
    return None


def is_blank(body: bytes) -> bool:
    """Say whether a line is blank to JavaScript's trim; most lines are told by their start."""
    return not trim(body[:64].decode("utf-8", "ignore")) and not trim(
        body.decode("utf-8", "replace")
    )


def named(value: object) -> str:
    """Name the kind of a JSON value that is no object."""
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def invalid_utf8(data: bytes) -> int | None:
    """Find the first byte that does not belong to UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def second_object(data: bytes) -> int | None:
    """Find where a whole entry begins inside a broken line, looking at the last few candidates."""
    end = len(data)
    for _ in range(8):
        end = data.rfind(b'{"type":', 0, end)
        if end <= 0 or b"{" not in data[:end]:
            return None
        try:
            value = _json.loads(data[end:].removesuffix(b"\n"))
        except _json.JSONError:
            continue
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            return end
    return None

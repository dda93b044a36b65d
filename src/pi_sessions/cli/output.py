"""Writing to standard output: one JSON document, or lines for a person."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def write_json(document: Any) -> None:
    """Write a document of JSON values as they were read, ints and texts, and a newline."""
    sys.stdout.buffer.write(_json.encode(document) + b"\n")


def write_rows(head: dict[str, Any], key: str, rows: Iterable[dict[str, Any]]) -> None:
    """Write a document with one long list of our own rows in it, row by row.

    Args:
        head: the document; `head[key]` marks the place of the list.
        key: name of the list.
        rows: plain rows without lone surrogates.
    """
    before = _json.dumps({**head, key: "\x00"})
    start, end = before.split('"\\u0000"')
    out, encode = sys.stdout.buffer, msgspec.json.encode
    out.write(start.encode() + b"[")
    separator = b""
    for row in rows:
        out.write(separator + encode(row))
        separator = b","
    out.write(b"]" + end.encode() + b"\n")


def console(*, color: bool = True) -> Console:
    """Make the console for a person: plain in a pipe, with NO_COLOR and --no-color."""
    from rich.console import Console  # noqa: PLC0415 - start-up: rich costs as much as the work

    plain = not color or "NO_COLOR" in os.environ
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "0") or 0) or 120
    return Console(
        no_color=plain, highlight=False, markup=False, emoji=False, width=width, soft_wrap=False
    )

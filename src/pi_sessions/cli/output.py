"""Writing to standard output: one JSON document, or lines for a person."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, _process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def write_json(document: Any) -> None:
    """Write a document of JSON values as they were read, ints and texts, and a newline."""
    sys.stdout.buffer.write(_json.encode(document) + b"\n")


def write_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table as CSV; a text that a spreadsheet would take for a formula is quoted for it."""
    import csv  # noqa: PLC0415 - start-up

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([f"'{cell}" if is_formula(cell) else cell for cell in row])


def is_formula(cell: object) -> bool:
    """Say whether a spreadsheet takes a cell for a formula."""
    return isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))


MANY = 20_000
"""Rows from which on a second process writes half of them."""


def write_rows(
    head: dict[str, Any], key: str, rows: Callable[[int, int], Iterable[dict[str, Any]]], count: int
) -> None:
    """Write a document with one long list of our own rows in it.

    Args:
        head: the document; `head[key]` marks the place of the list.
        key: name of the list.
        rows: gives the rows from one number up to, not with, another.
        count: how many rows there are.
    """
    items = list(head.items())
    place = [name for name, _ in items].index(key)
    start = _json.dumps({**dict(items[:place]), key: 0}).removesuffix("0}")
    rest = _json.dumps(dict(items[place + 1 :])).removeprefix("{")
    end = rest if rest == "}" else "," + rest
    half = count // 2 if count > MANY and (os.cpu_count() or 1) > 1 else count
    second = _process.start(lambda: b"".join(_encoded(rows(half, count)))) if half < count else None
    out = sys.stdout.buffer
    out.write(start.encode() + b"[")
    first = True
    for row in _encoded(rows(0, half)):
        out.write(row[1:] if first else row)
        first = False
    if half < count:
        done = _process.result(second) if second else None
        out.write(b"".join(_encoded(rows(half, count))) if done is None else done)
    out.write(b"]" + end.encode() + b"\n")


def _encoded(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Encode rows, each behind a comma."""
    encode = msgspec.json.encode
    for row in rows:
        try:
            yield b"," + encode(row)
        except (TypeError, ValueError):  # a lone surrogate, a number of a form of its own
            yield b"," + _json.encode(row)

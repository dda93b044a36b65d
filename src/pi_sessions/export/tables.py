"""A table of a session as CSV or Parquet."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from pi_sessions.export.sheets import INTEGER, NUMBER, SHEETS, TEXT, TRUTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.export.options import Options
    from pi_sessions.export.sheets import Cell, Row, Sheet
    from pi_sessions.session import Session

BATCH = 10_000
"""Rows that are written together."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Buffer:
    """A file for those who write to one; what they wrote can be taken out."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._size = 0
        self.closed = False

    def write(self, part: Any) -> int:
        self._parts.append(part if isinstance(part, str) else bytes(part))
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True

    def take(self) -> list[Any]:
        parts, self._parts = self._parts, []
        return parts


def as_csv(session: Session, options: Options) -> Iterator[bytes]:
    """Give a table as CSV in UTF-8, with a row of names first.

    A text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    sheet = SHEETS[options.table]
    buffer = _Buffer()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(sheet.columns)
    for row in sheet.rows(session, options):
        writer.writerow(map(_told, row))
        yield "".join(buffer.take()).encode("utf-8", "replace")
    yield "".join(buffer.take()).encode("utf-8", "replace")


def _told(cell: Cell) -> Cell:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return "'" + cell
    return cell


def as_parquet(session: Session, options: Options) -> Iterator[bytes]:
    """Give a table as Parquet.

    Raises:
        ImportError: pyarrow is not installed (`pip install pi-sessions[parquet]`).
    """
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    kinds = {INTEGER: pa.int64(), NUMBER: pa.float64(), TEXT: pa.string(), TRUTH: pa.bool_()}
    sheet = SHEETS[options.table]
    schema = pa.schema([(name, kinds[kind]) for name, kind in sheet.columns.items()])
    buffer = _Buffer()
    with parquet.ParquetWriter(pa.PythonFile(buffer, "w"), schema, compression="zstd") as writer:
        for rows in _batches(sheet, session, options):
            columns = zip(*rows, strict=True)
            arrays = [
                pa.array([_clean(cell) for cell in column], kinds[kind])
                for column, kind in zip(columns, sheet.columns.values(), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield b"".join(buffer.take())
    yield b"".join(buffer.take())


def _batches(sheet: Sheet, session: Session, options: Options) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for row in sheet.rows(session, options):
        rows.append(row)
        if len(rows) == BATCH:
            yield rows
            rows = []
    if rows:
        yield rows


def _clean(cell: Cell) -> Cell:
    """Put a question mark in the place of a lone surrogate, which is in no encoding."""
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell

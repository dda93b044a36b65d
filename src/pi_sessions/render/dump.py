"""Bytes as a person reads them: sixteen to a row, beside their characters."""

from __future__ import annotations

_WIDTH = 16


def dump(data: bytes, first: int = 0) -> str:
    """Write bytes in rows of offset, hexadecimal digits and printable ASCII.

    Args:
        data: the bytes.
        first: offset of the first of them.
    """
    rows = []
    for start in range(0, len(data), _WIDTH):
        part = data[start : start + _WIDTH]
        digits = f"{part[:8].hex(' ')}  {part[8:].hex(' ')}"
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        rows.append(f"{first + start:08x}  {digits:<48}  {shown}")
    return "\n".join(rows)

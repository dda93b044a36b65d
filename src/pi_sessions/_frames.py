"""A session in zstandard frames: how its bytes are packed, and how they are read without unpacking.

A packed file is a head (what the file was, as JSON in a skippable frame), frames of a few megabytes
each, and the seek table of zstandard's seekable format. Any program that knows zstandard unpacks
it; with the table, a part of the session is read by unpacking one or two frames.
"""

from __future__ import annotations

import json
import struct
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import zstandard

from pi_sessions._lines import BytesSource, FileSource, split
from pi_sessions.errors import UnreadableError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from pi_sessions._lines import Source

SUFFIX = ".zst"
"""How names of packed files end."""
FRAME = 4 << 20
"""Bytes of the session in one frame."""
LEVEL = 6
_HEAD_MAGIC = 0x184D2A5D
_TABLE_MAGIC = 0x184D2A5E
_END_MAGIC = 0x8F92EAB1
_SKIPPABLE = struct.Struct("<II")
_ROW = struct.Struct("<II")
_FOOTER = struct.Struct("<IBI")
_LARGEST_HEAD = 1 << 20
_LARGEST_FRAME = 64 << 20
"""A frame of more bytes is not unpacked by itself."""
_KEPT = 3
"""Frames that are kept unpacked."""
_MORE_AT_ONCE = 2048
"""Packed bytes that are unpacked at once where it is not known to how many; 64 MB at the worst."""
_LONGEST_START = 18
"""Bytes in which a frame states its size."""
_PLAIN = 256 << 20
_RATIO = 1000


def _limit(packed: int) -> int:
    """Give how many bytes a packed file may unpack to; a session comes to a tenth, not less."""
    return _PLAIN + _RATIO * packed


def packed(chunks: Iterable[bytes], head: dict[str, Any], level: int = LEVEL) -> Iterator[bytes]:
    """Pack the bytes of a session; the same bytes and head always give the same.

    Args:
        chunks: its bytes.
        head: JSON to put in front of them.
        level: of the compression, 1 to 19.
    """
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True)
    told = json.dumps(head).encode()
    yield _SKIPPABLE.pack(_HEAD_MAGIC, len(told)) + told
    rows = [_ROW.pack(_SKIPPABLE.size + len(told), 0)]
    for block in _blocks(chunks):
        frame = compressor.compress(block)
        rows.append(_ROW.pack(len(frame), len(block)))
        yield frame
    table = b"".join(rows) + _FOOTER.pack(len(rows), 0, _END_MAGIC)
    yield _SKIPPABLE.pack(_TABLE_MAGIC, len(table)) + table


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut bytes anew, so that how they came makes no difference."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) >= FRAME:
            yield bytes(waiting[:FRAME])
            del waiting[:FRAME]
    if waiting:
        yield bytes(waiting)


def open_packed(path: str | os.PathLike[str]) -> Source:
    """Open a packed file to read what is in it.

    One with a seek table is read frame by frame; any other one is unpacked into memory.

    Raises:
        UnreadableError: it cannot be read, is damaged, or would unpack to far more than a session.
    """
    file = FileSource(path)
    rows = _table(file)
    return _whole(file) if rows is None else FramesSource(file, rows)


def head_of(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read what a packed file says of itself; None where it says nothing.

    Raises:
        UnreadableError: it cannot be read.
    """
    file = FileSource(path)
    if file.size < _SKIPPABLE.size:
        return None
    magic, length = _SKIPPABLE.unpack(file.read(0, _SKIPPABLE.size))
    if magic != _HEAD_MAGIC or length > min(_LARGEST_HEAD, file.size - _SKIPPABLE.size):
        return None
    try:
        value = json.loads(file.read(_SKIPPABLE.size, length))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class FramesSource:
    """The bytes in a packed file, unpacked frame by frame as they are asked for."""

    def __init__(self, file: FileSource, rows: list[tuple[int, int]]) -> None:
        self.name = file.name
        self.file = file
        self._starts = [0, *accumulate(packed for packed, _ in rows)]
        self._offsets = [0, *accumulate(size for _, size in rows)]
        self.size = self._offsets[-1]
        self._unpacked: OrderedDict[int, bytes] = OrderedDict()
        if self.size > _limit(file.size):
            raise _too_much(file, self.size)

    def lines(self) -> Iterator[bytes]:
        """Give each line with its newline, in order."""
        return split(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """Give all bytes, a frame at a time."""
        return (self._frame(number) for number in range(len(self._starts) - 1))

    def read(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset."""
        parts = []
        number = bisect_right(self._offsets, offset) - 1
        end = min(offset + length, self.size)
        while offset < end:
            start = offset - self._offsets[number]
            part = self._frame(number)[start : start + end - offset]
            parts.append(part)
            offset += len(part)
            number += 1
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _frame(self, number: int) -> bytes:
        found = self._unpacked.get(number)
        if found is not None:
            self._unpacked.move_to_end(number)
            return found
        start, size = self._starts[number], self._offsets[number + 1] - self._offsets[number]
        data = self.file.read(start, self._starts[number + 1] - start) if size else b""
        try:
            # The size a frame states is what is allocated for it.
            if size and zstandard.frame_content_size(data) != size:
                raise _damaged(self.file, start, "a frame is not of the size the seek table has")
            unpacked = zstandard.ZstdDecompressor().decompress(data) if size else b""
        except zstandard.ZstdError as error:
            raise _damaged(self.file, start, str(error)) from None
        self._unpacked[number] = unpacked
        if len(self._unpacked) > _KEPT:
            self._unpacked.popitem(last=False)
        return unpacked


def _table(file: FileSource) -> list[tuple[int, int]] | None:
    """Read the seek table: packed and unpacked bytes of each frame; None where there is none."""
    place = file.size - _FOOTER.size
    if place < _SKIPPABLE.size:
        return None
    count, flags, magic = _FOOTER.unpack(file.read(place, _FOOTER.size))
    length = count * _ROW.size + _FOOTER.size
    start = file.size - length - _SKIPPABLE.size
    if magic != _END_MAGIC or flags or start < 0:
        return None
    table = file.read(start, file.size - start)
    if _SKIPPABLE.unpack_from(table) != (_TABLE_MAGIC, length):
        return None
    rows = list(_ROW.iter_unpack(table[_SKIPPABLE.size : -_FOOTER.size]))
    fits = sum(row[0] for row in rows) == start and all(row[1] <= _LARGEST_FRAME for row in rows)
    return rows if fits else None


def _whole(file: FileSource) -> BytesSource:
    """Unpack all of a file that another program packed, as far as is sensible."""
    limit = _limit(file.size)
    parts: list[bytes] = []
    size = place = 0
    rest = b""
    while place < file.size or rest:
        if len(rest) < _LONGEST_START:
            more = file.read(place, min(_LONGEST_START - len(rest), file.size - place))
            rest, place = rest + more, place + len(more)
        stated = _stated(file, rest, place - len(rest))
        if size + max(stated, 0) > limit:
            raise _too_much(file, size + stated)
        frame, begin = zstandard.ZstdDecompressor().decompressobj(), size
        while not frame.eof:
            if not rest:
                rest = file.read(place, min(_MORE_AT_ONCE, file.size - place))
                place += len(rest)
            if not rest:
                raise _damaged(file, file.size, "it ends within a frame")
            try:
                parts.append(frame.decompress(rest))
            except zstandard.ZstdError as error:
                raise _damaged(file, place - len(rest), str(error)) from None
            size += len(parts[-1])
            rest = b""
            if size > limit or (stated >= 0 and size - begin > stated):
                raise _too_much(file, size)
        rest = frame.unused_data
    return BytesSource(b"".join(parts), file.name)


def _stated(file: FileSource, start: bytes, place: int) -> int:
    """Give the size a frame states, -1 if it states none."""
    if start[1:4] == b"\x2a\x4d\x18" and 0x50 <= start[0] <= 0x5F:
        return 0
    try:
        return zstandard.frame_content_size(start)
    except zstandard.ZstdError:
        raise _damaged(file, place, "there is no zstandard frame") from None


def _damaged(file: FileSource, place: int, why: str) -> UnreadableError:
    return UnreadableError(f"{file.name}:{place}", f"cannot be unpacked: {why}")


def _too_much(file: FileSource, size: int) -> UnreadableError:
    why = f"its {file.size} bytes would unpack to {size} or more, which no session does"
    return UnreadableError(file.name, f"{why}; not unpacked")

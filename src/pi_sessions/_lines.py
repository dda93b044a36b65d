"""Physical lines of a file: byte 0x0A separates them and nothing else does.

Also the two places bytes come from. No JSON, no meaning: a line is its bytes without the newline.
"""

from __future__ import annotations

import os
import stat
import weakref
from typing import TYPE_CHECKING, BinaryIO, Protocol

from pi_sessions.errors import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK = 1 << 18


class Source(Protocol):
    """Bytes that can be read again at any offset, and are never written."""

    name: str
    size: int

    def lines(self) -> Iterator[bytes]:
        """Give each line with its newline (the last may have none), in order."""

    def read(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset.

        Raises:
            UnreadableError: the file is no longer what it was.
        """


class BytesSource:
    """Bytes held in memory."""

    def __init__(self, data: bytes, name: str = "<bytes>") -> None:
        self.name = name
        self.size = len(data)
        self._data = data

    def lines(self) -> Iterator[bytes]:
        """Give each line with its newline, in order."""
        return split((self._data,))

    def read(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset."""
        return self._data[offset : offset + length]


class FileSource:
    """A regular file, opened once for reading and read by offset from then on.

    The descriptor stays open with the object, so a file that is replaced meanwhile (as the
    reference does when it migrates) is still read as it was.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._descriptor = _open(self.name)
        self.close = weakref.finalize(self, os.close, self._descriptor)
        self.size = os.fstat(self._descriptor).st_size

    def lines(self) -> Iterator[bytes]:
        """Give each line with its newline, as far as the file reached when it was opened."""
        return self.lines_between(0, self.size)

    def lines_between(self, start: int, end: int) -> Iterator[bytes]:
        """Give the lines of a part that begins with a line; the last is cut off at `end`."""
        rest = end - start
        try:
            os.lseek(self._descriptor, start, os.SEEK_SET)
            with os.fdopen(self._descriptor, "rb", BLOCK, closefd=False) as file:
                for line in file:
                    rest -= len(line)
                    if rest <= 0:
                        yield line[: len(line) + rest]
                        return
                    yield line
        except OSError as error:
            raise UnreadableError(self.name, error.strerror or "cannot be read") from None

    def again(self) -> FileSource | None:
        """Open the same file with a place of its own to read at; None if the name has another."""
        other = FileSource(self.name)
        mine, its = os.fstat(self._descriptor), os.fstat(other._descriptor)
        same = (mine.st_dev, mine.st_ino) == (its.st_dev, its.st_ino)
        return other if same and other.size >= self.size else None

    def read(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset, checked to be as many as asked for."""
        try:
            data = os.pread(self._descriptor, length, offset)
            while len(data) < length:
                more = os.pread(self._descriptor, length - len(data), offset + len(data))
                if not more:
                    raise UnreadableError(self.name, "became shorter while it was being read")
                data += more
        except OSError as error:
            if isinstance(error, UnreadableError):
                raise
            raise UnreadableError(self.name, error.strerror or "cannot be read") from None
        return data


def _open(name: str) -> int:
    try:
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(name, why[:1].lower() + why[1:]) from None
    return descriptor


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open a path for reading: a file by offset, a pipe or device read whole.

    Of a file whose name ends with `.zst`, what is packed in it is read.

    Raises:
        UnreadableError: it is missing, a directory, or may not be read.
    """
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116 - os.PathLike and bytes alike
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(name, why[:1].lower() + why[1:]) from None
    if stat.S_ISDIR(mode):
        raise UnreadableError(name, "is a directory, not a session file")
    if stat.S_ISREG(mode):
        if os.fsdecode(name).endswith(".zst"):
            from pi_sessions._frames import open_packed  # noqa: PLC0415 - start-up

            return open_packed(name)
        return FileSource(name)
    with os.fdopen(_open(name), "rb") as stream:
        return BytesSource(_read_all(stream), name)


def _read_all(stream: BinaryIO) -> bytes:
    return b"".join(iter(lambda: stream.read(BLOCK), b""))


def split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut chunks into lines with their newlines; how the bytes are chunked makes no difference."""
    pending: list[bytes] = []
    for chunk in chunks:
        start = 0
        while end := chunk.find(b"\n", start) + 1:
            pending.append(chunk[start:end])
            yield b"".join(pending)
            pending.clear()
            start = end
        if start < len(chunk):
            pending.append(chunk[start:])
    if pending:
        yield b"".join(pending)

"""One append is one write of complete lines; a write that fails leaves the file as it was.

What is appended to is either a file or, until a session has its file, memory.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from pi_sessions._lines import split
from pi_sessions.errors import NotWrittenError, SessionChangedError
from pi_sessions.writer import locking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions._lines import Source

_EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB
_CHUNK = 8 << 20
"""Bytes of a new file that are written at once."""
_TAIL = 64
"""Last bytes of a file that are compared before a write."""


class Memory:
    """Lines that are in no file yet, behind those that are, if there are any."""

    def __init__(
        self,
        data: bytes = b"",
        name: str = "<memory>",
        behind: Source | None = None,
        start: int = 0,
    ) -> None:
        self.name = name
        self._data = bytearray(data)
        self._behind = behind
        self._start = start
        self.size = start + len(data)
        """Bytes so far, with those of the file."""

    @property
    def data(self) -> bytes:
        """The bytes that are in no file."""
        return bytes(self._data)

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes that are in no file, piece by piece."""
        for start in range(0, len(self._data), _CHUNK):
            yield bytes(self._data[start : start + _CHUNK])

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._data += data
        self.size += len(data)

    def cut(self, size: int) -> None:
        """Forget all but the first `size` bytes."""
        del self._data[size - self._start :]
        self.size = size

    def lines(self) -> Iterator[bytes]:
        """Give each line with its newline, in order."""
        return split((self.read(0, self.size),))

    def read(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset."""
        if self._behind is not None and offset < self._start:
            before = self._behind.read(offset, min(length, self._start - offset))
            return before + bytes(self._data[: length - len(before)])
        start = offset - self._start
        return bytes(self._data[start : start + length])


class SessionFile:
    """A session file open for appending, and what it looked like when we last saw it."""

    def __init__(self, path: str, *, durable: bool = False) -> None:
        self._descriptor = -1
        self.path = path
        self.durable = durable
        self.end = 0
        """Bytes of the file as we know it."""
        self._tail = b""
        self._tail_start = 0
        self.reopen()

    def reopen(self) -> None:
        """Open the file that has the name now.

        Raises:
            NotWrittenError: it may not be written.
            SessionChangedError: there is none.
        """
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except FileNotFoundError:
            raise SessionChangedError(self.path, "is gone") from None
        except OSError as error:
            raise NotWrittenError(self.path, error.strerror or str(error)) from None
        self.close()
        self._descriptor = descriptor
        found = os.fstat(descriptor)
        self._inode, self._device = found.st_ino, found.st_dev

    def close(self) -> None:
        """Let the file go."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()

    def lock(self) -> None:
        """Keep other writers of ours out; see `locking.lock`."""
        try:
            fcntl.flock(self._descriptor, _EXCLUSIVE)
        except OSError:
            locking.lock(self._descriptor, self.path)

    def unlock(self) -> None:
        """Let other writers of ours in."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        except OSError:
            return

    def has_moved(self) -> bool:
        """Say whether the name means another file by now, or none."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - once for every append, and a Path costs more
        except FileNotFoundError:
            return True
        return found.st_ino != self._inode or found.st_dev != self._device

    def is_as_seen(self) -> bool:
        """Say whether the file still ends where and as we saw it end."""
        # More is asked for than there should be: a longer file shows at once.
        return (
            self.end > 0 and os.pread(self._descriptor, _TAIL + 1, self._tail_start) == self._tail
        )

    def has_grown(self) -> bool:
        """Say whether all we saw is still there and something follows it."""
        found = os.pread(self._descriptor, _TAIL + 1, self._tail_start)
        return len(found) > len(self._tail) and found.startswith(self._tail)

    def read_on(self) -> bytes:
        """Give what follows the end as we know it."""
        size = os.fstat(self._descriptor).st_size
        parts = []
        place = self.end
        while place < size and (part := os.pread(self._descriptor, size - place, place)):
            parts.append(part)
            place += len(part)
        return b"".join(parts)

    def forget(self) -> None:
        """Take nothing of the file as known."""
        self.end, self._tail, self._tail_start = 0, b"", 0

    def see(self, end: int) -> None:
        """Take the file as it is up to `end` as known."""
        self._tail_start = max(0, end - _TAIL)
        self._tail = os.pread(self._descriptor, end - self._tail_start, self._tail_start)
        self.end = end

    @property
    def is_torn(self) -> bool:
        """Say whether the last line lacks its newline."""
        return self.end > 0 and not self._tail.endswith(b"\n")

    def append(self, data: bytes) -> bool:
        """Write bytes at the end, all of them at once.

        Returns:
            Whether they stand where we expected them: False if somebody who takes no lock wrote
            between our look and our write.

        Raises:
            NotWrittenError: they could not be written; the file is as it was.
        """
        try:
            written = os.write(self._descriptor, data)
            if self.durable and written == len(data):
                os.fsync(self._descriptor)
        except OSError as error:
            self._withdraw(data)
            raise NotWrittenError(self.path, error.strerror or str(error)) from None
        if written < len(data):
            self._withdraw(data)
            raise NotWrittenError(self.path, f"only {written} of {len(data)} bytes found room")
        self.end += len(data)
        self._tail = data[-_TAIL:] if len(data) >= _TAIL else (self._tail + data)[-_TAIL:]
        self._tail_start = self.end - len(self._tail)
        try:
            return os.lseek(self._descriptor, 0, os.SEEK_CUR) == self.end
        except OSError:
            return False

    def _withdraw(self, data: bytes) -> None:
        """Take back what a failed write left, unless somebody has written behind it."""
        try:
            left = self.read_on()
            if left and data.startswith(left):
                os.ftruncate(self._descriptor, self.end)
        except OSError:
            # What is left is a torn line; the next append finds it and closes it first.
            return

"""A command that acts on many sessions: what it could not do is told, and the rest is done."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_sessions.errors import SessionError, WouldOverwriteError, WriteRefusedError
from pi_sessions.excerpt import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED, _UNREADABLE = 4, 3


class Refusals:
    """Sessions with which nothing was done, and why."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        """`{"path", "why"}` of each."""
        self._code = 0

    @contextmanager
    def noted(self, path: str) -> Iterator[None]:
        """Take note of what keeps a `with` block from being done, instead of ending with it."""
        try:
            yield
        except SessionError as error:
            is_refused = isinstance(error, WriteRefusedError | WouldOverwriteError)
            self._code = max(self._code, _REFUSED if is_refused else _UNREADABLE)
            self.rows.append({"path": path, "why": str(error)})

    def tell(self) -> int:
        """Say on standard error what was not done; gives the exit code."""
        for row in self.rows:
            print(f"pi-sessions: {safe(row['why']).replace(chr(10), '␊')}", file=sys.stderr)
        return self._code

"""Text files that commands are given: reports, briefs, profiles."""

from __future__ import annotations

from pi_sessions.errors import UnreadableError


def text_of(path: str) -> str:
    """Read a text file; bytes that are no UTF-8 are replaced.

    Raises:
        UnreadableError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UnreadableError(path, (error.strerror or str(error)).lower()) from None
    return data.decode("utf-8-sig", "replace")

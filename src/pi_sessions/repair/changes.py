"""Single steps of a repair, as data."""

from __future__ import annotations

from typing import Any

import msgspec

from pi_sessions.diagnostics import Code


class Change(msgspec.Struct, frozen=True):
    """Lines that others take the place of."""

    code: Code
    line: int
    """The first of them, in the file as it is."""
    what: str
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    """The new lines; none of them has a newline."""


class Append(msgspec.Struct, frozen=True):
    """An entry that mends by being appended."""

    code: Code
    line: int
    """The line it acts on."""
    what: str
    target: Any
    """Id of the entry it acts on."""

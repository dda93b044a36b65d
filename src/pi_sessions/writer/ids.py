"""Session ids, entry ids, times and file names, from a given clock and a given random source."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    Clock = Callable[[], int]
    """Gives the time in milliseconds since 1970."""
    Random = Callable[[int], bytes]
    """Gives that many random bytes, as `os.urandom` does."""

_SEPARATORS = re.compile(r"[/\\:]")
_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ATTEMPTS = 100


def system_clock() -> int:
    """Give the time of this machine in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


system_random = os.urandom
"""Random bytes of this machine."""


def session_id(milliseconds: int, random: Random) -> str:
    """Make a UUIDv7: the time first, so that ids sort as their sessions were made."""
    value = int.from_bytes(milliseconds.to_bytes(6, "big") + random(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def is_session_id(text: str) -> bool:
    """Say whether Pi would take a text as the id of a session."""
    return _SESSION_ID.fullmatch(text) is not None


def entry_id(taken: Container[object], random: Random) -> str:
    """Make 8 hex digits that no entry of the file has."""
    for _ in range(_ATTEMPTS):
        made = random(4).hex()
        if made not in taken:
            return made
    return random(16).hex()


def iso(milliseconds: int) -> str:
    """Write a time as entries have it: UTC, with milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def file_name(timestamp: str, session: str) -> str:
    """Name the file of a new session as Pi does: its time, an underscore, its id."""
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session}.jsonl"


def folder_name(cwd: str) -> str:
    """Name the folder of a working directory's sessions as Pi does, under its own directory."""
    inner = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{_SEPARATORS.sub('-', inner)}--"

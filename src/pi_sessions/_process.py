"""A second process for half of the work, where the system can fork.

The child runs one function and sends its result, of built-in types, back through a pipe. Whatever
goes wrong there gives no result, and the caller does the work itself.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Lines = Sequence[int]

MANY = 10_000
"""Replies from which on a second process helps."""


class Child(msgspec.Struct, frozen=True):
    """A running child."""

    process: int
    pipe: int
    """Descriptor its result is read from."""


def start(work: Callable[[], Any]) -> Child | None:
    """Run a function in a child process; None where there can be none."""
    if not hasattr(os, "fork"):
        return None
    reading, writing = os.pipe()
    try:
        process = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if process:
        os.close(writing)
        return Child(process, reading)
    # In the child: no cleanup of the parent's may run, whatever happens.
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(marshal.dumps(work()))
    finally:
        os._exit(0)


def result(child: Child) -> Any:
    """Wait for a child and give what its function gave, None if it failed."""
    with os.fdopen(child.pipe, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child.process, 0)
    try:
        # The bytes are those our own child wrote, through a pipe nobody else has.
        return marshal.loads(data) if data else None  # noqa: S302
    except (ValueError, EOFError, TypeError):
        return None


def in_halves(work: Callable[[Lines], Any], lines: Lines, workers: int) -> list[Any]:
    """Give what a function makes of many lines, or of each half of them, the second in a child.

    Args:
        work: gives values of built-in types.
        lines: the lines of replies.
        workers: processes there may be.
    """
    if workers < 2 or len(lines) <= MANY:
        return [work(lines)]
    first, second = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    child = start(lambda: work(second))
    made = work(first)
    other = result(child) if child else None
    return [made, work(second) if other is None else other]

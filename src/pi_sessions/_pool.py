"""Work on many files, shared among processes where that is worth their start."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Task = TypeVar("Task")
Result = TypeVar("Result")

FEW = 12_000_000
"""Bytes that one process reads in less time than others need to start."""
_SHARE = 4_000_000
"""Bytes one process is given at a time."""
_MOST = 64
"""Tasks one process is given at a time."""


def in_shares(
    tasks: Sequence[Task],
    size: Callable[[Task], int],
    work: Callable[[list[Task]], Result],
    workers: int,
) -> Iterator[Result]:
    """Do tasks in shares, on several cores where there is enough to do.

    Args:
        tasks: those that make a share of their own come first, the largest of them first, since
            whoever has one is busy for long; all others keep their order.
        size: bytes of a task.
        work: does a share; it and what it gives have to be picklable.
        workers: processes that may share the work.

    Yields:
        What the shares give, as they are done.
    """
    ordered = sorted(tasks, key=lambda task: -max(size(task), _SHARE))
    shares: list[list[Task]] = [[]]
    given = 0
    for task in ordered:
        shares[-1].append(task)
        given += size(task)
        if given >= _SHARE or len(shares[-1]) >= _MOST:
            shares.append([])
            given = 0
    shares = [share for share in shares if share]
    if workers < 2 or len(shares) < 2 or sum(map(size, tasks)) < FEW:
        yield from map(work, shares)
        return
    from multiprocessing import get_context  # noqa: PLC0415 - start-up

    with get_context().Pool(min(workers, len(shares)), _begin) as pool:
        yield from pool.imap_unordered(work, shares)


def _begin() -> None:
    """Leave Ctrl-C to the process that asks, and clean up now and then."""
    import gc  # noqa: PLC0415 - start-up
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.enable()
    gc.set_threshold(100_000)

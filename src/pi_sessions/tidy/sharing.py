"""Work on many files, shared among processes where there is enough of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pi_sessions import _process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
_ENOUGH = 8 << 20
"""Bytes of work for which another process pays."""


def shared(
    work: Callable[[list[Item]], Any],
    items: Sequence[Item],
    sizes: Sequence[int],
    workers: int,
) -> list[Any]:
    """Do some work on each of several shares of items; gives what each share gave.

    Args:
        work: what is to be done with a share; gives values of built-in types.
        items: all there are.
        sizes: how many bytes each of them has.
        workers: processes there may be; others than this one are forked.
    """
    count = max(1, min(workers, sum(sizes) // _ENOUGH, len(items)))
    shares: list[list[Item]] = [[] for _ in range(count)]
    loads = [0] * count
    # The largest first, each to whom has least: the shares end up alike.
    for number in sorted(range(len(items)), key=sizes.__getitem__, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(items[number])
        loads[least] += sizes[number]
    started = [(share, _process.start(lambda share=share: work(share))) for share in shares[1:]]  # type: ignore[misc]
    results = [work(shares[0])]
    for share, child in started:
        found = _process.result(child) if child else None
        results.append(work(share) if found is None else found)
    return results

"""Summaries of files: kept ones where the file is as it was, read ones for all others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_sessions import store
from pi_sessions.index import refreshing, stored
from pi_sessions.index.database import DAMAGE, is_sealed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.index.database import Cache
    from pi_sessions.store import Read, StoredFile


def summaries(
    caches: Sequence[Cache],
    files: Iterable[StoredFile],
    zone: tzinfo,
    *,
    workers: int = 1,
    singly: Container[str] = (),
) -> Iterator[Read]:
    """Summarise files, as `store.read_all` does; those that have not changed are not read.

    Args:
        caches: one for each store the files may be of.
        files: what `store.look` found.
        zone: in which times without one are read, and days told. `str(zone)` must name it.
        workers: processes that may share the work.
        singly: paths of the files whose single entries are asked for, too.

    Yields:
        What each file tells, in no particular order.
    """
    for cache, share in by_store(caches, files):
        rest = share
        if cache is not None:
            kept = _kept(cache, share, str(zone), singly)
            yield from kept
            told = {read.file.path for read in kept}
            rest = [file for file in share if file.path not in told]
            if rest:
                read = refreshing.refresh(cache, rest, zone, workers=workers, singly=singly)
                done = set()
                for found in read:
                    done.add(found.file.path)
                    yield found
                rest = [file for file in rest if file.path not in done]
        if rest:
            yield from store.read_all(rest, zone, workers=workers, singly=singly)


def kept(caches: Sequence[Cache], files: Iterable[StoredFile], zone: tzinfo) -> Iterator[Read]:
    """Give what is kept of files that are as they were, and read none.

    Args:
        caches: one for each store the files may be of.
        files: what `store.look` found.
        zone: in which times without one were read, and days told.
    """
    for cache, share in by_store(caches, files):
        if cache is not None:
            yield from _kept(cache, share, str(zone), ())


def by_store(
    caches: Sequence[Cache], files: Iterable[StoredFile]
) -> Iterator[tuple[Cache | None, list[StoredFile]]]:
    """Say which files belong to which cache; None for those that stand in no store."""
    shares: dict[int, list[StoredFile]] = {}
    roots = [os.path.join(cache.root, "") for cache in caches]  # noqa: PTH118 - thousands
    for file in files:
        inside = (n for n, root in enumerate(roots) if file.path.startswith(root))
        shares.setdefault(next(inside, -1), []).append(file)
    for number, share in shares.items():
        yield (caches[number] if number >= 0 else None), share


def _kept(
    cache: Cache, files: Sequence[StoredFile], zone: str, singly: Container[str]
) -> list[Read]:
    """Give what is kept of files that are as they were."""
    reads = []
    try:
        with cache.reading() as connection:
            if connection is None:
                return []
            rows = stored.rows(connection, cache.root)
            for file in files:
                row = rows.get(file.path)
                if row is None or not row.is_of(file, zone):
                    continue
                spent = None
                if file.path in singly:
                    spent = stored.spent_of(connection, row.id)
                    if spent is None:
                        continue
                reads.append(store.Read(file, row.summarised(file.path), spent))
            return reads if is_sealed(cache.path) else []
    except DAMAGE:
        return []

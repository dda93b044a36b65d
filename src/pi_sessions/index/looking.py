"""A search in all files of stores: in those the index names, and in those that are not in it."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import finding
from pi_sessions._pool import in_shares
from pi_sessions.errors import NotASessionError, SessionError
from pi_sessions.finding import Hit
from pi_sessions.index import prose, refreshing, stored, wording, words
from pi_sessions.index.database import DAMAGE, is_sealed
from pi_sessions.index.lines import Lines
from pi_sessions.index.listing import by_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.finding import Query
    from pi_sessions.index.database import Cache
    from pi_sessions.store import StoredFile


class Answer(msgspec.Struct):
    """What was found."""

    hits: list[Hit]
    """The best first."""
    is_cut: bool
    """Whether there are more than were asked for."""
    unread: list[str]
    """A sentence for each file that cannot be read."""


class Ask(msgspec.Struct, frozen=True):
    """A search that goes on."""

    query: Query
    zone: tzinfo
    most: int | None
    """Finds that are wanted at most; None: all."""
    workers: int
    advance: Callable[[int], None]


def order(hit: Hit) -> tuple[float, str, int]:
    """Give the place of a find among others: the best first, then by path and line."""
    return -hit.score, hit.path, hit.line


def search(
    caches: Sequence[Cache],
    files: Iterable[StoredFile],
    query: Query,
    zone: tzinfo,
    *,
    limit: int | None = None,
    workers: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Answer:
    """Find a text in files.

    Args:
        caches: one for each store the files may be of; without any, all files are read.
        files: what `store.look` found.
        query: what is looked for.
        zone: in which times without one are read.
        limit: the most finds that are wanted, the best.
        workers: processes that may share the work.
        advance: told how many bytes were looked into or put into the index.

    Raises:
        re.error: the expression is none.
    """
    most = None if limit is None else limit + 1
    ask = Ask(query, zone, most, workers, advance)
    hits: list[Hit] = []
    unread: list[str] = []
    for cache, share in by_store(caches, files):
        told, missed = _ask(ask, cache, share)
        hits += told
        unread += missed
    hits.sort(key=order)
    is_cut = limit is not None and len(hits) > limit
    return Answer(hits if limit is None else hits[:limit], is_cut, sorted(unread))


def known(
    cache: Cache, files: Sequence[StoredFile], query: Query, zone: tzinfo, limit: int
) -> tuple[list[Hit], list[StoredFile]]:
    """Give the best finds that are known without looking into files, and what is left to look into.

    Nothing is read into the index: what it does not have as it is now is left to look into.

    Args:
        cache: of the store.
        files: of it.
        query: what is looked for.
        zone: in which times without one are read.
        limit: the most finds that are wanted.

    Raises:
        re.error: the expression is none.
    """
    found = _indexed(Ask(query, zone, limit, 1, lambda _: None), cache, files)
    return ([], list(files)) if found is None else (found.best, found.direct)


def _ask(ask: Ask, cache: Cache | None, files: list[StoredFile]) -> tuple[list[Hit], list[str]]:
    """Look into the files of one store."""
    if cache is None:
        return _look_all(ask, files)
    found = _indexed(ask, cache, files)
    if found is None or found.stale:
        stale = files if found is None else found.stale
        workers = ask.workers
        refreshing.index(cache, stale, ask.zone, workers=workers, advance=ask.advance)
        found = _indexed(ask, cache, files)
    if found is None:
        return _look_all(ask, files)
    hits, unread = _look_all(ask, found.direct)
    return hits + found.best, unread


class _Found(msgspec.Struct):
    """What the index says of files."""

    stale: list[StoredFile]
    """Those it does not have as they are."""
    direct: list[StoredFile]
    """Those that have to be looked into."""
    best: list[Hit]
    """Finds in all others that are among the best, if that is all that is wanted of them."""


def _indexed(ask: Ask, cache: Cache, files: Sequence[StoredFile]) -> _Found | None:
    """Ask the index; None where there is none to ask."""
    try:
        with cache.reading() as connection:
            found = None if connection is None else _divided(ask, connection, cache.root, files)
            return found if is_sealed(cache.path) else None
    except (*DAMAGE, SessionError, OSError):
        return None


def _divided(
    ask: Ask, connection: sqlite3.Connection, root: str, files: Sequence[StoredFile]
) -> _Found:
    rows = stored.rows(connection, root, with_summaries=False)
    found = _Found([], [], [])
    known: dict[int, tuple[StoredFile, stored.Row]] = {}
    for file in files:
        row = rows.get(file.path)
        if row is None or not row.is_same(file) or not row.is_indexed:
            found.stale.append(file)
        elif row.is_foreign:
            continue
        elif row.is_whole:
            known[row.id] = file, row
        else:
            found.direct.append(file)
    found.direct += found.stale
    pieces = words.pieces_of(ask.query)
    held = _holding(connection, pieces)
    plain = {number: file for number, (file, row) in known.items() if row.is_plain}
    may: list[StoredFile] = []
    for number, (file, row) in known.items():
        if held is None or number in held or row.is_odd:
            (may if row.is_plain else found.direct).append(file)
    best = _best(ask, connection, pieces, plain)
    if best is None:
        found.direct += may
    else:
        found.best = best
    return found


def _holding(connection: sqlite3.Connection, pieces: list[bytes]) -> set[int] | None:
    """Give the files that have all stretches in their words; None: any may."""
    blobs = wording.vocabulary(connection, "held")
    held: set[int] | None = None
    for piece in pieces:
        asked = wording.matching(blobs, [piece])
        if asked is None:
            return set()
        if asked:
            rows = connection.execute(
                "SELECT DISTINCT file FROM parts WHERE id IN"
                " (SELECT rowid FROM held WHERE held MATCH ?)",
                asked,
            )
            files = {file for (file,) in rows}
            held = files if held is None else held & files
    return held


def _best(
    ask: Ask, connection: sqlite3.Connection, pieces: list[bytes], files: dict[int, StoredFile]
) -> list[Hit] | None:
    """Give the best finds, if they all are in what is said; None if one may be elsewhere.

    Args:
        ask: what is looked for.
        connection: of the index.
        pieces: stretches of it.
        files: those in which nothing is odd, by the ids of their rows.
    """
    query = ask.query
    if ask.most is None or not query.is_of_lines or not _asks_for_speech(query):
        return None
    asked = wording.matching(wording.vocabulary(connection, "said"), pieces)
    wanted = " AND ".join(f"({each})" for each in asked or [words.ALL])
    wanted = words.ODD if asked is None else f"({wanted}) OR {words.ODD}"
    lines = Lines(connection, files, finding.Search(query, ask.zone))
    hits: list[Hit] = []
    for rank, places in _ranks(connection, wanted, files):
        score = prose.score_at(rank)
        if score <= prose.ELSEWHERE:
            break
        for path, line, file in places:
            if _is_enough(hits, ask.most, (-score, path, line)):
                return sorted(hits, key=order)[: ask.most]
            hits += lines.hits(file, line)
    if _is_enough(hits, ask.most, (-prose.ELSEWHERE, "", 0)):
        return sorted(hits, key=order)[: ask.most]
    return None


def _asks_for_speech(query: Query) -> bool:
    return not query.where or any(where in prose.SAID for where in query.where)


def _is_enough(hits: list[Hit], most: int, place: tuple[float, str, int]) -> bool:
    """Say whether so many finds stand before a place that no later one counts."""
    return len(hits) >= most and sum(1 for hit in hits if order(hit) < place) >= most


def _ranks(
    connection: sqlite3.Connection, wanted: str, files: dict[int, StoredFile]
) -> Iterator[tuple[int, list[tuple[str, int, int]]]]:
    """Give the lines of each rank as path, line and id of the file, in the order of finds."""
    rows = connection.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rowid", (wanted,))
    last = -1
    places: list[tuple[str, int, int]] = []
    for (row,) in rows:
        rank, file, line = wording.parts_of(row)
        if rank != last:
            if places:
                yield last, sorted(places)
            last, places = rank, []
        if file in files:
            places.append((files[file].path, line, file))
    if places:
        yield last, sorted(places)


def _look_all(ask: Ask, files: Sequence[StoredFile]) -> tuple[list[Hit], list[str]]:
    """Look into files themselves, on several cores where that is worth it."""
    hits: list[Hit] = []
    unread: list[str] = []
    look = partial(_look, query=ask.query, zone=ask.zone, most=ask.most)
    for share in in_shares(files, lambda file: file.size, look, ask.workers):
        for size, told in share:
            ask.advance(size)
            if isinstance(told, str):
                unread.append(told)
            else:
                hits += told
    return hits, unread


def _look(
    files: list[StoredFile], query: Query, zone: tzinfo, most: int | None
) -> list[tuple[int, list[Hit] | str]]:
    """Look into some files; gives the size of each, and what is in it or why it cannot be read."""
    return [(file.size, _look_into(file.path, query, zone, most)) for file in files]


def _look_into(path: str, query: Query, zone: tzinfo, most: int | None) -> list[Hit] | str:
    try:
        hits = finding.find(path, query, zone)
    except NotASessionError:
        return []
    except SessionError as error:
        return str(error)
    return hits if most is None else sorted(hits, key=order)[:most]

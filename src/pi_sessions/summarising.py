"""Session files summarised: by a fold where nothing is odd, else with care."""

from __future__ import annotations

import math
import os
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

import msgspec

from pi_sessions._lines import FileSource, open_source
from pi_sessions.diagnostics import Code
from pi_sessions.errors import SessionError
from pi_sessions.fold import Fold
from pi_sessions.meter import Meter, Spent, read
from pi_sessions.summary import Summary, Told, name_in, summary_of, take_message
from pi_sessions.table import FIRST_TYPE, Kind
from pi_sessions.usage import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_sessions._lines import Source


def summarise(
    path: str | os.PathLike[str], zone: tzinfo = UTC, keep: list[Spent] | None = None
) -> Summary | None:
    """Summarise a session file, None if it is no session or cannot be read.

    Args:
        path: of the file.
        zone: in which times without one are read, and the days of the rows told.
        keep: takes what every single entry reports, where that is wanted.
    """
    try:
        return read_summary(path, zone, keep)
    except SessionError:
        return None


def read_summary(
    path: str | os.PathLike[str], zone: tzinfo = UTC, keep: list[Spent] | None = None
) -> Summary:
    """Summarise a session file; as `summarise`, but says what is wrong.

    Raises:
        NotASessionError: it is no session.
        UnreadableError: it cannot be read.
    """
    source = open_source(path)
    fold = Fold(zone, keep)
    if fold.feed(source.lines()):
        if keep is not None:
            live = fold.live()
            keep[:] = [_placed(item, is_live=item.identity[0] in live) for item in keep]
        return fold.summary(os.fspath(path), written(path))
    if keep is not None:
        keep.clear()
    return _with_care(source, zone, keep)


def _placed(item: Spent, *, is_live: bool) -> Spent:
    return item if is_live else msgspec.structs.replace(item, is_live=False)


def go_on(
    path: str | os.PathLike[str], zone: tzinfo = UTC, state: bytes = b""
) -> tuple[Summary | None, bytes]:
    """Summarise a file whose beginning was read before; gives the state for the next time, too.

    Args:
        path: of the file.
        zone: the same as then.
        state: what this function gave then. The file must still begin with the bytes it had.

    Returns:
        The summary, and a state; that is b"" for a file that has to be read from its start again.
    """
    try:
        source = open_source(path)
        fold, lines = _begun(source, zone, state)
        whole = _Whole(lines)
        if not fold.feed(whole):
            return (summarise(path, zone), b"") if state else (_with_care(source, zone), b"")
        kept = fold.state()
        if whole.rest and not fold.feed((whole.rest,)):
            return _with_care(source, zone), kept
        return fold.summary(os.fspath(path), written(path)), kept
    except SessionError:
        return None, b""


def _begun(source: Source, zone: tzinfo, state: bytes) -> tuple[Fold, Iterator[bytes]]:
    if state and isinstance(source, FileSource):
        try:
            fold = Fold.resumed(state, zone)
        except ValueError:
            pass
        else:
            if fold.offset <= source.size:
                return fold, source.lines_between(fold.offset, source.size)
    return Fold(zone), source.lines()


class _Whole:
    """Lines that are closed; what follows the last newline is kept apart, it may still grow."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.rest = b""
        self._lines = lines

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            if line.endswith(b"\n"):
                yield line
            else:
                self.rest = line


def _with_care(source: Source, zone: tzinfo, keep: list[Spent] | None = None) -> Summary:
    """Summarise any session: by its table, its tree and the checks.

    Raises:
        SessionError: it is no session.
    """
    from pi_sessions import check, scan, tree  # noqa: PLC0415 - start-up: few files need it

    table = scan.read(source)
    told, ledger = Told(), Ledger(zone)
    version = table.stored_version
    meter = Meter(zone, 3.0 if math.isnan(version) else version)
    for line, data in table.read(table.entries()):
        entry = read(data)
        if entry is None:
            continue
        kind = table.kinds[line]
        if kind < FIRST_TYPE:
            take_message(told, entry, data, zone)
        elif kind == Kind.SESSION_INFO:
            told.name = name_in(data)
        elif kind == Kind.COMPACTION:
            told.compactions += 1
        if found := meter.take(line, entry):
            ledger.add(found)
            if keep is not None:
                keep.append(found)
    grown = tree.build(table, zone)
    if keep is not None:
        live = set(tree.path(table, table.leaf))
        keep[:] = [_placed(item, is_live=item.line in live) for item in keep]
    defects = sum(1 for item in check.structure(table, grown) if item.code != Code.MIGRATED)
    facts = (told, ledger.rows)
    counts = (len(grown.leaves()), defects)
    when = written(source.name)
    return summary_of(source.name, source.size, table.header, facts, zone, when, counts)


def written(path: str | os.PathLike[str]) -> float:
    """Give the time a file was last written in milliseconds, 0 if it has gone meanwhile."""
    try:
        return os.stat(path).st_mtime * 1000  # noqa: PTH116 - thousands of them
    except OSError:
        return 0.0

"""Reading many sessions: which stores are meant, and a summary of each file."""

from __future__ import annotations

import os
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import store
from pi_sessions._pool import FEW
from pi_sessions.cli import environment
from pi_sessions.cli.progress import Progress, Rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Container, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.index import Cache


class Head(msgspec.Struct, frozen=True):
    """A file of a store and what its header says."""

    file: store.StoredFile
    id: str
    cwd: str | None
    parent: str | None
    """Path of the session it was forked from."""


def roots(args: argparse.Namespace) -> list[Path]:
    """Give the stores an invocation means.

    Raises:
        ConfigurationError: our configuration file is not as it must be.
    """
    return [Path(root) for root in environment.session_directories(args.session_dir)]


def add_index(parser: argparse.ArgumentParser) -> None:
    """Add --no-index."""
    parser.add_argument(
        "--no-index", action="store_true", help="read all files, and neither use nor make an index"
    )


def heads(files: Iterable[store.StoredFile]) -> Iterator[Head]:
    """Read the headers of files; those that are no sessions are left out."""
    for file in files:
        if header := store.read_header(Path(file.path)):
            found = store.Found(Path(file.path), header)
            parent = header.get("parentSession", header.get("branchedFrom"))
            yield Head(file, found.id, found.cwd, parent if isinstance(parent, str) else None)


class Shelf:
    """Files of stores, with what an index knows of them; what it does not know is read."""

    def __init__(
        self, roots: Sequence[Path], files: Sequence[store.StoredFile], zone: tzinfo, *, index: bool
    ) -> None:
        """Ask the index.

        Args:
            roots: the stores.
            files: what was found in them.
            zone: in which times without one are read, and days told.
            index: whether one may be used and made. Few files are read sooner than it is opened.
        """
        self.files, self._zone = files, zone
        self._caches: list[Cache] = []
        self._known: dict[str, store.Read] = {}
        if index and sum(file.size for file in files) >= FEW:
            from pi_sessions.index import Cache, kept  # noqa: PLC0415 - start-up

            folder = environment.cache_directory()
            self._caches = [Cache(folder, os.fspath(root), time_ns) for root in roots]
            self._known = {read.file.path: read for read in kept(self._caches, files, zone)}

    def known(self, path: str) -> store.Summary | None:
        """Give the summary of a file that need not be read for it."""
        read = self._known.get(path)
        return None if read is None else read.summary

    def heads(self) -> Iterator[Head]:
        """Say what the headers of the files tell; those that are no sessions are left out."""
        for file in self.files:
            read = self._known.get(file.path)
            if read is None:
                yield from heads((file,))
            elif found := read.summary:
                yield Head(file, found.id, found.cwd, found.parent_session)

    def summaries(
        self,
        files: Iterable[store.StoredFile],
        singly: Container[str] = (),
        rows: Rows | None = None,
    ) -> Iterator[store.Read]:
        """Summarise some of the files on all cores, in no particular order.

        Args:
            files: some of its own.
            singly: paths of those whose single entries are asked for, too.
            rows: tells what is known already while others are read (`Progress`).
        """
        rest = []
        for file in files:
            if file.path in self._known and file.path not in singly:
                yield self._known[file.path]
            else:
                rest.append(file)
        if not rest:
            return
        total = sum(file.size for file in rest)
        with Progress("reading sessions", total, rows) as progress:
            for read in self._read(rest, singly):
                progress.advance(read.file.size)
                yield read

    def _read(
        self, files: Sequence[store.StoredFile], singly: Container[str]
    ) -> Iterator[store.Read]:
        workers = os.cpu_count() or 1
        if not self._caches:
            return store.read_all(files, self._zone, workers=workers, singly=singly)
        from pi_sessions.index import summaries  # noqa: PLC0415 - start-up

        return summaries(self._caches, files, self._zone, workers=workers, singly=singly)

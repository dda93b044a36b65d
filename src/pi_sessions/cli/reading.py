"""Reading many sessions: which stores are meant, and a summary of each file, with progress."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import store
from pi_sessions.cli import environment
from pi_sessions.cli.progress import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Container, Iterable, Iterator, Sequence
    from datetime import tzinfo


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


def heads(files: Iterable[store.StoredFile]) -> Iterator[Head]:
    """Read the headers of files; those that are no sessions are left out."""
    for file in files:
        header = store.read_header(Path(file.path))
        if header is not None:
            found = store.Found(Path(file.path), header)
            parent = header.get("parentSession", header.get("branchedFrom"))
            yield Head(file, found.id, found.cwd, parent if isinstance(parent, str) else None)


def summaries(
    files: Sequence[store.StoredFile], zone: tzinfo, singly: Container[str] = ()
) -> Iterator[store.Read]:
    """Summarise files on all cores, in no particular order.

    Args:
        files: of stores.
        zone: in which times without one are read, and days told.
        singly: paths of those whose single entries are asked for, too.
    """
    total = sum(file.size for file in files)
    with Progress("reading sessions", total) as progress:
        for read in store.read_all(files, zone, workers=os.cpu_count() or 1, singly=singly):
            progress.advance(read.file.size)
            yield read

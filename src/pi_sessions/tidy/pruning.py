"""Which sessions of a store nobody needs any more, and taking just those away.

Choosing looks at each session once and remembers the file as it was then; nothing that has changed
since is taken.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import rewriting, store
from pi_sessions._javascript import date_value
from pi_sessions.errors import SessionError, UnreadableError
from pi_sessions.reader import load
from pi_sessions.rewriting import Snapshot
from pi_sessions.store import Read, StoredFile
from pi_sessions.table import Kind
from pi_sessions.tidy import archive
from pi_sessions.tidy.kin import Kin
from pi_sessions.tidy.still import is_busy, leave
from pi_sessions.tidy.trash import take_away

if TYPE_CHECKING:
    from datetime import tzinfo

    from pi_sessions.summary import Summary


class How(Enum):
    """What becomes of a session that is taken away."""

    ARCHIVED = "archived"
    TRASH = "trash"
    DELETED = "deleted"


class Wish(msgspec.Struct, frozen=True):
    """Which sessions are to go: those to which all of this applies."""

    before: float | None = None
    """Last activity before this time, in milliseconds since 1970."""
    larger: int | None = None
    """More bytes than this."""
    project: str | None = None
    """Of this working directory."""
    empty: bool = False
    """Nobody said anything in it, or nobody answered."""
    unnamed: bool = False
    """Without a name."""


class Chosen(msgspec.Struct, frozen=True):
    """A session that is to go."""

    path: str
    id: str
    name: str | None
    cwd: str | None
    first_message: str
    modified: str
    """Last activity, ISO 8601 in UTC."""
    size: int
    lacks: tuple[str, ...]
    """What there is none of in it: `user message`, `reply`."""
    forks: tuple[tuple[str, str], ...]
    """Path and id of the sessions forked from it that stay."""
    before: Snapshot


class Kept(msgspec.Struct, frozen=True):
    """A session that the wish is about and that stays all the same."""

    path: str
    why: str


class Plan(msgspec.Struct, frozen=True):
    """What is to go, and what it was chosen from."""

    chosen: tuple[Chosen, ...]
    """The longest untouched first."""
    kept: tuple[Kept, ...]
    sessions: int
    """All sessions of the store."""
    total: int
    """Their bytes."""

    @property
    def bytes(self) -> int:
        """Bytes of what is to go."""
        return sum(each.size for each in self.chosen)

    @property
    def id(self) -> str:
        """Name of this very plan: of other files, or the same ones written to, it is another."""
        digest = hashlib.sha256()
        for each in sorted(self.chosen, key=lambda each: each.path):
            mark = (os.fsencode(each.path), *msgspec.structs.astuple(each.before))
            digest.update(repr(mark).encode())
        return digest.hexdigest()[:12]


Reader = Callable[[Sequence[StoredFile]], Iterable[Read]]
"""Summarises files, in any order."""


def choose(root: Path, wish: Wish, *, now: float, zone: tzinfo, read: Reader | None = None) -> Plan:
    """Find the sessions of a store that are to go; nothing is changed.

    Args:
        root: the store.
        wish: what applies to them.
        now: seconds since 1970.
        zone: in which times without a zone are read.
        read: summarises the files that may be meant; by default each is read.
    """
    found = list(store.sessions(root))
    seen: dict[str, tuple[store.Found, Snapshot]] = {}
    for each in found:
        try:
            seen[os.fspath(each.path)] = each, rewriting.snapshot(os.fspath(each.path))
        except UnreadableError:
            continue
    paths = [path for path, (each, before) in seen.items() if _may(wish, each, before)]
    # What is read is held to the snapshot: a file that changed since then is not taken.
    files = [_stored(path, seen[path][1]) for path in paths]
    told = {
        each.file.path: _look(each.summary, wish, zone)
        for each in (read or partial(store.read_all, zone=zone))(files)
        if each.summary is not None
    }
    going: list[tuple[str, tuple[Any, ...]]] = []
    kept: list[Kept] = []
    for path in paths:
        looks = told.get(path)
        if looks is None:
            continue
        if why := _why_not(path, seen[path][1], now):
            kept.append(Kept(path, why))
        else:
            going.append((path, looks))
    kin, gone = Kin(found), {path for path, _ in going}
    chosen = []
    for path, (name, first, modified, lacks) in going:
        each, before = seen[path]
        forks = tuple(
            (os.fspath(child.path), child.id)
            for child in kin.children(path)
            if os.fspath(child.path) not in gone
        )
        chosen.append(
            Chosen(
                path, each.id, name, each.cwd, first, modified, before.size, lacks, forks, before
            )
        )
    chosen.sort(key=lambda each: (date_value(each.modified, zone), each.path))
    total = sum(before.size for _, before in seen.values())
    return Plan(tuple(chosen), tuple(kept), len(seen), total)


def _may(wish: Wish, found: store.Found, before: Snapshot) -> bool:
    """Say whether a session may be meant, by what is known without reading it."""
    if wish.larger is not None and before.size <= wish.larger:
        return False
    if wish.project is None:
        return True
    cwd = found.cwd
    return cwd is not None and os.path.normpath(cwd) == os.path.normpath(wish.project)


def _stored(path: str, before: Snapshot) -> StoredFile:
    return StoredFile(path, before.size, before.modified, before.device, before.inode)


def _look(summary: Summary, wish: Wish, zone: tzinfo) -> tuple[Any, ...] | None:
    """Tell name, first message, last activity and what it lacks; None if it is not meant."""
    if wish.unnamed and summary.name:
        return None
    if wish.before is not None and not date_value(summary.modified, zone) < wish.before:
        return None
    lacks = _lacks(summary) if wish.empty else ()
    if wish.empty and not lacks:
        return None
    return summary.name, summary.first_message[:200], summary.modified, lacks


def _lacks(summary: Summary) -> tuple[str, ...]:
    """Tell what there is none of; a user message may have no text, so the file is asked then."""
    if summary.first_message and summary.models:
        return ()
    try:
        kinds = load(summary.path).table.kinds
    except SessionError:
        return ()
    both = ((Kind.USER, "user message"), (Kind.ASSISTANT, "reply"))
    return tuple(what for kind, what in both if kind not in kinds)


def _why_not(path: str, before: Snapshot, now: float) -> str | None:
    if os.path.islink(path):  # noqa: PTH114 - paths are texts here
        return "it is a link"
    if is_busy(before, now):
        return "it was written to within ten minutes, and Pi may have it open"
    return None


def take(chosen: Chosen, how: How, root: Path, folder: Path) -> archive.Archived | str:
    """Take one session away; gives what is in the archive, or how it went otherwise.

    Args:
        chosen: the session, as it was chosen.
        how: what becomes of it.
        root: the store.
        folder: the archive.

    Raises:
        WriteRefusedError: it changed since it was chosen, somebody writes to it, or the system
            does not let us. It is as it was.
        UnreadableError: it is gone, or may not be read.
        NotASessionError: it is no session any more.
    """
    if how is How.ARCHIVED:
        return archive.put_away(chosen.path, chosen.before, root, folder)
    done = take_away(chosen.path, chosen.before, permanently=how is How.DELETED)
    leave(Path(chosen.path).parent)
    return done

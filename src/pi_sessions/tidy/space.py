"""What takes the room in a store: by what it is, by project, and the largest of all."""

from __future__ import annotations

import heapq
import os
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from pi_sessions import store
from pi_sessions._lines import FileSource
from pi_sessions._pool import in_shares
from pi_sessions.errors import UnreadableError
from pi_sessions.tidy.weighing import Part, Weights, What, mostly

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path


class Heavy(msgspec.Struct, frozen=True, order=True):
    """A session, or a line of one, and what takes most of it."""

    size: int
    path: str
    line: int
    """0 for a session."""
    id: str
    """Of the session."""
    what: What
    of: str


class Sum(msgspec.Struct):
    """How many sessions or files, and their bytes."""

    count: int = 0
    size: int = 0

    def add(self, count: int, size: int) -> None:
        """Add some more."""
        self.count += count
        self.size += size


class Project(msgspec.Struct):
    """What takes the room in the sessions of one working directory."""

    whole: Sum = msgspec.field(default_factory=Sum)
    lines: int = 0
    parts: dict[Part, int] = {}


class Space(msgspec.Struct):
    """What takes the room in a store."""

    projects: dict[str | None, Project] = {}
    """By working directory; every byte of every line stands in `parts` once."""
    sessions: list[Heavy] = []
    """The largest, the largest first."""
    lines: list[Heavy] = []
    """The longest lines, likewise."""
    idle: Sum = msgspec.field(default_factory=Sum)
    """Sessions without activity since a time."""
    empty: Sum = msgspec.field(default_factory=Sum)
    """Sessions without a user message or a reply."""
    foreign: Sum = msgspec.field(default_factory=Sum)
    """Files of the store that are no sessions."""
    unreadable: list[tuple[str, str]] = []
    """Path, and why it could not be read."""

    def whole(self) -> Project:
        """Give all projects as one."""
        total = Project()
        for project in self.projects.values():
            _add(total, project)
        return total


def measure(
    root: Path,
    *,
    before: float,
    zone: tzinfo,
    top: int = 10,
    workers: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Space:
    """Measure a store; each file is read once, line by line.

    Args:
        root: the store.
        before: sessions without activity since then are idle; milliseconds since 1970.
        zone: in which times without a zone are read.
        top: how many of the largest sessions and lines are told.
        workers: processes that may share the reading.
        advance: told how many bytes were read.
    """
    found = {os.fspath(each.path): each for each in store.sessions(root)}
    space = Space()
    for path in store.session_files(root):
        if os.fspath(path) not in found:
            space.foreign.add(1, _size(os.fspath(path)))
    tasks = [(each, _size(path)) for path, each in found.items()]
    read = partial(_measured, before=before, zone=zone, top=top)
    for size, told in in_shares(tasks, itemgetter(1), read, workers):
        advance(size)
        _join(space, told)
    space.sessions = heapq.nlargest(top, space.sessions)
    space.lines = heapq.nlargest(top, space.lines)
    space.unreadable.sort()
    return space


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - paths are texts here
    except OSError:
        return 0


def _measured(
    share: list[tuple[store.Found, int]], before: float, zone: tzinfo, top: int
) -> tuple[int, Space]:
    """Measure some sessions; gives how many bytes they should have, too."""
    space = Space()
    for found, _ in share:
        path = os.fspath(found.path)
        mine = Weights(zone)
        try:
            for number, line in enumerate(FileSource(path).lines(), 1):
                mine.add(line)
                if top and (len(space.lines) < top or len(line) >= space.lines[0].size):
                    _note_line(space.lines, top, (path, number, found.id), line, zone)
        except UnreadableError as error:
            space.unreadable.append((path, str(error)))
            continue
        what, of = mostly(mine.parts)
        _keep(space.sessions, top, Heavy(mine.size, path, 0, found.id, what, of))
        project = Project(Sum(1, mine.size), mine.lines, mine.parts)
        _add(space.projects.setdefault(found.cwd, Project()), project)
        if mine.active < before:
            space.idle.add(1, mine.size)
        if not (mine.users and mine.replies):
            space.empty.add(1, mine.size)
    return sum(size for _, size in share), space


def _note_line(
    lines: list[Heavy], top: int, place: tuple[str, int, str], line: bytes, zone: tzinfo
) -> None:
    alone = Weights(zone)
    alone.add(line)
    what, of = mostly(alone.parts)
    path, number, session = place
    _keep(lines, top, Heavy(len(line), path, number, session, what, of))


def _keep(heap: list[Heavy], top: int, heavy: Heavy) -> None:
    """Keep the largest of all that come, the smallest of them first."""
    if len(heap) < top:
        heapq.heappush(heap, heavy)
    elif heap and heavy > heap[0]:
        heapq.heapreplace(heap, heavy)


def _add(total: Project, more: Project) -> None:
    total.whole.add(more.whole.count, more.whole.size)
    total.lines += more.lines
    for part, size in more.parts.items():
        total.parts[part] = total.parts.get(part, 0) + size


def _join(space: Space, more: Space) -> None:
    for cwd, project in more.projects.items():
        _add(space.projects.setdefault(cwd, Project()), project)
    space.sessions += more.sessions
    space.lines += more.lines
    space.idle.add(more.idle.count, more.idle.size)
    space.empty.add(more.empty.count, more.empty.size)
    space.unreadable += more.unreadable

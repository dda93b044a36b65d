"""What is read of a file for the cache, in whatever process: its summary, its words."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions.index import prose, stored, words
from pi_sessions.index.prose import Said
from pi_sessions.meter import Spent
from pi_sessions.store import StoredFile
from pi_sessions.summarising import go_on, summarise
from pi_sessions.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

_BLOCK = 1 << 17
"""Bytes whose words are told apart at once."""


class Task(msgspec.Struct):
    """A file that has to be read, and where."""

    file: StoredFile
    row: int = 0
    """Id of its row, 0 if what was kept of it is no longer true."""
    begin: int = 0
    """Byte from which on it has to be read."""
    state: bytes = b""
    """What `go_on` gave when it was read as far as there."""
    is_single: bool = False
    """Whether its single entries are asked for."""
    is_summarised: bool = False
    """Whether the summary is kept already, with these two facts:"""
    closed: int = 0
    lines: int = 0
    with_words: bool = False
    """Whether its words are asked for."""
    indexed: int = 0
    """Bytes whose words are kept already."""
    line: int = 1
    """The line that begins there."""


class Words(msgspec.Struct):
    """The words of a part of a file."""

    begin: int
    end: int
    line: int
    """The first line of the part."""
    held: str
    """All words, with blanks between."""
    said: list[Said]
    spoken: set[str]
    """The words of what is said."""
    lengths: bytes
    """Bytes of each line, with its newline, as an `array("I")`; b"" of an odd file."""
    is_odd: bool
    """Whether it may hold words that are not among these."""


class Taken(msgspec.Struct):
    """What was read of a file."""

    task: Task
    digest: bytes
    """Of head and tail; b"" if it cannot be read."""
    modified: int
    """Time of change to keep (`stored.settled`)."""
    summary: Summary | None = None
    spent: list[Spent] | None = None
    state: bytes = b""
    closed: int = 0
    """Bytes of whole lines, if nothing is odd in them."""
    lines: int = 0
    words: Words | None = None


class _At(msgspec.Struct):
    """How far a state reaches."""

    lines: int
    offset: int


_decode_at = msgspec.msgpack.Decoder(_At).decode


def left(task: Task) -> int:
    """Count the bytes that have to be read."""
    return task.file.size - task.begin


def take_share(tasks: list[Task], zone: tzinfo, clock: Callable[[], int]) -> list[Taken]:
    """Read some files."""
    return [_take(task, zone, clock()) for task in tasks]


def _take(task: Task, zone: tzinfo, now: int) -> Taken:
    path = task.file.path
    # Before all else: what changes from now on will not be like this.
    digest = stored.digest_of(path, task.file.size)
    taken = Taken(task, digest, stored.settled(task.file.modified, now))
    if task.is_summarised:
        taken.closed, taken.lines = task.closed, task.lines
    else:
        if task.is_single:
            taken.spent = []
            taken.summary = summarise(path, zone, taken.spent)
        if not task.is_single or task.row:
            summary, taken.state = go_on(path, zone, task.state)
            taken.summary = taken.summary or summary
        if taken.state:
            at = _decode_at(taken.state)
            taken.closed, taken.lines = at.offset, at.lines
    if task.with_words:
        taken.words = _words(task, taken)
    return taken


def _words(task: Task, taken: Taken) -> Words | None:
    """Read the words that are not kept yet; None if the file cannot be read so far."""
    if taken.summary is None and not task.is_summarised:
        return None
    is_plain = taken.closed > 0
    begin, line = (task.indexed, task.line) if is_plain else (0, 1)
    end = taken.closed or task.file.size
    found = _Plain(line) if is_plain else _Odd()
    try:
        with open(task.file.path, "rb") as file:  # noqa: PTH123 - thousands of them
            if isinstance(found, _Plain):
                found.header = _json.loads(file.readline())
                file.seek(begin)
            at = begin
            while at < end:
                lines = file.readlines(min(_BLOCK, end - at))
                if not lines:
                    return None
                at += sum(map(len, lines))
                found.take(lines)
    except (OSError, _json.JSONError, OverflowError):
        return None
    if is_plain and at > end:
        # It has grown since its lines were read: what came then is not known to be in order.
        return None
    together = b" ".join(found.held)
    spoken = found.spoken()
    return Words(
        begin,
        end,
        line,
        together.decode("utf-8", "replace"),
        found.said,
        spoken,
        found.lengths.tobytes(),
        is_odd=words.are_odd(together),
    )


class _Odd:
    """The words of any file."""

    def __init__(self) -> None:
        self.held: set[bytes] = set()
        self.said: list[Said] = []
        self.lengths = array("I")

    def take(self, lines: list[bytes]) -> None:
        """Take in the next lines."""
        self.held |= words.words_of(words.joined(lines))

    def spoken(self) -> set[str]:
        """Give the words of what is said; what has too long ones is spelled out."""
        text = "\n".join([said.words for said in self.said]).encode()
        spoken = set(text.translate(words.SMALL).split())
        if max(map(len, spoken), default=0) > words.LONGEST:
            spoken = words.words_of(b" ".join(spoken))
            self.said = [
                Said(said.line, said.rank, prose.in_pieces(said.words)) for said in self.said
            ]
        return set(words.spelled(spoken).split(" "))


class _Plain(_Odd):
    """The words of a session in which nothing is odd, and what is said in which line."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.header: dict[str, Any] = {}
        self._line = line
        self._seen: dict[int, Said | None] = {}

    def take(self, lines: list[bytes]) -> None:
        """Take in the next lines, each body once: what is read twice has the same words."""
        seen, fresh = self._seen, []
        for line, data in enumerate(lines, self._line):
            body = words.body(data)
            key = hash(body)
            if key in seen:
                said = seen[key]
            else:
                fresh.append(body)
                is_silent = line == 1 or prose.is_silent(body)
                said = seen[key] = None if is_silent else prose.said(line, data, self.header)
            if said is not None:
                self.said.append(Said(line, said.rank, said.words))
        self.lengths.extend(map(len, lines))
        self._line += len(lines)
        super().take(fresh)

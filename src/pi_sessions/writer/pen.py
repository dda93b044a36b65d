"""Where the next line goes, and putting it there.

A pen holds the table of a session, which grows with each line, and the leaf that the next entry
will follow. Before each append to a file it takes our lock and looks whether the file is as it was
last seen; `Pen.catch_up` says what happens when it is not.
"""

from __future__ import annotations

import contextlib
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any

from pi_sessions import scan
from pi_sessions._lines import FileSource
from pi_sessions.errors import (
    NotASessionError,
    NotWrittenError,
    SessionChangedError,
    SessionError,
    UnreadableError,
)
from pi_sessions.table import Kind, Table, id_key
from pi_sessions.writer import creating, rows, shapes
from pi_sessions.writer.appending import Memory, SessionFile
from pi_sessions.writer.places import Places, check_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_sessions._lines import Source
    from pi_sessions.writer.ids import Clock, Random

_ABOUT_THE_FILE = frozenset((Kind.LABEL, Kind.SESSION_INFO, Kind.USAGE))
"""Entries that mean the same wherever they stand, so that going on behind one changes nothing."""


class Stance(Enum):
    """What the leaf of a pen is."""

    END = "the end of the file: what others append comes before us"
    POINT = "an entry somebody chose to branch from"
    BRANCH = "the end of a branch of our own"


_AT_ONCE = 500
"""Messages that are made into lines together."""
_Mark = tuple[int, int, int, Stance]
"""Lines of the table, its leaf, and the leaf of the pen with its stance."""


class Pen:
    """Writes entries one after another into one session."""

    def __init__(
        self, table: Table, path: str | None, *, durable: bool, clock: Clock, random: Random
    ) -> None:
        self.table = table
        self.path = path
        """Name of the file, also before it is there; None in memory."""
        self.leaf = table.leaf
        """Line of the entry that the next one will follow; 0 for none."""
        self.stance = Stance.END
        self.file: SessionFile | None = None
        self._memory: Memory | None = _memory_of(table.source)
        self._durable = durable
        self.places = Places(clock, random)
        self._overtaken = False
        """Whether others have gone on behind our leaf; so it stays until the leaf is moved."""
        self._lost: object = None
        """Id of our leaf while the file does not have it."""
        self._held = False
        self._batched = False
        self._behind: Source = table.source
        if self._memory is None and path is not None:
            self.file = SessionFile(path, durable=durable)
            self.file.see(table.offsets[-1])

    def append(
        self, shape: Callable[..., dict[str, Any]], *fields: Any, anywhere: bool = False
    ) -> str:
        """Make an entry at the leaf, write it, and give its id.

        Args:
            shape: makes the entry of its `Place` and `fields`, after all others wrote was read.
            fields: what the entry holds.
            anywhere: it means the same wherever it stands.

        Raises:
            SessionChangedError: others have gone on with the conversation.
            SessionLockedError: another program has the file.
            NotWrittenError: the system did not let us write.
        """
        file = self.file
        if self._memory is not None:
            return self._append_to_memory(self._memory, shape, fields)
        assert file is not None
        if not self._held:
            self._lock(file)
        try:
            if self._overtaken or not file.is_as_seen():
                self.catch_up(anywhere=anywhere)
            entry = shape(self.places.after(self.table, self.leaf), *fields)
            data = shapes.line_of(entry)
            torn = file.is_torn
            in_place = file.append(b"\n" + data if torn else data)
            self.table.offsets[-1] += torn
            made = self._remember(entry, len(data))
            if not in_place:
                self._find_again(file, made)
        except OSError as error:
            raise self._told(error) from None
        finally:
            if not self._held:
                file.unlock()
        return made

    def append_messages(self, messages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Make a message entry of each, in one write, and give their ids; as `append` for each.

        Raises:
            WriteRefusedError: as for `append`; none of them is written.
        """
        made: list[str] = []
        rest = iter(messages)
        with self.batch():
            while some := list(islice(rest, _AT_ONCE)):
                made += self._append_some(some)
        return made

    def _append_some(self, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        assert self._memory is not None
        first = self.places.after(self.table, self.leaf)
        made = [first.id, *self.places.more_ids(self.table, first.id, len(messages) - 1)]
        lines = shapes.message_lines(first, made, messages)
        self._memory.append(b"".join(lines))
        roles = (message["role"] for message in messages)
        self.leaf = rows.add_messages(self.table, made, roles, map(len, lines), self.leaf)
        self._has_appended()
        return made

    def _find_again(self, file: SessionFile, leaf: str) -> None:
        """Read the file anew after our line came to stand elsewhere than we thought."""
        try:
            self._read_all(file)
            self.leaf = self.table.lines_by_id[leaf]
        except (OSError, SessionChangedError):
            # The line is written; the next append will look for it.
            file.forget()

    def _told(self, error: OSError) -> OSError:
        """Give an error of the system as one of ours."""
        if isinstance(error, SessionError):
            return error
        return NotWrittenError(self.path or "", error.strerror or str(error))

    def _append_to_memory(
        self, memory: Memory, shape: Callable[..., dict[str, Any]], fields: tuple[Any, ...]
    ) -> str:
        mark = None if self._batched else self._mark()
        entry = shape(self.places.after(self.table, self.leaf), *fields)
        data = shapes.line_of(entry)
        memory.append(data)
        made = self._remember(entry, len(data))
        if mark is not None:
            self._settle(mark)
        return made

    def _remember(self, entry: dict[str, Any], length: int) -> str:
        """Add what was written to the table and make it the leaf."""
        self.leaf = rows.add(self.table, entry, length, self.leaf)
        self._has_appended()
        made: str = entry["id"]
        return made

    def _has_appended(self) -> None:
        if self.stance is Stance.POINT:
            self.stance = Stance.BRANCH

    # Memory, and how it becomes a file

    def start(self, lines: Iterable[bytes]) -> None:
        """Put whole lines into a session that has nothing but its header."""
        memory = self._memory
        assert memory is not None
        assert len(self.table) == 1
        for line in lines:
            memory.append(line)
        self.table = scan.read(memory)
        self.leaf = self.table.leaf
        self._settle(None)

    def _mark(self) -> _Mark:
        return len(self.table), self.table.leaf, self.leaf, self.stance

    def _go_back(self, mark: _Mark) -> None:
        """Forget what was appended to memory since a mark."""
        length, self.table.leaf, self.leaf, self.stance = mark
        rows.forget(self.table, length)
        if self._memory is not None:
            self._memory.cut(self.table.offsets[-1])

    def _settle(self, mark: _Mark | None) -> None:
        """Make the file of a new session if it is time; forget all since a mark if that fails."""
        memory, kinds = self._memory, self.table.kinds
        if memory is None or self.path is None:
            return
        if Kind.USER not in kinds and Kind.ASSISTANT not in kinds:
            return
        try:
            creating.create(self.path, memory.chunks(), durable=self._durable)
            try:
                file = SessionFile(self.path, durable=self._durable)
                file.see(memory.size)
                source = FileSource(self.path)
            except BaseException:
                creating.take_away(self.path)
                raise
        except BaseException as error:
            if mark:
                self._go_back(mark)
            if isinstance(error, OSError):
                raise self._told(error) from None
            raise
        self.file, self.table.source, self._memory = file, source, None

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Let several appends be one write at the end: all of them or none."""
        if self._batched:
            yield
            return
        with self.held():
            file = self.file
            if file is not None:
                if self._overtaken or not file.is_as_seen():
                    self.catch_up(anywhere=False)
                self._open_batch(file)
            mark = self._mark()
            self._batched = True
            try:
                yield
                if file is None:
                    self._settle(mark)
                elif len(self.table) > mark[0]:
                    self._write_batch(file)
            except BaseException:
                self._go_back(mark)
                raise
            finally:
                self._batched = False
                if file is not None:
                    self._close_batch(file)

    def _open_batch(self, file: SessionFile) -> None:
        """Let appends go to memory behind the file; the first of them closes a torn line."""
        source, end = self.table.source, self.table.offsets[-1]
        self._behind, self._memory = source, Memory(b"", file.path, source, end)
        if file.is_torn:
            self._memory.append(b"\n")
            self.table.offsets[-1] += 1
        self.table.source = self._memory

    def _write_batch(self, file: SessionFile) -> None:
        assert self._memory is not None
        if not file.append(self._memory.data):
            self._find_again(file, self.table.ids[self.leaf])

    def _close_batch(self, file: SessionFile) -> None:
        if self.table.source is self._memory:
            self.table.source = self._behind
        self._memory = None
        if file.is_torn:
            # Nothing was written, so the line is still open.
            self.table.offsets[-1] -= 1

    # Others who write to the file

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other writers of ours out for several appends; they wait meanwhile."""
        file = self.file
        if file is None or self._held:
            yield
            return
        self._lock(file)
        self._held = True
        try:
            yield
        finally:
            self._held = False
            file.unlock()

    def refresh(self) -> None:
        """Read what others have written and take the end of the file as the leaf."""
        if self.file is not None:
            with self.held():
                self._read_again(self.file)
        self.move(self.table.leaf, Stance.END)

    def move(self, leaf: int, stance: Stance = Stance.POINT) -> None:
        """Let the next entry follow that of a line; 0 makes it a root."""
        self.leaf, self.stance = leaf, stance
        self._overtaken, self._lost = False, None

    def _lock(self, file: SessionFile) -> None:
        """Take the lock of the file that has our name now."""
        file.lock()
        try:
            while file.has_moved():
                file.unlock()
                file.reopen()
                file.lock()
                file.forget()
        except BaseException as error:
            file.unlock()
            if isinstance(error, OSError):
                raise self._told(error) from None
            raise

    def catch_up(self, *, anywhere: bool) -> None:
        """Read what others have written, and see whether our leaf is still where to go on.

        At the end of the file we go on behind what others appended there if it is about the file
        as a whole (a label, a name, usage), or if what we append is. A chosen point stays. A branch
        of our own stays as long as nobody has gone on with it.

        Raises:
            SessionChangedError: the leaf is gone, or the conversation went on without us.
        """
        file = self.file
        assert file is not None
        known, leaf = len(self.table), self.leaf
        wanted = self._lost or (self.table.ids[leaf] if leaf else None)
        self._read_again(file)
        table = self.table
        self.leaf = leaf = table.lines_by_id.get(id_key(wanted), 0) if wanted is not None else 0
        self._lost = wanted if wanted is not None and not leaf else None
        if self._lost is not None:
            self._overtaken = True
            raise SessionChangedError(file.path, f"has no entry {wanted} any more")
        if self.stance is Stance.POINT:
            return
        if self.stance is Stance.BRANCH:
            self._overtaken = self._overtaken or leaf in table.parents[known + 1 :]
        elif anywhere or self._is_about_the_file(table.leaf, leaf):
            self.leaf, self._overtaken = table.leaf, False
        else:
            self._overtaken = True
        if self._overtaken:
            raise SessionChangedError(file.path, f"has gone on behind entry {wanted} meanwhile")

    def _is_about_the_file(self, line: int, ancestor: int) -> bool:
        """Say whether all that follows an entry up to another changes nothing for what comes."""
        parents, kinds = self.table.parents, self.table.kinds
        while line > 0 and line != ancestor and kinds[line] in _ABOUT_THE_FILE:
            line = parents[line]
        return line == ancestor

    def _read_again(self, file: SessionFile) -> None:
        """Bring the table up to the file.

        Raises:
            SessionChangedError: it is no session any more, or another one.
        """
        table = self.table
        if file.is_as_seen():
            return
        if file.end and not file.is_torn and file.has_grown():
            new = file.read_on()
            length = len(table)
            if rows.extend(table, new):
                file.see(file.end + len(new))
                return
            rows.forget(table, length)
        self._read_all(file)

    def _read_all(self, file: SessionFile) -> None:
        """Read the file anew.

        Raises:
            SessionChangedError: it is no session any more, or another one.
        """
        table = self.table
        try:
            found = scan.read(FileSource(file.path))
        except (UnreadableError, NotASessionError) as error:
            raise SessionChangedError(file.path, f"cannot be read any more ({error})") from None
        if found.header["id"] != table.header["id"]:
            raise SessionChangedError(file.path, "holds another session by now")
        check_version(found, force=found.stored_version == table.stored_version)
        self.table = found
        file.see(found.offsets[-1])


def _memory_of(source: object) -> Memory | None:
    return source if isinstance(source, Memory) else None

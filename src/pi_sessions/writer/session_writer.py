"""The writer of one session: appends, branches and edits, in a file or in memory."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from pi_sessions import scan
from pi_sessions._lines import FileSource
from pi_sessions.session import Session
from pi_sessions.table import Kind
from pi_sessions.writer import ids, shapes
from pi_sessions.writer.appending import Memory
from pi_sessions.writer.pen import Pen
from pi_sessions.writer.places import (
    check_version,
    line_of,
    line_on_branch,
    new_header,
    prompt_at,
)
from pi_sessions.writer.shapes import MISSING, Place, Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_sessions._lines import Source
    from pi_sessions.writer.ids import Clock, Random


class SessionWriter:
    """Appends to one session. Make one with `create`, `open` or `in_memory`; close it at the end.

    Every method that appends gives the id of the new entry, which is the leaf from then on. When an
    append fails, nothing of it is in the file or in the writer.
    """

    def __init__(self, pen: Pen) -> None:
        self._pen = pen

    # Making one

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        cwd: str,
        *,
        session_id: str | None = None,
        parent_session: str | None = None,
        durable: bool = False,
        clock: Clock = ids.system_clock,
        random: Random = ids.system_random,
    ) -> Self:
        """Begin a new session.

        Its file appears with the first user or assistant message, as in Pi: a session in which
        nothing was said leaves none.

        Args:
            folder: where the file will be; its name is made of the time and the id.
            cwd: working directory of the session.
            session_id: its id; by default a new UUIDv7.
            parent_session: path of the session it comes from.
            durable: wait after each append until the disk has it.
            clock: gives milliseconds since 1970.
            random: gives random bytes.

        Raises:
            ValueError: Pi would not take the id.
        """
        header = new_header(cwd, session_id, parent_session, clock, random)
        name = ids.file_name(header["timestamp"], header["id"])
        path = os.fspath(Path(folder).absolute() / name)
        memory = Memory(shapes.line_of(header), path)
        return cls._on_memory(memory, path, durable=durable, clock=clock, random=random)

    @classmethod
    def in_memory(
        cls,
        cwd: str,
        *,
        session_id: str | None = None,
        clock: Clock = ids.system_clock,
        random: Random = ids.system_random,
    ) -> Self:
        """Begin a session that never has a file; `data` has its bytes."""
        header = new_header(cwd, session_id, None, clock, random)
        return cls._on_memory(Memory(shapes.line_of(header)), None, clock=clock, random=random)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        name: str = "<bytes>",
        force: bool = False,
        clock: Clock = ids.system_clock,
        random: Random = ids.system_random,
    ) -> Self:
        """Go on, in memory, with a session that is given as bytes.

        Raises:
            NotASessionError: they are none.
            VersionNotWritableError: as for `open`.
        """
        closed = data if data.endswith(b"\n") or not data else data + b"\n"
        return cls._on_memory(Memory(closed, name), None, force, clock=clock, random=random)

    @classmethod
    def _on_memory(
        cls,
        memory: Memory,
        path: str | None,
        force: bool = False,
        *,
        durable: bool = False,
        clock: Clock,
        random: Random,
    ) -> Self:
        table = scan.read(memory)
        check_version(table, force=force)
        return cls(Pen(table, path, durable=durable, clock=clock, random=random))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        durable: bool = False,
        clock: Clock = ids.system_clock,
        random: Random = ids.system_random,
    ) -> Self:
        """Open a session file to append to; opening writes nothing.

        Args:
            path: the file. What a link means is written, and the link stays.
            force: append to a file of a newer version as well.
            durable: wait after each append until the disk has it.
            clock: gives milliseconds since 1970.
            random: gives random bytes.

        Raises:
            UnreadableError: it cannot be read.
            NotASessionError: it is no session.
            VersionNotWritableError: it is of version 1 or 2, or of a newer one than 3.
            NotWrittenError: it may not be written.
        """
        name = os.fspath(path)
        table = scan.read(FileSource(name))
        check_version(table, force=force)
        return cls(Pen(table, name, durable=durable, clock=clock, random=random))

    def starting_with(self, lines: Iterable[bytes]) -> Self:
        """Put whole lines into a session that was just begun, before anything is appended.

        Raises:
            NotWrittenError: its file cannot be written.
        """
        self._pen.start(lines)
        return self

    # What there is

    @property
    def path(self) -> str | None:
        """Name of the file, also before it is there; None in memory."""
        return self._pen.path

    @property
    def has_file(self) -> bool:
        """Say whether the session has its file already."""
        return self._pen.file is not None

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return str(self._pen.table.header["id"])

    @property
    def leaf(self) -> str | None:
        """Id of the entry that the next one will follow; None before the first."""
        pen = self._pen
        return pen.table.ids[pen.leaf] if pen.leaf else None

    @property
    def session(self) -> Session:
        """The session as it is now, to be asked; take a new one after an append."""
        return Session(self._pen.table)

    @property
    def data(self) -> bytes:
        """All bytes of the session, as far as the writer has seen them."""
        table = self._pen.table
        source: Source = table.source
        return source.read(0, table.offsets[-1])

    # Appending

    def append_message(self, message: Mapping[str, Any]) -> str:
        """Append a message: an object with `role`, `content`, `timestamp` and what its role has.

        Raises:
            ValueError: it has no role, or the role of a summary.
            SessionChangedError: others have gone on with the conversation.
            SessionLockedError: another program has the file.
            NotWrittenError: the system did not let us write.
        """
        return self._pen.append(shapes.message, message)

    def append_messages(self, messages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Append messages, each behind the one before, in one write; give their ids.

        All of them or none; else as `append_message` for each.
        """
        return self._pen.append_messages(messages)

    def append_custom_message(
        self, custom_type: str, content: Any, *, display: bool = True, details: Any = MISSING
    ) -> str:
        """Append a message of an extension, which the model sees.

        Raises:
            ValueError: the content is neither text nor a list of blocks.
        """
        return self._pen.append(shapes.custom_message, custom_type, content, display, details)

    def append_custom(self, custom_type: str, data: Any = MISSING) -> str:
        """Append what an extension remembers and no model sees."""
        return self._pen.append(shapes.custom, custom_type, data)

    def append_model_change(self, provider: str, model: str) -> str:
        """Append a choice of model."""
        return self._pen.append(shapes.model_change, provider, model)

    def append_thinking_level(self, level: str) -> str:
        """Append a choice of thinking level."""
        return self._pen.append(shapes.thinking_level_change, level)

    def append_usage(
        self, kind: str, provider: str, model: str, usage: Mapping[str, Any], note: str = ""
    ) -> str:
        """Append tokens that no reply accounts for."""
        fields = (kind, provider, model, usage, note)
        return self._pen.append(shapes.usage, *fields, anywhere=True)

    def append_name(self, name: str) -> str:
        """Name the session; "" takes the name away."""
        return self._pen.append(shapes.session_name, name, anywhere=True)

    def append_label(self, target: str, label: str | None) -> str:
        """Label an entry; None takes the label away.

        Raises:
            EntryNotFoundError: there is no such entry.
        """

        def made(place: Place) -> dict[str, Any]:
            line_of(self._pen.table, target)
            return shapes.label(place, target, label)

        return self._pen.append(made, anywhere=True)

    def append_compaction(
        self, summary: str, first_kept: str | None, tokens_before: int, **told: Unpack[Told]
    ) -> str:
        """Append a compaction, with the prompt that is in force at the leaf.

        Args:
            summary: what stands for the entries before the kept ones.
            first_kept: the first entry on the branch that is still sent; None keeps nothing.
            tokens_before: tokens of the context that it shortens.
            told: what is told of the summary, see `shapes.Told`.

        Raises:
            EntryNotFoundError: `first_kept` is not on the branch; nothing would be kept.
        """

        def made(place: Place) -> dict[str, Any]:
            if first_kept is not None:
                line_on_branch(self._pen.table, first_kept, self._pen.leaf)
            pen = self._pen
            prompt = prompt_at(pen.table, pen.leaf, pen.places.now)
            kept = place.id if first_kept is None else first_kept
            return shapes.compaction(place, summary, kept, tokens_before, prompt, **told)

        return self._pen.append(made)

    def append_context_edit(self, target: str, replacement: Mapping[str, Any] | None) -> str:
        """Append an edit of what is sent of an earlier entry; the entry itself stays as it is.

        Args:
            target: an entry on the branch: a user, assistant, tool result or custom message.
            replacement: None omits it; `{"content": text or blocks}` sends that instead.

        Raises:
            EntryNotFoundError: the target is not on the branch.
            ValueError: nothing of the target could be edited, or the replacement is neither.
        """

        def made(place: Place) -> dict[str, Any]:
            pen = self._pen
            line = line_on_branch(pen.table, target, pen.leaf)
            role = pen.table.role_of(line)
            if pen.table.kinds[line] == Kind.CUSTOM_MESSAGE:
                role = "custom"
            elif role not in shapes.EDITABLE_ROLES:
                role = None
            if role is None:
                raise ValueError(
                    f"entry {target} is neither a user, assistant, tool result nor custom message, "
                    "so nothing of it can be edited"
                )
            return shapes.context_edit(place, target, role, replacement)

        return self._pen.append(made)

    # Moving the leaf

    def branch_from(self, entry: str) -> None:
        """Let the next entry follow an earlier one, which begins a branch. Nothing is written.

        Raises:
            EntryNotFoundError: there is no such entry.
        """
        self._pen.move(line_of(self._pen.table, entry))

    def reset_leaf(self) -> None:
        """Let the next entry be a root. Nothing is written."""
        self._pen.move(0)

    def branch_with_summary(self, entry: str | None, summary: str, **told: Unpack[Told]) -> str:
        """Branch from an earlier entry (None: a new root) and tell there what is left behind.

        Raises:
            EntryNotFoundError: there is no such entry.
        """
        pen = self._pen
        before = pen.leaf, pen.stance
        from_id = self.leaf if pen.leaf else "root"
        if entry is None:
            self.reset_leaf()
        else:
            self.branch_from(entry)

        def made(place: Place) -> dict[str, Any]:
            return shapes.branch_summary(place, from_id, summary, **told)

        try:
            return pen.append(made)
        except BaseException:
            pen.leaf, pen.stance = before
            raise

    # The file, and others who write to it

    def batch(self) -> contextlib.AbstractContextManager[None]:
        """Let the appends of a `with` block be one write at its end: all of them or none.

        Raises:
            SessionChangedError: others have gone on with the conversation.
            SessionLockedError: another program has the file.
            NotWrittenError: the system did not let us write; all of them are taken back.
        """
        return self._pen.batch()

    def held(self) -> contextlib.AbstractContextManager[None]:
        """Keep other writers of ours out for a `with` block of appends; they wait meanwhile.

        Raises:
            SessionLockedError: another program has the file.
        """
        return self._pen.held()

    def refresh(self) -> None:
        """Read what others have written and take the end of the file as the leaf.

        Raises:
            SessionChangedError: the file is gone or holds another session.
        """
        self._pen.refresh()

    def close(self) -> None:
        """Let the file go."""
        if self._pen.file is not None:
            self._pen.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self.path or "in memory"
        return f"<SessionWriter {self.session_id} at {self.leaf}, {where}>"

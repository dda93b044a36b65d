"""Doing what was planned: a new file in the place of the old one, then entries at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, scan
from pi_sessions._lines import FileSource, Source
from pi_sessions.diagnostics import Code
from pi_sessions.errors import NotWrittenError, SessionChangedError, VersionNotWritableError
from pi_sessions.migrations import CURRENT
from pi_sessions.repair.planning import Append, Plan, plan
from pi_sessions.repair.salvage import header_for
from pi_sessions.repair.upgrading import needs_upgrade, upgraded
from pi_sessions.rewriting import Replaced, Snapshot, replace, snapshot
from pi_sessions.writer.creating import create
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import tzinfo

    from pi_sessions.table import Table
    from pi_sessions.writer.ids import Clock, Random

_HEAD = 1 << 20


class Mended(msgspec.Struct, frozen=True):
    """What was done."""

    path: str
    """The file that is mended now."""
    backup: str | None
    """The old one, where the file was written anew in its place."""
    entries: tuple[str, ...]
    """Ids of the entries that were appended."""


class Patient:
    """A session file that is to be upgraded or repaired, as it is now.

    Raises:
        UnreadableError: it cannot be read.
        NotASessionError: it is no session; `rescue` may help.
        SessionChangedError: it grew while it was being read.
    """

    def __init__(self, path: str, zone: tzinfo) -> None:
        self.path = path
        self.zone = zone
        self.before: Snapshot = snapshot(path)
        self.table: Table = scan.read(FileSource(path))
        if self.before.size != self.table.offsets[-1]:
            raise SessionChangedError(path, "it was written to while it was being read")

    def upgrade(self, out: str | None = None, *, backup: bool = True) -> Mended | None:
        """Make the file one of version 3; None if it is one already.

        Args:
            out: name of a new file; by default the old one is replaced.
            backup: whether the old one stays under another name.

        Raises:
            WouldOverwriteError: there is something where the new file would be.
            SessionChangedError: the old one is no longer what it was.
            NotWrittenError: the system did not let us write.
        """
        if not needs_upgrade(self.table):
            return None
        return self._written(upgraded(self.table), out, backup=backup)

    def plan(self, *, relink: bool = False, force: bool = False) -> Plan:
        """Decide what a repair would do.

        Raises:
            VersionNotWritableError: the version is newer than is known here.
        """
        if self.table.stored_version > CURRENT and not force:
            version = self.table.header.get("version")
            raise VersionNotWritableError(self.path, version, newer=True)
        return plan(self.table, self.zone, relink=relink)

    def repair(
        self,
        planned: Plan,
        out: str | None = None,
        *,
        backup: bool = True,
        clock: Clock,
        random: Random,
    ) -> Mended:
        """Do what was planned.

        Args:
            planned: as `plan` gave it.
            out: name of a new file; by default the file itself is mended.
            backup: as for `upgrade`.
            clock: gives milliseconds since 1970.
            random: gives random bytes.

        Raises:
            WouldOverwriteError: as for `upgrade`.
            SessionChangedError: as for `upgrade`.
            NotWrittenError: as for `upgrade`.
        """
        done = Mended(self.path, None, ())
        if planned.rewrites or out is not None:
            done = self._written(planned.lines(), out, backup=backup)
        elif planned.closes_tail and not planned.appends:
            _close_tail(self.path, self.before)
        if not planned.appends or needs_upgrade(self.table):
            return done
        with SessionWriter.open(done.path, force=True, clock=clock, random=random) as writer:
            ids = tuple(_append(writer, append) for append in planned.appends)
        return msgspec.structs.replace(done, entries=ids)

    def _written(self, lines: Iterable[bytes], out: str | None, *, backup: bool) -> Mended:
        if out is not None:
            create(out, lines, durable=True)
            return Mended(out, None, ())
        replaced: Replaced = replace(self.path, lines, self.before, backup=backup)
        return Mended(replaced.path, replaced.backup, ())


def _close_tail(path: str, before: Snapshot) -> None:
    """Add the newline that the last line lacks."""
    if snapshot(path) != before:
        raise SessionChangedError(path, "it was written to meanwhile")
    try:
        with open(path, "ab") as file:  # noqa: PTH123 - the name is text already
            file.write(b"\n")
    except OSError as error:
        raise NotWrittenError(path, error.strerror or str(error)) from None


def _append(writer: SessionWriter, append: Append) -> str:
    if append.code is Code.LEAF_ON_DEAD_BRANCH:
        session = writer.session
        writer.branch_from(append.target)
        return writer.append_label(append.target, session.labels.get(append.target))
    return writer.append_context_edit(append.target, None)


def rescue(path: str, out: str, new_id: Callable[[], str]) -> dict[str, Any]:
    """Give a file without a good header one, in a new file; the old one stays as it is.

    Returns:
        The header that was made.

    Raises:
        UnreadableError: it cannot be read.
        WouldOverwriteError: there is something where the new file would be.
        NotWrittenError: the system did not let us write.
    """
    source = FileSource(path)
    head = source.read(0, min(source.size, _HEAD))
    header = header_for(head, path, new_id)
    create(out, [_json.encode(header) + b"\n", *_rest(source)], durable=True)
    return header


def _rest(source: Source) -> Iterator[bytes]:
    for line in source.lines():
        yield line if line.endswith(b"\n") else line + b"\n"

"""Doing what was planned: a new file in the place of the old one, then entries at its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import msgspec

from pi_sessions import _json, scan
from pi_sessions._lines import BytesSource, FileSource
from pi_sessions.errors import NotWrittenError, SessionChangedError, VersionNotWritableError
from pi_sessions.migrations import CURRENT
from pi_sessions.repair.planning import NO_GUESSES, Plan, append_all, plan
from pi_sessions.repair.salvage import header_for
from pi_sessions.repair.upgrading import needs_upgrade, upgraded
from pi_sessions.rewriting import Snapshot, ensure_same, locked, replace, snapshot, write_new
from pi_sessions.writer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import tzinfo

    from pi_sessions.repair.values import Guesses
    from pi_sessions.table import Table
    from pi_sessions.writer.ids import Clock, Random

_HEAD = 1 << 20
"""Bytes at the beginning of a file in which what is left of its header is looked for."""


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
        NotASessionError: it is no session; `Patient.without_header` may help.
        SessionChangedError: it grew while it was being read.
    """

    def __init__(self, path: str, zone: tzinfo, table: Table | None = None) -> None:
        self.path = path
        self.zone = zone
        self.before: Snapshot = snapshot(path)
        self.table: Table = scan.read(FileSource(path)) if table is None else table
        self.header: dict[str, Any] | None = None
        """The header that was made for a file without a good one."""
        if table is None and self.before.size != self.table.offsets[-1]:
            raise SessionChangedError(path, "it was written to while it was being read")

    @classmethod
    def without_header(cls, path: str, zone: tzinfo, new_id: Callable[[], str]) -> Self:
        """Take a file that lacks a good header, with one made from what is left of it.

        All its lines stay. It can only be repaired into a new file.

        Args:
            path: the file.
            zone: zone of times without one.
            new_id: makes a session id, for a file that tells none.

        Raises:
            UnreadableError: it cannot be read.
        """
        source = FileSource(path)
        header = header_for(source.read(0, min(source.size, _HEAD)), path, new_id)
        data = _json.encode(header) + b"\n" + source.read(0, source.size)
        patient = cls(path, zone, scan.read(BytesSource(data, path)))
        patient.header = header
        return patient

    def upgrade(self, out: str | None = None, *, backup: bool = True) -> Mended | None:
        """Make the file one of version 3; None if it is one already.

        Args:
            out: name of a new file; by default the old one is replaced.
            backup: whether the old one stays under another name.

        Raises:
            WouldOverwriteError: there is something where the new file would be.
            SessionChangedError: the old one is no longer what it was.
            SessionLockedError: another writer of ours has it.
            NotWrittenError: the system did not let us write.
        """
        if not needs_upgrade(self.table):
            return None
        return self._written(upgraded(self.table), out, backup=backup)

    def plan(self, guesses: Guesses = NO_GUESSES, *, force: bool = False) -> Plan:
        """Decide what a repair would do.

        Args:
            guesses: what is mended only where that is asked for.
            force: take a file of a newer version than 3 as one of version 3.

        Raises:
            VersionNotWritableError: the version is newer than is known here.
        """
        if self.table.stored_version > CURRENT and not force:
            version = self.table.header.get("version")
            raise VersionNotWritableError(self.path, version, newer=True)
        return plan(self.table, self.zone, guesses)

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
            SessionLockedError: as for `upgrade`.
            NotWrittenError: as for `upgrade`; also if there was room for the new file and none for
                the entries behind it, which a second repair appends.
            ValueError: the header was made here, and there is no `out`.
        """
        if self.header is not None and out is None:
            raise ValueError("a file without a header is repaired into a new file")
        done = Mended(self.path, None, ())
        if planned.rewrites or out is not None:
            done = self._written(planned.lines(), out, backup=backup)
        elif planned.closes_tail and not planned.appends:
            self._close_tail()
        if not planned.appends:
            return done
        with SessionWriter.open(done.path, force=True, clock=clock, random=random) as writer:
            if not planned.rewrites and out is None:
                ensure_same(self.path, self.before)
            with writer.batch():
                ids = append_all(writer, planned.appends)
        return msgspec.structs.replace(done, entries=tuple(ids))

    def _written(self, lines: Iterable[bytes], out: str | None, *, backup: bool) -> Mended:
        if out is not None:
            write_new(out, lines)
            return Mended(out, None, ())
        replaced = replace(self.path, lines, self.before, backup=backup)
        return Mended(replaced.path, replaced.backup, ())

    def _close_tail(self) -> None:
        """Add the newline that the last line lacks."""
        with locked(self.path):
            ensure_same(self.path, self.before)
            try:
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
                try:
                    os.write(descriptor, b"\n")
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise NotWrittenError(self.path, error.strerror or str(error)) from None

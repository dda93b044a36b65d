"""The exceptions of the package, one tree.

SessionError
├── FormatError (ValueError)          .diagnostics   what strict mode raises
│   ├── NotASessionError              .path .line .offset
│   └── UnsupportedVersionError       .version
├── LookupFailure (LookupError)
│   ├── EntryNotFoundError            .entry_id .candidates
│   ├── NotAResponseError             .entry_id .kind
│   └── SessionNotFoundError          .query .candidates
├── UnreadableError (OSError)         .path
├── ProfileError (ValueError)         .path .why
├── UnsupportedApiError (ValueError)  .api
├── WouldOverwriteError (OSError)     .path
└── WriteRefusedError                 .path          nothing was written
    ├── SessionChangedError           .why
    ├── SessionLockedError
    ├── VersionNotWritableError       .version
    └── NotWrittenError (OSError)     .why

Each class builds its sentence from typed fields; the command maps classes to exit codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.diagnostics import Diagnostic


class SessionError(Exception):
    """Anything this package raises on purpose."""


class FormatError(SessionError, ValueError):
    """A file has defects and strict reading was asked for; `diagnostics` has all of them."""

    def __init__(self, diagnostics: Sequence[Diagnostic], message: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        count = len(self.diagnostics)
        first = f": {self.diagnostics[0]}" if self.diagnostics else ""
        super().__init__(message or f"{count} defect{'s' if count != 1 else ''}{first}")


class NotASessionError(FormatError):
    """The bytes hold no session: the first parsed line is not a header."""

    def __init__(self, path: str, line: int, offset: int, why: str) -> None:
        self.path = path
        self.line = line
        self.offset = offset
        self.why = why
        super().__init__((), f"{path}:{line}:{offset}: not a Pi session: {why}")


class UnsupportedVersionError(FormatError):
    """Strict reading met a version newer than this package knows."""

    def __init__(self, version: object, diagnostics: Sequence[Diagnostic]) -> None:
        self.version = version
        super().__init__(diagnostics, f"format version {version!r} is newer than 3")


class LookupFailure(SessionError, LookupError):  # noqa: N818 - a base, named as a kind of failure
    """Something was asked for that is not there."""


class EntryNotFoundError(LookupFailure):
    """No entry has this id, or several ids begin with it."""

    def __init__(self, entry_id: str, candidates: Sequence[str] = ()) -> None:
        self.entry_id = entry_id
        self.candidates = tuple(candidates)
        if candidates:
            shown = ", ".join(self.candidates[:8])
            more = f" and {len(self.candidates) - 8} more" if len(self.candidates) > 8 else ""
            super().__init__(f"several entries begin with {entry_id!r}: {shown}{more}")
        else:
            super().__init__(f"no entry has the id {entry_id!r}, nor one that begins so")


class NotAResponseError(LookupFailure):
    """A response was asked for and the entry is not an assistant message."""

    def __init__(self, entry_id: str, kind: str) -> None:
        self.entry_id = entry_id
        self.kind = kind
        super().__init__(
            f"entry {entry_id} is a {kind}, not a reply of the model; "
            "name an assistant entry, or choose the point with a leaf"
        )


class SessionNotFoundError(LookupFailure):
    """No session is meant by this path or id, or several are."""

    def __init__(self, query: str, candidates: Sequence[str] = (), where: str = "") -> None:
        self.query = query
        self.candidates = tuple(candidates)
        place = f" under {where}" if where else ""
        if candidates:
            super().__init__(
                f"{query!r} means {len(self.candidates)} sessions{place}:\n  "
                + "\n  ".join(self.candidates)
            )
        else:
            super().__init__(f"no session file or id {query!r}{place}")


class UnknownReleaseError(LookupFailure):
    """No release of Pi is known by this number."""

    def __init__(self, release: str, oldest: str = "", newest: str = "") -> None:
        self.release = release
        known = f"; releases from {oldest} to {newest} are" if oldest else ""
        super().__init__(f"no release {release!r} of Pi is known{known}")


class UnreadableError(SessionError, OSError):
    """The file cannot be opened or read, or it changed under the reader."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path}: {why}")


class UnsupportedApiError(SessionError, ValueError):
    """A request body was asked for in an API that is not built here."""

    def __init__(self, api: str) -> None:
        self.api = api
        super().__init__(
            f"request bodies of {api!r} are not built here; the replayed messages are "
            "(context --stage replay)"
        )


class ProfileError(SessionError, ValueError):
    """A profile of reports is not what a profile is."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path}: no profile of a report: {why}")


class WouldOverwriteError(SessionError, OSError):
    """A file was to be written where something else is."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path} {why}")


class WriteRefusedError(SessionError):
    """Nothing was written, and the file is as it was."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(f"{path} {message}")


class SessionChangedError(WriteRefusedError):
    """Others have written to the session, so that what was to be written may not fit any more."""

    def __init__(self, path: str, why: str) -> None:
        self.why = why
        super().__init__(path, f"{why}; nothing was written")


class SessionLockedError(WriteRefusedError):
    """Another writer has the session and does not let go of it."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "is being written by another program; nothing was written")


class VersionNotWritableError(WriteRefusedError):
    """Nothing is appended to a file of this version."""

    def __init__(self, path: str, version: object, *, newer: bool) -> None:
        self.version = version
        why = (
            "which is newer than 3 and may have rules that are not known here"
            if newer
            else "to which nothing can be appended; `pi-sessions upgrade` makes it version 3"
        )
        super().__init__(path, f"has format version {version!r}, {why}")


class NotWrittenError(WriteRefusedError, OSError):
    """The system did not let us write."""

    def __init__(self, path: str, why: str) -> None:
        self.why = why
        super().__init__(path, f"was not written: {why[:1].lower() + why[1:]}")

"""Sessions under a directory: which files there are, what their headers say, a summary of each.

Grouping folders are named `--…--` by the reference; the name is never trusted, the `cwd` in a
header decides what belongs to a project. Nothing here reads the environment.
"""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json, reader
from pi_sessions._javascript import date_value, string, truthy
from pi_sessions.errors import SessionError, SessionNotFoundError
from pi_sessions.table import FIRST_TYPE, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".jsonl"
_LAST = 8.64e15
"""The last moment JavaScript has, in milliseconds."""
_CYCLE = 146_097 * 86_400_000
"""Milliseconds of 400 years."""
_HEADER_LIMIT = 1 << 20
"""A header longer than this is not seen when sessions are looked up, as in the reference."""


class Found(msgspec.Struct, frozen=True):
    """A session file and its header."""

    path: Path
    header: dict[str, Any]

    @property
    def id(self) -> str:
        """Id of the session."""
        return str(self.header["id"])

    @property
    def cwd(self) -> str | None:
        """Working directory of the session, None where the header has none."""
        cwd = self.header.get("cwd")
        return cwd if isinstance(cwd, str) and cwd else None


class Summary(msgspec.Struct, frozen=True):
    """What a list says of a session."""

    path: Path
    id: str
    cwd: str | None
    name: str | None
    parent_session: str | None
    created: str | None
    """ISO time in UTC; None where the header has no valid one."""
    modified: str
    """ISO time in UTC of the latest user or assistant message."""
    message_count: int
    first_message: str
    """First user text, "" if there is none."""
    size: int
    """Bytes of the file."""


def session_files(root: Path, suffix: str = SUFFIX) -> Iterator[Path]:
    """Give the session files of a store: those in it and in its `--X--` folders, nothing deeper.

    Args:
        root: the store, or an archive of the same form.
        suffix: how their names end.
    """
    try:
        children = sorted(os.scandir(root), key=lambda child: child.name)
    except OSError:
        return
    for child in children:
        if child.name.endswith(suffix) and _is_file(child):
            yield Path(child.path)
        elif child.name.startswith("--") and child.name.endswith("--"):
            try:
                inner = sorted(os.scandir(child.path), key=lambda entry: entry.name)
            except OSError:
                continue
            yield from (
                Path(entry.path)
                for entry in inner
                if entry.name.endswith(suffix) and _is_file(entry)
            )


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def read_header(path: Path) -> dict[str, Any] | None:
    """Read the header of a session file, None if it is no session or cannot be read."""
    try:
        with path.open("rb") as file:
            scanned = 0
            while scanned < _HEADER_LIMIT:
                line = file.readline(_HEADER_LIMIT - scanned)
                if not line:
                    return None
                scanned += len(line)
                try:
                    value = _json.loads(line.removeprefix(b"\xef\xbb\xbf"))
                except _json.JSONError:
                    continue
                if truthy(value):
                    is_header = isinstance(value, dict) and value.get("type") == "session"
                    return value if is_header and isinstance(value.get("id"), str) else None
    except OSError:
        return None
    return None


def sessions(root: Path, cwd: str | None = None) -> Iterator[Found]:
    """Give the sessions of a store, of one working directory if one is named."""
    wanted = None if cwd is None else os.path.normpath(cwd)
    for path in session_files(root):
        header = read_header(path)
        if header is not None:
            found = Found(path, header)
            if wanted is None or (found.cwd and os.path.normpath(found.cwd) == wanted):
                yield found


def newest(root: Path, cwd: str) -> Path:
    """Give the session of a working directory that was written last.

    Raises:
        SessionNotFoundError: there is none.
    """
    files = [found.path for found in sessions(root, cwd)]
    if not files:
        raise SessionNotFoundError("newest", where=f"{root} for {cwd}")
    return max(files, key=_written)


def _written(path: Path) -> float:
    """Give the time a file was last written, 0 if it has gone meanwhile."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def find(root: Path, query: str) -> Path:
    """Find a session by its id or a unique prefix of it.

    Raises:
        SessionNotFoundError: no id begins so, or several do; then `.candidates` has the files.
    """
    by_prefix = []
    for found in sessions(root):
        if found.id == query:
            return found.path
        if query and found.id.startswith(query):
            by_prefix.append(found.path)
    if len(by_prefix) == 1:
        return by_prefix[0]
    raise SessionNotFoundError(query, [str(path) for path in by_prefix], str(root))


def summarise(path: Path, zone: tzinfo = UTC) -> Summary | None:
    """Summarise a session file, None if it is no session or cannot be read.

    A time without a zone is read in `zone`.
    """
    try:
        session = reader.load(path)
        size = session.table.source.size
        header = session.table.header
        modified, first = _messages(session.table, zone)
    except SessionError:
        return None
    created = date_value(header.get("timestamp", math.nan), zone)
    if math.isnan(modified):
        modified = _written(path) * 1000 if math.isnan(created) else created
    parent = header.get("parentSession", header.get("branchedFrom"))
    return Summary(
        path=path,
        id=session.id,
        cwd=session.cwd,
        name=session.name,
        parent_session=parent if isinstance(parent, str) else None,
        created=None if math.isnan(created) else iso(created),
        modified=iso(modified),
        message_count=sum(1 for kind in session.table.kinds if kind < FIRST_TYPE),
        first_message=first,
        size=size,
    )


def _messages(table: Table, zone: tzinfo) -> tuple[float, str]:
    """Read the latest activity (ms, NaN if none) and the first user text."""
    latest, first = math.nan, ""
    for line in table.entries():
        kind = table.kinds[line]
        if kind not in (Kind.USER, Kind.ASSISTANT):
            continue
        entry = table.raw(line)
        message = entry["message"]
        stamp = message.get("timestamp")
        if not isinstance(stamp, int | float) or isinstance(stamp, bool):
            stamp = date_value(entry.get("timestamp", math.nan), zone)
        if abs(stamp) <= _LAST and not latest >= stamp:
            latest = stamp
        if kind == Kind.USER and not first:
            first = _text(message.get("content"))
    return latest, first


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (b for b in content if isinstance(b, dict) and b.get("type") == "text")
    return " ".join(string(block.get("text", "")) for block in blocks)


def iso(milliseconds: float) -> str:
    """Write a time as ISO 8601 in UTC with milliseconds."""
    # Python's years end with 9999, JavaScript's do not; the calendar repeats after 400 years.
    cycles, rest = divmod(math.trunc(milliseconds), _CYCLE)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=rest)
    number = moment.year + 400 * cycles
    year = f"{number:04d}" if 0 <= number <= 9999 else f"{number:+07d}"
    return f"{year}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

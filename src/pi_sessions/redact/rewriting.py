"""A session file with some of its texts replaced: line for line the same entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json, reader
from pi_sessions.redact.pictures import without_picture
from pi_sessions.redact.places import rewrite
from pi_sessions.redact.structure import StructureOnly
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.redact.places import Change
    from pi_sessions.redact.secrets import Collection, Replacement, Secret
    from pi_sessions.session import Session
    from pi_sessions.table import Table

_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\r"


class Redaction:
    """What is done to one session before it is shared.

    Args:
        session: the session, which stays as it is.
        secrets: whether secrets are looked for and replaced.
        structure_only: whether all texts are replaced instead.
        pictures: false puts one pixel in the place of each picture.
    """

    def __init__(
        self,
        session: Session,
        *,
        secrets: bool = True,
        structure_only: bool = False,
        pictures: bool = True,
    ) -> None:
        self.session = session
        self.secrets: tuple[Secret, ...] = ()
        """The secrets that were found, in order of appearance."""
        self._pictures = pictures and not structure_only
        self._structure_only = structure_only
        if secrets and not structure_only:
            self.secrets = find_secrets(session)

    def lines(self) -> Iterator[bytes]:
        """Give the lines of the new file with their ends; each call counts replacements anew."""
        for secret in self.secrets:
            secret.replaced.clear()
            secret.left.clear()
        change: Change = StructureOnly() if self._structure_only else _Replacing(self)
        table = self.session.table
        for line in range(1, len(table) + 1):
            if isinstance(change, _Replacing):
                change.line = line
            end = b"\n" if line < len(table) or table.ends_with_newline else b""
            yield _rewritten(table, line, change) + end

    def result(self) -> Session:
        """Give the new session, held in memory."""
        data = b"".join(self.lines())
        return reader.loads(data, name="<redacted>", zone=self.session.zone)


def find_secrets(session: Session) -> tuple[Secret, ...]:
    """Find the secrets in the texts of a session: in whatever is neither structure nor picture."""
    from pi_sessions.redact.secrets import Collection  # noqa: PLC0415 - start-up

    looking = _Looking(Collection())
    table = session.table
    for line in range(1, len(table) + 1):
        looking.line = line
        value, text = _read(table, line)
        if text is not None:
            looking.text(text)
        elif value is not None:
            rewrite(value, looking, _place(value))
    return looking.collection.finish()


def _read(table: Table, line: int) -> tuple[Any, str | None]:
    """Read the value of a line, or the text of one that holds no JSON; neither of a blank one."""
    if table.kinds[line] == Kind.BLANK:
        return None, None
    data = table.bytes(line)
    try:
        return _json.loads(data.removeprefix(_BOM) if line == table.header_line else data), None
    except _json.JSONError:
        return None, data.decode("utf-8", "surrogateescape")


def _place(value: Any) -> str:
    return "entry" if isinstance(value, dict) else "free"


def _rewritten(table: Table, line: int, change: Change) -> bytes:
    data = table.bytes(line)
    if table.kinds[line] == Kind.BLANK:
        return data
    value, text = _read(table, line)
    if text is not None:
        return _still_broken(change.text(text), data)
    start = _BOM if line == table.header_line and data.startswith(_BOM) else b""
    tail = data[len(data.rstrip(_WHITE)) :]
    return start + _json.encode(rewrite(value, change, _place(value))) + tail


def _still_broken(text: str, data: bytes) -> bytes:
    """Encode what became of a line that holds no JSON; it holds none afterwards either."""
    told = text.encode("utf-8", "surrogateescape")
    try:
        _json.loads(told)
    except _json.JSONError:
        return told
    return b"x" * len(data)


class _Looking:
    """A change that changes nothing and looks at every text."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.line = 0

    def text(self, text: str) -> str:
        if len(text) >= _SHORTEST:
            self.collection.look(self.line, text)
        return text

    def key(self, key: str) -> str:
        return self.text(key)

    def number(self, number: float) -> float:
        return number

    def signature(self, text: str) -> str:
        return text

    def kept(self, text: str) -> None:
        pass

    def picture(self, block: dict[str, Any]) -> dict[str, Any]:
        return block


_SHORTEST = 8
"""Characters below which a text on its own is not looked at."""


class _Replacing:
    """The change that replaces secrets."""

    def __init__(self, redaction: Redaction) -> None:
        from pi_sessions.redact.secrets import Replacement  # noqa: PLC0415 - start-up

        self._replacement: Replacement = Replacement(redaction.secrets)
        self._pictures = redaction._pictures  # noqa: SLF001 - one module
        self.line = 0

    def text(self, text: str) -> str:
        return self._replacement.replaced(self.line, text)

    key = text
    signature = text

    def number(self, number: float) -> float:
        return number

    def kept(self, text: str) -> None:
        self._replacement.note(self.line, text)

    def picture(self, block: dict[str, Any]) -> dict[str, Any]:
        return block if self._pictures else without_picture(block)

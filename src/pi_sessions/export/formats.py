"""The formats there are. A new one is a module with `chunks(session, options)` and a row here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_sessions.export.options import Options
    from pi_sessions.session import Session


class Format(msgspec.Struct, frozen=True):
    """One way to write a session."""

    about: str
    """What it is, in a few words."""
    suffix: str
    """End of the names of such files, with the dot."""
    chunks: str
    """Where the function is that writes it: `module:name` within this package."""


FORMATS = {
    "html": Format("a page that stands alone, to look at", ".html", "html:chunks"),
    "md": Format("the conversation of a branch, to read", ".md", "markdown:chunks"),
    "json": Format("everything as one document, with verdicts", ".json", "document:chunks"),
    "jsonl": Format("the file itself, or one branch as a session", ".jsonl", "jsonl:chunks"),
    "requests": Format(
        "the request of each reply, one a line", ".requests.jsonl", "requests:chunks"
    ),
    "csv": Format("one table of it", ".csv", "tables:as_csv"),
    "parquet": Format("the same table, for programs", ".parquet", "tables:as_parquet"),
}
"""The formats by name."""


def chunks(name: str, session: Session, options: Options) -> Iterator[bytes]:
    """Write a session in a format, piece by piece.

    Args:
        name: a key of `FORMATS`.
        session: the session.
        options: what of it, and how.

    Raises:
        KeyError: there is no such format.
        EntryNotFoundError: the options name an entry that is not there.
    """
    module, _, function = FORMATS[name].chunks.partition(":")
    write: Callable[[Session, Options], Iterator[bytes]] = getattr(
        import_module(f"pi_sessions.export.{module}"), function
    )
    return write(session, options)

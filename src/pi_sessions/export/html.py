"""A session as one HTML file that stands alone: cards of prompts, the transcript, the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_sessions.export.html_book import Book, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.export.options import Options
    from pi_sessions.session import Session


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give the file, piece by piece."""
    book = Book(session, options)
    for part in book.page(Page("", tuple(book.lines))):
        yield part.encode("utf-8", "replace")

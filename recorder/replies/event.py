"""What the three formats share: an event, what is known about a reply, two deltas for a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recorder.steps import Step, Tokens


@dataclass(frozen=True)
class Reply:
    """What the server knows about the reply it is about to send."""

    number: int
    """Counts the requests of one scenario from 1: all ids derive from it."""
    model: str
    tokens: Tokens


@dataclass(frozen=True)
class Event:
    """One server-sent event; ``name`` is empty where the API does not name its events."""

    name: str
    data: object


Dialect = Callable[[Step, Reply], Iterator[Event]]


def halves(text: str) -> list[str]:
    """Two deltas for a text, so that a stream can be cut between them."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]

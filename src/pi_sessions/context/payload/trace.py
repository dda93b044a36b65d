"""What a body is made of, and what became of each message: written down while it is built.

A builder puts values into parts and hands the parts on; JSON pointers are read off at the end, so
that no builder counts places. What a builder does to a message it tells the `Trace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import has_lone_surrogates, without_lone_surrogates
from pi_sessions.context.message import ContextMessage, Reason, Staged, Synthetic
from pi_sessions.context.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Lines = tuple[int, ...]


class Unknown(msgspec.Struct, frozen=True):
    """A field of a body that the session does not decide."""

    pointer: str
    """Where it stands, "" for the whole body."""
    why: str


class Part:
    """A JSON value of a body, the lines it came from, and the parts inside it."""

    __slots__ = ("inner", "lines", "sections", "value")

    def __init__(
        self, value: dict[str, Any], lines: Lines, sections: Mapping[str, Lines] | None = None
    ) -> None:
        self.value = value
        self.lines = lines
        self.inner: dict[str, list[Part] | Lines] = {}
        """The parts of a list inside, or the lines of a single value, by key."""
        self.sections = sections
        """Where the value tells the prompt: the lines of each section, by name."""

    def put(self, key: str, parts: list[Part]) -> Part:
        """Set a key to a list of parts."""
        self.value[key] = [part.value for part in parts]
        self.inner[key] = parts
        return self

    def tell(self, key: str, value: Any, lines: Lines | None = None) -> Part:
        """Set a key to a value that is no list of parts; its lines are the part's unless given."""
        self.value[key] = value
        self.inner[key] = self.lines if lines is None else lines
        return self


def union(parts: Iterable[Part]) -> Lines:
    """Join the lines of parts."""
    return tuple(dict.fromkeys(line for part in parts for line in part.lines))


def pointers(prefix: str, parts: Sequence[Part], found: dict[str, Lines]) -> None:
    """Read off the pointers of a list of parts and of all that is in them."""
    for place, part in enumerate(parts):
        pointer = f"{prefix}/{place}"
        found[pointer] = part.lines
        for name, lines in (part.sections or {}).items():
            found[f"{pointer}#{name}"] = lines
        for key, inner in part.inner.items():
            if isinstance(inner, list):
                pointers(f"{pointer}/{key}", inner, found)
            else:
                found[f"{pointer}/{key}"] = inner


def lines_of(message: ContextMessage) -> Lines:
    """Give the lines a message came from: its own, and those that made it what it is."""
    if message.line is None:
        return message.because
    return (message.line, *message.because) if message.because else (message.line,)


class Trace:
    """What became of the messages while a body was built, and what is in it besides them."""

    def __init__(self) -> None:
        self.synthetic: list[Synthetic] = []
        self.unknown: list[Unknown] = []
        self._arrived: set[tuple[int | None, str]] = set()
        self._reasons: dict[tuple[int | None, str], list[Reason]] = {}
        self._otherwise: dict[tuple[int | None, str], Outcome] = {}
        self._settled: dict[tuple[int | None, str], Outcome] = {}

    def arrived(self, message: ContextMessage, *reasons: Reason) -> None:
        """Note that something of a message is in the body, and in what way it was changed."""
        key = (message.line, message.value["role"])
        self._arrived.add(key)
        if reasons:
            self._reasons.setdefault(key, []).extend(reasons)

    def changed(self, message: ContextMessage, reason: Reason) -> None:
        """Note a change, whether or not anything of the message is sent."""
        self._reasons.setdefault((message.line, message.value["role"]), []).append(reason)

    def settle(self, message: ContextMessage, outcome: Outcome) -> None:
        """Note an outcome that was found in another way."""
        self._settled[message.line, message.value["role"]] = outcome

    def otherwise(self, message: ContextMessage, outcome: Outcome) -> None:
        """Note the outcome of a message of which nothing arrives."""
        self._otherwise[message.line, message.value["role"]] = outcome

    def clean(self, message: ContextMessage, text: str) -> str:
        """Remove unpaired surrogates, and note it where there are any."""
        if text.isascii() or not has_lone_surrogates(text):
            return text
        self.changed(message, Reason.TRIMMED)
        return without_lone_surrogates(text)

    def add(self, kind: str, text: str, because: Lines) -> None:
        """Note something that stands in no line."""
        self.synthetic.append(Synthetic(kind, text, because))

    def doubt(self, pointer: str, why: str) -> None:
        """Note a field that the session does not decide."""
        self.unknown.append(Unknown(pointer, why))

    def outcomes(self, messages: Sequence[ContextMessage], replayed: Staged) -> dict[int, Outcome]:
        """Give the outcome of each line of the messages that the body was built from.

        Args:
            messages: what the builder was given.
            replayed: what was left after the replay, and what that dropped.
        """
        changes = {(message.line, message.role): message for message in replayed.messages}
        dropped = {drop.line: drop for drop in replayed.dropped}
        found: dict[int, Outcome] = {}
        for message in messages:
            line = message.line
            if line is None:
                continue
            key = (line, message.role)
            if key in self._settled:
                outcome = self._settled[key]
            elif message.role == "assistant" and line in dropped:
                outcome = Outcome((dropped[line].reason,), dropped[line].because)
            else:
                outcome = self._outcome(changes.get(key, message))
            before = found.get(line)
            found[line] = before.merged(outcome) if before else outcome
        return found

    def _outcome(self, message: ContextMessage) -> Outcome:
        key = (message.line, message.role)
        if key not in self._arrived:
            return self._otherwise.get(key) or Outcome((Reason.EMPTY,), message.because)
        noted = self._reasons.get(key, ())
        return Outcome(tuple(dict.fromkeys((*message.changes, *noted))), message.because)

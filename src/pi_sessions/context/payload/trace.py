"""What a body is made of, and what became of each message: written down while it is built.

A builder puts values into parts and hands the parts on; JSON pointers are read off at the end, so
that no builder counts places. What a builder does to a message it tells the `Trace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pi_sessions._javascript import without_lone_surrogates
from pi_sessions.context.message import ContextMessage, Reason, Staged, Synthetic
from pi_sessions.context.outcome import Outcome

Lines = tuple[int, ...]
FAILS = "Pi fails to build this request"
"""How it is told that the reference sends no request at all."""


class Unknown(msgspec.Struct, frozen=True):
    """A field of a body that the session does not decide."""

    pointer: str
    """Where it stands, "" for the whole body."""
    why: str


class Part(msgspec.Struct, gc=False):
    """A JSON value of a body, the lines it came from, and the parts inside it."""

    value: dict[str, Any]
    lines: Lines
    sections: Mapping[str, Lines] | None = None
    """Where the value tells the prompt: the lines of each section, by name."""
    inner: dict[str, list[Part] | Lines] | None = None
    """The parts of a list inside, or the lines of a single value, by key."""

    def put(self, key: str, parts: list[Part]) -> Part:
        """Set a key to a list of parts."""
        self.value[key] = [part.value for part in parts]
        if self.inner is None:
            self.inner = {key: parts}
        else:
            self.inner[key] = parts
        return self

    def tell(self, key: str, value: Any) -> Part:
        """Set a key to a value that is no list of parts and has the part's lines."""
        self.value[key] = value
        if self.inner is None:
            self.inner = {key: self.lines}
        else:
            self.inner[key] = self.lines
        return self

    def with_key(self, key: str, value: Any) -> Part:
        """Give the part with one more key; the part itself stays as it is."""
        return Part({**self.value, key: value}, self.lines, self.sections, self.inner)

    def parts(self, key: str) -> list[Part]:
        """Give the parts of a list inside, none where the key holds something else."""
        inner = self.inner.get(key) if self.inner else None
        return inner if isinstance(inner, list) else []


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
        for key, inner in (part.inner or {}).items():
            if isinstance(inner, list):
                pointers(f"{pointer}/{key}", inner, found)
            else:
                found[f"{pointer}/{key}"] = inner


def lines_of(message: ContextMessage) -> Lines:
    """Give the lines a message came from: its own, and those that made it what it is."""
    if message.line is None:
        return message.because
    return (message.line, *message.because) if message.because else (message.line,)


_Key = tuple[int | None, str]


def _key(message: ContextMessage) -> _Key:
    """Give what names a message: a line tells at most one of each role (a compaction, two)."""
    return message.line, message.value["role"]


class Trace:
    """What became of the messages while a body was built, and what is in it besides them.

    A message of the conversation is taken to be in the body unless it is noted as left out; of a
    system message it is noted in what way it is there.
    """

    def __init__(self) -> None:
        self.synthetic: list[Synthetic] = []
        self.unknown: list[Unknown] = []
        self._reasons: dict[_Key, list[Reason]] = {}
        self._left_out: set[_Key] = set()
        self._otherwise: dict[_Key, Outcome] = {}
        self._settled: dict[_Key, Outcome] = {}

    def copy(self) -> Trace:
        """Give a trace with the same notes."""
        other = Trace()
        other.absorb(self)
        return other

    def absorb(self, other: Trace) -> None:
        """Take over the notes of another trace, behind one's own."""
        self.synthetic += other.synthetic
        self.unknown += other.unknown
        for key, reasons in other._reasons.items():
            self._reasons.setdefault(key, []).extend(reasons)
        self._left_out |= other._left_out
        self._otherwise |= other._otherwise
        self._settled |= other._settled

    def changed(self, message: ContextMessage, reason: Reason) -> None:
        """Note a change to a message, or in what way a system message is told."""
        self._reasons.setdefault(_key(message), []).append(reason)

    def left_out(self, message: ContextMessage) -> None:
        """Note that nothing of a message is left to send."""
        self._left_out.add(_key(message))

    def settle(self, message: ContextMessage, outcome: Outcome) -> None:
        """Note an outcome that was found in another way."""
        self._settled[_key(message)] = outcome

    def otherwise(self, message: ContextMessage, outcome: Outcome) -> None:
        """Note the outcome of a system message if it is told in no way."""
        self._otherwise[_key(message)] = outcome

    def clean(self, message: ContextMessage, text: str) -> str:
        """Remove unpaired surrogates, and note it where there are any."""
        if text.isascii():
            return text
        try:
            # Ten times faster than to search for them, and nearly no text has any.
            text.encode("utf-16-le")
        except UnicodeEncodeError:
            self.changed(message, Reason.TRIMMED)
            return without_lone_surrogates(text)
        return text

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
        changes = {(message.line, message.value["role"]): message for message in replayed.messages}
        dropped = {drop.line: drop for drop in replayed.dropped}
        found: dict[int, Outcome] = {}
        for message in messages:
            line = message.line
            if line is None:
                continue
            key = _key(message)
            if key in self._settled:
                outcome = self._settled[key]
            elif key[1] == "assistant" and line in dropped:
                outcome = Outcome((dropped[line].reason,), dropped[line].because)
            else:
                outcome = self._outcome(key, changes.get(key, message))
            before = found.get(line)
            found[line] = before.merged(outcome) if before else outcome
        return found

    def _outcome(self, key: _Key, message: ContextMessage) -> Outcome:
        noted = self._reasons.get(key)
        if key in self._left_out or (key[1] == "system" and not noted):
            return self._otherwise.get(key) or Outcome((Reason.EMPTY,), message.because)
        if noted:
            return Outcome(tuple(dict.fromkeys((*message.changes, *noted))), message.because)
        return Outcome(message.changes, message.because)

"""Telling messages in the form of an API, and going on from where the last request ended.

The requests of a conversation repeat one another: each is the one before and a few messages more.
A `Course` keeps what was told up to the last reply, and the next request that begins with the very
same messages is told from there. Without one, everything is told from the start.
"""

from __future__ import annotations

from copy import copy
from operator import is_
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, cast

import msgspec

from pi_sessions.context.payload.trace import Part, Trace
from pi_sessions.context.replay import Replaying
from pi_sessions.context.rules import CURRENT, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_sessions.context.message import ContextMessage, Staged
    from pi_sessions.context.payload.tools import Sampling
    from pi_sessions.context.target import Target


class Teller:
    """Tells the messages of a body one after the other.

    Parts that were handed out are never changed: a copy shares them.
    """

    growing: ClassVar[tuple[str, ...]] = ("parts",)
    """Attributes that a copy needs of its own."""
    sampling: Sampling

    def __init__(self, sampling: Sampling, *, skipped: int = 0) -> None:
        self.trace = Trace()
        self.sampling = msgspec.structs.replace(sampling, trace=self.trace)
        self.parts: list[Part] = []
        self.count = skipped
        """Messages that were taken in, those included that are told elsewhere."""

    def take(self, messages: Iterable[ContextMessage]) -> None:
        """Tell more messages."""
        for message in messages:
            self.tell(message)
            self.count += 1

    def tell(self, message: ContextMessage) -> None:
        """Tell one message."""
        raise NotImplementedError

    def finish(self) -> None:
        """Tell what was held back."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Give a teller that goes on by itself."""
        other = copy(self)
        for name in self.growing:
            value = getattr(self, name)
            setattr(other, name, None if value is None else value.copy())
        other.note_in(self.trace.copy())
        return other

    def hand_over(self, trace: Trace) -> None:
        """Hand one's notes to the trace of a request, and go on there."""
        trace.absorb(self.trace)
        self.note_in(trace)

    def note_in(self, trace: Trace) -> None:
        """Write notes into a trace from now on."""
        self.trace = trace
        self.sampling = msgspec.structs.replace(self.sampling, trace=trace)


class Course:
    """What was told for the request before, up to its last reply."""

    def __init__(self) -> None:
        self._key: object = None
        self._messages: Sequence[ContextMessage] = ()
        self._replaying: Replaying | None = None
        self._teller: Teller | None = None

    def resume(
        self, key: object, messages: Sequence[ContextMessage]
    ) -> tuple[int, Replaying, Teller] | None:
        """Give how many messages are done, and the state after them; None to begin anew."""
        done = len(self._messages)
        if self._replaying is None or self._teller is None or self._key != key:
            return None
        if len(messages) < done or not all(map(is_, messages, self._messages)):
            return None
        return done, self._replaying.copy(), self._teller.copy()

    def save(
        self,
        key: object,
        messages: Sequence[ContextMessage],
        replaying: Replaying,
        teller: Teller,
    ) -> None:
        """Keep a state for the next request; nobody may go on from it but by copies."""
        self._key, self._messages = key, messages
        self._replaying, self._teller = replaying, teller

    def with_first(self, messages: Sequence[ContextMessage]) -> Sequence[ContextMessage]:
        """Put the prompt of the request before in the place of one that is equal to it."""
        if self._messages and messages and self._messages[0] == messages[0]:
            return [self._messages[0], *messages[1:]]
        return messages


_T = TypeVar("_T", bound=Teller)


def tell(
    course: Course | None,
    key: object,
    messages: Sequence[ContextMessage],
    target: Target,
    make: Callable[[], _T],
    rules: Rules = CURRENT,
) -> tuple[Staged, _T]:
    """Replay messages and tell what is left of them.

    Args:
        course: what the request before left, None to begin anew.
        key: all that the telling hangs on besides the messages.
        messages: before the replay, system messages resolved.
        target: the model.
        make: makes the teller.
        rules: those of the replay.
    """
    done, replaying, teller = 0, Replaying(target, rules), make()
    if course is not None and rules.goes_on:
        messages = course.with_first(messages)
        if resumed := course.resume(key, messages):
            done, replaying, teller = resumed[0], resumed[1], cast("_T", resumed[2])
        end = _last_reply(messages)
        if end > done:
            replaying.take(messages[done:end])
            teller.take(replaying.messages[teller.count :])
            course.save(key, messages[:end], replaying, teller)
            done, replaying, teller = end, replaying.copy(), teller.copy()
    replaying.take(messages[done:])
    staged = replaying.staged()
    teller.take(staged.messages[teller.count :])
    teller.finish()
    return staged, teller


def _last_reply(messages: Sequence[ContextMessage]) -> int:
    """Give the place behind the last reply, 0 without any."""
    places = range(len(messages), 0, -1)
    return next((n for n in places if messages[n - 1].value["role"] == "assistant"), 0)

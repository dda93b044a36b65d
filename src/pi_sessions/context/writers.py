"""Which releases of Pi can have written a session, stretch by stretch.

Nothing in a file names the release. What tells is fields that every reply has from some release on,
the form of the header, the order of keys, the default prompt, and time: no entry is older than its
writer. People upgrade and resume, so each reply is judged by itself; a lower bound holds for what
comes after it in the file, an upper bound for what comes before, unless somebody went back to an
older release. Rules: docs/releases.md, "Who wrote this?".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from datetime import date
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import astuple

from pi_sessions import _process
from pi_sessions._javascript import date_value
from pi_sessions.context import clues, releases
from pi_sessions.context.clues import Clue, Look, Surety
from pi_sessions.context.rules import CURRENT, Rules, possible
from pi_sessions.table import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.context.point import Point
    from pi_sessions.table import Table


_FIRST_DAY = date(1970, 1, 1).toordinal()


class Writer(msgspec.Struct, frozen=True):
    """The releases that can have written something, both ends included."""

    oldest: str
    newest: str

    @property
    def count(self) -> int:
        """How many releases that are."""
        return releases.place(self.newest) - releases.place(self.oldest) + 1

    def __contains__(self, release: str) -> bool:
        return releases.place(self.oldest) <= releases.place(release) <= releases.place(self.newest)

    def __str__(self) -> str:
        """Say it as a range: `0.80.3 to 0.82.1`."""
        return self.oldest if self.oldest == self.newest else f"{self.oldest} to {self.newest}"


class Stretch(msgspec.Struct, frozen=True):
    """Lines that the same releases can have written."""

    first: int
    last: int
    """Its first and its last line."""
    writer: Writer | None
    """None where no release of Pi writes replies such as these."""
    clues: tuple[Clue, ...]
    """What says so, each clue once, at the first line that has it."""


def lost_turns(table: Table, zone: tzinfo) -> Stretch | None:
    """Give the last stretch of a fork that has no turns of its own and may have lost them.

    Some releases wrote what was said after a fork into the file that was forked.
    """
    header = table.header
    parent, session_id = header.get("parentSession"), header.get("id")
    forked = date_value(header.get("timestamp", math.nan), zone)
    if not isinstance(parent, str) or not isinstance(session_id, str) or math.isnan(forked):
        return None
    if clues.is_ordered(session_id):
        return None
    for line in reversed(list(table.entries())):
        if date_value(table.raw(line).get("timestamp", math.nan), zone) > forked:
            return None
        if table.kinds[line] == Kind.ASSISTANT:
            break
    stretches = Writers(table).stretches
    writer = stretches[-1].writer if stretches else None
    if writer is None:
        return None
    lost = False in possible("forks_have_their_turns", writer.oldest, writer.newest)
    return stretches[-1] if lost else None


class _Seen(msgspec.Struct, gc=False):
    """A reply as it was looked at."""

    line: int
    look: Look
    time: float
    before: list[Clue]
    """Clues of the lines since the reply before."""


class Writers:
    """Answers for the replies of one file.

    Args:
        table: the lines.
        workers: processes that may read a large file.
    """

    def __init__(self, table: Table, workers: int = 1) -> None:
        self.table = table
        self._workers = workers
        self._local: dict[int, Writer] = {}
        self._places: dict[tuple[int, bool], tuple[Clue, ...]] = {}
        self._found: dict[tuple[object, ...], tuple[int, int]] = {}

    def placed(self, where: Point) -> Point:
        """Give the point of a reply with the rules it was asked by.

        Those of the newest release that can have written it: most people run the newest there is.
        What Pi did not write is read by today's rules.
        """
        writer = self.of(where.response)
        if writer is None:
            return where
        return msgspec.structs.replace(where, rules=Rules.of(writer.newest), writer=writer)

    def rules(self, reply: int) -> Rules:
        """Give the rules a reply was asked by, as `placed` does."""
        writer = self.of(reply)
        return CURRENT if writer is None else Rules.of(writer.newest)

    def of(self, reply: int) -> Writer | None:
        """Give the releases that can have written a reply; None if no release of Pi did."""
        if (known := self._local.get(reply)) is not None:
            return known
        if "_ranges" not in self.__dict__:
            found = clues.look(self.table.bytes(reply))
            if found is None:
                return None
            if found[0].is_of_today:
                # A reply of today tells enough on the spot; nothing else of the file is read.
                bounds = self._bounds(_Seen(reply, *found, []))
                self._local[reply] = _writer(*bounds)
                return self._local[reply]
        return self._ranges.get(reply)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches of the file, in order; a line belongs with the reply that follows it."""
        replies = list(self.table.of_kind(Kind.ASSISTANT))
        found: list[Stretch] = []
        first = 1
        for reply in replies:
            end = len(self.table) if reply == replies[-1] else reply
            writer = self._ranges.get(reply)
            if found and found[-1].writer == writer:
                found[-1] = msgspec.structs.replace(found[-1], last=end)
            else:
                told = tuple(self._told(self._seen[reply])) if writer else ()
                found.append(Stretch(first, end, writer, told))
            first = end + 1
        return tuple(found)

    @cached_property
    def _seen(self) -> dict[int, _Seen]:
        """The replies that a release of Pi can have written."""
        table, kinds = self.table, self.table.kinds
        found: dict[int, _Seen] = {}
        before = list(clues.of_header(table))
        looks = self._looks()
        for line in table.entries():
            if kinds[line] == Kind.ASSISTANT:
                if (seen := looks.get(line)) is not None:
                    before += clues.of_parent(table, line)
                    found[line] = _Seen(line, *seen, before)
                    before = []
            elif kinds[line] in clues.TELLING:
                before += clues.of_entry(table, line, table.bytes(line))
        return found

    def _looks(self) -> dict[int, tuple[Look, float]]:
        """Look at all replies."""

        def look(lines: Sequence[int]) -> list[tuple[int, tuple[Any, ...], float]]:
            found = ((line, clues.look(data)) for line, data in self.table.read(lines))
            return [(line, astuple(seen[0]), seen[1]) for line, seen in found if seen]

        replies = list(self.table.of_kind(Kind.ASSISTANT))
        known: dict[tuple[Any, ...], Look] = {}
        looks: dict[int, tuple[Look, float]] = {}
        for found in _process.in_halves(look, replies, self._workers):
            for line, values, time in found:
                looks[line] = known.get(values) or known.setdefault(values, Look(*values)), time
        return looks

    @cached_property
    def _ranges(self) -> dict[int, Writer]:
        """The writers of all replies, bounds carried along the file."""
        found: dict[int, Writer] = {}
        run: list[tuple[int, int, int]] = []
        bounds = [(seen.line, *self._bounds(seen)) for seen in self._seen.values()]
        lowest = 0
        for number, (line, low, high) in enumerate(bounds):
            if lowest > high:
                if number + 1 < len(bounds) and bounds[number + 1][1] > high:
                    # Older than what is before and behind it: another program put it in.
                    continue
                # Somebody went back to an older release, or the file was put together.
                found |= _closed(run)
                run, lowest = [], 0
            lowest = max(lowest, low)
            run.append((line, lowest, high))
        return found | _closed(run)

    def _told(self, seen: _Seen) -> Iterator[Clue]:
        """Give all that tells about a reply."""
        yield from seen.before
        for clue in clues.told(seen.look):
            yield msgspec.structs.replace(clue, line=seen.line)
        place = bisect_left(self._prompt_lines, seen.line)
        for clue in self._of_place(place, is_whole=seen.look.is_whole):
            yield msgspec.structs.replace(clue, line=clue.line or seen.line)
        if (newest := _newest_at(_day(seen.time))) is not None:
            name = releases.names()[newest]
            told = f"dated when {name} was the newest"
            yield Clue(seen.line, None, name, told, Surety.CLOCK)

    def _bounds(self, seen: _Seen) -> tuple[int, int]:
        """Give the places of the oldest and the newest release that can have written a reply.

        What is sure comes first, then the clock, then the rest; nothing makes the range empty.
        """
        place = bisect_left(self._prompt_lines, seen.line)
        key = seen.look, place, _day(seen.time), *seen.before
        if key not in self._found:
            self._found[key] = self._narrow(seen, place)
        return self._found[key]

    def _narrow(self, seen: _Seen, place: int) -> tuple[int, int]:
        of_place = self._of_place(place, is_whole=seen.look.is_whole)
        low, high = _bounds_of(seen.look)
        low, high = _narrowed((*seen.before, *of_place), Surety.SURE, low, high)
        newest = _newest_at(_day(seen.time))
        if newest is not None and newest >= low:
            high = min(high, newest)
        rest = (*seen.before, *clues.told(seen.look), *of_place)
        return _narrowed(rest, Surety.GOOD, low, high)

    def _of_place(self, place: int, *, is_whole: bool) -> tuple[Clue, ...]:
        """Give what the file and the prompts before a reply tell; the same for many replies."""
        if (place, is_whole) not in self._places:
            prompts = self._of_prompts(place) if place or is_whole else ()
            self._places[place, is_whole] = (*clues.of_version(self.table), *prompts)
        return self._places[place, is_whole]

    def _of_prompts(self, place: int) -> list[Clue]:
        """Give what the first prompts of a file tell about the replies behind them."""
        if place == 0:
            newest = releases.before("0.86.0")
            return [Clue(0, None, newest, "no prompt in the file before it", Surety.GOOD)]
        found = [Clue(self._prompt_lines[place - 1], "0.86.0", None, "a prompt in the file")]
        for line in reversed(self._prompt_lines[:place]):
            if digest := self._digest(line):
                if digest in clues.PREAMBLES:
                    oldest, newest_known = clues.PREAMBLES[digest]
                    told_by = "the default prompt of its releases"
                    found.append(Clue(line, oldest, newest_known, told_by, Surety.GOOD))
                break
        return found

    @cached_property
    def _prompt_lines(self) -> list[int]:
        return list(self.table.of_kind(Kind.SYSTEM))

    @cached_property
    def _digests(self) -> dict[int, str]:
        return {}

    def _digest(self, line: int) -> str:
        """Give the digest of the preamble a system message sets, "" if it sets none."""
        if line not in self._digests:
            sections = self.table.raw(line)["message"].get("sections")
            preamble = sections.get("preamble") if isinstance(sections, dict) else None
            text = preamble if isinstance(preamble, str) else ""
            data = text.encode("utf-8", "surrogatepass")
            self._digests[line] = sha256(data).hexdigest()[:12] if text else ""
        return self._digests[line]


@cache
def _bounds_of(look: Look) -> tuple[int, int]:
    return _narrowed(clues.told(look), Surety.SURE, 0, len(releases.names()) - 1)


def _narrowed(found: Iterable[Clue], surety: Surety, low: int, high: int) -> tuple[int, int]:
    """Narrow a range of places by the clues of one surety; nothing makes it empty."""
    for clue in found:
        if clue.surety is surety:
            if clue.oldest and (oldest := releases.place(clue.oldest)) <= high:
                low = max(low, oldest)
            if clue.newest and (newest := releases.place(clue.newest)) >= low:
                high = min(high, newest)
    return low, high


def _closed(run: Sequence[tuple[int, int, int]]) -> dict[int, Writer]:
    """Carry the upper bounds of a run of replies back to those before."""
    found: dict[int, Writer] = {}
    highest = len(releases.names()) - 1
    for reply, low, high in reversed(run):
        highest = min(highest, high)
        found[reply] = _writer(low, max(low, highest))
    return found


def _writer(low: int, high: int) -> Writer:
    names = releases.names()
    return Writer(names[low], names[high])


def _day(time: float) -> int:
    """Give the day of a time in milliseconds, counted from 1970 in UTC."""
    return int(time // 86_400_000) if 0 < time < 1e14 else 0


@cache
def _newest_at(day: int) -> int | None:
    """Give the place of the newest release that was out on a day; None before there was any."""
    newest = releases.newest_at(date.fromordinal(_FIRST_DAY + day))
    return None if newest is None else releases.place(newest)

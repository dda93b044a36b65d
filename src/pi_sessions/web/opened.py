"""One session that is open: what was worked out about it, until the file changes."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

import msgspec

from pi_sessions import reader
from pi_sessions._lines import open_source
from pi_sessions.errors import UnreadableError
from pi_sessions.following import Follower
from pi_sessions.meter import spent
from pi_sessions.render.addresses import OnPage, handle, line_of
from pi_sessions.render.branches import Shape
from pi_sessions.render.rows import Bodies, Teller
from pi_sessions.render.saw import Point, Saw, Setting, asked_of, explained, saw
from pi_sessions.render.strip import Strip, strip
from pi_sessions.render.window import Runs
from pi_sessions.table import Kind
from pi_sessions.tree import path

if TYPE_CHECKING:
    from pathlib import Path

    from pi_sessions.context.difference import Asked
    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.visibility import Visibility
    from pi_sessions.diagnostics import Diagnostic
    from pi_sessions.meter import Spent
    from pi_sessions.session import Session
    from pi_sessions.web.site import Site

_KEPT = 8
"""Points of which the verdicts are kept, and answers of single views."""
_LARGE = 8_000_000
"""Bytes of a file in which a request may be so long that trying other rules takes seconds."""
_MANY = 4_000
"""Replies from which on the picture of all of them takes a second."""


class View(msgspec.Struct, frozen=True):
    """A session at a point."""

    point: Point
    explanation: Explanation
    teller: Teller
    addresses: OnPage


class Opened:
    """A session file and what the views share; one thread at a time works on it.

    Args:
        key: how it is addressed.
        path: the file.
        site: what the page was told from outside.
    """

    def __init__(self, key: str, path: Path, site: Site) -> None:
        self.key = key
        self.path = path
        self.site = site
        self.lock = RLock()
        self._stamp: tuple[int, int, int] = (0, 0, 0)
        self._session: Session | None = None
        self._follower: Follower | None = None
        self._forget()

    def _forget(self) -> None:
        self._views: OrderedDict[Point, View] = OrderedDict()
        self._asked: OrderedDict[int, Asked | None] = OrderedDict()
        self._saw: OrderedDict[Point, Saw] = OrderedDict()
        self._live: frozenset[int] | None = None
        self._shape: tuple[int, Shape] | None = None
        """The tree, and the end of the branch that is the live one in it: 0 for the file's own."""
        self._runs: dict[tuple[Point, str], Runs] = {}
        self._bodies = Bodies()
        self.kept: OrderedDict[str, object] = OrderedDict()
        """What single views have worked out, by their names."""

    def refresh(self) -> None:
        """Read the file again if it has changed.

        Raises:
            UnreadableError: it cannot be read.
            NotASessionError: it is no session any more.
        """
        with self.lock:
            try:
                status = self.path.stat()
            except OSError as error:
                why = (error.strerror or "cannot be read").lower()
                raise UnreadableError(str(self.path), why) from None
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
            if stamp != self._stamp:
                self._session = self._read()
                self._forget()
                self._stamp = stamp

    def _read(self) -> Session:
        """Read what is new where the file has only grown, else all of it."""
        if self._follower is not None and self._follower.look() is not None:
            return self._follower.session
        session = reader.load(self.path, zone=self.site.zone)
        table = session.table
        # The end of a line that is not whole is shown, and not waited for.
        is_whole = table.source.read(table.offsets[-1] - 1, 1) == b"\n"
        self._follower = Follower.of(session) if is_whole else None
        return session

    def keep(self, name: str, value: object) -> None:
        """Keep what a view has worked out."""
        _keep(self.kept, name, value)

    def checked(self) -> tuple[Diagnostic, ...]:
        """Give what `check` finds."""
        if "checked" not in self.kept:
            self.keep("checked", self.session.check())
        found: tuple[Diagnostic, ...] = self.kept["checked"]  # type: ignore[assignment]
        return found

    def spent(self) -> list[Spent]:
        """Give what the entries report of tokens and money."""
        if "spent" not in self.kept:
            source = open_source(self.path)
            source.size = min(source.size, self.session.table.offsets[-1])
            self.keep("spent", list(spent(source, self.site.zone)))
        found: list[Spent] = self.kept["spent"]  # type: ignore[assignment]
        return found

    @property
    def is_long(self) -> bool:
        """Whether the picture of the whole session would keep a page waiting."""
        return "strip" not in self.kept and len(self.session.responses) > _MANY

    def strip(self) -> Strip | None:
        """Give the picture of the whole session."""
        if "strip" not in self.kept:
            replies = [entry.line for entry in self.session.responses]
            self.keep("strip", strip(self.session.table, replies, self.spent()))
        found: Strip | None = self.kept["strip"]  # type: ignore[assignment]
        return found

    def visibility(self) -> Visibility:
        """Give which replies had which entries."""
        if "visibility" not in self.kept:
            setting = self.site.setting(self.session.cwd)
            self.keep(
                "visibility",
                self.session.visibility(
                    model_of=setting.model_of,
                    preferences=setting.preferences,
                    release=setting.release,
                ),
            )
        found: Visibility = self.kept["visibility"]  # type: ignore[assignment]
        return found

    @property
    def session(self) -> Session:
        """The session as it was when it was read last."""
        assert self._session is not None, "it is refreshed before it is shown"
        return self._session

    def point(self, where: str, named: str) -> Point | None:
        """Find a point by the words of an address: `at` a reply, `next` to an entry; or the leaf.

        None stands for an entry that is not there, or is no reply.
        """
        table = self.session.table
        if not where:
            return Point()
        line = line_of(table, named)
        if not line or not table.is_entry(line):
            return None
        if where == "at":
            return Point(response=line) if table.kinds[line] == Kind.ASSISTANT else None
        return Point(leaf=line)

    def view(self, point: Point) -> View:
        """Give the verdicts at a point, and what tells its rows."""
        with self.lock:
            view = self._views.pop(point, None)
            if view is None:
                addresses = OnPage(self.key, self.session.table)
                addresses.point = self.suffix(point)
                explanation = self._explanation(point)
                teller = Teller(self.session, explanation, addresses, self._bodies)
                view = View(point, explanation, teller, addresses)
            _keep(self._views, point, view)
            return view

    def _explanation(self, point: Point) -> Explanation:
        asked = self.asked(point.response) if point.response else None
        if asked:
            return asked.explanation
        return explained(self.session, self.site.setting(self.session.cwd), point)

    def prepare(self) -> None:
        """Work out what the first page needs."""
        with self.lock:
            self.shape(self.view(Point()))

    def suffix(self, point: Point) -> str:
        """Give the part of an address that names a point."""
        if point.response:
            return f"/at/{handle(self.session.table, point.response)}"
        return f"/next/{handle(self.session.table, point.leaf)}" if point.leaf else ""

    def asked(self, line: int) -> Asked | None:
        """Give the request of a reply for comparison."""
        with self.lock:
            if line in self._asked:
                asked = self._asked.pop(line)
            else:
                asked = asked_of(self.session, self.setting(line), line)
            _keep(self._asked, line, asked)
            return asked

    @property
    def is_large(self) -> bool:
        """Whether other rules that a request may hang on are tried only when somebody asks."""
        return self.session.table.offsets[-1] > _LARGE

    def setting(self, reply: int = 0) -> Setting:
        """Give what requests hang on besides the session.

        Of a large session the rules of a reply are named: then no others are tried.
        """
        setting = self.site.setting(self.session.cwd)
        if not reply or setting.release or not self.is_large:
            return setting
        stretches = self.session.writers()
        writer = next((s.writer for s in stretches if s.first <= reply <= s.last), None)
        return msgspec.structs.replace(setting, release=writer.newest) if writer else setting

    def saw(self, point: Point, *, in_full: bool = False) -> Saw:
        """Give what the model had at a point.

        Args:
            point: the reply, or the leaf.
            in_full: whether all that the file leaves open is looked for, however long it takes.
        """
        with self.lock:
            in_full = in_full and self.is_large
            told = None if in_full else self._saw.pop(point, None)
            if told is None:
                site = self.site.setting(self.session.cwd)
                setting = site if in_full else self.setting(point.response)
                asked = self.asked(point.response) if point.response else None
                if asked and in_full:
                    asked = asked_of(self.session, setting, point.response)
                above = self.reply_above(point.response) if asked else 0
                before = self.asked(above) if above else None
                pair = (asked, (above, before) if before else None)
                explanation = asked.explanation if asked else self.view(point).explanation
                told = saw(self.session, setting, point, explanation, pair)
            if not in_full:
                _keep(self._saw, point, told)
            return told

    def reply_above(self, line: int) -> int:
        """Find the reply before on the branch, else the one before in the file; 0 if none is."""
        table, above = self.session.table, self.session.table.parents[line]
        for _ in range(len(table)):
            if above <= 0:
                break
            if table.kinds[above] == Kind.ASSISTANT:
                return above
            above = table.parents[above]
        return max((entry.line for entry in self.session.responses if entry.line < line), default=0)

    def runs(self, view: View, shown: str) -> Runs:
        """Give the folds at a point."""
        with self.lock:
            key = (view.point, shown)
            if key not in self._runs:
                if len(self._runs) >= _KEPT:
                    self._runs.clear()
                self._runs[key] = Runs(view.explanation, shown)
            return self._runs[key]

    def shape(self, view: View) -> Shape:
        """Give the tree, with the branch of the point as the live one."""
        with self.lock:
            if self._live is None:
                self._live = frozenset(entry.line for entry in self.session.branch())
            where = view.point.response or view.point.leaf
            tip = self._tip(where) if where and where not in self._live else 0
            if self._shape is None or self._shape[0] != tip:
                live = path(self.session.table, tip) if tip else self._live
                self._shape = (tip, Shape(self.session, live))
            return self._shape[1]

    def _tip(self, line: int) -> int:
        """Go down from an entry to the end of its branch, where there are several the newest."""
        children, seen = self.session.tree.children, {line}
        while (below := max(children(line), default=0)) and below not in seen:
            seen.add(line := below)
        return line


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    kept[key] = value
    while len(kept) > _KEPT:
        kept.popitem(last=False)

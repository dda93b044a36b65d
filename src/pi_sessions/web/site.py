"""What a run of the page shows, and what it was told from outside."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from pathlib import Path

import msgspec

from pi_sessions.audit import Audit
from pi_sessions.context.asking import assumed
from pi_sessions.context.model import Model
from pi_sessions.context.models import Preferences
from pi_sessions.context.payload.draft import Retention
from pi_sessions.context.target import Target
from pi_sessions.index import Cache
from pi_sessions.render.saw import Setting


class Audited(msgspec.Struct, frozen=True):
    """An audit that is shown beside the sessions it was made with."""

    result: Audit
    report: str
    """The text of the report."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the page."""

    token: str
    """The secret of this run."""
    root: Path | None = None
    """Directory of the sessions, None to show one session alone."""
    session: Path | None = None
    """The session that is shown first."""
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    port: int = 0
    zone: tzinfo = UTC
    """Zone of times without one, and of the days of the usage page."""
    model_of: Callable[[Target], Model] = assumed
    preferences_of: Callable[[str | None], Preferences | None] = lambda _: None
    """Gives the settings of a person in a working directory."""
    retention: Retention | None = None
    release: str | None = None
    cache: Cache | None = None
    """Where summaries of the sessions are kept from one run to the next."""
    audited: Audited | None = None
    is_read_only: bool = False
    """Whether even names and labels are refused."""

    @property
    def alone(self) -> tuple[Path, ...]:
        """Sessions that are shown though they may stand outside the store."""
        audited = self.audited.result.sessions if self.audited else ()
        named = [*([self.session] if self.session else []), *map(Path, audited)]
        return tuple(dict.fromkeys(named))

    def setting(self, cwd: str | None) -> Setting:
        """Give what the requests of a session hang on besides it."""
        return Setting(self.model_of, self.preferences_of(cwd), self.retention, self.release)

    @property
    def authorities(self) -> frozenset[str]:
        """The values of `Host` that are this page's."""
        named = {f"{host}:{self.port}" for host in self.hosts}
        return frozenset(named | (set(self.hosts) if self.port in (0, 80) else set()))

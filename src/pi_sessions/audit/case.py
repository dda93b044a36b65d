"""One audit under way: the report, its profile, the sessions, and who wrote which line."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pi_sessions.audit import form, writing
from pi_sessions.audit.findings import Evidence
from pi_sessions.audit.witness import Witness
from pi_sessions.context.message import Reason
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.audit.form import Outline
    from pi_sessions.audit.profile import Profile
    from pi_sessions.audit.report import Report
    from pi_sessions.audit.writing import Authorship, Point
    from pi_sessions.context.passage import Passage
    from pi_sessions.session import Session


class Case:
    """What all checks of substance ask.

    Args:
        report: the report.
        profile: its form.
        sessions: the sessions behind it.
        brief: what it was asked by, "" where that is not at hand.
        snapshot: the text whose fingerprint the brief gives.
    """

    def __init__(
        self,
        report: Report,
        profile: Profile,
        sessions: Sequence[Session],
        brief: str = "",
        snapshot: str | None = None,
    ) -> None:
        self.report = report
        self.profile = profile
        self.brief = brief
        self.snapshot = snapshot
        self.witnesses = [Witness(session) for session in sessions]

    @cached_property
    def outline(self) -> Outline:
        """Where the sections are."""
        return form.outline(self.report, self.profile)

    @cached_property
    def authorship(self) -> Authorship:
        """Who wrote which line."""
        sessions = [witness.session for witness in self.witnesses]
        return writing.authorship(self.report, sessions, [w.calls for w in self.witnesses])

    def writer(self, line: int) -> Point | None:
        """Give the reply that wrote a line of the report."""
        return self.authorship.of(line)

    def state_of(self, session: int, result: int, line: int) -> tuple[str, str]:
        """Say whether the writer of a report's line had a result: `now`, `lost` or `never`.

        Of a session that did not write the report it is asked whether any of its replies had it.

        Returns:
            The state, and why it is no longer there.
        """
        states = [
            self.state(session, p, line) for p in self.witnesses[session].result_passages(result)
        ]
        for wanted in ("now", "lost"):
            for state, why in states:
                if state == wanted:
                    return state, why
        return "never", ""

    def state(self, session: int, passage: Passage, line: int) -> tuple[str, str]:
        """Say whether the writer of a report's line had a text, as `state_of` does."""
        witness = self.witnesses[session]
        writer = self.writer(line)
        if writer is not None and writer.session != session:
            return ("now", "") if witness.was_seen(passage) else ("never", "")
        reason = witness.why_not(writer.line if writer else 0, passage)
        if reason is None:
            return "now", ""
        if reason is Reason.LATER or not witness.was_seen(passage, writer.line if writer else 0):
            return "never", str(reason)
        by = f"line {writer.line}" if writer else "the end of the session"
        return "lost", f"not in front of the model at {by}: {reason}"

    def searched(self, found: str) -> tuple[Evidence, ...]:
        """Say what was looked through in vain."""
        return tuple(
            Evidence(w.path, 0, f"{len(w.calls)} calls and runs", found) for w in self.witnesses
        )

    def said_to_model(self, text: str) -> Evidence | None:
        """Find where a text was given to the model, word for word."""
        for witness in self.witnesses:
            for saying in witness.sayings:
                place = saying.passage.text.find(text)
                if place >= 0:
                    around = saying.passage.text[max(0, place - 60) : place + len(text) + 60]
                    return Evidence(witness.path, saying.line, one_line(around))
        return None

    def is_proposed(self, line: int) -> bool:
        """Say whether a line of the report is in the section that proposes new text."""
        section = self.outline.of(self.profile.section_asking("proposed"))
        if section is None or not section.blocks:
            return False
        return section.line <= line <= section.blocks[-1].last

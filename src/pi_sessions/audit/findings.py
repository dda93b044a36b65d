"""What an audit says: findings, each with its verdict, its place and the words it stands on."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

import msgspec


class Judgement(StrEnum):
    """What the evidence makes of a statement; worst first."""

    CONTRADICTED = "contradicted"
    """The session, or the form asked for, says otherwise."""
    UNSUPPORTED = "unsupported"
    """Nothing in the sessions bears it out, and nothing speaks against it."""
    CANNOT_TELL = "cannot tell"
    """A program cannot judge it; a person should look."""
    HOLDS = "holds"
    """The evidence shown bears it out."""


class Part(StrEnum):
    """What a finding is about."""

    REPORT = "report"
    FORM = "form"
    SOURCES = "sources"
    QUOTATIONS = "quotations"
    COMMANDS = "commands"
    FIGURES = "figures"
    DATES = "dates"
    IDENTIFIERS = "identifiers"
    DIRECTIVES = "directives"
    FINGERPRINT = "fingerprint"


class Standing(StrEnum):
    """What became of a source by the time the report was written."""

    SEEN = "seen"
    LOST = "seen then lost"
    """Summarised, edited or branched away before the report was written."""
    PARTLY = "partly"
    """Only a part of it came back."""
    FAILED = "failed"
    """It was asked for, and what came back was no more than an error."""
    NEVER = "never"


class Evidence(msgspec.Struct, frozen=True):
    """A place in a session that a finding stands on."""

    session: str
    """Path of the session file; "" for the brief or the snapshot."""
    line: int
    """Physical line, from 1; 0 where it is no single line."""
    words: str
    """The words that stand there."""
    note: str = ""
    """What they are: a call with its time and exit status, why a line was lost."""


class Finding(msgspec.Struct, frozen=True):
    """One statement of a report, and what the evidence makes of it."""

    part: Part
    code: str
    """What kind of finding it is, such as `never-opened`; docs/auditing.md lists them."""
    judgement: Judgement
    line: int
    """Line of the report, from 1; 0 where it is about the whole."""
    words: str
    """The words of the report."""
    says: str
    """One sentence: what was found."""
    evidence: tuple[Evidence, ...] = ()
    standing: Standing | None = None
    """Of a source alone."""
    difference: tuple[tuple[str, str], ...] = ()
    """Of a near quotation: `("=", same)`, `("-", only in the report)`, `("+", only as seen)`."""


class Writer(msgspec.Struct, frozen=True):
    """A reply that wrote the report, or a part of it."""

    session: str
    line: int
    id: str | None
    timestamp: str | None
    way: str
    """`write`, `edit`, `shell`, or `text` for a report that is the reply itself."""
    share: float
    """Part of the report's lines, from 0 to 1, that this reply was the last to write."""


class Audit(msgspec.Struct, frozen=True):
    """All findings about one report."""

    report: str
    profile: str
    sessions: tuple[str, ...]
    writers: tuple[Writer, ...]
    """The replies that wrote the report, the main one first; empty if none was found."""
    findings: tuple[Finding, ...]
    """Worst first, then by part and line."""

    @property
    def counts(self) -> dict[Judgement, int]:
        """Count the findings of each judgement."""
        counted = Counter(finding.judgement for finding in self.findings)
        return {judgement: counted[judgement] for judgement in Judgement}

    @property
    def is_contradicted(self) -> bool:
        """Say whether anything is contradicted."""
        return self.counts[Judgement.CONTRADICTED] > 0

    @property
    def summary(self) -> str:
        """Tell it all in one line, for a log."""
        told = ", ".join(f"{count} {judgement}" for judgement, count in self.counts.items())
        return f"audit {'failed' if self.is_contradicted else 'passed'}: {told}"


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Put findings in order: worst first, then by part and line."""
    judgements, parts = list(Judgement), list(Part)
    return tuple(
        sorted(
            findings,
            key=lambda f: (judgements.index(f.judgement), parts.index(f.part), f.line, f.code),
        )
    )

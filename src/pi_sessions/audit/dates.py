"""Dates of a report: access dates against the time of the fetch, other ones against the sessions.

A date without a zone may be that of any place on Earth: it is right if it was that day anywhere.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from pi_sessions.audit.calls import moment
from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part
from pi_sessions.audit.report import BlockKind, sentence_at
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.audit.case import Case
    from pi_sessions.audit.sources import Source

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)? ({_NAMES})\.?,? (\d{{4}})\b", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b({_NAMES})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE
)
_OF_WORK = re.compile(
    r"\b(?:publish\w*|released?|updated?|dated|issued|version|copyright|revised?|posted|written|submitted|"
    r"v\d+)\b[^;,.|]{0,24}$",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:today|access\w*|retriev\w*|fetch\w*|ran|run|executed|checked|verified|opened|read)\b",
    re.IGNORECASE,
)
_BEFORE = 80
"""Characters before a date in which it is told what it is of."""
_WEST, _EAST = timedelta(hours=12), timedelta(hours=14)


def dates_in(text: str) -> list[tuple[date, int, int]]:
    """Find the dates in a text, with their places."""
    found = []
    for pattern, order in ((_ISO, "ymd"), (_DAY_FIRST, "dmy"), (_MONTH_FIRST, "mdy")):
        for match in pattern.finditer(text):
            parts = dict(zip(order, match.groups(), strict=True))
            month = parts["m"]
            number = int(month) if month.isdecimal() else _month(month)
            try:
                day = date(int(parts["y"]), number, int(parts["d"]))
            except ValueError:
                continue
            found.append((day, match.start(), match.end()))
    return sorted(found, key=lambda hit: hit[1:])


def _month(name: str) -> int:
    return next(n for n, known in enumerate(MONTHS, 1) if known.startswith(name[:3].lower()))


def is_day_of(day: date, time: datetime) -> bool:
    """Say whether a time was on a day somewhere on Earth."""
    return (time - _WEST).date() <= day <= (time + _EAST).date()


def check(case: Case, sources: Sequence[Source]) -> Iterator[Finding]:
    """Check the dates of a report."""
    for source in sources:
        yield from _accessed(source)
    yield from _told(case)


def _accessed(source: Source) -> Iterator[Finding]:
    times = [(time, fetch) for _, fetch in source.fetches if (time := fetch.call.date)]
    if not times:
        return
    evidence = tuple(
        Evidence(f.call.session, f.call.line, one_line(f.call.asked), f.note) for _, f in times[:4]
    )
    for day, start, _ in dates_in(source.dates):
        if _OF_WORK.search(source.dates[max(0, start - _BEFORE) : start]):
            continue
        if any(is_day_of(day, time) for time, _ in times):
            code, judgement, says = "access-date", Judgement.HOLDS, f"it was fetched on {day}"
        else:
            days = " and ".join(sorted({f"{time:%Y-%m-%d}" for time, _ in times}))
            code, judgement = "wrong-access-date", Judgement.CONTRADICTED
            says = f"it was fetched on {days}, not on {day}"
        line = source.row.line
        yield Finding(Part.DATES, code, judgement, line, source.dates, says, evidence)


def _told(case: Case) -> Iterator[Finding]:
    """Check dates of what was done, such as today's, against the time of the sessions."""
    ledger = case.outline.of(case.profile.section_asking("sources"))
    spans = [span for witness in case.witnesses if (span := _span(case, witness.path))]
    if not spans or case.authorship.main is None:
        return
    for block in case.report.blocks:
        in_ledger = ledger and any(block is other for other in ledger.blocks)
        if (
            in_ledger
            or block.kind in (BlockKind.CODE, BlockKind.HEADING)
            or case.is_proposed(block.line)
        ):
            continue
        for text in block.texts:
            for day, start, stop in dates_in(text.text):
                begin, end = sentence_at(text.text, start, stop)
                around = text.text[begin:end]
                before = text.text[max(0, start - _BEFORE) : start]
                if not _DONE.search(around) or _OF_WORK.search(before):
                    continue
                line = text.line_at(start)
                yield _in_span(case, day, around.strip(), line, spans)


def _in_span(
    case: Case, day: date, words: str, line: int, spans: Sequence[tuple[datetime, datetime]]
) -> Finding:
    evidence = tuple(
        Evidence(w.path, 0, f"{first.isoformat()} to {last.isoformat()}", "the time of the session")
        for w, (first, last) in zip(case.witnesses, spans, strict=False)
    )
    if any((first - _WEST).date() <= day <= (last + _EAST).date() for first, last in spans):
        says = f"{day} is within the time of the sessions"
        return Finding(Part.DATES, "date", Judgement.HOLDS, line, words, says, evidence)
    says = f"nothing was done on {day}: the sessions are of another time"
    return Finding(Part.DATES, "wrong-date", Judgement.CONTRADICTED, line, words, says, evidence)


def _span(case: Case, path: str) -> tuple[datetime, datetime] | None:
    witness = next(w for w in case.witnesses if w.path == path)
    entries = witness.session.entries
    header = witness.session.table.header.get("timestamp")
    texts = [header, entries[0].timestamp, entries[-1].timestamp] if len(entries) else [header]
    times = [time for text in texts if isinstance(text, str) and (time := moment(text))]
    return (min(times), max(times)) if times else None

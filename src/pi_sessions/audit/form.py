"""Whether a report has the sections its profile asks for, and each section what it must hold."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import tables, units
from pi_sessions.audit.findings import Finding, Judgement, Part
from pi_sessions.audit.profile import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.audit.profile import Profile, SectionForm
    from pi_sessions.audit.report import Block, Report, Section

_NUMBER = re.compile(r"^\s*(?:(?:section|part)\s+)?(\d+)\s*[.):]?\s+", re.IGNORECASE)
_TOLD_AFTER = re.compile(r"\s+[—–-]+\s+|:\s+|\s+\(")
_LONGEST = 400
"""Characters of a heading that are looked at."""
_ALIKE = 0.72
"""Likeness from which on a heading is taken for another one in other words."""


class Outline(msgspec.Struct, frozen=True):
    """Where the sections asked for are."""

    level: int
    sections: dict[str, Section]
    """By the name asked for."""

    def of(self, form: SectionForm | None) -> Section | None:
        """Give the section of a form."""
        return self.sections.get(form.name) if form else None


def outline(report: Report, profile: Profile) -> Outline:
    """Find the sections a profile asks for, by name; of several the first."""
    level = _level(report, profile)
    found: dict[str, Section] = {}
    for section in report.sections(level):
        form = _form_of(section.title, profile)
        if form and form.name not in found:
            found[form.name] = section
    return Outline(level, found)


def _level(report: Report, profile: Profile) -> int:
    """Give the level of the top-level sections: the one with most of the names."""
    counts = dict.fromkeys(range(1, 7), 0)
    for heading in report.headings:
        counts[heading.level] += _form_of(heading.text, profile) is not None
    best = max(counts, key=lambda level: (counts[level], -level))
    return best if counts[best] else 2


def _title(text: str) -> str:
    return plain(_NUMBER.sub("", _head(text)))


def _head(text: str) -> str:
    """Give as much of a heading as a name can be long, with single spaces."""
    return " ".join(text[:_LONGEST].split())


def _form_of(title: str, profile: Profile) -> SectionForm | None:
    """Give the form a heading stands for, under its name or one that is like it."""
    bare = _title(title)
    for form in profile.section:
        if _is_named(title, form):
            return form
    likeness = [
        (SequenceMatcher(None, bare, plain(form.name)).ratio(), number)
        for number, form in enumerate(profile.section)
    ]
    best, number = max(likeness, default=(0.0, 0))
    return profile.section[number] if best >= _ALIKE else None


def _is_named(title: str, form: SectionForm) -> bool:
    """Say whether a heading is the name asked for; what it holds may be told behind it."""
    bare = _NUMBER.sub("", _head(title))
    return plain(form.name) in (plain(bare), plain(_TOLD_AFTER.split(bare, maxsplit=1)[0]))


def check(report: Report, profile: Profile, plan: Outline) -> Iterator[Finding]:
    """Check the form of a report."""
    found = list(_sections(report, profile, plan))
    yield from found
    if not found:
        titles = " · ".join(section.title for section in plan.sections.values())
        line = min((section.line for section in plan.sections.values()), default=0)
        says = f"all {len(profile.section)} sections are there, in order"
        yield Finding(Part.FORM, "sections", Judgement.HOLDS, line, titles, says)
    for form in profile.section:
        section = plan.of(form)
        if section is None:
            continue
        if not section.blocks:
            yield _wrong("empty-section", section.line, section.title, "the section holds nothing")
            continue
        if form.asks("table"):
            yield from tables.check(section, form)
        yield from units.check(section, form, profile)
    yield from units.proposals(profile, plan.sections)
    yield from units.citations(report, profile, plan.sections)


def _sections(report: Report, profile: Profile, plan: Outline) -> Iterator[Finding]:
    """Check names, order and number of the top-level sections."""
    names = [form.name for form in profile.section]
    seen: list[str] = []
    for heading in report.headings:
        if heading.level > plan.level:
            continue
        form = _form_of(heading.text, profile)
        if form is None or heading.level != plan.level:
            if profile.exact and not _is_document_title(heading, report):
                says = "the sections asked for are exact, and this is none of them"
                yield _wrong("extra-section", heading.line, heading.text, says)
            continue
        place = names.index(form.name)
        if form.name in seen:
            says = f"the section {form.name!r} is there already"
            yield _wrong("repeated-section", heading.line, heading.text, says)
            continue
        if not _is_named(heading.text, form):
            says = f"the section is to be called {form.name!r}"
            yield _wrong("renamed-section", heading.line, heading.text, says)
        later = [name for name in seen if names.index(name) > place]
        if later:
            says = f"it comes after {later[0]!r}, before which it is asked for"
            yield _wrong("section-out-of-order", heading.line, heading.text, says)
        numbered = _NUMBER.match(_head(heading.text))
        if numbered and int(numbered[1][:6]) != place + 1:
            says = f"it is asked for as number {place + 1}"
            yield _wrong("misnumbered-section", heading.line, heading.text, says)
        seen.append(form.name)
    for name in names:
        if name not in seen:
            says = f"no section is called {name!r}, nor anything like it"
            yield _wrong("missing-section", 0, name, says)


def _is_document_title(heading: Block, report: Report) -> bool:
    """Say whether a heading is the title of it all: the first, and the only one of level 1."""
    first = report.headings[0]
    alone = sum(1 for other in report.headings if other.level == 1) == 1
    return heading is first and heading.level == 1 and alone


def _wrong(code: str, line: int, words: str, says: str) -> Finding:
    return Finding(Part.FORM, code, Judgement.CONTRADICTED, line, words, says)

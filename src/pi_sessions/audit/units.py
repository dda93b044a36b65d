"""What each thing listed in a section must have: a citation, one class, a method, a decision."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import tables
from pi_sessions.audit.findings import Finding, Judgement, Part
from pi_sessions.audit.report import Block, BlockKind, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_sessions.audit.profile import EvidenceClass, Profile, SectionForm
    from pi_sessions.audit.report import Report, Section

_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.? \w{3,9}\.? \d{4}\b|\b\w{3,9} \d{1,2}, \d{4}\b"
)
_MARK = re.compile(r"\[\^?[\w.:-]+\]|\b[A-Z]{1,3}-?\d+\b|\blines? \d+|§\s*\d")
_DENIAL = re.compile(r"\W*(?:no|none|nothing|neither|not found|n/a)\b", re.IGNORECASE)
_JOIN = re.compile(
    r"[\s/,;&+|()\[\]*_`\"“”-]*(?:(?:and|or|as well as|also|plus)[\s*_]*)?[\s/(]*", re.IGNORECASE
)
_METHOD = re.compile(r"\b(?:method|procedure|protocol|steps?|how|setup|approach)\b", re.IGNORECASE)
_SUCCESS = re.compile(r"\b(?:success\w*|succeed\w*|pass\w*|confirmed|supported) ?", re.IGNORECASE)
_FAILURE = re.compile(
    r"\b(?:fail\w*|refut\w*|falsif\w*|rejected if|contradicted if)", re.IGNORECASE
)
_RAN = re.compile(
    r"\bRUN\b|(?i:\b(?:ran|(?:was|were|have|has) run|run (?:on|with|at|here|by)|executed)\b)"
)
_DECISION = re.compile(
    r"\b(?:accept|revis|defer|reject|approv|adopt|declin)\w*|\bno change\b|\bleave\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|reasons?|rationale|since|so that|why|in order)\b"
    r"|\bas (?:it|the|this|that|no|there)\b|[:—–]\s*\S+(?:\s+\S+){2,}|\([^)]*\s[^)]*\)",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\?|\bwhether\b|\bdecide\b", re.IGNORECASE)
_PROPOSAL = re.compile(r"^\W*([A-Z]{1,3}-?\d+)\b")


def check(section: Section, form: SectionForm, profile: Profile) -> Iterator[Finding]:
    """Check what a section lists, by what its form asks."""
    if form.asks("dated") and not _DATE.search(section.text):
        says = "today's date is asked for, and there is no date"
        yield _wrong("no-date", section.line, section.title, says)
    if form.asks("classes"):
        yield from _classes(section, profile)
    if form.asks("cited"):
        yield from _cited(section)
    if form.asks("experiments"):
        yield from _experiments(section, profile)
    if form.asks("decisions"):
        yield from _decisions(section)


def classes_in(text: str, profile: Profile) -> list[tuple[int, int, EvidenceClass]]:
    """Find the evidence classes named in a text, by start and stop."""
    found: list[tuple[int, int, EvidenceClass]] = []
    for kind in profile.class_:
        for word in sorted(kind.words, key=len, reverse=True):
            for match in re.finditer(rf"\b{re.escape(word)}\b", text, re.IGNORECASE):
                if not any(start <= match.start() < stop for start, stop, _ in found):
                    found.append((match.start(), match.end(), kind))
    return sorted(found, key=lambda hit: hit[:2])


def _classes(section: Section, profile: Profile) -> Iterator[Finding]:
    without: list[int] = []
    units = section.units()
    for unit in units:
        named = classes_in(unit.text, profile)
        if not named and not marked(unit.text, profile.unverified):
            without.append(unit.line)
        yield from _blurred(unit, named, profile)
        yield from _unnamed_source(unit, profile)
    if without and len(without) < len(units):
        lines = ", ".join(map(str, without[:8])) + (" …" if len(without) > 8 else "")
        says = f"{len(without)} of {len(units)} name no evidence class (lines {lines})"
        yield _unclear("no-class", without[0], section.title, says)


def _blurred(
    unit: Unit, named: list[tuple[int, int, EvidenceClass]], profile: Profile
) -> Iterator[Finding]:
    text = unit.text
    for (_, stop, left), (start, _, right) in itertools.pairwise(named):
        if left is not right and _JOIN.fullmatch(text, stop, start):
            says = f"one statement is labelled {left.name!r} and {right.name!r} at once"
            yield _wrong("blurred-class", unit.line, text, says)
    ran = [kind for _, _, kind in named if kind.ran]
    if ran and marked(text, profile.unrun):
        says = f"it is marked {profile.unrun[0]} and labelled {ran[0].name!r} at once"
        yield _wrong("blurred-class", unit.line, text, says)


def _unnamed_source(unit: Unit, profile: Profile) -> Iterator[Finding]:
    """Find a cell, or an item, that says a source reports it and names none."""
    for block in unit.blocks:
        for text in block.texts if block.kind is not BlockKind.CODE else ():
            kinds = [kind for _, _, kind in classes_in(text.text, profile) if kind.cites]
            cell = msgspec.structs.replace(block, texts=(text,))
            if kinds and not is_cited(cell):
                says = f"it is labelled {kinds[0].name!r}, and names no source"
                yield _wrong("uncited", text.line, text.text, says)


def marked(text: str, marks: tuple[str, ...]) -> bool:
    """Say whether a text carries one of the marks, as they are written."""
    return any(re.search(rf"\b{re.escape(mark)}\b", text) for mark in marks)


def is_cited(block: Block) -> bool:
    """Say whether a block names where it comes from."""
    has_link = any(
        span.url or _is_place(text.text[span.start : span.stop])
        for text in block.texts
        for span in text.spans
    )
    return has_link or bool(_MARK.search(block.text))


def _is_place(code: str) -> bool:
    return bool(re.search(r"[/\\.]\w|::|\w \w", code))


def _cited(section: Section) -> Iterator[Finding]:
    """Ask each item, row and paragraph for a citation; an item may have its parent's."""
    above: list[bool] = []
    for block in section.blocks:
        if block.kind not in (BlockKind.ITEM, BlockKind.ROW, BlockKind.PARAGRAPH):
            continue
        cited = is_cited(block)
        if block.kind is BlockKind.ITEM:
            above = [*above[: block.level - 1], cited or any(above[: block.level - 1])]
            cited = above[-1]
        if cited or _DENIAL.match(block.text) or len(block.text.split()) < 6:
            continue
        if block.kind is BlockKind.PARAGRAPH:
            says = "it cites nothing; whether it tells a fact about a source is to read"
            if not block.text.rstrip().endswith(":"):
                yield _unclear("uncited", block.line, block.text, says)
        elif not (block.text.rstrip().endswith(":") and block.kind is BlockKind.ITEM):
            says = "each finding is to cite where it comes from; this one cites nothing"
            yield _wrong("uncited", block.line, block.text, says)


def _experiments(section: Section, profile: Profile) -> Iterator[Finding]:
    units = section.units()
    if len(units) == 1 and len(units[0].text.split()) < 40 and _DENIAL.match(units[0].text):
        says = "it says there are none; whether there should be is to read"
        yield _unclear("no-experiments", section.line, units[0].text, says)
        return
    good = 0
    for unit in units:
        text = unit.text
        wanted = (("a method", _METHOD), ("a success criterion", _SUCCESS))
        missing = [
            name
            for name, words in (*wanted, ("a failure criterion", _FAILURE))
            if not words.search(text)
        ]
        if not marked(text, profile.unrun) and not _RAN.search(text):
            missing.append(f"{profile.unrun[0]}, or a run")
        if missing:
            says = f"the experiment lacks {' and '.join(missing)}"
            yield _wrong("incomplete-experiment", unit.line, unit.text, says)
        good += not missing
    if good == len(units):
        says = f"{good} experiment{'s' * (good != 1)}, with method, criteria, and run or not"
        yield Finding(Part.FORM, "experiments", Judgement.HOLDS, section.line, section.title, says)


def _decisions(section: Section) -> Iterator[Finding]:
    good = 0
    units = section.units()
    for unit in units:
        text = unit.text
        decided, reasoned = _DECISION.search(text), _REASON.search(text)
        if decided and reasoned:
            good += 1
        elif decided:
            says = "it decides and gives no reason"
            yield _wrong("no-reason", unit.line, text, says)
        elif _OPEN.search(text):
            says = "it asks for a decision; which one is proposed is to read"
            yield _unclear("no-decision", unit.line, text, says)
        elif unit.blocks[0].kind is not BlockKind.HEADING or len(unit.blocks) > 1:
            says = "neither accepted, revised, deferred nor rejected"
            yield _wrong("no-decision", unit.line, text, says)
    if good and good == len(units):
        says = f"{good} decision{'s' * (good != 1)}, each with a reason"
        yield Finding(Part.FORM, "decisions", Judgement.HOLDS, section.line, section.title, says)


def proposals(profile: Profile, sections: Mapping[str, Section]) -> Iterator[Finding]:
    """Ask for a decision on each proposal that has a name such as P1."""
    proposing, deciding = (profile.section_asking(c) for c in ("proposed", "decisions"))
    proposed = sections.get(proposing.name) if proposing else None
    decided = sections.get(deciding.name) if deciding else None
    if not proposed or not decided:
        return
    for unit in proposed.units():
        first = unit.blocks[0].texts[0].text if unit.blocks[0].texts else ""
        named = _PROPOSAL.match(first)
        if named and not re.search(rf"\b{re.escape(named[1])}\b", decided.text):
            says = f"no decision on {named[1]} is in {decided.title!r}"
            yield _wrong("undecided-proposal", unit.line, first, says)


def citations(
    report: Report, profile: Profile, sections: Mapping[str, Section]
) -> Iterator[Finding]:
    """Find citations of sources, by names such as S1, that the ledger does not have."""
    form = profile.section_asking("sources")
    section = sections.get(form.name) if form else None
    chosen = tables.table_of(section, form) if section and form else None
    if chosen is None:
        return
    rows = chosen[0].rows
    starts = [re.match(r"\[?(([A-Z]{1,3}-?)\d+)\b", row.texts[0].text) for row in rows if row.texts]
    names = {start[1] for start in starts if start}
    letters = {start[2] for start in starts if start}
    if len(letters) != 1:
        return
    (prefix,) = letters
    cited = re.compile(rf"(?<![\w./-]){re.escape(prefix)}\d+\b(?![./-]\w)")
    told: set[str] = set()
    for block in report.blocks:
        for text in block.texts:
            for match in cited.finditer(text.text) if block.kind is not BlockKind.CODE else ():
                if match[0] not in names | told and not text.is_code(match.start()):
                    told.add(match[0])
                    says = f"the ledger has no {match[0]}"
                    yield _wrong("unknown-citation", text.line_at(match.start()), text.text, says)


def _wrong(code: str, line: int, words: str, says: str) -> Finding:
    return Finding(Part.FORM, code, Judgement.CONTRADICTED, line, words, says)


def _unclear(code: str, line: int, words: str, says: str) -> Finding:
    return Finding(Part.FORM, code, Judgement.CANNOT_TELL, line, words, says)


__all__ = ["Unit", "check", "citations", "classes_in", "is_cited", "marked", "proposals"]

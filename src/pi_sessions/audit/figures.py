"""Figures and identifiers of a report, traced to the texts that hold them."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit.dates import dates_in
from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part
from pi_sessions.audit.report import Block, BlockKind, Text, sentence_at
from pi_sessions.audit.units import classes_in, marked
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.audit.case import Case
    from pi_sessions.audit.witness import Saying

_NUMBER = re.compile(
    r"(?<![\w.,:/#§@=-])(?:(\d{1,3}(?:[,\u202f\u00a0]\d{3})+|\d{1,15})(\.\d{1,12})?)(?![\d:/-]|[.,]\d|\.\w)"
    r"(\s?%|\s?(?:ms|s|kB|KB|MB|GB|KiB|MiB|kg|g|m|km|x|×)\b)?"
)
_PLACE = re.compile(
    r"(?:chapters?|sections?|lines?|pages?|rows?|steps?|versions?|parts?|ports?|figures?|tables?|"
    r"notes?|items?|numbers?|no\.|code|status|exit(?:ed)? with|exit|§|release|node|python|pi|http|"
    r"rfc|issue|pr|entries|columns?|v)[\s:#]*(?:\d|\s|,|–|-|\band\b|\bto\b|\bor\b|\bthrough\b){0,60}$",
    re.IGNORECASE,
)
_HASH = re.compile(r"(?<![\w./-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?![\w-])")
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w./-])v?\d+\.\d+\.\d+(?:[-+][\w.]+)?(?![\w-]|\.\d)")
_RUN = re.compile(
    r"\b(?:run|job|build|session|request)\s+(?:id\s+)?[`#]?((?=[\w-]*\d)[\w-]{6,})", re.IGNORECASE
)
_CONTEXT = 100
"""Characters around a figure in which words in common are looked for."""
_OPERANDS = 12
"""Figures beside one from which it may have been computed."""
_LONGEST = 1000
"""Characters of a row that are looked at for one figure."""
_COMMON = frozenset(
    (
        *("the", "and", "that", "this", "with", "from", "were", "was", "are", "for", "not", "has"),
        *("have", "its", "than", "then", "into", "only", "each", "which", "when", "what", "all"),
        *("one", "two", "per", "run", "ran", "exit", "code"),
    )
)


class Figure(msgspec.Struct, frozen=True):
    """A number, or a name that only a look can give, in a report."""

    text: str
    line: int
    around: str
    """The sentence, or the row, in which it stands."""


class Numbers(msgspec.Struct, frozen=True, dict=True):
    """The numbers of one text."""

    text: str

    @cached_property
    def places(self) -> dict[float, list[int]]:
        """Where each number stands."""
        found: dict[float, list[int]] = {}
        for match in re.finditer(r"\d[\d,\u202f\u00a0]{0,24}(?:\.\d{1,12})?", self.text):
            for number in _values(match[0]):
                found.setdefault(number, []).append(match.start())
        return found

    @cached_property
    def sorted(self) -> list[float]:
        """All numbers, smallest first."""
        return sorted(self.places)

    def find(self, wanted: float, unit: float) -> tuple[float, list[int]] | None:
        """Find a number, or one that is rounded to it; `unit` is that of its last digit."""
        if wanted in self.places:
            return wanted, self.places[wanted]
        place = bisect_left(self.sorted, wanted - unit / 2)
        if place < len(self.sorted) and self.sorted[place] <= wanted + unit / 2:
            number = self.sorted[place]
            return number, self.places[number]
        return None


def _values(text: str) -> Iterator[float]:
    """Give what a number may mean: with commas for thousands, or as several numbers."""
    bare = re.sub(r"[,\u202f\u00a0]+$", "", text)
    if re.fullmatch(r"\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?", bare):
        yield float(re.sub(r"[,\u202f\u00a0]", "", bare))
    for part in re.split(r"[,\u202f\u00a0]", bare):
        if part:
            yield float(part)


def figures(case: Case) -> Iterator[Figure]:
    """Find the figures of a report that must come from somewhere."""
    for block, text in _texts(case):
        dates = [(start, stop) for _, start, stop in dates_in(text.text)]
        links = [(s.start, s.stop) for s in text.spans]
        for match in _NUMBER.finditer(text.text):
            start = match.start(1)
            if any(a <= start < b for a, b in [*dates, *links]):
                continue
            number, digits, unit = match[1], match[2] or "", match[3] or ""
            is_year = re.fullmatch(r"(?:19|20)\d\d", number) and not digits and not unit.strip()
            if is_year or (len(number) < 2 and not digits and not unit):
                continue
            if _PLACE.search(text.text[max(0, start - 60) : start]) and not unit:
                continue
            begin, end = sentence_at(text.text, start, match.end())
            is_row = block.kind is BlockKind.ROW
            around = block.text[:_LONGEST] if is_row else text.text[begin:end].strip()
            yield Figure(match[0].strip(), text.line_at(start), around)


def _texts(case: Case) -> Iterator[tuple[Block, Text]]:
    """Give the texts of a report in which figures are results."""
    skipped: set[int] = set()
    for check in ("sources", "proposed", "decisions"):
        section = case.outline.of(case.profile.section_asking(check))
        skipped |= {id(block) for block in section.blocks} if section else set()
    for section in case.report.sections(case.outline.level):
        for unit in section.units():
            named = classes_in(unit.text, case.profile)
            proposed = bool(named) and all(
                "hypothes" in k.name or "propos" in k.name for *_, k in named
            )
            if marked(unit.text, case.profile.unrun) or proposed:
                skipped |= {id(block) for block in unit.blocks}
    for block in case.report.blocks:
        if id(block) in skipped or block.kind in (
            BlockKind.HEADING,
            BlockKind.HEAD,
            BlockKind.CODE,
        ):
            continue
        for number, text in enumerate(block.texts):
            if not (block.kind is BlockKind.ROW and number == 0 and len(text.text) < 8):
                yield block, text


def check(case: Case) -> Iterator[Finding]:
    """Trace each figure and each identifier."""
    numbers = [
        (n, saying, Numbers(saying.passage.text))
        for n, witness in enumerate(case.witnesses)
        for saying in witness.sayings
    ]
    asked = {(n, call.result): call.asked for n, w in enumerate(case.witnesses) for call in w.calls}
    for figure in figures(case):
        yield _judge(case, figure, numbers, asked)
    yield from _identifiers(case)


def _judge(
    case: Case,
    figure: Figure,
    numbers: list[tuple[int, Saying, Numbers]],
    asked: dict[tuple[int, int], str],
) -> Finding:
    bare = re.match(r"[\d,\u202f\u00a0]+(?:\.(\d+))?", figure.text)
    assert bare is not None, "a figure begins with digits"
    wanted = float(re.sub(r"[,\u202f\u00a0]", "", bare[0]))
    unit = 10.0 ** -len(bare[1] or "")
    words = _words(figure.around)
    best: tuple[int, int, Evidence] | None = None
    for number, saying, held in numbers:
        found = held.find(wanted, unit)
        state, why = case.state(number, saying.passage, figure.line) if found else ("never", "")
        if found is None or state == "never":
            continue
        shared = _words(asked.get((number, saying.line), "")) & words
        for place in found[1][:50]:
            around = held.text[max(0, place - _CONTEXT) : place + _CONTEXT]
            score = len((_words(around) | shared) & words) * 2 + saying.is_output
            score -= 100 * saying.is_summary
            if best is None or score > best[0]:
                note = f"{saying.passage.where}, {why}" if why else str(saying.passage.where)
                if found[0] != wanted:
                    note += f", rounded from {found[0]:.12g}"
                evidence = Evidence(
                    case.witnesses[number].path, saying.line, one_line(around), note
                )
                best = (score, place, evidence)
    if best is not None:
        return _traced(figure, best[0], best[2])
    return _from_nowhere(case, figure, wanted, unit, numbers)


def _traced(figure: Figure, score: int, evidence: Evidence) -> Finding:
    if score < -1:
        says = "it stands in a summary, which a model wrote, and nowhere else"
        return _finding("figure-in-summary", Judgement.CANNOT_TELL, figure, says, (evidence,))
    if score < 2:
        says = "the number was seen, with none of these words around it"
        return _finding("figure-elsewhere", Judgement.CANNOT_TELL, figure, says, (evidence,))
    return _finding(
        "figure", Judgement.HOLDS, figure, "it stands in what the model saw", (evidence,)
    )


def _from_nowhere(
    case: Case,
    figure: Figure,
    wanted: float,
    unit: float,
    numbers: list[tuple[int, Saying, Numbers]],
) -> Finding:
    evidence = tuple(
        Evidence(w.path, 0, f"{len(w.sayings)} texts", "the number is in none")
        for w in case.witnesses
    )
    others = {
        value for m in _NUMBER.finditer(figure.around) for value in _values(m[1] + (m[2] or ""))
    }
    seen = [n for n in sorted(others - {wanted}) if any(n in held.places for *_, held in numbers)]
    way = _computed(wanted, unit, seen[:_OPERANDS], is_part="%" in figure.text)
    if way:
        says = f"it was computed from figures beside it, which were seen: {way}"
        return _finding("computed-figure", Judgement.HOLDS, figure, says, evidence)
    says = "this number is in nothing the model saw; whether it was computed is not to be told"
    return _finding("figure-from-nowhere", Judgement.UNSUPPORTED, figure, says, evidence)


def _computed(wanted: float, unit: float, seen: list[float], *, is_part: bool) -> str:
    """Say how a figure follows from two others, "" where it does not."""
    for a, b in permutations(seen, 2):
        ways = [("-", a - b), ("+", a + b)]
        if is_part and b:
            ways = [("/", 100 * a / b)]
        for sign, value in ways:
            if abs(value - wanted) <= unit / 2:
                return f"{a:g} {sign} {b:g}"
    return ""


def _words(text: str) -> set[str]:
    found = {word.casefold() for word in re.findall(r"[^\W\d_]{3,}", text)}
    return {word.removesuffix("s") for word in found - _COMMON}


def _identifiers(case: Case) -> Iterator[Finding]:
    """Look for commit hashes, run ids and versions in what the model saw."""
    told: set[str] = set()
    for block in case.report.blocks:
        if case.is_proposed(block.line) or block.kind is BlockKind.HEADING:
            continue
        for text in block.texts:
            for pattern in (_UUID, _HASH, _VERSION, _RUN):
                for match in pattern.finditer(text.text):
                    name = match[match.lastindex or 0]
                    url = any(s.url and s.start <= match.start() < s.stop for s in text.spans)
                    if name in told or url or any(name in other for other in told):
                        continue
                    told.add(name)
                    yield _identifier(case, name, text.line_at(match.start()), block.text)


def _identifier(case: Case, name: str, line: int, around: str) -> Finding:
    bare = name.removeprefix("v")
    pattern = re.compile(rf"(?<![\w.]){re.escape(bare)}(?!\w|\.\d)")
    for number, witness in enumerate(case.witnesses):
        for saying in witness.sayings:
            text = saying.passage.text
            found = pattern.search(text) if bare in text else None
            if found is None or case.state(number, saying.passage, line)[0] == "never":
                continue
            words = saying.passage.text[max(0, found.start() - 60) : found.end() + 60]
            evidence = (
                Evidence(witness.path, saying.line, one_line(words), str(saying.passage.where)),
            )
            says = f"{name} stands in what the model saw"
            return Finding(
                Part.IDENTIFIERS, "identifier", Judgement.HOLDS, line, around, says, evidence
            )
    nowhere = tuple(
        Evidence(w.path, 0, f"{len(w.sayings)} texts", "it is in none") for w in case.witnesses
    )
    says = f"{name} is in nothing the model saw"
    code = "identifier-from-nowhere"
    return Finding(Part.IDENTIFIERS, code, Judgement.UNSUPPORTED, line, around, says, nowhere)


def _finding(
    code: str, judgement: Judgement, figure: Figure, says: str, evidence: tuple[Evidence, ...]
) -> Finding:
    told = f"{figure.text}: {says}"
    return Finding(Part.FIGURES, code, judgement, figure.line, figure.around, told, evidence)

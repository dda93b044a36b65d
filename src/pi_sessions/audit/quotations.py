"""Quoted passages: word for word in something the model saw, nearly so, or nowhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import fetching
from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part, Standing
from pi_sessions.audit.report import Block, BlockKind
from pi_sessions.audit.wording import Near, normal, pieces, word_count
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.audit.case import Case
    from pi_sessions.audit.sources import Source
    from pi_sessions.audit.witness import Saying

_PASSAGE = re.compile(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』|\"([^\"]+)\""
)
_HITS = 24
"""Places of one quotation that are looked at."""


class Quotation(msgspec.Struct, frozen=True):
    """A passage that a report quotes."""

    text: str
    line: int
    block: Block


class Hit(msgspec.Struct, frozen=True):
    """A text that holds a quotation, or one near it."""

    session: int
    saying: Saying
    state: str
    """`now`, `lost` or `never`, as `Case.state_of` says."""
    why: str
    near: Near | None = None


def quotations(case: Case) -> Iterator[Quotation]:
    """Find the passages that are long enough to count as quoted."""
    least = case.profile.quotation_words
    for block in case.report.blocks:
        if block.kind in (BlockKind.CODE, BlockKind.HEADING, BlockKind.HTML):
            continue
        for text in block.texts:
            if block.kind is BlockKind.QUOTE:
                said = re.split(r"\n\s*[—–-]{1,2}\s", text.text)[0].strip().strip('"“”')
                found = [(said, text.line)]
            else:
                found = [
                    (next(filter(None, match.groups())), text.line_at(match.start()))
                    for match in _PASSAGE.finditer(text.text)
                    if not text.is_code(match.start())
                ]
            for said, line in found:
                if word_count(said) >= least and pieces(said):
                    yield Quotation(said, line, block)


def check(case: Case, sources: Sequence[Source]) -> Iterator[Finding]:
    """Look for each quotation in what the model saw."""
    proposed: list[Quotation] = []
    for quotation in quotations(case):
        finding = _judge(case, quotation, sources)
        if finding.judgement is not Judgement.HOLDS and case.is_proposed(quotation.line):
            proposed.append(quotation)
        else:
            yield finding
    if proposed:
        count = len(proposed)
        says = (
            f"{count} passage{'s' * (count != 1)} in quotation marks taken for proposed text, "
            "since nowhere word for word"
        )
        first = proposed[0]
        yield _finding("proposed-text", Judgement.CANNOT_TELL, first, says)


def _judge(case: Case, quotation: Quotation, sources: Sequence[Source]) -> Finding:
    hits = _verbatim(case, quotation)
    if hits:
        return _found(case, quotation, hits[0])
    near = _near(case, quotation)
    if near is not None and near.near is not None:
        says = f"the words are near, not the same (likeness {near.near.likeness:.0%})"
        evidence = (_evidence(case, near, near.near.words),)
        code = "near-quotation"
        return _finding(
            code, Judgement.CONTRADICTED, quotation, says, evidence, near.near.difference
        )
    return _nowhere(case, quotation, sources)


def _verbatim(case: Case, quotation: Quotation) -> list[Hit]:
    """Find the texts that hold a quotation, best first."""
    parts = pieces(quotation.text)
    for capitals in (True, False):
        found: list[Hit] = []
        for number, witness in enumerate(case.witnesses):
            for saying in witness.sayings:
                if len(found) < _HITS and saying.wording.holds(parts, capitals=capitals):
                    state, why = case.state(number, saying.passage, quotation.line)
                    found.append(Hit(number, saying, state, why))
        if found:
            rank = {"now": 0, "lost": 1, "never": 3}
            # What a model wrote about it is worth less than the thing, even if that is gone.
            return sorted(found, key=lambda h: rank[h.state] + 2 * h.saying.is_summary)
    return []


def _near(case: Case, quotation: Quotation) -> Hit | None:
    best: Hit | None = None
    for number, witness in enumerate(case.witnesses):
        for saying in witness.sayings:
            near = None if saying.is_summary else saying.wording.near(quotation.text)
            if near is None or (best and best.near and best.near.likeness >= near.likeness):
                continue
            state, why = case.state(number, saying.passage, quotation.line)
            if state != "never":
                best = Hit(number, saying, state, why, near)
    return best


def _found(case: Case, quotation: Quotation, hit: Hit) -> Finding:
    evidence = (_evidence(case, hit, _around(hit.saying, quotation.text)),)
    if hit.state == "never":
        says = (
            "it stands in the session, and no reply had it in front of it before this was written"
        )
        return _finding("unseen-quotation", Judgement.UNSUPPORTED, quotation, says, evidence)
    if hit.saying.is_summary:
        says = "it stands in a summary, which a model wrote, and nowhere else"
        return _finding("quotes-a-summary", Judgement.CANNOT_TELL, quotation, says, evidence)
    if hit.state == "lost":
        says = "word for word in what the model saw, and had no longer when it wrote this"
        return _finding("verbatim", Judgement.HOLDS, quotation, says, evidence, (), Standing.LOST)
    says = "word for word in what the model had in front of it"
    return _finding("verbatim", Judgement.HOLDS, quotation, says, evidence, (), Standing.SEEN)


def _nowhere(case: Case, quotation: Quotation, sources: Sequence[Source]) -> Finding:
    parts = pieces(quotation.text)
    if case.brief and all(part in normal(case.brief) for part in parts):
        says = "it stands in the brief, which these sessions do not show to have been given"
        brief = (Evidence("", 0, one_line(quotation.text)),)
        return _finding("only-in-brief", Judgement.CANNOT_TELL, quotation, says, brief)
    cited = _cited(quotation, sources)
    whole = [s for s in cited if s.standing is Standing.SEEN and not s.is_abstract]
    if whole and len(whole) == len(cited):
        came = tuple(
            Evidence(fetch.call.session, fetch.call.result, one_line(fetch.call.output), fetch.note)
            for source in whole
            for _, fetch in source.fetches
            if fetch.came in (fetching.Came.WHOLE, fetching.Came.PART)
        )
        says = "the source cited beside it came back whole, and these words are not in it"
        return _finding("misquotation", Judgement.CONTRADICTED, quotation, says, came)
    says = "these words stand nowhere in what the model saw, nor anything near them"
    evidence = tuple(
        Evidence(w.path, 0, f"{len(w.sayings)} texts", "none of them is near")
        for w in case.witnesses
    )
    return _finding("quotation-from-nowhere", Judgement.UNSUPPORTED, quotation, says, evidence)


def _cited(quotation: Quotation, sources: Sequence[Source]) -> list[Source]:
    """Give the sources cited for a quotation: right behind it, else anywhere beside it."""
    block = quotation.block
    row = [source for source in sources if source.row is block]
    behind = block.text.partition(quotation.text)[2]
    place = _PASSAGE.search(behind)
    near = [s for s in sources if _names(s, behind[: place.start()] if place else behind, ())]
    urls = [span.url for text in block.texts for span in text.spans]
    return row or near or [s for s in sources if _names(s, block.text, urls)]


def _names(source: Source, text: str, urls: Sequence[str]) -> bool:
    if source.name and re.search(rf"\b{re.escape(source.name)}\b", text):
        return True
    return any(a.text in urls or a.text in text for a in source.addresses)


def _evidence(case: Case, hit: Hit, words: str) -> Evidence:
    path = case.witnesses[hit.session].path
    where = str(hit.saying.passage.where)
    note = f"{where}, {hit.why}" if hit.why else where
    return Evidence(path, hit.saying.line, one_line(words, 240), note)


def _around(saying: Saying, quotation: str) -> str:
    """Give the words of a text around a quotation."""
    first = pieces(quotation)[0]
    for form in saying.wording.forms:
        place = form.casefold().find(first.casefold())
        if place >= 0:
            return form[max(0, place - 40) : place + len(first) + 60]
    return saying.passage.text


def _finding(
    code: str,
    judgement: Judgement,
    quotation: Quotation,
    says: str,
    evidence: tuple[Evidence, ...] = (),
    difference: tuple[tuple[str, str], ...] = (),
    standing: Standing | None = None,
) -> Finding:
    words = quotation.text
    line = quotation.line
    return Finding(
        Part.QUOTATIONS, code, judgement, line, words, says, evidence, standing, difference
    )

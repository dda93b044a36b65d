"""The sources of a report: was each opened, how much came back, did the model still have it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import addresses, fetching, tables
from pi_sessions.audit.addresses import Address, AddressKind
from pi_sessions.audit.fetching import Came, Fetch
from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part, Standing
from pi_sessions.audit.profile import plain
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.audit.case import Case
    from pi_sessions.audit.profile import StatusWords
    from pi_sessions.audit.report import Block, Section

_DENIED = re.compile(r"\b(?:not|never|no|without|un\w+|couldn't|could not|cannot)\b[^.;,]{0,24}$")


class Source(msgspec.Struct, frozen=True):
    """One row of the ledger, and what the sessions hold of it."""

    row: Block
    name: str
    """What the ledger calls it, such as S1."""
    addresses: tuple[Address, ...]
    status: str
    """As it is written."""
    claims: str
    """`full`, `partial`, `none`, or "" where that is not told."""
    dates: str
    """What the column of dates holds."""
    fetches: tuple[tuple[int, Fetch], ...] = ()
    """The number of the session, and the call."""
    standing: Standing = Standing.NEVER
    is_abstract: bool = False
    """Nothing but pages of its abstract came back."""
    lost: tuple[Evidence, ...] = ()


def ledger(case: Case) -> list[Source]:
    """Read the ledger and look for each of its sources in the sessions."""
    form = case.profile.section_asking("sources")
    section = case.outline.of(form)
    chosen = tables.table_of(section, form) if section and form else None
    if chosen is None:
        return []
    table, places = chosen
    return [_traced(case, _source(case, row, places)) for row in table.rows]


def _source(case: Case, row: Block, places: dict[str, int]) -> Source:
    def of(name: str) -> str:
        cell = tables.cell_of(row, places.get(name))
        return cell.text if cell else ""

    url = tables.cell_of(row, places.get("url"))
    found = addresses.of_text(url, files=True) if url else []
    for name in ("identity", "metadata"):
        cell = tables.cell_of(row, places.get(name))
        found += addresses.of_text(cell, files=not found) if cell else []
    named = {address.name: address for address in found}
    first = row.texts[0].text.strip() if row.texts else ""
    named_first = re.match(r"\[?([A-Z]{1,3}-?\d+)\b\]?(?=$|[\s:.,])", first)
    status = of("status")
    claims = status_of(status, case.profile.status)
    if not claims and any(mark in row.text for mark in case.profile.unverified):
        claims = "none"
    name = named_first[1] if named_first else ""
    return Source(row, name, tuple(named.values()), status, claims, of("dates"))


def status_of(text: str, words: StatusWords) -> str:
    """Say what a reading status claims: `full`, `partial`, `none`, "" for what is not known."""
    told = plain(text)
    for kind in ("none", "partial", "full"):
        for word in getattr(words, kind):
            found = re.search(rf"\b{re.escape(plain(word))}\b", told)
            if found and not (kind != "none" and _DENIED.search(told[: found.start()])):
                return kind
    return "none" if _DENIED.search(told) or re.search(r"\bnot\b", told) else ""


def _traced(case: Case, source: Source) -> Source:
    """Find the calls that brought a source, and what became of them."""
    found: list[tuple[int, Fetch]] = []
    for number, witness in enumerate(case.witnesses):
        for address in source.addresses:
            known = [fetch.call for n, fetch in found if n == number]
            calls = fetching.fetches_of(address, witness.calls)
            found += [(number, fetch) for fetch in calls if fetch.call not in known]
    brought = [(n, f) for n, f in found if f.came in (Came.WHOLE, Came.PART)]
    visible: list[tuple[int, Fetch]] = []
    lost: list[Evidence] = []
    seen: list[tuple[int, Fetch]] = []
    for number, fetch in brought:
        state, why = case.state_of(number, fetch.call.result, source.row.line)
        if state == "never":
            continue
        seen.append((number, fetch))
        if state == "now":
            visible.append((number, fetch))
        else:
            lost.append(Evidence(fetch.call.session, fetch.call.result, _excerpt(fetch), why))
    standing = _standing(found, seen, visible)
    abstract = bool(seen) and all(fetch.is_abstract for _, fetch in seen)
    return msgspec.structs.replace(
        source,
        fetches=tuple(found),
        standing=standing,
        is_abstract=abstract,
        lost=tuple(lost) if standing is Standing.LOST else (),
    )


def _standing(
    found: Sequence[tuple[int, Fetch]],
    seen: Sequence[tuple[int, Fetch]],
    visible: Sequence[tuple[int, Fetch]],
) -> Standing:
    if not seen:
        return Standing.FAILED if any(f.came is Came.ERROR for _, f in found) else Standing.NEVER
    whole = fetching.is_whole([fetch for _, fetch in visible])
    if whole:
        return Standing.SEEN
    if not visible or fetching.is_whole([fetch for _, fetch in seen]):
        return Standing.LOST
    if all(fetch.is_abstract for _, fetch in visible):
        return Standing.SEEN
    return Standing.PARTLY


def check(case: Case, sources: Sequence[Source]) -> Iterator[Finding]:
    """Judge the reading status of each source of the ledger."""
    for source in sources:
        yield _judge(case, source)
    yield from _unlisted(case, sources)


def _judge(case: Case, source: Source) -> Finding:
    evidence = _evidence(case, source)
    told = one_line(source.row.text)
    if not source.addresses:
        says = "the row names no URL, DOI, arXiv id, repository or file to look for"
        return _finding("no-address", Judgement.CANNOT_TELL, source, told, says, ())
    code, judgement, says = _verdict(source)
    name = source.addresses[0].text
    says = f"{name}: {says}"
    return _finding(code, judgement, source, source.status.strip() or told, says, evidence)


def _verdict(source: Source) -> tuple[str, Judgement, str]:
    """Give code, judgement and sentence for what a row claims and what was found."""
    standing, claims = source.standing, source.claims
    if claims == "none":
        if standing in (Standing.NEVER, Standing.FAILED):
            return "not-read", Judgement.HOLDS, f"not read, as the ledger says ({standing})"
        if standing is Standing.SEEN and not source.is_abstract:
            return "was-read", Judgement.CONTRADICTED, "it was fetched, and came back whole"
        return "was-read", Judgement.CANNOT_TELL, f"some of it came back ({standing})"
    if not claims:
        return "no-status", Judgement.CANNOT_TELL, f"no reading status is told; it is {standing}"
    if standing is Standing.NEVER:
        if source.fetches:
            why = "it was saved, and nothing of it was read before the report was written"
            return "never-read", Judgement.CONTRADICTED, why
        return "never-opened", Judgement.CONTRADICTED, "no call fetched it"
    if standing is Standing.FAILED:
        return "error-page", Judgement.CONTRADICTED, "no more than an error came back"
    if standing is Standing.LOST:
        why = "it was read, and the model had it no longer when it wrote this"
        return "lost-before-writing", Judgement.UNSUPPORTED, why
    if claims == "partial":
        return "read-in-part", Judgement.HOLDS, f"at least as much was read ({standing})"
    if source.is_abstract:
        why = "what was fetched is the page of its abstract, not its full text"
        return "abstract-only", Judgement.CONTRADICTED, why
    if any(address.kind is AddressKind.REPOSITORY for address in source.addresses):
        return "repository", Judgement.CANNOT_TELL, "how much of a repository was read is to judge"
    if standing is Standing.PARTLY:
        return "cut-off", Judgement.CONTRADICTED, "only a part of it came back"
    return (
        "full-text",
        Judgement.HOLDS,
        "it came back whole, and the model had it when it wrote this",
    )


def _evidence(case: Case, source: Source) -> tuple[Evidence, ...]:
    if source.lost:
        return source.lost
    if source.fetches:
        return tuple(
            Evidence(f.call.session, f.call.line, one_line(f.call.asked), f.note)
            for _, f in source.fetches
        )
    return case.searched("none asks for it")


def _unlisted(case: Case, sources: Sequence[Source]) -> Iterator[Finding]:
    """Judge the URLs that a report cites besides its ledger."""
    known = {address.name for source in sources for address in source.addresses}
    if not sources:
        known = set()
    for block in case.report.blocks:
        if case.is_proposed(block.line):
            continue
        for text in block.texts:
            for address in addresses.of_text(text):
                if address.name in known:
                    continue
                known.add(address.name)
                yield from _unlisted_one(case, address, text.line)


def _unlisted_one(case: Case, address: Address, line: int) -> Iterator[Finding]:
    fetches = [f for w in case.witnesses for f in fetching.fetches_of(address, w.calls)]
    where = case.said_to_model(address.text)
    if fetches:
        evidence = tuple(
            Evidence(f.call.session, f.call.line, one_line(f.call.asked), f.note) for f in fetches
        )
        says = f"{address.text}: cited besides the ledger, and fetched"
        judgement, code = Judgement.HOLDS, "cited-and-fetched"
    elif where:
        evidence, code = (where,), "mentioned"
        says = f"{address.text}: never fetched; the model was told the address"
        judgement = Judgement.HOLDS
    else:
        evidence, code = case.searched("none asks for it"), "cited-and-never-opened"
        says = f"{address.text}: cited, in no row of the ledger, and fetched by no call"
        judgement = Judgement.UNSUPPORTED
    yield Finding(Part.SOURCES, code, judgement, line, address.text, says, evidence)


def _excerpt(fetch: Fetch) -> str:
    return one_line(fetch.call.output)


def _finding(
    code: str,
    judgement: Judgement,
    source: Source,
    words: str,
    says: str,
    evidence: tuple[Evidence, ...],
) -> Finding:
    standing = source.standing if source.addresses else None
    line = source.row.line
    return Finding(Part.SOURCES, code, judgement, line, words, says, evidence, standing)


def section_of(case: Case) -> Section | None:
    """Give the section of the ledger."""
    return case.outline.of(case.profile.section_asking("sources"))

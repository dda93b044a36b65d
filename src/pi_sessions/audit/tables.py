"""Tables with one row for each claim or source: their columns, empty cells, merged rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_sessions.audit.findings import Finding, Judgement, Part
from pi_sessions.audit.profile import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_sessions.audit.profile import Column, SectionForm
    from pi_sessions.audit.report import Block, Section, Table, Text

_VOID = re.compile(r"[\s\-–—_.…?*·/\\|]*|tbd|todo|xxx", re.IGNORECASE)
_TWO_IDS = re.compile(
    r"[A-Za-z]{0,3}[-. ]?\d+\s*(?:[,;/&+–—-]|and|to)\s*[A-Za-z]{0,3}[-. ]?\d+\s*",
)
_LISTED = re.compile(r"(?:^|\s)(?:\(?[a-h1-9][.)]|[•‣])\s+\S")
_PASSAGE = re.compile(r"“[^”]+”|\"[^\"]+\"|«[^»]+»|「[^」]+」")


def table_of(section: Section, form: SectionForm) -> tuple[Table, dict[str, int]] | None:
    """Find the table a form asks for, and the place of each column by its name.

    Returns:
        None if the section has no table; of several the one with most of the columns.
    """
    found = [(table, columns_of(table.names, form.column)) for table in section.tables()]
    return max(found, key=lambda pair: len(pair[1])) if found else None


def columns_of(names: list[str], columns: tuple[Column, ...]) -> dict[str, int]:
    """Say which columns of a table are which of those asked for."""
    scores = [
        (_score(name, column), -number, place, column)
        for place, name in enumerate(names)
        for number, column in enumerate(columns)
    ]
    ranked = sorted(scores, key=lambda s: s[:2], reverse=True)
    found: dict[str, int] = {}
    # What may stand within another column comes second: it takes no column away from that one.
    for is_second in (False, True):
        for score, _, place, column in ranked:
            taken = place in found.values() and found.get(column.within) != place
            if score and bool(column.within) is is_second and not taken:
                found.setdefault(column.name, place)
    return found


def _score(name: str, column: Column) -> int:
    words = plain(name)
    hits = [w for w in map(plain, column.words) if re.search(rf"\b{re.escape(w)}\b", words)]
    exact = 100 if words in map(plain, column.words) or words == plain(column.name) else 0
    return exact + max(map(len, hits), default=0)


def cell_of(row: Block, place: int | None) -> Text | None:
    """Give a cell of a row, None where there is no such column."""
    return row.texts[place] if place is not None and place < len(row.texts) else None


def is_void(cell: Text) -> bool:
    """Say whether a cell holds nothing, or a sign for nothing."""
    return bool(_VOID.fullmatch(cell.text)) and not any(span.url for span in cell.spans)


def check(section: Section, form: SectionForm) -> Iterator[Finding]:
    """Check the table of a section."""
    chosen = table_of(section, form)
    if chosen is None:
        says = f"a table is asked for, with one row for each {form.row or 'thing'}; there is none"
        yield _wrong("missing-table", section.line, section.title, says)
        return
    table, places = chosen
    found = list(_faults(table, places, form))
    yield from found
    if not any(finding.judgement is Judgement.CONTRADICTED for finding in found):
        says = f"{len(table.rows)} rows, one for each {form.row or 'thing'}; no cell is empty"
        words = " | ".join(table.names)
        yield Finding(Part.FORM, "table", Judgement.HOLDS, table.head.line, words, says)


def _faults(table: Table, places: Mapping[str, int], form: SectionForm) -> Iterator[Finding]:
    head = " | ".join(table.names)
    for column in form.column:
        if column.name in places:
            continue
        if column.within in places:
            says = f"no column tells the {column.name}; whether the {column.within} does is to read"
            yield _unclear("missing-column", table.head.line, head, says)
        else:
            says = f"no column tells the {column.name}"
            yield _wrong("missing-column", table.head.line, head, says)
    if not table.rows:
        yield _wrong("no-rows", table.head.line, head, "the table has no rows")
    for row in table.rows:
        yield from _row(row, table.names, places, form)


def _row(
    row: Block, names: list[str], places: Mapping[str, int], form: SectionForm
) -> Iterator[Finding]:
    for place, name in enumerate(names):
        cell = cell_of(row, place)
        if name.strip() and (cell is None or is_void(cell)):
            held = cell.text.strip() if cell else ""
            says = f"the cell under {name!r} holds {repr(held) if held else 'nothing'}"
            yield _wrong("empty-cell", row.line, row.text, says)
    subject = cell_of(row, places.get(form.column[0].name if form.column else ""))
    first = row.texts[0].text.strip() if row.texts else ""
    ids = first if _TWO_IDS.fullmatch(first) else ""
    lines = [line for line in subject.text.split("\n") if line.strip()] if subject else []
    what = form.row or "thing"
    if subject and (ids or len(lines) > 1 or len(_LISTED.findall(subject.text)) > 1):
        told = f"it is for {ids!r}" if ids else f"its {what} is a list of several"
        says = f"one row is asked for each {what}; {told}"
        yield _wrong("merged-row", row.line, subject.text, says)
    elif subject and form.row == "claim" and len(_passages(subject.text)) > 1:
        says = f"it quotes two passages; whether that is one {what} is to read"
        yield _unclear("merged-row", row.line, subject.text, says)
    url = cell_of(row, places.get("url"))
    if url and len({span.url for span in url.spans if span.url}) > 1:
        says = "it has several addresses; whether they are one source is to read"
        yield _unclear("merged-row", row.line, url.text, says)


def _passages(text: str) -> list[str]:
    """Give the quoted passages of a text; a quoted word or two is a name."""
    return [found for found in _PASSAGE.findall(text) if len(found.split()) > 2]


def _wrong(code: str, line: int, words: str, says: str) -> Finding:
    return Finding(Part.FORM, code, Judgement.CONTRADICTED, line, words, says)


def _unclear(code: str, line: int, words: str, says: str) -> Finding:
    return Finding(Part.FORM, code, Judgement.CANNOT_TELL, line, words, says)

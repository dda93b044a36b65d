"""An audit as one HTML file: the report beside its findings and the session lines they stand on."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pi_sessions.audit.findings import Judgement
from pi_sessions.excerpt import one_line
from pi_sessions.render import single
from pi_sessions.render.figures import count
from pi_sessions.render.markup import EMPTY, Markup, Writer, tag
from pi_sessions.render.rows import Teller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_sessions.audit.findings import Audit, Evidence, Finding
    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session

    OpenAt = Callable[[int, int], str]

STYLES, SCRIPT = ("page.css", "export.css", "audit.css"), "export.js"
SIGNS = {
    Judgement.CONTRADICTED: ("✕", "bad"),
    Judgement.UNSUPPORTED: ("△", "c"),
    Judgement.CANNOT_TELL: ("?", "n"),
    Judgement.HOLDS: ("✓", "s"),
}
"""The shape and the class of each judgement."""
_WORDS = 1_200
"""Characters of what is quoted."""


def chunks(result: Audit, report: str, sessions: Sequence[Session]) -> Iterator[bytes]:
    """Give the file, piece by piece.

    Args:
        result: what the audit found.
        report: the text it was about.
        sessions: those the audit was made with, in the same order.
    """
    for part in _parts(result, report, sessions):
        yield part.encode("utf-8", "replace")


def _parts(result: Audit, report: str, sessions: Sequence[Session]) -> Iterator[str]:
    name = one_line(result.report, 120)
    yield single.head(f"Audit of {name}", styles=STYLES, script=SCRIPT, kind="export audit")
    crumb = tag("p", tag("b", "Audit of "), name, class_="crumb")
    tabs = [
        tag("a", "Report", href="#report"),
        tag("a", "Findings", href="#findings"),
        *(tag("a", f"Session {n}", href=f"#S{n}") for n, _ in enumerate(sessions, 1)),
    ]
    yield (
        f'<header class="top"><span class="brand">pi-sessions</span>{crumb}'
        f"{tag('nav', *tabs, class_='tabs', aria_label='Parts')}"
        '<button type="button" class="theme" data-do="theme" hidden>Theme</button></header>\n'
        '<main id="main" class="sides">\n<section id="report" aria-label="Report">\n'
    )
    yield f"{report_side(result, report)}\n"
    yield '</section>\n<section id="findings" aria-label="Findings and session lines">\n'
    for part in findings_side(result, sessions):
        yield f"{part}\n"
    yield "</section>\n</main>\n" + single.foot(SCRIPT)


def findings_side(
    result: Audit, sessions: Sequence[Session], open_at: OpenAt | None = None
) -> Iterator[Markup]:
    """Give the findings, worst first, then the lines they stand on.

    Args:
        result: what the audit found.
        sessions: those the audit was made with, in the same order.
        open_at: gives the address of a line of a session, counted from 1, where there is a page
            that shows it in its place.
    """
    yield tag("h1", result.summary[:1].upper() + result.summary[1:])
    yield _counts(result)
    for number, finding in enumerate(result.findings, 1):
        yield _finding(result, number, finding, open_at)
    for number, session in enumerate(sessions, 1):
        yield from _session(result, number, session, open_at)


def _counts(result: Audit) -> Markup:
    tags = [
        tag(
            "span",
            f"{SIGNS[judgement][0]} ",
            tag("b", str(n)),
            f" {judgement}",
            class_=_class(judgement),
        )
        for judgement, n in result.counts.items()
    ]
    return tag("p", *tags, class_="count")


def _class(judgement: Judgement) -> str:
    return f"tag {SIGNS[judgement][1]}"


def report_side(result: Audit, report: str) -> Markup:
    """Show the report line by line, each with the findings about it."""
    about: dict[int, list[tuple[int, Finding]]] = defaultdict(list)
    for number, finding in enumerate(result.findings, 1):
        about[finding.line].append((number, finding))
    writer = Writer()
    writer.add(tag("h2", one_line(result.report, 200)))
    writer.open("div", class_="source")
    if about[0]:
        writer.add(tag("p", "About the whole: ", _marks(about[0]), class_="whole"))
    is_code = False
    for number, text in enumerate(report.splitlines(), 1):
        is_fence = text.lstrip().startswith(("```", "~~~"))
        kind = "code" if is_code or is_fence else "head" if text.startswith("#") else ""
        is_code ^= is_fence
        marks = _marks(about.get(number, []))
        worst = f" {SIGNS[about[number][0][1].judgement][1]}" if about.get(number) else ""
        writer.add(
            tag(
                "div",
                tag("a", str(number), class_="ln", href=f"#R{number}"),
                tag("div", text or " ", class_=f"said {kind}".strip()),
                tag("span", marks, class_="marks") if marks else EMPTY,
                class_=f"r{worst}",
                id=f"R{number}",
            )
        )
    writer.close("div")
    return writer.done()


_MARKS = 6
"""Findings that are named beside one line."""


def _marks(found: Sequence[tuple[int, Finding]]) -> Markup:
    links = [
        tag(
            "a",
            f"{SIGNS[finding.judgement][0]} {number}",
            href=f"#F{number}",
            class_=_class(finding.judgement),
            title=f"{finding.judgement}: {one_line(finding.says, 160)}",
        )
        for number, finding in found[:_MARKS]
    ]
    more = f" and {len(found) - _MARKS} more" if len(found) > _MARKS else ""
    return EMPTY.join([*links, Markup.escape(more)]) if links else EMPTY


def _finding(result: Audit, number: int, finding: Finding, open_at: OpenAt | None) -> Markup:
    """Show a finding: what it says, the report's words, and what it stands on."""
    sign = SIGNS[finding.judgement][0]
    line = tag("a", f"report line {finding.line}", href=f"#R{finding.line}") if finding.line else ""
    standing = tag("span", str(finding.standing), class_="flag") if finding.standing else ""
    head = tag(
        "p",
        tag("a", f"{number}", class_="ln", href=f"#F{number}"),
        tag("span", f"{sign} {finding.judgement}", class_=_class(finding.judgement)),
        " ",
        tag("b", f"{finding.part} {finding.code}"),
        " ",
        standing,
        " ",
        line,
        class_="meta",
    )
    parts = [head, tag("p", finding.says)]
    if finding.words.strip():
        parts.append(tag("blockquote", _cut(finding.words), class_="raw", tabindex="0"))
    if finding.difference:
        parts.append(_difference(finding))
    parts += [_evidence(result, each, open_at) for each in finding.evidence]
    return tag("article", *parts, class_=f"finding {SIGNS[finding.judgement][1]}", id=f"F{number}")


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}… ({len(text) - _WORDS:,} more)"


def _difference(finding: Finding) -> Markup:
    signs = {"-": "del", "+": "ins"}
    told = [
        tag(signs[sign], _cut(text)) if sign in signs else _cut(text)
        for sign, text in finding.difference
    ]
    spaced = [part for each in told for part in (each, " ")]
    return tag("p", tag("span", "differs: ", class_="soft"), *spaced, class_="differs raw")


def _evidence(result: Audit, each: Evidence, open_at: OpenAt | None) -> Markup:
    there: str = EMPTY
    if not each.session:
        place: str = "brief"
    else:
        number = result.sessions.index(each.session) + 1
        several = f"{number}, " if len(result.sessions) > 1 else ""
        told = f"session {several}line {each.line}" if each.line else f"session {number}"
        place = tag("a", told, href=f"#S{number}L{each.line}" if each.line else f"#S{number}")
        if open_at and each.line:
            there = tag("a", "in the session", href=open_at(number, each.line), class_="there")
    note = tag("span", each.note, class_="soft") if each.note else ""
    words = (
        tag("span", _cut(each.words), class_="raw quoted", tabindex="0")
        if each.words.strip()
        else ""
    )
    return tag("div", tag("p", place, " ", note, " ", there), words, class_="evidence")


def _session(
    result: Audit, number: int, session: Session, open_at: OpenAt | None
) -> Iterator[Markup]:
    """Show the lines of a session that findings stand on, with what became of them."""
    path = result.sessions[number - 1]
    lines = {e.line for f in result.findings for e in f.evidence if e.session == path and e.line}
    shown = sorted(line for line in lines if line <= len(session.table))
    explanation, where = _explained(result, path, session)
    addresses = _InAudit(number, frozenset(shown))
    teller = Teller(session, explanation, addresses)
    name: str = f"Session {number}: {one_line(session.name or session.id, 90)}"
    if open_at:
        name = tag("a", name, href=open_at(number, 1))
    yield tag("h2", name, id=f"S{number}")
    told = f"{count(len(shown), 'line')} of {len(session.table):,} that findings stand on, {where}."
    yield tag("p", told, class_="soft small")
    rows = (single.row(teller.row(line), addresses) for line in shown)
    yield tag("div", *rows, class_="rows")


class _InAudit(single.InFile):
    """The addresses of the lines of one session; those that are not shown have its heading's."""

    def __init__(self, number: int, shown: frozenset[int]) -> None:
        super().__init__(anchor=f"S{number}L")
        self.number, self.shown = number, shown

    def line(self, line: int) -> str:
        """The place of a line."""
        return super().line(line) if line in self.shown else f"#S{self.number}"


def _explained(result: Audit, path: str, session: Session) -> tuple[Explanation, str]:
    """Give the verdicts for the reply that wrote the report, else for the end of the session."""
    writer = next((w for w in result.writers if w.session == path), None)
    if writer is None:
        return session.explain(), "as the next request would have them"
    explanation = session.explain(response=session.at(writer.line))
    return explanation, f"as the reply on line {writer.line} had them, which wrote the report"

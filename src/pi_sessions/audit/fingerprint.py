"""The fingerprint a brief gives of a text: which way of normalising the snapshot gives it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_sessions.audit.case import Case

_finding = partial(Finding, Part.FINGERPRINT)

_GIVEN = re.compile(r"^.*\bsha-?256\b.*?\b([0-9a-f]{64})\b", re.IGNORECASE | re.MULTILINE)
_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", re.IGNORECASE)
_QUOTES = {ord(sign): plain for signs, plain in (("‘’", "'"), ("“”", '"')) for sign in signs}

Step = tuple[str, "Callable[[str], str]"]


def _as_is(text: str) -> str:
    return text


STEPS: tuple[tuple[Step, ...], ...] = (
    (
        ("", _as_is),
        ("NFC", lambda text: unicodedata.normalize("NFC", text)),
        ("NFKC", lambda text: unicodedata.normalize("NFKC", text)),
    ),
    (
        ("", _as_is),
        ("quotes straight", lambda text: text.translate(_QUOTES)),
    ),
    (
        ("", _as_is),
        ("small letters", str.lower),
    ),
    (
        ("", _as_is),
        ("Markdown marks removed", lambda text: re.sub(r"[*_`#>]+", "", text)),
        ("punctuation removed", lambda text: re.sub(r"[^\w\s]", "", text)),
    ),
    (
        ("", _as_is),
        ("LF line ends", lambda text: text.replace("\r\n", "\n").replace("\r", "\n")),
        ("white space to single spaces", lambda text: re.sub(r"\s+", " ", text)),
        ("white space of a line to single spaces", lambda t: re.sub(r"[^\S\n]+", " ", t)),
        ("lines stripped", lambda text: "\n".join(line.strip() for line in text.splitlines())),
        ("blank lines to one", lambda text: re.sub(r"\n\s*\n+", "\n\n", text)),
        ("blank lines removed", lambda text: "\n".join(filter(str.strip, text.splitlines()))),
        ("white space removed", lambda text: re.sub(r"\s+", "", text)),
    ),
    (
        ("", _as_is),
        ("ends stripped", str.strip),
        ("ends stripped, one newline at the end", lambda text: text.strip() + "\n"),
    ),
)
"""Ways to normalise, one of each row after the other; the name of each says what it does."""


def normalisations(text: str) -> Iterator[tuple[str, str]]:
    """Give every way to normalise a text: its name, and the digest (sha256, UTF-8)."""
    told: set[str] = set()
    for chosen in product(*STEPS):
        made = text
        for _, step in chosen:
            made = step(made)
        digest = hashlib.sha256(made.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in told:
            told.add(digest)
            yield ", ".join(name for name, _ in chosen if name) or "as it is", digest


def check(case: Case) -> Iterator[Finding]:
    """Compare the fingerprint of a brief with the snapshot, and with what the report says."""
    given = _GIVEN.search(case.brief)
    if given is None:
        return
    wanted = given[1].lower()
    where = Evidence("", case.brief.count("\n", 0, given.start(1)) + 1, one_line(given[0]), "brief")
    yield from _stated(case, wanted, where)
    if case.snapshot is None:
        return
    tried = 0
    for name, digest in normalisations(case.snapshot):
        tried += 1
        if digest == wanted:
            says = f"the snapshot has this fingerprint, normalised so: {name}"
            yield _finding("fingerprint", Judgement.HOLDS, 0, wanted, says, (where,))
            return
    says = f"none of {tried} ways to normalise the snapshot gives this fingerprint"
    plain = hashlib.sha256(case.snapshot.encode("utf-8", "surrogatepass")).hexdigest()
    snapshot = Evidence("", 0, plain, "sha256 of the snapshot as it is")
    found = (where, snapshot)
    yield _finding("no-fingerprint", Judgement.CANNOT_TELL, 0, wanted, says, found)


def _stated(case: Case, wanted: str, where: Evidence) -> Iterator[Finding]:
    """Compare a fingerprint that the report states with the brief's."""
    for number, line in enumerate(case.report.lines, 1):
        if not re.search(r"fingerprint|chapter prose", line, re.IGNORECASE):
            continue
        for match in _DIGEST.finditer(line):
            if match[0].lower() == wanted:
                says = "the fingerprint is the brief's"
                yield _finding("stated", Judgement.HOLDS, number, line, says, (where,))
            else:
                says = "the brief gives another fingerprint"
                yield _finding(
                    "wrong-fingerprint", Judgement.CONTRADICTED, number, line, says, (where,)
                )

"""What a kind of report must hold: read from a TOML file, or made out of a brief's own words.

The default profile is `profiles/research.toml`; docs/auditing.md explains its keys.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources

import msgspec

from pi_sessions.errors import ProfileError

CHECKS = frozenset(
    {
        "table",
        "classes",
        "sources",
        "cited",
        "proposed",
        "experiments",
        "decisions",
        "dated",
    }
)
"""What can be asked of a section."""


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column that a table must have."""

    name: str
    words: tuple[str, ...] = ()
    """Any of these in its head tells it."""
    within: str = ""
    """Another column that may hold it as well."""


class SectionForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section that a report must have."""

    name: str
    checks: tuple[str, ...] = ()
    """Of `CHECKS`."""
    row: str = ""
    """What one row of its table is about."""
    column: tuple[Column, ...] = ()

    def asks(self, check: str) -> bool:
        """Say whether a check is asked for."""
        return check in self.checks


class EvidenceClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of evidence that must not be blurred with another."""

    name: str
    words: tuple[str, ...] = ()
    ran: bool = False
    """It says that something was run."""
    cites: bool = False
    """It is to name a source."""


class StatusWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words by which a reading status is recognised."""

    full: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    none: tuple[str, ...] = ()


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a kind of report."""

    name: str
    section: tuple[SectionForm, ...] = ()
    exact: bool = True
    """These sections and no others."""
    quotation_words: int = 6
    unverified: tuple[str, ...] = ("UNVERIFIED",)
    unrun: tuple[str, ...] = ("UNRUN",)
    class_: tuple[EvidenceClass, ...] = msgspec.field(default=(), name="class")
    status: StatusWords = StatusWords()

    def section_asking(self, check: str) -> SectionForm | None:
        """Give the first section of which a check is asked."""
        return next((form for form in self.section if form.asks(check)), None)


def loads(text: str, path: str = "profile") -> Profile:
    """Read a profile.

    Raises:
        ProfileError: it is no TOML, or not of this form.
    """
    try:
        profile = msgspec.toml.decode(text.encode(), type=Profile)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ProfileError(path, str(error)) from None
    unknown = {check for form in profile.section for check in form.checks} - CHECKS
    if unknown:
        raise ProfileError(path, f"no check is called {', '.join(sorted(unknown))}")
    return profile


@cache
def default() -> Profile:
    """Give the profile of a research report."""
    text = resources.files(__package__).joinpath("profiles/research.toml").read_text("utf-8")
    return loads(text, "research.toml")


_OUTPUT = re.compile(r"^.*\brequired output\b.*$", re.IGNORECASE | re.MULTILINE)
_NEXT_PART = re.compile(r"^==.*==\s*$", re.MULTILINE)
_ASKED = re.compile(r"^#{1,6}\s+(?:\d+[.)]\s+)?(.+?)(?:\s+[—–-]{1,2}\s+(.+))?$", re.MULTILINE)
_TABLE = re.compile(r"table with one row (?:per|for each) (\w+):\s*(.+)", re.IGNORECASE | re.DOTALL)
_CLASSES = re.compile(r"evidence classes[^:\n]*:\s*([^\n]+)", re.IGNORECASE)


def of_brief(brief: str) -> Profile | None:
    """Make the profile that a brief asks for, None where it has no part on the required output.

    Sections and columns are those of the brief, in its order; what the default profile knows about
    one of the same name (in which words a column is recognised, what is to be checked) is taken
    from there.
    """
    asked = _OUTPUT.search(brief)
    if asked is None:
        return None
    rest = brief[asked.end() :]
    end = _NEXT_PART.search(rest)
    part = rest[: end.start()] if end else rest
    forms = tuple(_form(name.strip(), (told or "").strip()) for name, told in _ASKED.findall(part))
    if not forms:
        return None
    known = default()
    return msgspec.structs.replace(
        known,
        name="the brief's required output",
        section=forms,
        exact=bool(re.search(r"\bexactly these\b", part, re.IGNORECASE)),
        class_=_classes(brief) or known.class_,
    )


def _form(name: str, told: str) -> SectionForm:
    known = next((f for f in default().section if plain(f.name) == plain(name)), None)
    table = _TABLE.search(told)
    checks = list(known.checks if known else ())
    columns: tuple[Column, ...] = ()
    if table:
        columns = tuple(_columns(table[2], known.column if known else _all_columns()))
        checks += [check for check in ("table",) if check not in checks]
    for word, check in (
        ("citation", "cited"),
        ("UNRUN", "experiments"),
        ("decisions", "decisions"),
    ):
        if known is None and word in told:
            checks.append(check)
    return SectionForm(
        name,
        tuple(checks),
        (table[1] if table else known.row if known else "").lower(),
        columns or (known.column if known else ()),
    )


def _all_columns() -> tuple[Column, ...]:
    return tuple(column for form in default().section for column in form.column)


def _columns(told: str, known: tuple[Column, ...]) -> list[Column]:
    """Make the columns of a list such as "identity, verified metadata, URL, and dates"."""
    found: list[Column] = []
    phrases = re.split(r",\s*(?:and\s+)?|;\s*|\.\s*$", told.strip())
    for phrase in filter(None, (phrase.strip() for phrase in phrases)):
        bare = re.sub(r"\([^)]*\)|^(?:and|the|a|an|its|your|which)\s+", "", phrase).strip()
        hits = [column for column in known if _names(phrase, column) and column not in found]
        first = next((c for c in hits if c.within == "" or " and " in phrase), None)
        if first is None:
            found.append(Column(bare, (bare,)))
            continue
        found.append(first)
        found += [c for c in hits if c.within == first.name and c not in found]
    return found


def _names(phrase: str, column: Column) -> bool:
    words = plain(phrase)
    return any(re.search(rf"\b{re.escape(plain(word))}\b", words) for word in column.words)


def _classes(brief: str) -> tuple[EvidenceClass, ...]:
    told = _CLASSES.search(brief)
    if told is None:
        return ()
    found = []
    for part in told[1].rstrip(". ").split(";"):
        phrase = re.sub(r"^and\s+", "", part.strip())
        known = next((c for c in default().class_ if plain(phrase) in map(plain, c.words)), None)
        if known is None:
            heads = [c for c in default().class_ if any(plain(w) in plain(phrase) for w in c.words)]
            known = heads[0] if heads else None
        found.append(known or EvidenceClass(phrase, (phrase,)))
    return tuple(found)


@lru_cache(4096)
def plain(text: str) -> str:
    """Give a text in small letters without marks, for comparing names."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())

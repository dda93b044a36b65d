"""Parents and children: roots, orphans, ids that stand twice, cycles, order of children."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder

Vector = tuple[str, bytes]


def said(text: str, **keys: Any) -> dict[str, Any]:
    """Make a user entry with just these keys."""
    return {"type": "message", **keys, "message": {"role": "user", "content": text}}


def lines(sentence: str, *entries: dict[str, Any]) -> Vector:
    """Make a session of entries as they are."""
    session = SessionBuilder()
    for entry in entries:
        session.entry(entry)
    return sentence, session.data


def chain(sentence: str, *links: tuple[Any, Any]) -> Vector:
    """Make a session of users with these ids and parents, each saying its id."""
    entries = (said(f"I am {own}", id=own, parentId=parent) for own, parent in links)
    return lines(sentence, *entries)


def children(sentence: str, *stamps: Any) -> Vector:
    """Make a root with children of these times."""
    session = SessionBuilder()
    root = session.user("Name an apple.")
    for number, stamp in enumerate(stamps):
        session.user(f"child {number}", parent=root, timestamp=stamp)
    return sentence, session.data


def branches(sentence: str) -> Vector:
    """Make three branches, the second of which is continued last."""
    session = SessionBuilder()
    root = session.user("Name an apple.")
    session.assistant("Cox.")
    session.at(root)
    second = session.assistant("Boskoop.")
    session.at(root)
    session.assistant("Elstar.")
    session.at(second)
    session.user("Is it red?")
    return sentence, session.data


def two_writers(sentence: str) -> Vector:
    """Let two branches grow in turns, as when two programs have the file open."""
    session = SessionBuilder()
    root = session.user("Name an apple.")
    first = session.user("A red one.", parent=root)
    second = session.user("A green one.", parent=root)
    session.assistant("Cox.", parent=first)
    session.assistant("Granny Smith.", parent=second)
    return sentence, session.data


def leaf_label(sentence: str) -> Vector:
    """End a file with a label that hangs at another branch."""
    session = SessionBuilder()
    root = session.user("Name an apple.")
    session.assistant("Cox.")
    session.at(root)
    session.label(root, "start")
    return sentence, session.data


def leaf_unknown(sentence: str) -> Vector:
    """End a file with an entry of an unknown type."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.add("weather", {"sky": "grey"})
    return sentence, session.data


def two_roots(sentence: str) -> Vector:
    """Make two roots with a branch each."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.assistant("Cox.")
    session.at(None)
    session.user("Name a pear.")
    session.assistant("Conference.")
    return sentence, session.data


TIME = "2026-01-05T08:00:{}.000Z"

VECTORS = {
    "branches": branches("The leaf is the last entry, wherever it hangs."),
    "leaf-label": leaf_label("A label can be the leaf."),
    "leaf-unknown": leaf_unknown("An entry of an unknown type can be the leaf."),
    "two-roots": two_roots("A second root starts with nothing before it."),
    "orphan": chain(
        "An entry with an unknown parent acts as a root.", ("a", None), ("b", "x"), ("c", "b")
    ),
    "orphan-first": chain("The first entry may be an orphan.", ("a", "x"), ("b", "a")),
    "orphans-same-parent": chain(
        "Two orphans of one parent are two roots.", ("a", "x"), ("b", "x")
    ),
    "forward-parent": chain(
        "A parent may stand later in the file.", ("a", "b"), ("b", None), ("c", "a")
    ),
    "forward-chain": chain("A file may stand upside down.", ("c", "b"), ("b", "a"), ("a", None)),
    "parent-empty": chain("An empty parent is none.", ("a", None), ("b", ""), ("c", "b")),
    "parent-zero": chain("A parent of 0 is none.", ("a", None), ("b", 0), ("c", "b")),
    "parent-false": chain("A parent of false is none.", ("a", None), ("b", False), ("c", "b")),
    "parent-missing": lines(
        "A missing parent is none.",
        said("a", id="a"),
        said("b", id="b"),
        said("c", id="c", parentId="b"),
    ),
    "parent-true": chain("A parent of true is an unknown one.", ("a", None), ("b", True)),
    "parent-list": chain("A parent that is a list is an unknown one.", ("a", None), ("b", ["a"])),
    "id-empty": chain("An empty id can be no parent.", ("", None), ("b", ""), ("c", "b")),
    "id-number": chain("A number may be an id and a parent.", (1, None), (2, 1), ("c", 2)),
    "id-number-text": chain(
        "1 and 1 as a text are two ids.", (1, None), ("b", "1"), ("1", "b"), ("c", "1")
    ),
    "id-float": chain("1 and 1.0 are one id.", (1, None), ("b", 1.0)),
    "id-true": chain("True is not the id 1.", (1, None), (True, 1), ("c", True)),
    "id-null": chain("An id of null is nobody's parent.", ("a", None), (None, "a"), ("c", None)),
    "id-missing": lines(
        "An entry without an id has no children.",
        said("a", id="a", parentId=None),
        said("b", parentId="a"),
        said("c", id="c", parentId="a"),
    ),
    "id-missing-last": lines(
        "The last entry has no id.", said("a", id="a", parentId=None), said("b", parentId="a")
    ),
    "id-proto": chain(
        "Names of JavaScript's own are ids.", ("__proto__", None), ("b", "__proto__")
    ),
    "ids-odd": chain("Any text is an id.", ("a b", None), ("é\n", "a b"), ("é\u0301", "é\n")),
    "duplicate-same-parent": chain(
        "Of an id that stands twice the later counts.",
        ("a", None),
        ("b", "a"),
        ("b", "a"),
        ("c", "b"),
    ),
    "duplicate-chain": chain(
        "The later of two moves the branch.",
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("b", None),
        ("d", "c"),
    ),
    "duplicate-three": chain(
        "Of three the last counts.", ("a", None), ("b", None), ("a", None), ("a", "b"), ("c", "a")
    ),
    "duplicate-last": chain(
        "The leaf may be the later of two.", ("a", None), ("b", "a"), ("b", "a")
    ),
    "duplicate-cycle": chain(
        "The later of two hangs at its own child.", ("a", None), ("b", "a"), ("a", "b")
    ),
    "self-parent": chain(
        "An entry on the path is its own parent.", ("a", None), ("b", "b"), ("c", "b")
    ),
    "self-parent-off-path": chain(
        "An entry off the path is its own parent.", ("a", None), ("b", "b"), ("c", "a")
    ),
    "cycle": chain(
        "Two entries on the path are each other's parents.", ("a", "b"), ("b", "a"), ("c", "b")
    ),
    "cycle-three": chain("Three entries in a ring.", ("a", "c"), ("b", "a"), ("c", "b")),
    "cycle-off-path": chain(
        "A ring off the path does no harm.", ("a", "b"), ("b", "a"), ("r", None), ("c", "r")
    ),
    "cycle-with-tail": chain(
        "A branch hangs at a ring off the path.", ("a", "b"), ("b", "a"), ("t", "b"), ("r", None)
    ),
    "cycle-and-orphan": chain(
        "A ring and an orphan in one file.", ("a", "b"), ("b", "a"), ("o", "x"), ("c", "o")
    ),
    "order-by-time": children(
        "Children stand in order of time.", TIME.format(30), TIME.format(10), TIME.format(20)
    ),
    "order-equal-times": children(
        "Equal times keep the order of the file.",
        TIME.format(10),
        TIME.format(10),
        TIME.format("09"),
    ),
    "order-bad-dates": children(
        "A bad date is neither before nor after.", TIME.format(30), "soon", TIME.format(10)
    ),
    "order-missing-dates": children(
        "A missing date is a bad one.", TIME.format(30), MISSING, TIME.format(10)
    ),
    "order-zones": children(
        "Times of other zones are compared as moments.",
        "2026-01-05T10:00:00+03:00",
        "2026-01-05T08:00:00Z",
        "2026-01-05T01:00:00-05:00",
    ),
    "order-date-only": children(
        "A date alone is midnight in UTC.", TIME.format(10), "2026-01-05", "2026-01-05T00:00:00Z"
    ),
    "order-numbers": children(
        "A time may be a number of milliseconds.", 1767600030000, TIME.format(10), 1767600020000
    ),
    "order-impossible": children(
        "Months and hours that do not exist are bad dates.",
        TIME.format(30),
        "2026-13-01T00:00:00Z",
        "2026-01-05T25:00:00Z",
        TIME.format(10),
    ),
    "order-roots": chain(
        "Roots keep the order of the file.", ("b", None), ("a", None), ("c", "a"), ("d", "b")
    ),
    "two-writers": two_writers("Two branches were written in turns."),
}

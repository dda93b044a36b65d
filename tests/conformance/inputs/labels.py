"""Labels and names: the last in the file counts, from any branch."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder

Vector = tuple[str, bytes]


def labels(sentence: str, *values: Any, target: str | None = None) -> Vector:
    """Label one entry again and again."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    for value in values:
        session.label(target or question, value)
    session.assistant("Cox.")
    return sentence, session.data


def names(sentence: str, *values: Any) -> Vector:
    """Name a session again and again."""
    session = SessionBuilder()
    session.user("Name an apple.")
    for value in values:
        session.name(value)
    session.assistant("Cox.")
    return sentence, session.data


def other_branch(sentence: str, *, of_name: bool) -> Vector:
    """Label or name on a branch that was left."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    if of_name:
        session.name("Apples")
    else:
        session.label(question, "start")
    session.at(question)
    session.assistant("Cox.")
    return sentence, session.data


def targets(sentence: str) -> Vector:
    """Label entries of several types, one of them a label."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    answer = session.assistant("Cox.")
    first = session.label(question, "start")
    session.label(answer, "good")
    session.label(first, "meta")
    session.label(question, None)
    session.label(question, "again")
    return sentence, session.data


def forward(sentence: str) -> Vector:
    """Label an entry that comes later."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.label("00000003", "answer")
    session.assistant("Cox.")
    return sentence, session.data


VECTORS = {
    "label": labels("A label names its target.", "start"),
    "label-changed": labels("The last label counts.", "start", "begin"),
    "label-null": labels("Null clears a label.", "start", None),
    "label-empty": labels("An empty text clears a label.", "start", ""),
    "label-missing": labels("A missing label clears.", "start", MISSING),
    "label-set-again": labels("A cleared label can be set again.", "start", None, "begin"),
    "label-spaces": labels("Spaces are a label.", "  "),
    "label-number": labels("A number is kept as it is.", 5),
    "label-unknown-target": labels("The target may be unknown.", "start", target="nobody"),
    "label-targets": targets("Entries of any type have labels."),
    "label-forward": forward("The target may come later."),
    "label-other-branch": other_branch("A label counts from any branch.", of_name=False),
    "name": names("A session has a name.", "Apples"),
    "name-changed": names("The last name counts.", "Apples", "Pears"),
    "name-empty": names("An empty name clears the one before.", "Apples", ""),
    "name-blank": names("A blank name clears the one before.", "Apples", " \t"),
    "name-missing": names("A missing name clears the one before.", "Apples", MISSING),
    "name-null": names("A name of null clears the one before.", "Apples", None),
    "name-trimmed": names("A name is trimmed as JavaScript does.", "\u00a0\ufeff Apples \u2003"),
    "name-lines": names("Newlines in a name are kept.", "Apples\nand pears"),
    "name-number": names("A number is no name.", 5),
    "name-other-branch": other_branch("A name counts from any branch.", of_name=True),
}

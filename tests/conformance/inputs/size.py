"""Longer sessions."""

from __future__ import annotations

from pi_sessions.testing import SessionBuilder, tool_call


def chain() -> bytes:
    """Make a chain of 300 entries."""
    session = SessionBuilder()
    for number in range(150):
        session.user(f"Question {number}.")
        session.assistant(f"Answer {number}.")
    return session.data


def star() -> bytes:
    """Make a root with 60 children."""
    session = SessionBuilder()
    root = session.user("Name an apple.")
    for number in range(60):
        session.at(root)
        session.assistant(f"Answer {number}.")
    return session.data


def calls() -> bytes:
    """Make a reply of 20 calls, answered from the last to the first."""
    session = SessionBuilder()
    session.user("Read everything.")
    session.assistant(calls=[tool_call("read", {"n": n}, id=f"call-{n}") for n in range(20)])
    for number in reversed(range(20)):
        session.tool_result(f"call-{number}", f"Page {number}.")
    return session.data


def long_line() -> bytes:
    """Make a text longer than a buffer of 64 KiB, with a character across its end."""
    session = SessionBuilder()
    session.user("ä" * 40_000 + "\U0001f34e")
    session.assistant("Apples.")
    return session.data


VECTORS = {
    "chain": ("A chain of 300 entries.", chain()),
    "star": ("Sixty children of one root.", star()),
    "calls": ("Twenty calls in one reply.", calls()),
    "long-line": ("One line of 80,000 bytes.", long_line()),
}

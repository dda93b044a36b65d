"""What did the model see, and why? Session files of the Pi coding agent, read and explained.

Start with `load`:

    session = pi_sessions.load("session.jsonl")
    explanation = session.explain()

Every physical line has a number, counted from 1, one verdict and one reason.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_sessions.context.explain import Explanation as Explanation, Unknown as Unknown
    from pi_sessions.context.message import (
        Reason as Reason,
        Synthetic as Synthetic,
        Verdict as Verdict,
    )
    from pi_sessions.context.prompt import Prompt as Prompt
    from pi_sessions.context.target import Target as Target
    from pi_sessions.diagnostics import Code as Code, Diagnostic as Diagnostic
    from pi_sessions.errors import (
        EntryNotFoundError as EntryNotFoundError,
        FormatError as FormatError,
        LookupFailure as LookupFailure,
        NotAResponseError as NotAResponseError,
        NotASessionError as NotASessionError,
        SessionError as SessionError,
        SessionNotFoundError as SessionNotFoundError,
        UnreadableError as UnreadableError,
        UnsupportedApiError as UnsupportedApiError,
        UnsupportedVersionError as UnsupportedVersionError,
    )
    from pi_sessions.reader import load as load, loads as loads
    from pi_sessions.session import Context as Context, Entry as Entry, Session as Session
    from pi_sessions.tree import Tree as Tree

__version__ = "0.1.0"

__all__ = [
    "Code",
    "Context",
    "Diagnostic",
    "Entry",
    "EntryNotFoundError",
    "Explanation",
    "FormatError",
    "LookupFailure",
    "NotAResponseError",
    "NotASessionError",
    "Prompt",
    "Reason",
    "Session",
    "SessionError",
    "SessionNotFoundError",
    "Synthetic",
    "Target",
    "Tree",
    "Unknown",
    "UnreadableError",
    "UnsupportedApiError",
    "UnsupportedVersionError",
    "Verdict",
    "load",
    "loads",
]

_HOMES = {
    "Explanation": "context.explain",
    "Unknown": "context.explain",
    "Reason": "context.message",
    "Synthetic": "context.message",
    "Verdict": "context.message",
    "Prompt": "context.prompt",
    "Target": "context.target",
    "Code": "diagnostics",
    "Diagnostic": "diagnostics",
    "EntryNotFoundError": "errors",
    "FormatError": "errors",
    "LookupFailure": "errors",
    "NotAResponseError": "errors",
    "NotASessionError": "errors",
    "SessionError": "errors",
    "SessionNotFoundError": "errors",
    "UnreadableError": "errors",
    "UnsupportedApiError": "errors",
    "UnsupportedVersionError": "errors",
    "load": "reader",
    "loads": "reader",
    "Context": "session",
    "Entry": "session",
    "Session": "session",
    "Tree": "tree",
}
"""Module of each public name; it is loaded when the name is first asked for, so that the command starts
without what it does not need."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pi_sessions' has no attribute {name!r}")
    value = getattr(import_module(f"pi_sessions.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

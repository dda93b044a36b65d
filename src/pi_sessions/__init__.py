"""What did the model see, and why? Session files of the Pi coding agent, read and explained.

Start with `load`:

    session = pi_sessions.load("session.jsonl")
    explanation = session.explain()

Every physical line has a number, counted from 1, one verdict and one reason.
"""

from pi_sessions.context.explain import Explanation, Unknown
from pi_sessions.context.message import Reason, Synthetic, Verdict
from pi_sessions.context.prompt import Prompt
from pi_sessions.context.target import Target
from pi_sessions.diagnostics import Code, Diagnostic
from pi_sessions.errors import (
    EntryNotFoundError,
    FormatError,
    LookupFailure,
    NotAResponseError,
    NotASessionError,
    SessionError,
    SessionNotFoundError,
    UnreadableError,
    UnsupportedApiError,
    UnsupportedVersionError,
)
from pi_sessions.reader import load, loads
from pi_sessions.session import Context, Entry, Session
from pi_sessions.tree import Tree

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

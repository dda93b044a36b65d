"""What did the model see, and why? Session files of the Pi coding agent, read and explained.

Start with `load`:

    session = pi_sessions.load("session.jsonl")
    explanation = session.explain()

Every physical line has a number, counted from 1, one verdict and one reason.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_sessions.context.clues import Clue as Clue
    from pi_sessions.context.explain import Explanation as Explanation
    from pi_sessions.context.explain import Unknown as Unknown
    from pi_sessions.context.message import (
        Reason as Reason,
    )
    from pi_sessions.context.message import (
        Synthetic as Synthetic,
    )
    from pi_sessions.context.message import (
        Verdict as Verdict,
    )
    from pi_sessions.context.prompt import Prompt as Prompt
    from pi_sessions.context.rules import Rules as Rules
    from pi_sessions.context.sighting import Sightings as Sightings
    from pi_sessions.context.target import Target as Target
    from pi_sessions.context.visibility import Span as Span
    from pi_sessions.context.visibility import Visibility as Visibility
    from pi_sessions.context.writers import Stretch as Stretch
    from pi_sessions.context.writers import Writer as Writer
    from pi_sessions.diagnostics import Code as Code
    from pi_sessions.diagnostics import Diagnostic as Diagnostic
    from pi_sessions.entry import Entry as Entry
    from pi_sessions.errors import (
        EntryNotFoundError as EntryNotFoundError,
    )
    from pi_sessions.errors import (
        FormatError as FormatError,
    )
    from pi_sessions.errors import (
        LookupFailure as LookupFailure,
    )
    from pi_sessions.errors import (
        NotAResponseError as NotAResponseError,
    )
    from pi_sessions.errors import (
        NotASessionError as NotASessionError,
    )
    from pi_sessions.errors import (
        NotWrittenError as NotWrittenError,
    )
    from pi_sessions.errors import (
        ProfileError as ProfileError,
    )
    from pi_sessions.errors import (
        SessionChangedError as SessionChangedError,
    )
    from pi_sessions.errors import (
        SessionError as SessionError,
    )
    from pi_sessions.errors import (
        SessionLockedError as SessionLockedError,
    )
    from pi_sessions.errors import (
        SessionNotFoundError as SessionNotFoundError,
    )
    from pi_sessions.errors import (
        UnknownReleaseError as UnknownReleaseError,
    )
    from pi_sessions.errors import (
        UnreadableError as UnreadableError,
    )
    from pi_sessions.errors import (
        UnsupportedApiError as UnsupportedApiError,
    )
    from pi_sessions.errors import (
        UnsupportedVersionError as UnsupportedVersionError,
    )
    from pi_sessions.errors import (
        VersionNotWritableError as VersionNotWritableError,
    )
    from pi_sessions.errors import (
        WouldOverwriteError as WouldOverwriteError,
    )
    from pi_sessions.errors import (
        WriteRefusedError as WriteRefusedError,
    )
    from pi_sessions.following import Follower as Follower
    from pi_sessions.following import Growth as Growth
    from pi_sessions.following import follow as follow
    from pi_sessions.reader import load as load
    from pi_sessions.reader import loads as loads
    from pi_sessions.session import Context as Context
    from pi_sessions.session import Session as Session
    from pi_sessions.tree import Tree as Tree
    from pi_sessions.writer.forks import fork as fork
    from pi_sessions.writer.forks import fork_branch as fork_branch
    from pi_sessions.writer.session_writer import SessionWriter as SessionWriter

__version__ = "0.1.0"

__all__ = [
    "Clue",
    "Code",
    "Context",
    "Diagnostic",
    "Entry",
    "EntryNotFoundError",
    "Explanation",
    "Follower",
    "FormatError",
    "Growth",
    "LookupFailure",
    "NotAResponseError",
    "NotASessionError",
    "NotWrittenError",
    "ProfileError",
    "Prompt",
    "Reason",
    "Rules",
    "Session",
    "SessionChangedError",
    "SessionError",
    "SessionLockedError",
    "SessionNotFoundError",
    "SessionWriter",
    "Sightings",
    "Span",
    "Stretch",
    "Synthetic",
    "Target",
    "Tree",
    "Unknown",
    "UnknownReleaseError",
    "UnreadableError",
    "UnsupportedApiError",
    "UnsupportedVersionError",
    "Verdict",
    "VersionNotWritableError",
    "Visibility",
    "WouldOverwriteError",
    "WriteRefusedError",
    "Writer",
    "follow",
    "fork",
    "fork_branch",
    "load",
    "loads",
]

_HOMES = {
    "Clue": "context.clues",
    "Explanation": "context.explain",
    "Unknown": "context.explain",
    "Reason": "context.message",
    "Synthetic": "context.message",
    "Verdict": "context.message",
    "Prompt": "context.prompt",
    "Rules": "context.rules",
    "Stretch": "context.writers",
    "Writer": "context.writers",
    "Sightings": "context.sighting",
    "Span": "context.visibility",
    "Visibility": "context.visibility",
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
    "UnknownReleaseError": "errors",
    "UnreadableError": "errors",
    "UnsupportedApiError": "errors",
    "UnsupportedVersionError": "errors",
    "NotWrittenError": "errors",
    "ProfileError": "errors",
    "SessionChangedError": "errors",
    "SessionLockedError": "errors",
    "VersionNotWritableError": "errors",
    "WouldOverwriteError": "errors",
    "WriteRefusedError": "errors",
    "Follower": "following",
    "Growth": "following",
    "follow": "following",
    "load": "reader",
    "loads": "reader",
    "Context": "session",
    "Entry": "entry",
    "Session": "session",
    "Tree": "tree",
    "SessionWriter": "writer.session_writer",
    "fork": "writer.forks",
    "fork_branch": "writer.forks",
}
"""Module of each public name, loaded when the name is first asked for: the command starts lean."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pi_sessions' has no attribute {name!r}")
    value = getattr(import_module(f"pi_sessions.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

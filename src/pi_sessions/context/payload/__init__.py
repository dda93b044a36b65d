"""Request bodies of the three APIs, each part traced to its lines.

`build` is the way in; it needs a model (`context.models`) and the LLM messages of a context.
"""

from __future__ import annotations

from pi_sessions.context.payload.build import Payload, build
from pi_sessions.context.payload.draft import Options
from pi_sessions.context.payload.trace import Unknown

__all__ = ["Options", "Payload", "Unknown", "build"]

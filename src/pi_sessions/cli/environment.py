"""Where Pi keeps its things, from the environment and Pi's own settings files."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any


def agent_directory() -> Path:
    """Give the agent directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(named).expanduser() if named else Path.home() / ".pi" / "agent"


def session_directory(named: str | None = None) -> Path:
    """Give the directory of sessions.

    `--session-dir`, then `PI_CODING_AGENT_SESSION_DIR`, then `sessionDir` in the project's
    `.pi/settings.json`, then in the agent directory's `settings.json`, then `sessions` there.
    """
    agent = agent_directory()
    choices = (
        named,
        os.environ.get("PI_CODING_AGENT_SESSION_DIR"),
        _settings(Path.cwd() / ".pi" / "settings.json").get("sessionDir"),
        _settings(agent / "settings.json").get("sessionDir"),
    )
    chosen = next((choice for choice in choices if isinstance(choice, str) and choice), None)
    return Path(chosen).expanduser() if chosen else agent / "sessions"


def _settings(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def local_zone() -> tzinfo:
    """Give the zone of this machine, in which the reference reads times without a zone."""
    return datetime.now().astimezone().tzinfo or UTC

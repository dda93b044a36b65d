"""Where Pi keeps its things, from the environment and Pi's own settings files."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, tzinfo
from typing import Any


def agent_directory() -> str:
    """Give the agent directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return os.path.expanduser(named or os.path.join("~", ".pi", "agent"))


def session_directory(named: str | None = None) -> str:
    """Give the directory of sessions.

    `--session-dir`, then `PI_CODING_AGENT_SESSION_DIR`, then `sessionDir` in the project's
    `.pi/settings.json`, then in the agent directory's `settings.json`, then `sessions` there.
    """
    agent = agent_directory()
    choices = (
        named,
        os.environ.get("PI_CODING_AGENT_SESSION_DIR"),
        _settings(os.path.join(".pi", "settings.json")).get("sessionDir"),
        _settings(os.path.join(agent, "settings.json")).get("sessionDir"),
    )
    chosen = next((choice for choice in choices if isinstance(choice, str) and choice), None)
    return os.path.expanduser(chosen or os.path.join(agent, "sessions"))


def _settings(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def local_zone() -> tzinfo:
    """Give the zone of this machine, in which the reference reads times without a zone."""
    return datetime.now().astimezone().tzinfo or UTC

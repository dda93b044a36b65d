"""Where Pi keeps its things, from the environment, Pi's settings and our own; and the zone."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class ConfigurationError(Exception):
    """Our own configuration file is not as it must be; told in one sentence, exit code 2."""


def agent_directory() -> str:
    """Give the agent directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return os.path.expanduser(named or os.path.join("~", ".pi", "agent"))


def session_directory(named: str | list[str] | None = None) -> str:
    """Give the directory of sessions; of several that are named, the first.

    `--session-dir`, then `PI_CODING_AGENT_SESSION_DIR`, then `sessionDir` in the project's
    `.pi/settings.json`, then in the agent directory's `settings.json`, then `sessions` there.
    """
    agent = agent_directory()
    if isinstance(named, list):
        named = named[0] if named else None
    choices = (
        named,
        os.environ.get("PI_CODING_AGENT_SESSION_DIR"),
        _settings(os.path.join(".pi", "settings.json")).get("sessionDir"),
        _settings(os.path.join(agent, "settings.json")).get("sessionDir"),
    )
    chosen = next((choice for choice in choices if isinstance(choice, str) and choice), None)
    return os.path.expanduser(chosen or os.path.join(agent, "sessions"))


def session_directories(named: str | Iterable[str] | None = None) -> list[str]:
    """Give all directories of sessions, each once.

    Those that were named; without any, that of `session_directory`, and the `roots` of our own
    configuration file.

    Raises:
        ConfigurationError: that file is not as it must be.
    """
    chosen = [named] if isinstance(named, str) else list(named or ())
    if not chosen:
        return list(dict.fromkeys([session_directory(), *_roots()]))
    return list(dict.fromkeys(map(os.path.expanduser, chosen)))


def configuration_file() -> str:
    """Give the path of our own configuration file, which need not be there."""
    import platformdirs  # noqa: PLC0415 - start-up

    return os.path.join(platformdirs.user_config_dir("pi-sessions"), "config.toml")


def _roots() -> list[str]:
    """Read `roots` of our configuration file: directories, those that begin with ~ in the home."""
    path = configuration_file()
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return []
    import tomllib  # noqa: PLC0415 - start-up: few have the file

    try:
        roots = tomllib.loads(content.decode("utf-8")).get("roots", [])
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    if not isinstance(roots, list) or not all(isinstance(root, str) and root for root in roots):
        raise ConfigurationError(f'{path}: roots must be a list of directories: ["~/work/pi"]')
    return [
        os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(root)))
        for root in roots
    ]


def _settings(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


class LocalZone(tzinfo):
    """The zone of this machine, summer time included, as the system tells it for each moment."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Give the offset at a local time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Leave open what of the offset is summer time: nothing here asks."""
        del moment
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Name the zone at a local time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """Turn a time in UTC into a local one."""
        local = moment.replace(tzinfo=UTC).astimezone()
        mine = local.replace(tzinfo=self)
        # Of an hour that comes twice, the first is meant unless the offset is that of the second.
        return mine if mine.utcoffset() == local.utcoffset() else mine.replace(fold=1)

    def __str__(self) -> str:
        return os.environ.get("TZ") or os.path.realpath("/etc/localtime")


def local_zone() -> tzinfo:
    """Give the zone of this machine, in which the reference reads times without a zone."""
    return LocalZone()


def cache_directory() -> str:
    """Give the directory of our caches: `PI_SESSIONS_CACHE_DIR`, else that of the system."""
    if named := os.environ.get("PI_SESSIONS_CACHE_DIR"):
        return os.path.expanduser(named)
    import platformdirs  # noqa: PLC0415 - start-up

    return platformdirs.user_cache_dir("pi-sessions")

"""The register: ``@scenario(...)`` adds the function below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorder.stage import Setting, Stage

Play = Callable[[Stage], None]
Finish = Callable[[Stage, Path], None]


@dataclass(frozen=True)
class Scenario:
    """A name, how it begins, how it goes on; its docstring is what it shows."""

    name: str
    setting: Setting
    play: Play
    about: str
    finish: Finish | None = None
    """What is done with the written recording."""
    place: str = ""
    """Folder it is written to, beside the usual one."""


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    name: str, *, finish: Finish | None = None, place: str = "", **setting: Any
) -> Callable[[Play], Play]:
    """Register a scenario under a name."""

    def register(play: Play) -> Play:
        about = " ".join((play.__doc__ or "").split())
        SCENARIOS[name] = Scenario(name, Setting(**setting), play, about, finish, place)
        return play

    return register

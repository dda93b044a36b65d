"""The register: ``@scenario(...)`` adds the function below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recorder.stage import Setting, Stage

Play = Callable[[Stage], None]


@dataclass(frozen=True)
class Scenario:
    """A name, how it begins, how it goes on; its docstring is what it shows."""

    name: str
    setting: Setting
    play: Play
    about: str


SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str, **setting: Any) -> Callable[[Play], Play]:
    """Register a scenario under a name."""

    def register(play: Play) -> Play:
        about = " ".join((play.__doc__ or "").split())
        SCENARIOS[name] = Scenario(name, Setting(**setting), play, about)
        return play

    return register

"""All scenarios by name. A scenario is a function that plays on a stage, with a setting."""

from __future__ import annotations

from . import bookkeeping, demo, failures, images, plain, prompt, shortened, switch, tree
from .registry import SCENARIOS, Scenario

__all__ = [
    "SCENARIOS",
    "Scenario",
    "bookkeeping",
    "demo",
    "failures",
    "images",
    "plain",
    "prompt",
    "shortened",
    "switch",
    "tree",
]

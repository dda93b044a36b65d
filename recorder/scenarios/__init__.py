"""All scenarios by name. A scenario is a function that plays on a stage, with a setting."""

from __future__ import annotations

from . import demo
from .registry import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario", "demo"]

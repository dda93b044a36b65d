"""Files to mend, and what a healthy one is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from cli.conftest import run
from pi_sessions.repair.applying import Patient
from pi_sessions.repair.planning import NO_GUESSES, Plan
from pi_sessions.repair.values import Guesses

__all__ = ["run"]

Mend = Callable[..., Plan]


def clock() -> int:
    """Give a time that does not go on."""
    return 1_790_000_000_000


class Numbers:
    """Random bytes that are the same at every run."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, size: int) -> bytes:
        self.count += 1
        return bytes(0xE0 + (self.count + place) % 32 for place in range(size))


@pytest.fixture
def mend() -> Mend:
    """Give a function that repairs a file in place and gives what was planned."""

    def mend_it(path: Path, guesses: Guesses = NO_GUESSES) -> Plan:
        patient = Patient(str(path), UTC)
        planned = patient.plan(guesses)
        if not planned.is_empty:
            patient.repair(planned, clock=clock, random=Numbers())
        return planned

    return mend_it

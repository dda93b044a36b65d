"""A store with a cache, and the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import run, write
from pi_sessions.index import Cache

__all__ = ["run", "write"]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache whose clock is far ahead: no file is fresh enough to change unseen."""
    (tmp_path / "store" / "--a--").mkdir(parents=True)
    return Cache(str(tmp_path / "cache"), str(tmp_path / "store"), lambda: 1 << 62)

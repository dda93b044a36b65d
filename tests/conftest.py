"""What all tests share: a scrubbed environment, and where the recordings are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from conformance import reference

ROOT = Path(__file__).parent.parent
REQUIRED = os.environ.get("PI_SESSIONS_REQUIRE") == "1"
"""Whether what is missing is a failure; so in CI."""
SHARED = Path(os.environ.get("PI_SESSIONS_SHARED", ROOT.parent / "shared"))

for name in [name for name in os.environ if name.startswith("PI_CODING_AGENT")]:
    del os.environ[name]
os.environ["HOME"] = tempfile.mkdtemp(prefix="pi-sessions-home-")
os.environ["TZ"] = "UTC"

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", deadline=None, suppress_health_check=slow)
settings.register_profile("ci", deadline=None, suppress_health_check=slow, derandomize=True)
settings.load_profile("ci" if REQUIRED else "dev")


def need(path: Path) -> Path:
    """Give a path of the shared recordings; skip, or fail where nothing may be missing."""
    if not path.exists():
        if REQUIRED:
            pytest.fail(f"{path.name} is not there, and nothing may be missing here")
        pytest.skip(f"{path.name} is not on this machine")
    return path


@pytest.fixture(scope="module")
def oracle() -> Iterator[reference.Reference]:
    """One process of the live reference for a module; needed where nothing may be missing."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    with reference.Reference() as running:
        yield running

"""The reference's own branch export, and sessions that exports are tried on."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cli.conftest import run, write
from conformance import reference
from conftest import REQUIRED
from pi_sessions import _json

__all__ = ["run", "write"]


class BranchExport:
    """A process of the reference that exports branches."""

    def __init__(self) -> None:
        node = reference.find_node()
        assert node is not None
        script = os.fspath(Path(__file__).parent / "branch.mjs")
        self._process = subprocess.Popen(
            [node, script, os.fspath(reference.ORACLE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TZ": "UTC"},
        )

    def __call__(self, data: bytes, leaves: Sequence[str | None] = (None,)) -> list[str | None]:
        """Export a branch for each leaf; None where the reference fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"bytes": base64.b64encode(data).decode(), "leaves": list(leaves)}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer: list[str | None] = _json.loads(self._process.stdout.readline())
        return answer

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def branch_export() -> Iterator[BranchExport]:
    """The reference's branch export; needed where nothing may be missing."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    running = BranchExport()
    yield running
    running.stop()

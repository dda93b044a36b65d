"""Large sessions are written piece by piece."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pi_sessions.testing import SessionBuilder, tool_call

MEGABYTES = int(os.environ.get("PI_SESSIONS_LARGE", "40"))
ALLOWED = 110 << 10
"""Kilobytes of memory that are enough for a session of 40 MB, and for one of 200."""

MEASURED = """
import sys
from pi_sessions.cli.main import main
code = main(sys.argv[1:])
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    session = SessionBuilder()
    for number in range(MEGABYTES * 60):
        session.user(f"Step {number}: go on.")
        session.assistant("I do.", calls=[tool_call("read", {"path": f"{number}.txt"}, id="c")])
        session.tool_result("c", "".join(f"row {n} of {number}\n" for n in range(900)))
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    path.write_bytes(session.data)
    assert path.stat().st_size > MEGABYTES * 900_000
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process has used")
@pytest.mark.parametrize(
    "words",
    [
        ("--format", "jsonl"),
        ("--format", "jsonl", "--branch"),
        ("--format", "md", "--tools", "full"),
        ("--format", "csv", "--table", "messages"),
        ("--format", "jsonl", "--structure-only"),
    ],
    ids=" ".join,
)
def test_memory_stays_small(large: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "export", large, *words, "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    used = int(done.stdout.split()[-1])
    print(f"{' '.join(words)}: {used >> 10} MB for {large.stat().st_size >> 20} MB")
    assert out.stat().st_size > 100_000
    assert used < ALLOWED


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process has used")
def test_pages_are_made_one_by_one(large: Path, tmp_path: Path) -> None:
    """No more memory than a page takes; on the first part of the session, pages take their time."""
    part = tmp_path / "part.jsonl"
    with large.open("rb") as file:
        part.write_bytes(b"".join(file.readline() for _ in range(MEGABYTES * 30)))
    done = subprocess.run(
        [
            *(sys.executable, "-c", MEASURED, "export", part, "--format", "html"),
            *("--pages", "many", "--out", tmp_path / "pages"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.split()[-1]) < ALLOWED
    assert len(list((tmp_path / "pages").iterdir())) > 3

"""`watch`: what comes is told as it comes, and what goes out of the next request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

DEMO = Path(__file__).parent.parent.parent / "examples/demo/session.jsonl"
LINES = DEMO.read_bytes().splitlines(keepends=True)


def watched(path: Path, first: int, *words: str) -> list[bytes]:
    """Let a session grow line by line while the command runs, and give what it said."""
    path.write_bytes(b"".join(LINES[:first]))
    environment = {**os.environ, "HOME": str(path.parent), "COLUMNS": "140"}
    environment.pop("PI_CODING_AGENT_DIR", None)
    command = [sys.executable, "-m", "pi_sessions", "watch", path, "--idle", "4", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        out = [process.stdout.readline()]
        with path.open("ab", buffering=0) as file:
            for line in LINES[first:]:
                file.write(line)
                time.sleep(0.002)
        out += process.stdout.readlines()
    assert process.returncode == 0
    return out


def test_each_new_line_is_told_once(tmp_path: Path) -> None:
    out = [json.loads(line) for line in watched(tmp_path / "a.jsonl", 8, "--json", "-n", "3")]
    new = [document["new"]["line"] for document in out if "new" in document]
    assert new == list(range(6, 47))
    assert out[-1]["next"]["counts"] == {"sent": 11, "changed": 10, "not_sent": 25}
    gone = [
        row["line"] for document in out if "next" in document for row in document["next"]["wentOut"]
    ]
    # What is told between two looks depends on the moment of these.
    assert set(gone) >= {4, 5, 6, 7, 8}
    assert len(gone) == len(set(gone))


def test_a_person_is_told_what_went_out(tmp_path: Path) -> None:
    """A compaction that comes alone."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(LINES[:14]))
    environment = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "140"}
    command = [sys.executable, "-m", "pi_sessions", "watch", path, "--idle", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        head = process.stdout.readline()
        with path.open("ab") as file:
            file.write(LINES[14])
        out = head + process.stdout.read()
    assert process.returncode == 0
    assert "14 lines: 9 sent, 1 changed" in out
    assert "5 lines, 5 to 9, went out of the next request: summarised by a compaction" in out
    assert "= the next request: 4 sent, 1 changed" in out


def test_no_session(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pi_sessions", "watch", tmp_path / "none.jsonl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (2, 3)
    assert "none.jsonl" in done.stderr
    assert "Traceback" not in done.stderr

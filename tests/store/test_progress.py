"""Progress: on a terminal, of work over a second, and nothing is left of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
import sys, time
from pi_sessions.cli.progress import Progress
known = []
rows = {rows}
with Progress("counting apples", 8, rows) as progress:
    for number in range(8):
        time.sleep({pause})
        known.append(f"apple {{number}}")
        progress.advance()
print("rich" in sys.modules)
"""


def run(pause: float, *, terminal: bool, rows: str = "None") -> tuple[str, str]:
    """Give what a program says, and what stands on its standard error."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    done = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(pause=pause, rows=rows)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONPATH": str(ROOT / "src")},
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    out, _ = done.communicate(timeout=60)
    assert done.returncode == 0
    return out.decode().strip(), b"".join(parts).decode()


def test_long_work_is_shown_and_wiped_off() -> None:
    out, shown = run(0.2, terminal=True)

    assert out == "True"
    assert "counting apples" in shown
    assert "%" in shown
    assert "\x1b[2K" in shown.rpartition("counting apples")[2]


def test_quick_work_and_pipes_show_nothing() -> None:
    assert run(0.001, terminal=True) == ("False", "")
    assert run(0.2, terminal=False) == ("False", "")


def test_rows_are_shown_as_they_are_read() -> None:
    rows = "lambda most: known[-most:]"
    out, shown = run(0.2, terminal=True, rows=rows)

    pictures = shown.split("counting apples")
    assert out == "True"
    assert "apple 0" in pictures[0]
    assert "apple 7" not in pictures[0]
    assert "apple 7" in pictures[-2]
    assert "apple" not in pictures[-1]
    assert run(0.2, terminal=False, rows=rows) == ("False", "")

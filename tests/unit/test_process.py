"""Reading a file in two processes gives the same table as reading it in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

# In a process of its own: a fork beside the test runner's threads is not what the command does.
PROGRAM = """
import sys
from pathlib import Path
from pi_sessions import scan
from pi_sessions._lines import FileSource
from pi_sessions.errors import NotASessionError

scan.LARGE = 0
checked = 0
for name in sys.argv[1:]:
    try:
        one = scan.read(FileSource(name))
    except NotASessionError:
        continue
    two = scan.read(FileSource(name), workers=2)
    for column in ("offsets", "kinds", "ids", "parents", "unusual", "missing_parents", "shadowed",
                   "diagnostics", "leaf", "header_line"):
        left, right = getattr(one, column), getattr(two, column)
        assert left == right, (name, column, left, right)
    assert list(one.lines_by_id.values()) == list(two.lines_by_id.values()), name
    checked += 1
print(checked)
"""


def test_two_processes_read_as_one() -> None:
    """Every vector, column by column."""
    vectors = sorted((ROOT / "tests" / "conformance" / "vectors").glob("*/*.jsonl"))
    vectors += sorted((ROOT / "tests" / "recordings").glob("*/session.jsonl"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, vectors)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert not done.stderr
    assert int(done.stdout) > 500

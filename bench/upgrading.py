"""Upgrading a large file of version 1 beside the reference: `python bench/upgrading.py [--json]`.

The file repeats the lines of a real session of version 1, or of one that is made here, until it is
large enough. Told are whole processes, and the reference's migration alone, which is what remains when
the start of Node is left out; they take turns, and the best of each is told.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from conformance import reference  # noqa: E402 - runs from a checkout as well
from conftest import SHARED  # noqa: E402
from pi_sessions.testing import SessionBuilder  # noqa: E402

REAL = SHARED / "real" / "large-session.jsonl"
Measured = tuple[float, int]
"""Seconds, and bytes of memory at the peak."""


def grown(folder: Path, size: int) -> Path:
    """Write a file of version 1 of about this many bytes."""
    header, _, rest = shape().partition(b"\n")
    file = folder / "large.jsonl"
    with file.open("wb") as out:
        out.write(header + b"\n")
        while out.tell() < size:
            out.write(rest)
    return file


def shape() -> bytes:
    """Give a session of version 1 whose lines are as those of real ones."""
    if REAL.exists():
        return REAL.read_bytes()
    made = SessionBuilder(version=1)
    for number in range(500):
        made.user(f"Question {number}")
        made.assistant("An answer of some length. " * (1 + number % 200))
    return made.data


def ours(file: Path) -> Measured:
    """Upgrade with the command, as a whole process."""
    words = [sys.executable, "-m", "pi_sessions", "upgrade", os.fspath(file), "--json"]
    return whole(words)


def whole(words: list[str]) -> Measured:
    """Run a process; its memory is what the system counts for it."""
    env = {**os.environ, "PYTHONPATH": os.fspath(ROOT / "src")}
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=env)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{words[0]} ended with {status}")
    return took, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def theirs(file: Path) -> Measured:
    """Let the reference open it, and count the opening alone."""
    node = reference.find_node()
    if node is None:
        raise RuntimeError("there is no Node")
    script = os.fspath(Path(__file__).with_suffix(".mjs"))
    words = [node, script, os.fspath(reference.ORACLE), os.fspath(file)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    took, memory = json.loads(told)
    return took, memory


def measure(size: int, rounds: int) -> dict[str, list[float]]:
    """Give seconds and bytes of each, the best of the rounds."""
    best: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        file = grown(folder, size)
        for _ in range(rounds):
            for who, work in (("reference", theirs), ("ours", ours)):
                copy = folder / f"{who}.jsonl"
                copy.write_bytes(file.read_bytes())
                took, memory = work(copy)
                known = best.setdefault(who, [took, memory])
                best[who] = [min(known[0], took), min(known[1], memory)]
                for left in folder.glob(f"{who}.*"):
                    left.unlink()
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    found = measure(options.megabytes << 20, options.rounds)
    if options.json:
        print(json.dumps(found))
        return
    base = found["reference"]
    for who, (took, memory) in found.items():
        print(
            f"{who:12}{took:8.2f} s  {took / base[0]:.2f}"
            f"{memory / (1 << 20):8.0f} MB  {memory / base[1]:.2f}"
        )


if __name__ == "__main__":
    main()

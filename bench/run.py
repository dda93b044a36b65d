"""Measures the commands beside the reference, whole processes, in one run: `make bench`.

Medians of alternating runs, so that a change of the machine's speed hits both. Figures are ratios;
absolute times mean nothing on another machine. Options: --size MB, --runs N, --file FILE.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src"), str(HERE)]

from conformance.reference import find_node  # noqa: E402 - the tests are no package
from make_data import make  # noqa: E402

PYTHON = sys.executable
WANTED = {"context --json": (6.0, 0.25), "context --tail --json": (12.0, 0.25), "lines": (4.0, 1.0)}
"""At least this many times the reference's speed, and at most this share of its peak memory."""


def measure(command: list[str]) -> tuple[float, float]:
    """Run a command; gives seconds and peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "120"}
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{command} failed with {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1000


def medians(commands: dict[str, list[str]], runs: int) -> dict[str, tuple[float, float]]:
    """Measure all commands in turn, `runs` times."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(measure(command))
    return {
        name: (statistics.median(t for t, _ in rows), statistics.median(m for _, m in rows))
        for name, rows in taken.items()
    }


def ours(words: str, file: Path) -> list[str]:
    """Give the command line of one of our commands."""
    return [PYTHON, "-m", "pi_sessions", *words.split(), str(file)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200, help="MB of the session")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--file", type=Path, help="a session file in place of the made one")
    args = parser.parse_args()
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    file = args.file or data / f"{args.size}mb.jsonl"
    if not file.exists():
        make(file, args.size * 1_000_000)
    copy = data / "copy.jsonl"
    shutil.copy(file, copy)
    commands = {"reference": [find_node() or "node", str(HERE / "reference.mjs"), str(copy)]}
    commands |= {words: ours(words, file) for words in [*WANTED, "lines --json", "tree --json"]}
    for command in commands.values():
        measure(command)  # to warm the page cache and the compiled modules
    report(medians(commands, args.runs), file)
    report_start(args.runs)
    report_growth(data, args.runs)


def report(taken: dict[str, tuple[float, float]], file: Path) -> None:
    """Print the table of commands."""
    seconds, memory = taken["reference"]
    print(f"\n{file.name}, {file.stat().st_size / 1e6:.0f} MB; medians, whole processes\n")
    print("| command | seconds | times the reference | peak MB | share of its memory | wanted |")
    print("|---|---|---|---|---|---|")
    for name, (time_taken, peak) in taken.items():
        speed, share = WANTED.get(name, (0, 0))
        wanted = f"≥ {speed:g} ×, ≤ {share:g}" if speed else ""
        print(
            f"| {name} | {time_taken:.2f} | {seconds / time_taken:.1f} × | {peak:.0f} "
            f"| {peak / memory:.2f} | {wanted} |"
        )


def report_start(runs: int) -> None:
    """Print what starting costs."""
    taken = medians(
        {"pass": [PYTHON, "-c", "pass"], "help": [PYTHON, "-m", "pi_sessions", "--help"]}, runs * 3
    )
    more = (taken["help"][0] - taken["pass"][0]) * 1000
    print(f"\n`pi-sessions --help`: {more:.0f} ms more than `python -c pass` (wanted: at most 150)")


def report_growth(data: Path, runs: int) -> None:
    """Print how time grows with the file."""
    files = {size: data / f"{size}mb.jsonl" for size in (10, 100)}
    for size, file in files.items():
        if not file.exists():
            make(file, size * 1_000_000)
    taken = medians({str(size): ours("lines", file) for size, file in files.items()}, runs)
    start = medians({"help": [PYTHON, "-m", "pi_sessions", "--help"]}, runs)["help"][0]
    ratio = (taken["100"][0] - start) / (taken["10"][0] - start)
    print(f"growth of `lines`: 10 times the file, {ratio:.1f} times the time (wanted: at most 11)")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


if __name__ == "__main__":
    main()

"""Measures the page that stands alone against the reference's own export of the same sessions.

    python bench/exporting.py SESSION... [--large FILE] [--runs N]

Each session is copied first: the reference may write to what it opens. The command of each is measured
as a whole process, the median of some runs that take turns, and the bytes that came out. `--large` is
exported in pages, once, with its time and memory; the reference is not asked for it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run import HERE, PYTHON, find_node

CLI = (
    HERE.parent
    / "tests/conformance/oracle/node_modules/@earendil-works/pi-coding-agent/dist/cli.js"
)


def taken(command: list[str], environment: dict[str, str]) -> float:
    """Run a command and give its seconds."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return time.perf_counter() - start


def compare(session: Path, runs: int) -> None:
    """Export a session with both, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "session.jsonl"
        ours, theirs = Path(folder) / "ours.html", Path(folder) / "theirs.html"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "PI_CODING_AGENT_DIR": folder,
            "PI_OFFLINE": "1",
        }
        export = [PYTHON, "-m", "pi_sessions", "export", str(copy), "--force", "--out", str(ours)]
        commands = {"pi-sessions export": export}
        node = find_node()
        if node and CLI.exists():
            commands["pi --export"] = [node, str(CLI), "--export", str(copy), str(theirs)]
        found: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                shutil.copyfile(session, copy)
                found[name].append(taken(command, environment))
        print(f"{session.name}, {session.stat().st_size / 1e6:.1f} MB")
        for (name, seconds), path in zip(found.items(), (ours, theirs), strict=False):
            size = path.stat().st_size / 1e6
            print(f"  {name:<20} {statistics.median(seconds):6.2f} s {size:8.2f} MB")


def large(session: Path) -> None:
    """Export a large session in pages."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pages"
        command = [PYTHON, "-m", "pi_sessions", "export", str(session), "--format", "html"]
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        seconds = taken([*command, "--pages", "many", "--out", str(out)], environment)
        pages = sorted(path.stat().st_size for path in out.iterdir())
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{session.name}, {session.stat().st_size / 1e6:.0f} MB, in pages")
        print(
            f"  {seconds:.0f} s, {usage.ru_utime + usage.ru_stime:.0f} s of processors, "
            f"{usage.ru_maxrss / 1000:.0f} MB at most; {len(pages)} files, "
            f"{sum(pages) / 1e6:.0f} MB, the largest {pages[-1] / 1e6:.2f} MB"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="*", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    for session in args.sessions:
        compare(session, args.runs)
    if args.large:
        large(args.large)
    if not args.sessions and not args.large:
        sys.exit("name a session, or --large FILE")


if __name__ == "__main__":
    main()

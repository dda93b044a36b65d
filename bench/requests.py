"""Measures what is asked of many requests: visibility, `saw`, one request, all requests of a file.

    python bench/requests.py [--size MB] [--runs N] [--file FILE] [--small FILE]

Each figure stands beside the time the reference takes to build the context of the same file once, in
the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from run import HERE, PYTHON, find_node, make, medians, ours

SWEEP = """
import gc, resource, sys, time
gc.disable()
import pi_sessions
start = time.perf_counter()
session = pi_sessions.load(sys.argv[1], workers=2)
visibility = session.visibility()
runs = sum(len(visibility.spans(line)) for line in range(1, len(session.table) + 1))
taken = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
print({"seconds": taken, "MB": peak, "replies": len(visibility.order), "runs": runs})
"""
ALL = """
import gc, sys, time
gc.disable()
import pi_sessions
session = pi_sessions.load(sys.argv[1])
start = time.perf_counter()
count = sum(request is not None for _, request in session.requests())
taken = time.perf_counter() - start
print({"milliseconds each": round(1000 * taken / max(count, 1), 2), "requests": count})
"""


def say(program: str, file: Path) -> str:
    """Run a program on a file and give the last thing it says."""
    done = subprocess.run(
        [PYTHON, "-c", program, str(file)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def rare_word(file: Path) -> str:
    """Find a word that few lines of a file have, in the middle of it."""
    counts: dict[str, int] = {}
    with file.open("rb") as stream:
        for line in stream:
            for word in set(line.decode("utf-8", "replace").split()):
                if word.isascii() and word.isalpha() and len(word) > 8:
                    counts[word] = counts.get(word, 0) + 1
    return min(counts, key=lambda word: counts[word])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200, help="MB of the session")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--file", type=Path, help="a session file in place of the made one")
    parser.add_argument(
        "--small", type=Path, help="a session of some MB whose requests are all built"
    )
    args = parser.parse_args()
    file = args.file or HERE / "data" / f"{args.size}mb.jsonl"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        make(file, args.size * 1_000_000)
    word = rare_word(file)
    commands = {
        "reference": [find_node() or "node", str(HERE / "reference.mjs"), str(file)],
        "context --json": ours("context --json", file),
        "request --json": ours("request --json", file),
        "saw": [PYTHON, "-c", SAW, str(file), word],
    }
    found = medians(commands, args.runs)
    reference = found["reference"][0]
    for name, (seconds, peak) in found.items():
        print(f"{name:<16} {seconds:6.2f} s  {reference / seconds:5.1f} x  {peak:6.0f} MB")
    ratio = found["request --json"][0] / found["context --json"][0]
    print(f"request / context: {ratio:.2f} (at most 1.3 wanted)")
    print("visibility of every line for every reply:", say(SWEEP, file))
    if args.small:
        print("all requests:", say(ALL, args.small))
    print(json.dumps({"word": word}), file=sys.stderr)


SAW = """
import sys
from pi_sessions.cli.main import main
sys.exit(0 if main(["saw", *sys.argv[1:]]) in (0, 1) else 1)
"""


if __name__ == "__main__":
    main()

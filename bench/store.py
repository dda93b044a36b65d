"""Measures a store of many sessions: lists, usage, the index and searches, whole processes.

    python bench/store.py STORE [--runs N] [--rare WORD] [--common WORD] [--reference]

Each figure stands beside ripgrep (or grep) looking for the rare word in the same files, and, if asked
for, beside the reference's list of all sessions, in the same run. The store is not changed: what
is appended to is a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run import PYTHON, find_node, measure

REFERENCE = """
process.env.PI_CODING_AGENT_DIR = process.argv[2];
const { SessionManager } = await import(process.argv[1]);
const sessions = await SessionManager.listAll();
console.log(sessions.length);
"""
PACKAGE = "@earendil-works/pi-coding-agent/dist/core/session-manager.js"


def ours(*words: str) -> list[str]:
    """Give the command line of one of our commands."""
    return [PYTHON, "-m", "pi_sessions", *words]


def timed(command: list[str], codes: tuple[int, ...] = (0,)) -> tuple[float, float]:
    """Run a command that may end with one of some codes; gives seconds and peak memory in MB."""
    if codes == (0,):
        return measure(command)
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start, 0.0


def median(command: list[str], runs: int, codes: tuple[int, ...] = (0,)) -> tuple[float, float]:
    """Run a command several times; gives the medians."""
    taken = [timed(command, codes) for _ in range(runs)]
    return statistics.median(t for t, _ in taken), statistics.median(m for _, m in taken)


def append(file: Path) -> None:
    """Append one entry to a session."""
    with file.open("rb+") as stream:
        lines = stream.read().splitlines()
        last = json.loads(lines[-1])
        entry = {"type": "session_info", "id": f"{time.time_ns():x}", "parentId": last.get("id")}
        entry |= {"timestamp": "2026-01-01T00:00:00.000Z", "name": "appended"}
        stream.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")


def with_copy(store: Path, folder: Path) -> tuple[Path, Path]:
    """Make a store of links to all files, but of a copy of one of about 5 MB."""
    files = sorted(store.glob("**/*.jsonl"), key=lambda file: abs(file.stat().st_size - 5_000_000))
    for file in files:
        place = folder / file.relative_to(store)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file is files[0]:
            shutil.copy(file, place)
        else:
            os.link(file, place)
    return folder, folder / files[0].relative_to(store)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rare", default="zyxquartzword")
    parser.add_argument("--common", default="error")
    parser.add_argument("--reference", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.store.resolve().parent) as place:
        report(args, Path(place))


def report(args: argparse.Namespace, place: Path) -> None:
    """Measure all, print a table."""
    cache = place / "cache"
    os.environ["PI_SESSIONS_CACHE_DIR"] = str(cache)
    store, grown = with_copy(args.store, place / "store")
    size = sum(file.stat().st_size for file in store.glob("**/*.jsonl"))
    root = ("--session-dir", str(store))
    rg = shutil.which("rg")
    name = "ripgrep" if rg else "grep"
    grep = [rg or "grep", *(("-c", "-F") if rg else ("-r", "-c", "-F")), args.rare, str(store)]
    rows: list[tuple[str, float, str]] = []
    rows.append((name, median(grep, args.runs, (0, 1))[0], ""))
    if args.reference and (node := find_node()):
        module = Path(__file__).parent.parent / "tests/conformance/oracle/node_modules" / PACKAGE
        # The folder of an agent, with its store: a named one would be read flat.
        agent = place / "agent"
        agent.mkdir()
        (agent / "sessions").symlink_to(store, target_is_directory=True)
        told = [node, "--input-type=module", "-e", REFERENCE, str(module), str(agent)]
        rows.append(("the reference's list", timed(told)[0], ""))
    seconds, peak = timed(ours("ls", "--all", *root))
    rows.append(("ls, first", seconds, f"{peak:.0f} MB; wanted: at most 300 MB"))
    for command in ("ls", "usage"):
        again = median(ours(command, "--all", *root), args.runs)[0]
        rows.append((f"{command}, again", again, "wanted: at most 0.4 s"))
        append(grown)
        more = timed(ours(command, "--all", *root))[0]
        wanted = "wanted: at most 0.1 s more"
        rows.append((f"{command}, one of 5 MB has grown", more, wanted))
    shutil.rmtree(cache, ignore_errors=True)
    seconds, peak = timed(ours("search", args.rare, *root), (0, 1))
    kept = sum(file.stat().st_size for file in cache.glob("*.sqlite"))
    share = f"{100 * kept / size:.1f} % of the store; wanted: at most 25 s and 20 %"
    rows.append(("search, first: the index is made", seconds, share))
    for word in (args.rare, args.common):
        seconds = median(ours("search", word, *root), args.runs, (0, 1))[0]
        rows.append((f"search {word}", seconds, "wanted: at most 0.3 s"))
    append(grown)
    rows.append(("search, one has grown", timed(ours("search", args.rare, *root), (0, 1))[0], ""))
    bare = timed(ours("search", args.rare, "--no-index", *root), (0, 1))[0]
    rows.append(("search --no-index", bare, "wanted: at most 10 times ripgrep"))
    print(f"\n{size / 1e6:.0f} MB, {os.cpu_count()} cores; whole processes\n")
    print(f"| | seconds | times {name} | |\n|---|---|---|---|")
    for what, taken, note in rows:
        print(f"| {what} | {taken:.2f} | {taken / rows[0][1]:.2f} | {note} |")


if __name__ == "__main__":
    sys.exit(main())

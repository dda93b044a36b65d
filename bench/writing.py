"""Appends a second of our writer beside the reference's: `python bench/writing.py [--json]`.

Both append the same messages to a new session, each message one write, without waiting for the disk.
They take turns; the best of each is told, since what disturbs can only slow down.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from conformance import reference  # noqa: E402 - runs from a checkout as well
from pi_sessions import SessionWriter  # noqa: E402

COUNT = 20_000


def message(number: int) -> dict[str, Any]:
    text = f"An ordinary sentence of a conversation about apples and how long they keep, number {number}"
    return {
        "role": "user" if number % 2 else "assistant",
        "content": [{"type": "text", "text": text}],
        "timestamp": 1_790_000_000_000 + number,
    }


def ours(way: str, folder: Path) -> float:
    """Append in one way: each on its own, with the lock held, or as one batch."""
    writer = SessionWriter.create(folder, "/home/dev/orchard")
    append = writer.append_message
    append({"role": "user", "content": "Name an apple.", "timestamp": 1})
    for number in range(2000):
        append(message(number))
    ways: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
        "each": contextlib.nullcontext,
        "held": writer.held,
        "batch": writer.batch,
        "many": contextlib.nullcontext,
    }
    start = time.perf_counter()
    with ways[way]():
        if way == "many":
            writer.append_messages(message(number) for number in range(COUNT))
        else:
            for number in range(COUNT):
                append(message(number))
    took = time.perf_counter() - start
    writer.close()
    return COUNT / took


def theirs(folder: Path) -> float:
    node = reference.find_node()
    assert node is not None
    script = Path(__file__).with_suffix(".mjs")
    words = [node, os.fspath(script), os.fspath(reference.ORACLE), os.fspath(folder), str(COUNT)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    best = {"reference": 0.0, "each": 0.0, "held": 0.0, "batch": 0.0, "many": 0.0}
    for _ in range(options.rounds):
        for name, known in best.items():
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                found = theirs(Path(folder)) if name == "reference" else ours(name, Path(folder))
            best[name] = max(known, found)
    if options.json:
        print(json.dumps(best))
        return
    told = {
        "reference": "the reference",
        "each": "ours, lock and look for each",
        "held": "ours, lock held",
        "batch": "ours, one batch",
        "many": "ours, append_messages",
    }
    for name, rate in best.items():
        print(f"{told[name]:32}{rate:>12,.0f} a second  {rate / best['reference']:.2f}")


if __name__ == "__main__":
    main()

"""Look for sessions that we read otherwise than the reference, for as long as you like.

    python fuzz/against_reference.py [--minutes N] [--keep FOLDER]

Each round takes a new seed; what differs is written to FOLDER as a session file, with the aspects
printed. Make a vector of it, and then mend the code.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

from conformance.compare import compare  # noqa: E402 - the tests are no package
from conformance.reference import Reference, missing  # noqa: E402
from property import strategies  # noqa: E402


def main() -> int:
    """Run until the time is over; exit code 1 if anything differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--keep", type=Path, default=ROOT / "fuzz" / "found")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    args = parser.parse_args()
    if why := missing():
        sys.exit(why)
    end = time.monotonic() + args.minutes * 60
    rounds = examples = found = 0
    with Reference() as reference:
        while time.monotonic() < end:
            count, differing = one_round(reference, args.seed + rounds, args.keep)
            rounds, examples, found = rounds + 1, examples + count, found + differing
            print(f"{rounds} rounds, {examples} sessions, {found} differ", flush=True)
    return int(found > 0)


def one_round(reference: Reference, number: int, keep: Path) -> tuple[int, int]:
    """Compare 200 sessions of one seed; gives how many there were and how many differed."""
    counts = [0, 0]

    @seed(number)
    @settings(
        max_examples=200,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.sessions(24) | strategies.damaged_sessions())
    def run(data: bytes) -> None:
        counts[0] += 1
        differences, _ = compare(data, reference.describe(data))
        if differences:
            counts[1] += 1
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{number}-{counts[0]}.jsonl").write_bytes(data)
            print("\n".join(map(str, differences[:2])))

    run()
    return counts[0], counts[1]


if __name__ == "__main__":
    sys.exit(main())

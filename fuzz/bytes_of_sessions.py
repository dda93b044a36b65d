"""Throw damaged vectors at the reader: a session or one documented error, and nothing else.

    python fuzz/bytes_of_sessions.py [--seconds N] [--seed N]

The seeds are the conformance vectors. A crasher is written to fuzz/found; make a test of it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src")]

from pi_sessions import NotASessionError, loads  # noqa: E402 - runs from a checkout as well

FOUND = ROOT / "fuzz" / "found"
PIECES = [
    b"\n",
    b"{",
    b'"',
    b"\\",
    b"\xff",
    b"\xef\xbb\xbf",
    b"null",
    b"\r",
    b"\x00",
    b'{"type":"message"}',
]
PIECES += [b'"parentId":"00000001"', b"1e999", b"\\ud83d", b"[" * 300]


def main() -> int:
    """Run until the time is over; exit code 1 if anything crashed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    seeds = [p.read_bytes() for p in sorted(ROOT.glob("tests/conformance/vectors/*/*.jsonl"))]
    seeds = [data for data in seeds if len(data) < 20_000]
    end, count, crashes = time.monotonic() + args.seconds, 0, 0
    while time.monotonic() < end:
        data = damaged(rng, rng.choice(seeds), rng.choice(seeds))
        count += 1
        try:
            use(data)
        except Exception as error:  # noqa: BLE001 - any crash is what is looked for
            crashes += 1
            FOUND.mkdir(parents=True, exist_ok=True)
            (FOUND / f"crash-{args.seed}-{count}.jsonl").write_bytes(data)
            print(f"{type(error).__name__}: {error}")
    print(f"{count} files, {crashes} crashes (seed {args.seed})")
    return int(crashes > 0)


def damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change a file in one to six places."""
    for _ in range(rng.randrange(1, 7)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:
                data = data[:at] + rng.choice(PIECES) + data[at:]
            case 1:
                data = data[:at] + data[at + rng.randrange(1, 9) :]
            case 2:
                start = rng.randrange(len(other) + 1)
                data = data[:at] + other[start : start + rng.randrange(200)] + data[at:]
            case 3:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 4:
                lines = data.split(b"\n")
                rng.shuffle(lines)
                data = b"\n".join([data.split(b"\n")[0], *lines])
            case _:
                data = data[:at]
    return data


def use(data: bytes) -> None:
    """Ask a session everything."""
    try:
        session = loads(data)
    except NotASessionError:
        return
    session.check()
    replies = list(session.responses)[-2:]
    for point in [{}, *({"response": reply} for reply in replies)]:
        explanation = session.explain(**point)
        assert sum(explanation.counts.values()) == len(session.table)
        for stage in ("projection", "llm", "replay"):
            session.context(**point, stage=stage)
        session.prompt(**point)
    for entry in session.entries:
        entry.value  # noqa: B018 - decoding is the point
    session.labels, session.name, session.header, list(session.tree.walk())


if __name__ == "__main__":
    sys.exit(main())

"""Runs at length what the suite runs in short, and prints the figures.

    python tests/writer/figures.py [--write] [--kills N] [--appends N]

With --write the table goes into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from pi_sessions.testing import SessionBuilder  # noqa: E402 - runs from a checkout as well
from writer import surviving  # noqa: E402
from writer.surviving import Count  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
PLACE = re.compile(r"(<!-- appending -->\n).*?(<!-- /appending -->)", re.DOTALL)
ROOMS = range(0, 2100, 7)
"""Bytes after which a file cannot grow."""


def session(folder: Path) -> Path:
    made = SessionBuilder()
    made.user("Name an apple.")
    file = folder / "session.jsonl"
    file.write_bytes(made.data)
    return file


def in_folder(work: Callable[[Path], Count]) -> Count:
    with tempfile.TemporaryDirectory(prefix="figures-") as name:
        return work(Path(name))


def many(appends: int, *, pi: bool) -> Count:
    total = Count()
    for kind in ("end", "branches", "names"):
        total += in_folder(
            lambda folder, kind=kind: surviving.many_writers(
                session(folder), 8, appends, kind=kind, pi=pi
            )
        )
    return total


def rows(kills: int, appends: int) -> dict[str, Count]:
    cut, full = Count(), Count()
    for take_back in (True, False):
        cut += in_folder(
            lambda folder, take_back=take_back: surviving.cut_every_write(
                session(folder), take_back=take_back
            )
        )
    for room in ROOMS:
        full += in_folder(lambda folder, room=room: surviving.fill_the_disk(folder, room))
    return {
        "killed at a random moment": in_folder(lambda folder: surviving.kill(folder, kills, 1)),
        "each write cut at every byte": cut,
        "each call to the system failing once": in_folder(surviving.fail_every_call),
        "no room left on the disk": full,
        f"8 processes of {appends} appends, three ways": many(appends, pi=False),
        "the same beside a program without a lock": many(appends, pi=True),
    }


def table(found: dict[str, Count]) -> str:
    head = (
        "| what happened | appends acknowledged | refused and told | kills | faults | lines lost | "
        "lines torn |\n|---|---:|---:|---:|---:|---:|---:|\n"
    )
    found["all"] = sum(found.values(), Count())
    return head + "".join(
        f"| {name} | {row.appends:,} | {row.refused:,} | {row.kills:,} | {row.faults:,} "
        f"| {row.lost} | {row.torn} |\n"
        for name, row in found.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--appends", type=int, default=1000)
    options = parser.parse_args()
    found = rows(options.kills, options.appends)
    text = table(found)
    print(text, end="")
    for name, row in found.items():
        print(f"{name}: {row.siblings} lines on a branch by accident")
    if options.write:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(PLACE.sub(lambda place: place[1] + text + place[2], page), "utf-8")
    return int(any(row.lost or row.torn for row in found.values()))


if __name__ == "__main__":
    sys.exit(main())

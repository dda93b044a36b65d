"""Runs at length what the suite runs in short, and prints the figures.

    python tests/tidy/figures.py [--write] [--kills N]

With --write the table goes into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from tidy import interrupted  # noqa: E402 - runs from a checkout as well
from tidy.interrupted import Count  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
PLACE = re.compile(r"(<!-- tidying -->\n).*?(<!-- /tidying -->)", re.DOTALL)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="figures-") as name:
        yield Path(name)


def table(found: dict[str, Count]) -> str:
    head = (
        "| what happened | runs | kills | faults | sessions that had gone | in both places | lost "
        "| unnamed strays |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
    )
    found["all"] = sum(found.values(), Count())
    return head + "".join(
        f"| {name} | {row.runs:,} | {row.kills:,} | {row.faults:,} | {row.done:,} | {row.both:,} "
        f"| {row.lost} | {row.strays} |\n"
        for name, row in found.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--kills", type=int, default=1000)
    options = parser.parse_args()
    found = interrupted.run_all(folder, options.kills)
    text = table(found)
    print(text, end="")
    if options.write:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(PLACE.sub(lambda place: place[1] + text + place[2], page), "utf-8")
    return int(any(row.lost or row.strays for row in found.values()))


if __name__ == "__main__":
    sys.exit(main())

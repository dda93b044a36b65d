"""Command line: ``python -m recorder``, see ``--help``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from . import recording, reports
from .pi import PiError
from .scenarios import SCENARIOS, Scenario
from .stage import Stage, remove_home


def main() -> int:
    """Record the chosen scenarios; 1 if one failed."""
    reports.register()
    parser = argparse.ArgumentParser(prog="recorder", description="Record sessions of Pi.")
    parser.add_argument("--only", action="append", metavar="NAME", help="one scenario, repeatable")
    parser.add_argument("--out", type=Path, default=Path("tests/recordings"), help="target folder")
    parser.add_argument("--examples", type=Path, default=Path("examples"), help="the demo's folder")
    parser.add_argument("--home", type=Path, default=Path("/home/dev"), help="home to record in")
    parser.add_argument("--list", action="store_true", help="list the scenarios and stop")
    options = parser.parse_args()
    names = options.only or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario named {', '.join(unknown)}")
    if options.list:
        for name in names:
            print(f"{name:28}{SCENARIOS[name].about}")
        return 0
    failed = [name for name in names if not _record(SCENARIOS[name], options)]
    if failed:
        print(f"failed: {', '.join(failed)}; see {options.home}", file=sys.stderr)
    else:
        remove_home(options.home)
    return int(bool(failed))


def _record(scenario: Scenario, options: argparse.Namespace) -> bool:
    start = time.monotonic()
    try:
        with Stage(scenario.name, scenario.setting, options.home) as stage:
            scenario.play(stage)
        parent = options.examples if scenario.name == "demo" else options.out
        if scenario.place:
            parent = options.out.parent / scenario.place
        recording.write(stage, parent / scenario.name, scenario.about)
        if scenario.finish:
            scenario.finish(stage, parent / scenario.name)
    except PiError as error:
        print(f"{scenario.name}: {error}", file=sys.stderr)
        return False
    turns = sum(received.kind == "turn" for received in stage.script.received)
    print(f"{scenario.name}: {turns} turns, {time.monotonic() - start:.1f} s")
    return True


if __name__ == "__main__":
    sys.exit(main())

"""Follow a session while it is written: each new line, and what goes out of the next request."""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions import following
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment
from pi_sessions.cli.commands import lines
from pi_sessions.cli.paper import Paper
from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Reason, Verdict
from pi_sessions.table import Kind

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.following import Growth

_PATIENCE = 1000
"""Milliseconds after which the file is looked at though nothing told of a change."""
_SHOWN = 10
"""Lines of what is there already that are shown first."""
_NAMED = 3
"""Lines that went out and are named one by one; more are counted by their reason."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_target(parser)
    shared.add_configuration(parser)
    parser.add_argument(
        "-n",
        "--last",
        type=int,
        default=_SHOWN,
        metavar="N",
        help=f"lines of what is there already to show first; default: {_SHOWN}",
    )
    parser.add_argument(
        "--idle",
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="end when nothing has come for so long; default: never",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line")
    parser.add_argument("--no-color", action="store_true", help="plain text")
    parser.set_defaults(stage="replay", leaf=None, response=None)


def run(args: argparse.Namespace) -> int:
    """Run the command; it ends with Ctrl-C, or when the session rests."""
    gc.enable()  # other commands end before memory matters
    path = Path(shared.find_session(args))
    told = _Told(args)
    clock = _Clock(args.idle)
    for growth in following.follow(
        path, clock.ticks(path), zone=environment.local_zone(), workers=os.cpu_count() or 1
    ):
        clock.restart()
        told.tell(growth)
        sys.stdout.flush()
    return 0


class _Clock:
    """Ticks when the folder of a file changes, and now and then; ends when the file rests."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.restart()

    def restart(self) -> None:
        """Begin to wait anew."""
        self.end = time.monotonic() + self.patience

    def ticks(self, path: Path) -> Iterator[object]:
        """Tick; a folder is watched and no file, since a file that is replaced is another one."""
        from watchfiles import watch  # noqa: PLC0415 - start-up

        name = path.resolve().name
        for tick in watch(
            path.resolve().parent,
            watch_filter=lambda _, changed: os.path.basename(changed) == name,
            debounce=50,
            step=20,
            rust_timeout=int(min(_PATIENCE, max(self.patience * 500, 20))),
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=True,
        ):
            yield tick
            if time.monotonic() >= self.end:
                return


class _Told:
    """What was told so far, and the next."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.paper = Paper(color=not args.no_color)
        self.reasons: Sequence[int] = ()
        """Of each line for the next request as it was at the last look; see `REASONS`."""

    def tell(self, growth: Growth) -> None:
        """Tell what came."""
        session = growth.session
        explanation = lines.explained(self.args, session)
        first = growth.first
        if growth.is_anew:
            first = max(1, growth.last - max(self.args.last, 0) + 1)
            went: list[tuple[int, Reason]] = []
        else:
            went = self._went_out(explanation, growth)
        self.reasons = explanation.reasons
        if self.args.json:
            self._write(growth, explanation, first, went)
        else:
            self._print(growth, explanation, first, went)

    def _went_out(self, explanation: Explanation, growth: Growth) -> list[tuple[int, Reason]]:
        """Give the lines that the next request told at the last look and tells no more."""
        pairs = zip(self.reasons, explanation.reasons[: growth.first], strict=False)
        changed = [line for line, (before, now) in enumerate(pairs) if before != now]
        return [
            (line, explanation.reason(line))
            for line in changed
            if line
            and explanation.verdict(line) is Verdict.NOT_SENT
            and REASONS[self.reasons[line]].verdict is not Verdict.NOT_SENT
        ]

    def _write(
        self, growth: Growth, explanation: Explanation, first: int, went: list[tuple[int, Reason]]
    ) -> None:
        from pi_sessions import _json  # noqa: PLC0415 - only here

        for row in lines.rows(growth.session, explanation, first, growth.last + 1):
            usage = _usage(growth, row["line"])
            print(_json.dumps({"new": row | ({"usage": usage} if usage else {})}))
        counts = {str(verdict): count for verdict, count in explanation.counts.items()}
        out = [{"line": line, "reason": str(reason)} for line, reason in went]
        document = {"isAnew": growth.is_anew, "counts": counts, "wentOut": out}
        print(_json.dumps({"next": document}))

    def _print(
        self, growth: Growth, explanation: Explanation, first: int, went: list[tuple[int, Reason]]
    ) -> None:
        paper, session = self.paper, growth.session
        if growth.is_anew:
            lines.print_head(paper, session, explanation)
        for line in range(first, growth.last + 1):
            lines.print_line(paper, session, explanation, line)
            usage = _usage(growth, line)
            if usage:
                paper.row((" " * 8 + _spent(usage), "dim"))
        for told in _told_out(went):
            paper.row((f"     − {told}", "magenta"))
        kinds = session.table.kinds[first : growth.last + 1]
        if not growth.is_anew and (went or Kind.ASSISTANT in kinds):
            counts = explanation.counts
            told = f"{counts[Verdict.SENT]} sent, {counts[Verdict.CHANGED]} changed"
            paper.row((f"     = the next request: {told}", "dim"))


def _told_out(went: list[tuple[int, Reason]]) -> list[str]:
    by_reason: dict[Reason, list[int]] = {}
    for line, reason in went:
        by_reason.setdefault(reason, []).append(line)
    found = []
    for reason, gone in by_reason.items():
        if len(gone) <= _NAMED:
            where = f"line{'' if len(gone) == 1 else 's'} {', '.join(map(str, gone))}"
        else:
            where = f"{len(gone)} lines, {gone[0]} to {gone[-1]},"
        found.append(f"{where} went out of the next request: {lines.TOLD[reason]}")
    return found


def _usage(growth: Growth, line: int) -> dict[str, Any] | None:
    """Give the usage of a reply as it is written."""
    table = growth.session.table
    if table.kinds[line] != Kind.ASSISTANT:
        return None
    usage = table.raw(line)["message"].get("usage")
    return usage if isinstance(usage, dict) else None


def _spent(usage: dict[str, Any]) -> str:
    """Tell what a reply took, as far as its usage is told in numbers."""
    from pi_sessions.render import figures  # noqa: PLC0415 - start-up

    read = [usage.get(name) for name in ("input", "cacheRead", "cacheWrite")]
    context = sum(n for n in read if isinstance(n, int | float))
    parts = [f"{figures.short(context)} read"]
    if isinstance(written := usage.get("output"), int | float):
        parts.append(f"{figures.short(written)} written")
    cost = usage.get("cost")
    total = cost.get("total") if isinstance(cost, dict) else None
    if isinstance(total, int | float):
        parts.append(figures.money(total))
    return " · ".join(parts)

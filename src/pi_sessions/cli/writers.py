"""Who wrote a session, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.cli.paper import Paper
    from pi_sessions.context.point import Point
    from pi_sessions.context.writers import Stretch
    from pi_sessions.session import Session

LARGE = 64 << 20
"""Bytes from which on nobody is told who wrote what without asking: all replies are looked at."""
FEW = 4
"""Stretches that fit into a note."""


def rows(stretches: Sequence[Stretch]) -> list[dict[str, Any]]:
    """Make the JSON rows of the stretches of a session."""
    return [
        {
            "first": stretch.first,
            "last": stretch.last,
            "oldest": stretch.writer.oldest if stretch.writer else None,
            "newest": stretch.writer.newest if stretch.writer else None,
            "clues": [
                {
                    "line": clue.line,
                    "told": clue.told,
                    "oldest": clue.oldest,
                    "newest": clue.newest,
                    "surety": str(clue.surety),
                }
                for clue in stretch.clues
            ],
        }
        for stretch in stretches
    ]


def note(paper: Paper, session: Session, point: Point) -> None:
    """Say quietly by which rules a point was looked at, and who can have written the file."""
    told = [f"rules of {point.rules.release}"]
    if point.writer is not None and point.writer.count > 1:
        told.append(f"the reply was written by {point.writer}")
    elif session.table.offsets[-1] < LARGE:
        stretches = session.writers()
        told += [_written(stretch) for stretch in stretches[:FEW]]
        if len(stretches) > FEW:
            told.append(f"{len(stretches) - FEW} more stretches")
    paper.row((f"     {' · '.join(told)}", "dim"))


def show(paper: Paper, stretches: Sequence[Stretch]) -> None:
    """Tell the stretches and what tells them, one clue a row."""
    for stretch in stretches:
        paper.row((_written(stretch), "bold"))
        for clue in stretch.clues:
            since = f"from {clue.oldest} on" if clue.oldest else ""
            until = f"up to {clue.newest}" if clue.newest else ""
            paper.row(
                (f"{clue.line or '-':>6} ", "dim"),
                (f"{one_line(clue.told):<44} ", ""),
                (f"{' '.join(filter(None, (since, until)))} ", "cyan"),
                (str(clue.surety), "dim"),
            )


def _written(stretch: Stretch) -> str:
    by = f"Pi {stretch.writer}" if stretch.writer else "another program than Pi"
    return f"lines {stretch.first} to {stretch.last} by {by}"

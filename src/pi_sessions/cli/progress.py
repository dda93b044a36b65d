"""How far long work has come, on standard error where that is a terminal.

Nothing is shown of work that takes less than a second, or of a list whose first rows come sooner,
and nothing is left behind. Rich draws the bar; it is imported when there is one to draw.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from rich.console import RenderableType
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

DELAY = 1.0
"""Seconds before a bar is shown."""
_SOON = 0.3
"""Seconds before rows are shown that are known already."""
_PAUSE = 0.1
"""Seconds between two pictures of it."""
_BELOW = 3
"""Rows of the screen that stay free for the bar and the prompt."""

Rows = Callable[[int], Sequence[str]]
"""Gives rows to show, as many as there is room for at most."""


class Progress:
    """The progress of one piece of work, used as a context."""

    def __init__(self, what: str, total: float, rows: Rows | None = None) -> None:
        """Begin.

        Args:
            what: the work, in two or three words.
            total: how much there is, in any unit.
            rows: what is known already, to be shown above the bar.
        """
        self._rows, delay = rows, DELAY if rows is None else _SOON
        self._what, self._total, self._done = what, total, 0.0
        self._next = monotonic() + delay if sys.stderr.isatty() else float("inf")
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def advance(self, amount: float = 1) -> None:
        """Take note that so much more is done."""
        self._done += amount
        now = monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE
        if self._bar is None:
            self._bar = _bar(self._rows)
            self._task = self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=self._done)
            self._bar.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar(rows: Rows | None) -> Bar:
    from rich.console import Console  # noqa: PLC0415 - start-up
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415
    from rich.progress import TimeRemainingColumn as Rest  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True)

    class Picture(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            if rows is not None:
                known = rows(max(console.height - _BELOW, 1))
                yield Text("\n".join(known), style="dim", no_wrap=True, overflow="ellipsis")
            yield from super().get_renderables()

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rest())
    # Without a thread: processes may be forked while it is shown.
    return Picture(*columns, console=console, transient=True, auto_refresh=False)

"""Rows of styled text for a terminal, cut to its width; plain in a pipe.

Rich does tables and progress; a listing of a hundred thousand rows is written here, at the speed of
the pipe. Only the measuring of wide characters is Rich's.
"""

from __future__ import annotations

import os
import re
import shutil
import sys

from pi_sessions.excerpt import harmless

STYLES = {
    "": "",
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "green": "32",
    "yellow": "33",
    "red": "31",
    "magenta": "1;35",
    "cyan": "36",
}
"""Names of styles and their SGR codes."""

PIPE_WIDTH = 160
"""Columns of a row when standard output is no terminal and COLUMNS is not set."""

Part = tuple[str, str]
"""A text without line breaks or control characters, and the name of its style."""


class Paper:
    """Standard output as rows of a given width."""

    def __init__(self, *, color: bool = True) -> None:
        terminal = sys.stdout.isatty()
        self.color = color and terminal and "NO_COLOR" not in os.environ
        columns = os.environ.get("COLUMNS", "")
        if columns.isdigit() and int(columns) > 0:
            self.width = int(columns)
        else:
            self.width = shutil.get_terminal_size().columns if terminal else PIPE_WIDTH
        self._write = sys.stdout.write

    def row(self, *parts: Part, whole: bool = False) -> None:
        """Write one row, cut with an ellipsis where it is too long.

        Args:
            parts: of the row.
            whole: leave it as long as it is, since somebody will copy what stands in it.
        """
        room = sys.maxsize if whole else self.width
        written: list[str] = []
        for text, style in parts:
            if room <= 0:
                break
            if not text.isprintable():
                text = harmless(text)  # noqa: PLW2901
            used = width_of(text)
            if used > room:
                text = cut(text, room)  # noqa: PLW2901
                used = room
            room -= used
            written.append(self.styled(text, style))
        self._write("".join(written).rstrip() + "\n")

    def text(self, text: str, style: str = "") -> None:
        """Write a text of any number of lines as it is; the terminal wraps it."""
        self._write(self.styled(text, style) + "\n")

    def styled(self, text: str, style: str) -> str:
        """Give a text with the codes of its style, if there is colour."""
        if not self.color or not style or not text:
            return text
        codes = ";".join(STYLES[name] for name in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"


_NARROW = re.compile(
    "[ -\u02ff\u2010-\u2027\u2190-\u21ff\u2400-\u243f\u2500-\u259f\u25a0-\u25fc⋮−✂✓]*\\Z"
)
"""Characters that take one column each; what else there is, Rich measures."""


def _is_narrow(text: str) -> bool:
    return text.isascii() or _NARROW.match(text) is not None


def width_of(text: str) -> int:
    """Count the columns a text takes."""
    if _is_narrow(text):
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only wide characters need it

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """Cut a text to a number of columns, the last of them an ellipsis."""
    if _is_narrow(text):
        return text[: width - 1] + "…"
    from rich.cells import set_cell_size  # noqa: PLC0415 - only wide characters need it

    return set_cell_size(text, width - 1).rstrip() + "…"

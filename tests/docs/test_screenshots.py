"""The pictures of the README are there, show something, and their script runs."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
IMAGES = ROOT / "docs" / "images"
NAMES = (
    *("session-light", "session-dark", "reply-light", "reply-dark", "usage"),
    *("export-light", "export-dark", "export-request", "export-narrow", "audit"),
)
REQUIRED = os.environ.get("PI_SESSIONS_REQUIRE") == "1"


def looked_at(path: Path) -> tuple[int, int, Counter[int]]:
    """Give width, height, and how often each colour comes in a picture of ours."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (8, 3)
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    rows = zlib.decompress(data[start : start + length])
    pixels = b"".join(rows[n * (width + 1) + 1 : (n + 1) * (width + 1)] for n in range(height))
    assert len(pixels) == width * height
    return width, height, Counter(pixels)


def checked(path: Path) -> None:
    width, height, colours = looked_at(path)
    assert (width, height) in ((1280, 800), (400, 800))
    assert len(colours) > 40, "there is writing on it"
    assert colours.most_common(1)[0][1] < 0.95 * width * height, "it is not blank"
    assert path.stat().st_size < 200_000


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_there(name: str) -> None:
    checked(IMAGES / f"{name}.png")


def test_no_other_pictures() -> None:
    assert {path.stem for path in IMAGES.iterdir()} == set(NAMES)


def test_the_script_runs(tmp_path: Path) -> None:
    """Two pictures of it: one of the page, one of the export."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "chrome"))):
        if REQUIRED:
            pytest.fail("there is no chromium, and nothing may be missing here")
        pytest.skip("there is no chromium on this machine")
    done = subprocess.run(
        [sys.executable, "docs/screenshots.py", "--to", tmp_path, "reply-light", "audit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("reply-light", "audit"):
        checked(tmp_path / f"{name}.png")

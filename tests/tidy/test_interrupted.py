"""A session is where it was or whole where it goes; `figures.py` runs the same at length."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repair.interrupted import unnamed_files
from tidy import interrupted
from tidy.interrupted import WAYS, Place

KILLS = int(os.environ.get("PI_SESSIONS_KILLS", "24"))


@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_killed(tmp_path: Path, way: str, possible: bool) -> None:
    with unnamed_files(possible=possible):
        count = interrupted.kill(Place(tmp_path, way, 200), KILLS // 2, seed=KILLS)

    assert count.kills
    assert (count.lost, count.strays) == (0, 0)


@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("way", ["archive", "restore"])
def test_every_call_fails_once(tmp_path: Path, way: str, possible: bool) -> None:
    with unnamed_files(possible=possible):
        count = interrupted.fail_every_call(Place(tmp_path, way, 2))

    assert count.faults > 15
    assert (count.lost, count.strays) == (0, 0)


@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("way", ["archive", "restore"])
def test_every_write_is_cut(tmp_path: Path, way: str, possible: bool) -> None:
    with unnamed_files(possible=possible):
        count = interrupted.cut_every_write(Place(tmp_path, way, 2), step=53)

    assert count.faults > 10
    assert (count.lost, count.strays) == (0, 0)


@pytest.mark.parametrize("way", WAYS)
def test_the_disk_is_full(tmp_path: Path, way: str) -> None:
    place = Place(tmp_path, way, 3)
    counts = [interrupted.fill_the_disk(place, room) for room in (0, 10, 300, 500, 1 << 20)]

    assert sum(count.faults for count in counts) >= 3
    assert not any(count.lost or count.strays for count in counts)

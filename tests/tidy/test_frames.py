"""A packed session gives its bytes, whole and in parts; what is damaged or a bomb is refused."""

from __future__ import annotations

import io
import json
import struct
import subprocess
from pathlib import Path
from shutil import which

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED, need
from pi_sessions import UnreadableError, _frames, load
from pi_sessions._frames import FRAME, head_of, open_packed, packed
from pi_sessions._lines import BytesSource, open_source, split
from pi_sessions.testing import SessionBuilder

CHUNKS = st.lists(st.binary(max_size=300) | st.just(b'{"a":1}\n'), max_size=30)


def session(turns: int = 3) -> bytes:
    made = SessionBuilder(id="packed")
    for number in range(turns):
        made.user(f"question {number}")
        made.assistant(f"answer {number}")
    return made.data


def write(path: Path, data: bytes, **head: object) -> Path:
    path.write_bytes(b"".join(packed([data], {"form": 0, **head})))
    return path


@pytest.fixture(autouse=True)
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of 64 bytes, so that small sessions have many."""
    monkeypatch.setattr(_frames, "FRAME", 64)


def test_frames_are_of_megabytes() -> None:
    assert FRAME == 4 << 20


@given(chunks=CHUNKS, places=st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 500))))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], places: list[tuple[int, int]]
) -> None:
    """All bytes, all lines and any part are what was packed, however the bytes came."""
    data = b"".join(chunks)
    path = tmp_path_factory.mktemp("packed") / "a.jsonl.zst"
    path.write_bytes(b"".join(packed(chunks, {"x": "\ud800"})))
    assert path.read_bytes() == b"".join(packed([data], {"x": "\ud800"}))
    source = open_packed(path)

    assert isinstance(source, _frames.FramesSource)
    assert source.size == len(data)
    assert source.read(0, source.size) == data
    assert list(source.lines()) == list(split([data]))
    for offset, length in places:
        assert source.read(offset, length) == data[offset : offset + length]
    assert head_of(path) == {"x": "\ud800"}


def test_every_file_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings, cases and real sessions come out as they went in."""
    monkeypatch.setattr(_frames, "FRAME", 1 << 16)
    paths = [
        path for name in ("wire", "cases", "real") for path in need(SHARED / name).rglob("*.jsonl")
    ]
    assert len(paths) > 150
    for path in paths:
        data = path.read_bytes()
        source = open_packed(write(tmp_path / "a.jsonl.zst", data))
        assert source.read(0, source.size) == data, path


@given(data=st.binary(max_size=3000), cut=st.integers(0, 3000))
def test_a_damaged_file_says_so(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int
) -> None:
    """Cut or changed anywhere it is refused, or still gives the very bytes."""
    whole = b"".join(packed([data], {}))
    folder = tmp_path_factory.mktemp("packed")
    place = cut % len(whole)
    changed = bytearray(whole)
    changed[place] ^= 0x55
    for number, damaged in enumerate((whole[:place], bytes(changed))):
        path = folder / f"{number}.zst"
        path.write_bytes(damaged)
        try:
            source = open_packed(path)
            found = source.read(0, source.size)
        except UnreadableError as error:
            assert str(path) in str(error)  # noqa: PT017 - or it reads well
        else:
            assert found in (data, b"")


def test_every_reader_opens_it(tmp_path: Path) -> None:
    data = session()
    path = write(tmp_path / "a.jsonl.zst", data)
    mine, plain = load(path), tmp_path / "a.jsonl"
    plain.write_bytes(data)

    assert mine.id == "packed"
    assert mine.context().messages == load(plain).context().messages
    assert b"".join(open_source(path).lines()) == data


@pytest.mark.skipif(which("zstd") is None, reason="the zstd program is not on this machine")
def test_the_zstd_program_reads_and_writes_it(tmp_path: Path) -> None:
    data = session(40)
    path = write(tmp_path / "a.jsonl.zst", data)
    done = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True)
    assert done.stdout == data
    for name, words in (("size", []), ("stream", ["-"])):
        other = tmp_path / f"{name}.jsonl.zst"
        plain = tmp_path / "plain.jsonl"
        plain.write_bytes(data)
        subprocess.run(["zstd", "-q", "-o", other, *(words or [plain])], input=data, check=True)

        source = open_source(other)
        assert isinstance(source, BytesSource)
        assert source.read(0, source.size) == data
        assert head_of(other) is None


def test_frames_behind_one_another(tmp_path: Path) -> None:
    """Other programs may put many frames, and frames to skip, into one file."""
    compress = zstandard.ZstdCompressor().compress
    skipped = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    path = tmp_path / "a.zst"
    path.write_bytes(
        skipped + compress(b"one") + compress(b"") + skipped + compress(b"two") + skipped
    )
    source = open_packed(path)

    assert source.read(0, source.size) == b"onetwo"


@pytest.mark.parametrize("data", [b"", b"x", b"{}\n", b"\x28\xb5\x2f\xfd", b"junk" * 40])
def test_what_is_not_packed(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(data)
    if data:
        with pytest.raises(UnreadableError, match="cannot be unpacked"):
            load(path)
    else:
        assert open_packed(path).size == 0


def streamed(size: int) -> bytes:
    """Pack zeros into a frame that states no size."""
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        for _ in range(size >> 20):
            writer.write(bytes(1 << 20))
    return out.getvalue()


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stated size is believed only as far as is sensible, and never exceeded."""
    monkeypatch.setattr(_frames, "_PLAIN", 1 << 20)
    stated = zstandard.ZstdCompressor().compress(bytes(100 << 20))
    path = tmp_path / "a.zst"
    for bomb in (stated, streamed(100 << 20), streamed(1 << 20) * 40):
        path.write_bytes(bomb)
        with pytest.raises(UnreadableError, match="not unpacked"):
            open_packed(path)


def test_lying_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says how much is unpacked; a frame of another size is refused before it is."""
    monkeypatch.setattr(_frames, "_PLAIN", 1 << 20)
    frame = zstandard.ZstdCompressor().compress(bytes(300 << 20))
    path = tmp_path / "a.zst"
    for count, stated, why in ((1, 10, "is not of the size"), (60, 64 << 20, "not unpacked")):
        rows = struct.pack("<II", len(frame), stated) * count
        rows += struct.pack("<IBI", count, 0, 0x8F92EAB1)
        path.write_bytes(frame * count + struct.pack("<II", 0x184D2A5E, len(rows)) + rows)
        with pytest.raises(UnreadableError, match=why):
            open_packed(path).read(0, 10)


def test_hostile_heads(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    for told in (b"[]", b"{", b"[" * 100_000, b"\xff", json.dumps("x").encode()):
        path.write_bytes(struct.pack("<II", 0x184D2A5D, len(told)) + told)
        assert head_of(path) is None
    path.write_bytes(struct.pack("<II", 0x184D2A5D, 0xFFFFFFFF) + b"{}")
    assert head_of(path) is None

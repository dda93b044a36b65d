"""An upgraded file is what the reference's migration makes of it, and no line is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from cli.conftest import Run
from conformance import reference
from conftest import REQUIRED, SHARED, need
from pi_sessions import NotASessionError, _json, load
from pi_sessions.repair.applying import Patient
from pi_sessions.repair.upgrading import needs_upgrade
from pi_sessions.testing import SessionBuilder
from property import strategies

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "upgrading.mjs"
VECTORS = ROOT / "tests" / "conformance" / "vectors"
ID = re.compile(rb'"id":"([0-9a-f]{8})"')


@pytest.fixture(scope="module")
def node() -> str:
    """Where Node is."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    return str(reference.find_node())


def old_files() -> list[Path]:
    """Give the old sessions that are here: recorded, real, and the vectors."""
    shared = [SHARED / "real", SHARED / "releases", SHARED / "wire", SHARED / "cases"]
    found = []
    for folder in (VECTORS, *(folder for folder in shared if folder.exists())):
        for path in sorted(folder.rglob("*.jsonl")):
            try:
                if needs_upgrade(load(path).table):
                    found.append(path)
            except (NotASessionError, OSError):
                continue
    return found


def keeps_all(path: Path) -> bool:
    """Say whether a compaction keeps everything by the index of the header, which Pi loses."""
    return re.search(rb'"firstKeptEntryIndex":\s*0\b', path.read_bytes()) is not None


def upgraded(path: Path) -> bytes:
    Patient(str(path), UTC).upgrade()
    return path.read_bytes()


def migrated(node: str, paths: list[Path]) -> None:
    """Let the reference open files, which it writes anew."""
    words = [node, SCRIPT, reference.ORACLE, *paths]
    subprocess.run([os.fspath(word) for word in words], check=True, capture_output=True)


def same_ids(theirs: bytes, ours: bytes) -> bytes:
    """Put our ids in the place of those that the reference has drawn, line by line."""
    kept = [line for line in ours.split(b"\n") if is_kept(line)]
    new: dict[bytes, bytes] = {}
    for one, other in zip(theirs.split(b"\n"), kept, strict=False):
        if (a := ID.findall(one)) and (b := ID.findall(other)):
            new[a[-1]] = b[-1]
    return re.sub(rb'(?<=")[0-9a-f]{8}(?=")', lambda found: new.get(found[0], found[0]), theirs)


def is_kept(line: bytes) -> bool:
    try:
        return bool(_json.loads(line))
    except _json.JSONError:
        return False


def canonical(data: bytes) -> list[str]:
    """Give the lines that the reference keeps, as it writes them."""
    return [_json.dumps(_json.loads(line)) for line in data.split(b"\n") if is_kept(line)]


def test_as_the_reference_does(node: str, tmp_path: Path) -> None:
    """Every old file that is here, byte for byte but for ids, where it is as Pi writes."""
    pairs = []
    for number, path in enumerate(path for path in old_files() if not keeps_all(path)):
        copies = [tmp_path / f"{number}-{who}.jsonl" for who in ("ours", "theirs")]
        for copy in copies:
            copy.write_bytes(path.read_bytes())
        pairs.append((path, *copies))
    migrated(node, [theirs for *_, theirs in pairs])
    same = 0
    for path, *copies in pairs:
        if copies[1].read_bytes() == path.read_bytes():
            continue  # a line that is no object, on which it fails
        ours = upgraded(copies[0])
        theirs = same_ids(copies[1].read_bytes(), ours)
        if path.read_bytes().split(b"\n")[:-1] == [
            line.encode("utf-8", "surrogatepass") for line in canonical(path.read_bytes())
        ]:
            assert ours == theirs, path
            same += 1
        else:
            assert canonical(ours) == canonical(theirs), path
    assert same > 5


def test_what_the_reference_loses_is_kept(tmp_path: Path) -> None:
    """A compaction that kept everything still does, once it names an entry instead of an index."""
    path = tmp_path / "session.jsonl"
    path.write_bytes((VECTORS / "migration" / "index-zero.jsonl").read_bytes())
    upgraded(path)
    session = load(path)
    compaction = next(entry for entry in session.entries if entry.type == "compaction")

    assert compaction.raw["firstKeptEntryId"] == session.entries[0].id
    assert "firstKeptEntryIndex" not in compaction.raw


def test_a_recorded_migration(tmp_path: Path) -> None:
    """What Pi made of an old session when it went on with it."""
    folder = need(SHARED / "wire" / "l-legacy-v1")
    path = tmp_path / "session.jsonl"
    shutil.copy(folder / "original.jsonl", path)
    ours = upgraded(path)
    theirs = same_ids((folder / "session.jsonl").read_bytes(), ours)

    assert theirs.startswith(ours)


def test_what_is_read_stays_the_same(tmp_path: Path) -> None:
    """Ids, tree and context of the new file are those under which the old one was read."""
    files = old_files()
    for path in files:
        copy = tmp_path / "session.jsonl"
        copy.write_bytes(path.read_bytes())
        before = load(copy)
        ids = [entry.id for entry in before.entries]
        messages = before.context().messages
        lines = copy.read_bytes().count(b"\n")
        upgraded(copy)
        after = load(copy)

        assert after.version == 3, path
        assert [entry.id for entry in after.entries] == ids, path
        assert after.context().messages == messages, path
        assert copy.read_bytes().count(b"\n") - lines in (0, 1), path
        assert Patient(str(copy), UTC).upgrade() is None
    assert len(files) > 10


@given(strategies.sessions())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_session(tmp_path: Path, data: bytes) -> None:
    """No entry is lost, and what is sent stays the same."""
    path = tmp_path / "session.jsonl"
    for stale in tmp_path.iterdir():
        stale.unlink()
    path.write_bytes(data)
    before = load(path)
    entries = [entry.raw for entry in before.entries]
    messages = before.context().messages
    Patient(str(path), UTC).upgrade()
    after = load(path)

    assert [entry.raw for entry in after.entries] == entries
    assert after.context().messages == messages


def test_broken_lines_and_odd_bytes_stay(tmp_path: Path) -> None:
    """Which Pi's own migration drops and rewrites."""
    header = b'{"type":"session","id":"s-1","timestamp":"2026-01-05T08:00:00.000Z","cwd":"/p"}'
    said = b'{"type": "message","timestamp": "2026-01-05T08:00:01.000Z","message":%s}'
    odd = said % b'{"role":"user","content":"\xff\\u0041"}'
    two = said % b'{"role":"user","content":"two"}'
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join([header, b"{torn", odd, b"42", b"", two + b" "]))
    upgraded(path)
    lines = path.read_bytes().split(b"\n")

    assert [lines[n] for n in (1, 3, 4)] == [b"{torn", b"42", b""]
    assert lines[2].startswith(odd[:-1] + b',"id":"')
    assert len(load(path).branch()) == 2


def test_the_command(tmp_path: Path, run: Run) -> None:
    made = SessionBuilder(version=1)
    made.user("one")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data)
    out = tmp_path / "new.jsonl"

    assert run("upgrade", path, "--dry-run", "--json").json["upgraded"]
    assert path.read_bytes() == made.data
    assert run("upgrade", path, "--out", out).code == 0
    assert path.read_bytes() == made.data
    assert run("upgrade", path, "--out", out).code == 4
    done = run("upgrade", path, "--json").json
    assert path.read_bytes() == out.read_bytes()
    assert Path(done["backup"]).read_bytes() == made.data
    again = run("upgrade", path, "--json").json
    assert (again["upgraded"], again["backup"]) == (False, None)

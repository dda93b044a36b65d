"""`archive`: a session is in the store or whole in the archive, and comes back byte for byte."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Run
from pi_sessions import NotWrittenError, SessionWriter, UnreadableError, WouldOverwriteError
from pi_sessions._frames import packed
from pi_sessions.errors import SessionChangedError, SessionLockedError, WriteRefusedError
from pi_sessions.finding import Query, find
from pi_sessions.rewriting import snapshot
from pi_sessions.testing import SessionBuilder
from pi_sessions.tidy import archive
from pi_sessions.tidy.archive import archived, destination, look, put_away, restore
from tidy.stores import OLD, as_nobody, files, session


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An empty store."""
    root = tmp_path / "store"
    root.mkdir()
    return root


def put(path: Path, store: Path) -> archive.Archived:
    return put_away(str(path), snapshot(str(path)), store, archive.folder_of(store))


def test_there_and_back(store: Path) -> None:
    path = session(store, "apples")
    data, before = path.read_bytes(), path.stat()
    item = put(path, store)

    assert files(store) == {}
    assert not path.parent.exists()
    assert item.path == store.parent / "store-archive" / "--work-orchard--" / "apples.jsonl.zst"
    assert item.path.stat().st_mode == before.st_mode
    assert list(archived(archive.folder_of(store))) == [item]
    assert item.session(UTC).id == "apples"
    assert item.source().read(0, item.size) == data
    restore(item, destination(item, store))
    after = path.stat()

    assert path.read_bytes() == data
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert files(store.parent / "store-archive") == {}


TAILS = st.lists(
    st.binary(max_size=200) | st.sampled_from([b"\n", b"\r\n", b"{}", b'{"type":"x","id":"\xff"}'])
)


@given(tail=TAILS, mode=st.sampled_from([0o600, 0o644, 0o640, 0o400]), when=st.integers(0, 2**61))
def test_any_session_comes_back(tail: list[bytes], mode: int, when: int) -> None:
    """Whatever stands behind the header: bytes, mode and time are the same again."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name, "store")
        store.mkdir()
        path = store / "a.jsonl"
        data = b'{"type":"session","version":3,"id":"a"}\n' + b"\n".join(tail)
        path.write_bytes(data)
        path.chmod(mode)
        os.utime(path, ns=(when, when))
        before = path.stat()
        item = put(path, store)
        assert not path.exists()
        restore(item, destination(item, store))
        after = path.stat()

        assert path.read_bytes() == data
        assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


def test_what_changed_or_is_written_stays(store: Path) -> None:
    path = session(store, "apples")
    before = snapshot(str(path))
    path.write_bytes(path.read_bytes() + b"{}\n")
    folder = archive.folder_of(store)
    with pytest.raises(SessionChangedError):
        put_away(str(path), before, store, folder)
    with SessionWriter.open(path) as writer, writer.batch():
        writer.append_name("pears")
        told = as_nobody_else(path, store)
    assert told == "SessionLockedError"
    assert path.exists()
    assert not files(folder)


def as_nobody_else(path: Path, store: Path) -> str:
    try:
        put(path, store)
    except SessionLockedError as error:
        return type(error).__name__
    return "done"


def test_appended_to_at_the_last_moment(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Pi adds between the last look and the removal is not lost."""
    path = session(store, "apples")
    data = path.read_bytes()
    unlink = os.unlink

    def late(name: str) -> None:
        if name == str(path):
            with path.open("ab") as file:
                file.write(b'{"late":1}\n')
        unlink(name)

    monkeypatch.setattr(archive.os, "unlink", late)
    with pytest.raises(SessionChangedError):
        put(path, store)
    assert files(store.parent) == {"store/--work-orchard--/apples.jsonl": data + b'{"late":1}\n'}


def test_written_anew_at_the_last_moment(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = session(store, "apples")
    data = path.read_bytes()
    unlink = os.unlink

    def late(name: str) -> None:
        if name == str(path):
            with path.open("ab") as file:
                file.write(b"late\n")
            unlink(name)
            path.write_bytes(b"new\n")
        else:
            unlink(name)

    monkeypatch.setattr(archive.os, "unlink", late)
    with pytest.raises(NotWrittenError, match="all it was before is in"):
        put(path, store)
    assert path.read_bytes() == b"new\n"
    assert Path(f"{path}.bak1").read_bytes() == data + b"late\n"


def test_interrupted_behind_the_removal(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = session(store, "apples")
    data = path.read_bytes()
    unlink = os.unlink

    def interrupted(name: str) -> None:
        unlink(name)
        if name == str(path):
            raise KeyboardInterrupt

    monkeypatch.setattr(archive.os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(path, store)
    (item,) = archived(archive.folder_of(store))
    assert item.source().read(0, item.size) == data


def test_what_was_packed_is_read_back(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file that gives other bytes takes no session's place."""
    path = session(store, "apples")
    data = path.read_bytes()

    def wrong(chunks: Iterator[bytes], head: dict[str, object]) -> Iterator[bytes]:
        return packed([b"".join(chunks)[:-1]], head)

    monkeypatch.setattr(archive._frames, "packed", wrong)
    with pytest.raises(NotWrittenError, match="read back"):
        put(path, store)
    assert files(store.parent) == {"store/--work-orchard--/apples.jsonl": data}


def test_links_and_other_things(store: Path) -> None:
    path = session(store, "apples")
    link = store / "link.jsonl"
    link.symlink_to(path)
    with pytest.raises(WriteRefusedError, match="is a link"):
        put(link, store)
    fifo = store / "fifo.jsonl"
    os.mkfifo(fifo)
    with pytest.raises(WriteRefusedError, match="is no file"):
        put(fifo, store)
    item = put(path, store)
    with pytest.raises(WriteRefusedError, match="is packed already"):
        put(item.path, store)
    assert link.is_symlink()


def test_the_store_is_a_link(store: Path, tmp_path: Path) -> None:
    path = session(store, "apples")
    data = path.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(store)
    item = put(link / "--work-orchard--" / "apples.jsonl", link)
    restore(item, destination(item, link))
    assert path.read_bytes() == data


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach."""
    with tempfile.TemporaryDirectory(prefix="archive-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_folders_that_may_not_be_written(open_folder: Path) -> None:
    """Neither the store nor the archive: the session stays, and nothing else is there."""
    store = open_folder / "store"
    path = session(store, "apples")
    path.chmod(0o644)
    free = open_folder / "free"
    free.mkdir(mode=0o777)
    free.chmod(0o777)
    path.parent.chmod(0o555)
    before = snapshot(str(path))

    def work() -> None:
        for folder in (open_folder / "none", free):
            with pytest.raises(NotWrittenError, match=r"(?i)permission denied"):
                put_away(str(path), before, store, folder)

    assert as_nobody(work) == "done"
    path.parent.chmod(0o755)
    assert list(files(open_folder)) == ["store/--work-orchard--/apples.jsonl"]


def test_another_session_of_the_name(store: Path) -> None:
    """Both are kept, and each comes back."""
    first = put(session(store, "apples", turns=1), store)
    second = put(session(store, "apples", turns=2), store)
    assert second.path.name == "apples.2.jsonl.zst"
    restore(second, destination(second, store))
    with pytest.raises(WouldOverwriteError):
        restore(first, destination(first, store))
    assert first.path.exists()
    elsewhere = destination(first, store, store.parent / "else")
    restore(first, elsewhere, keep=True)
    assert elsewhere.name == "apples.jsonl"
    assert first.path.exists()


@pytest.mark.parametrize(
    "place",
    ["/etc/passwd.jsonl", "../a.jsonl", "--x--/../a.jsonl", "x/a.jsonl", "--x--/b/a.jsonl", "a",
     "", "--x--", "a\0.jsonl"],
)  # fmt: skip
def test_places_that_no_session_has(store: Path, place: str) -> None:
    """The head of a packed file may come from anybody."""
    item = hostile(store, place=place)
    with pytest.raises(WriteRefusedError, match="outside any store"):
        destination(item, store)


def hostile(store: Path, **fields: object) -> archive.Archived:
    item = put(session(store, "apples"), store)
    head = {"form": 1, "path": "/x", "place": "a.jsonl", "id": "a", "cwd": None, "name": None,
            "size": 3, "modified": 0, "mode": 0o4755, "sha256": "", **fields}  # fmt: skip
    data = item.source().read(0, item.size)
    item.path.write_bytes(b"".join(packed([data], head)))
    return look(item.path)


def test_heads_that_lie(store: Path) -> None:
    item = hostile(store)
    assert item.mode == 0o755
    with pytest.raises(UnreadableError, match="is damaged"):
        restore(item, destination(item, store))
    for fields in ({"size": "x"}, {"modified": 1 << 80}, {"mode": None}, {"cwd": 7}):
        with pytest.raises(UnreadableError, match="head is none"):
            hostile(store, **fields)
    assert len(list(archived(archive.folder_of(store)))) < len(files(archive.folder_of(store)))


def test_damaged_on_the_disk(store: Path) -> None:
    item = put(session(store, "apples", turns=50), store)
    whole = item.path.read_bytes()
    middle = len(whole) // 2
    item.path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(UnreadableError):
        restore(item, destination(item, store))
    assert item.path.exists()
    assert files(store) == {}


def test_a_text_is_found_in_it(store: Path) -> None:
    item = put(session(store, "apples", turns=3), store)
    hits = find(str(item.path), Query("answer 2 of apples"), UTC)

    assert [hit.role for hit in hits] == ["assistant"]
    assert find(str(item.path), Query("pears"), UTC) == []


def test_packed_by_others(store: Path) -> None:
    """A file that `zstd` has made is listed and given back as well."""
    data = session(store, "apples").read_bytes()
    folder = archive.folder_of(store) / "--work-orchard--"
    folder.mkdir(parents=True)
    (folder / "pears.jsonl.zst").write_bytes(zstandard.compress(data))
    (folder / "junk.jsonl.zst").write_bytes(struct.pack("<II", 0x184D2A5D, 2) + b"{}")
    (item,) = archived(folder.parent)
    path = destination(item, store)
    assert (item.id, item.size, item.digest) == ("apples", len(data), None)
    restore(item, path)
    assert path.read_bytes() == data


def test_names_of_any_kind(store: Path) -> None:
    folder = store / "--x--"
    folder.mkdir()
    for name in (b"a\nb\x1b[31m.jsonl", b"\xff\xfe.jsonl", "é\u202e𝒳.jsonl".encode(), b"-rf.jsonl"):
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        made = SessionBuilder(id="a", cwd="/\ud800\x1b")
        made.user("hi")
        path.write_bytes(made.data)
        item = put(path, store)
        restore(item, destination(item, store))
        assert path.read_bytes() == made.data


# The command


def test_the_command(store: Path, run: Run) -> None:
    words = ("--session-dir", store)
    one, two = session(store, "one"), session(store, "two", cwd="/work/barn")
    data = files(store)
    shown = run("archive", "one", *words, "--dry-run", "--json").json
    assert files(store) == data
    done = run("archive", "one", "--project", "/work/barn", *words, "--json").json
    listed = run("archive", "--list", *words, "--json").json

    assert shown["sessions"][0]["path"] == done["sessions"][0]["path"]
    assert [row["from"] for row in done["sessions"]] == [str(one), str(two)]
    assert [row["id"] for row in listed["sessions"]] == ["two", "one"]
    assert done["bytes"] == sum(map(len, data.values()))
    assert files(store) == {}
    assert run("show", done["sessions"][0]["path"], *words).code == 0
    assert run("ls", "--all", *words, "--json").json == []
    back = run("archive", "--restore", "tw", "--project", "/work/orchard", *words, "--json").json
    assert [row["path"] for row in back["sessions"]] == [str(two), str(one)]
    assert files(store) == data


def test_what_is_refused_and_the_rest(store: Path, run: Run) -> None:
    words = ("--session-dir", store)
    fresh, old = session(store, "fresh"), session(store, "old")
    os.utime(fresh, (time.time(), time.time()))
    done = run("archive", "fresh", "old", *words, "--json")

    assert done.code == 4
    assert "close Pi first" in done.err
    assert [row["path"] for row in done.json["refused"]] == [str(fresh)]
    assert fresh.exists()
    assert not old.exists()
    assert run("archive", "fresh", "--force", *words).code == 0
    assert not fresh.exists()


def test_wrong_use(store: Path, run: Run) -> None:
    words = ("--session-dir", store)
    for wrong in ([], ["x", "--keep"], ["x", "--to", "y"], ["x"], ["--restore", "x"]):
        assert run("archive", *wrong, *words).code == 2
    assert run("archive", "--list", *words, "--json").json["sessions"] == []
    assert run("archive", "/nowhere.jsonl", *words).code == 3
    (store / "junk.jsonl").write_bytes(b"junk\n")
    os.utime(store / "junk.jsonl", (OLD, OLD))
    assert run("archive", store / "junk.jsonl", *words).code == 3


def test_nothing_that_writes_takes_a_packed_file(store: Path, run: Run) -> None:
    item = put(session(store, "apples"), store)
    before = files(store.parent)
    for words in (
        ["name", item.path, "x"],
        ["repair", item.path],
        ["upgrade", item.path],
        ["move", item.path, "--cwd", "/y"],
    ):
        done = run(*words, "--session-dir", store)
        assert done.code in (2, 3, 4), words
        assert "is packed" in done.err
    assert {k: v for k, v in files(store.parent).items() if not k.startswith("home")} == before


def test_sessions_are_as_they_were_for_every_reader(store: Path, run: Run) -> None:
    path = session(store, "apples", turns=5)
    plain = store.parent / "plain.jsonl"
    plain.write_bytes(path.read_bytes())
    item = put(path, store)
    for words in (["lines"], ["context"], ["context", "--tail"], ["tree"], ["check"], ["usage"]):
        mine, its = (run(*words, each, "--json").json for each in (item.path, plain))
        for document in (mine, its):
            if isinstance(document, dict):
                document.pop("path", None)
        assert json.dumps(mine).replace(str(item.path), "") == json.dumps(its).replace(
            str(plain), ""
        ), words

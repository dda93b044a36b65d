"""What the writer does on its own: files that appear, checks, batches, torn tails, versions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import SHARED, need
from pi_sessions import (
    EntryNotFoundError,
    FormatError,
    NotASessionError,
    SessionChangedError,
    SessionWriter,
    UnreadableError,
    VersionNotWritableError,
    fork,
    fork_branch,
    load,
    loads,
)
from pi_sessions.testing import SessionBuilder, system_message
from writer.conftest import renamed
from writer.messages import assistant, result, turn, user

HEADER = (
    b'{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-05T08:00:00.000Z","cwd":"/"}\n'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of four entries in a file."""
    made = SessionBuilder()
    made.system("You name apples.", sections={"style": "Short."})
    made.user("Name an apple.")
    made.assistant("Cox.")
    made.user("Another.")
    file = tmp_path / "session.jsonl"
    file.write_bytes(made.data)
    return file


def test_a_file_appears_with_the_first_message(tmp_path: Path) -> None:
    """Settings, prompts and shell runs alone leave no file, and no folder either."""
    folder = tmp_path / "new" / "folder"
    writer = SessionWriter.create(folder, "/work/orchard")
    writer.append_model_change("birch", "birch-1")
    writer.append_message(system_message("You name apples."))
    writer.append_message({"role": "bashExecution", "command": "ls", "output": ""})
    assert not folder.exists()
    assert not writer.has_file

    writer.append_message(user())

    assert [os.fspath(file) for file in folder.iterdir()] == [writer.path]
    session = load(writer.path or "")
    assert [entry.type for entry in session.entries] == ["model_change", *["message"] * 3]
    assert session.cwd == "/work/orchard"
    assert not session.diagnostics


def test_session_ids_sort_by_time(tmp_path: Path) -> None:
    """They are UUIDs of version 7, and an id of one's own is taken if Pi would take it."""
    made = [SessionWriter.create(tmp_path, "/", clock=lambda now=now: now) for now in (5, 10**12)]
    ids = [writer.session_id for writer in made]
    assert ids == sorted(ids)
    assert all(name[14] == "7" and name[19] in "89ab" for name in ids)
    assert SessionWriter.create(tmp_path, "/", session_id="apples.1").session_id == "apples.1"
    for bad in ("", "-a", "a/b", "a ", "ä"):
        with pytest.raises(ValueError, match="is no session id"):
            SessionWriter.create(tmp_path, "/", session_id=bad)


def test_opening_writes_nothing(path: Path) -> None:
    """Not even the newline of a torn tail."""
    data = path.read_bytes()[:-9]
    path.write_bytes(data)
    with SessionWriter.open(path) as writer:
        assert writer.data == data
    assert path.read_bytes() == data


def test_a_torn_tail_is_closed_by_the_next_append(path: Path) -> None:
    """By the same write; the torn text stays, and its line has a number of its own."""
    torn = path.read_bytes()[:-9]
    path.write_bytes(torn)
    with SessionWriter.open(path) as writer:
        made = writer.append_message(user(1))
        assert writer.session.entry(made).line == 6
        again = writer.append_message(assistant(2))
        assert writer.session.entry(again).raw["message"]["content"][0]["text"] == "Cox. 2"
    data = path.read_bytes()
    assert data.startswith(torn + b'\n{"type":"message"')
    assert load(path).entry(made).raw["parentId"] == load(path).at(4).id


@pytest.mark.parametrize("batch", [False, True])
def test_a_last_line_without_newline_is_kept(path: Path, batch: bool) -> None:
    """It is an entry, and what follows it stands on the next line."""
    path.write_bytes(path.read_bytes()[:-1])
    leaf = load(path).leaf
    with SessionWriter.open(path) as writer:
        if batch:
            with writer.batch():
                assert writer.append_label(str(leaf and leaf.id), "x")
        else:
            assert writer.append_label(str(leaf and leaf.id), "x")
        assert writer.data == path.read_bytes()
    assert list(load(path).labels.values()) == ["x"]
    assert not load(path).diagnostics


def test_a_batch_is_all_or_nothing(path: Path) -> None:
    """What it holds is seen inside it, and written by its end or not at all."""
    before = path.read_bytes()

    def fail(writer: SessionWriter) -> None:
        with writer.batch():
            made = writer.append_message(assistant(1))
            assert writer.session.entry(made).raw["message"]["content"][0]["text"] == "Cox. 1"
            raise ZeroDivisionError

    with SessionWriter.open(path) as writer:
        leaf = writer.leaf
        with pytest.raises(ZeroDivisionError):
            fail(writer)
        assert (path.read_bytes(), writer.leaf, writer.data) == (before, leaf, before)
        with writer.batch():
            pass
        assert path.read_bytes() == before
        with writer.batch():
            first = writer.append_message(assistant(2))
            writer.append_compaction("Apples.", first, 9)
            assert path.read_bytes() == before
        assert path.read_bytes() == writer.data
    session = load(path)
    assert session.entries[-1].raw["systemMessage"]["sections"] == {"style": "Short."}
    assert [entry.id for entry in session.context().entries][-1] == first


@pytest.mark.parametrize("first", [None, "00000002"])
def test_many_messages_are_as_one_after_another(path: Path, first: str | None) -> None:
    """The same lines but for the ids, in one write; none of them if one is refused."""
    odd = [{"role": "weather", "content": [1.0, 1e21, {"2": 0, "1": "\ud83d"}]}, user(4, "1.5")]
    messages = [*(turn(number) for number in range(5)), *odd]
    data, told = path.read_bytes(), []
    for many in (False, True):
        path.write_bytes(data)
        with SessionWriter.open(path, clock=lambda: 1_790_000_000_000) as writer:
            if first:
                writer.branch_from(first)
            if many:
                made = writer.append_messages(iter(messages))
            else:
                made = [writer.append_message(message) for message in messages]
            assert made == [entry.id for entry in writer.session.entries[-7:]]
            assert writer.leaf == made[-1]
            assert writer.data == path.read_bytes()
        told.append(renamed([path.read_text()]))
    assert told[0] == told[1]
    with SessionWriter.open(path) as writer:
        before = path.read_bytes()
        with pytest.raises(ValueError, match="an object with a role"):
            writer.append_messages([user(), {"content": "x"}])
        assert writer.append_messages([]) == []
        assert (path.read_bytes(), writer.data) == (before, before)


def test_very_many_messages(path: Path) -> None:
    """They are taken as they come; if making them fails, none is written."""

    def made(count: int) -> Iterator[dict[str, Any]]:
        for number in range(count):
            yield turn(number)
        if count < 1200:
            raise ZeroDivisionError

    with SessionWriter.open(path) as writer:
        before = path.read_bytes()
        with pytest.raises(ZeroDivisionError):
            writer.append_messages(made(900))
        assert (path.read_bytes(), writer.data) == (before, before)
        ids = writer.append_messages(made(1200))
        assert writer.data == path.read_bytes()
    session = load(path)
    assert [entry.id for entry in session.branch()][-1200:] == ids
    assert len(set(ids)) == 1200
    assert session.entries[-1].raw["message"] == turn(1199)


def test_a_batch_begins_a_session(tmp_path: Path) -> None:
    """One write makes the file; a failure inside leaves the session as it was."""
    writer = SessionWriter.create(tmp_path / "s", "/")

    def fail() -> None:
        with writer.batch():
            writer.append_message(user(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert writer.leaf is None
    assert not (tmp_path / "s").exists()
    with writer.batch():
        for number in range(50):
            writer.append_message(turn(number))
        assert not writer.has_file
    assert len(load(writer.path or "").entries) == 50


def test_what_the_reference_refuses(path: Path) -> None:
    """Edits of what is not on the branch, or has nothing to edit; labels of nobody."""
    with SessionWriter.open(path) as writer:
        system, first, reply, _ = (str(entry.id) for entry in writer.session.entries)
        before = path.read_bytes()
        with pytest.raises(ValueError, match="neither a user"):
            writer.append_context_edit(system, None)
        with pytest.raises(ValueError, match="a replacement is"):
            writer.append_context_edit(first, {"content": 5})
        with pytest.raises(EntryNotFoundError):
            writer.append_label("nobody", "x")
        with pytest.raises(EntryNotFoundError):
            writer.append_compaction("x", "nobody", 1)
        with pytest.raises(ValueError, match="has an entry of its own"):
            writer.append_message({"role": "compactionSummary"})
        with pytest.raises(ValueError, match="an object with a role"):
            writer.append_message({"content": "x"})
        with pytest.raises(ValueError, match="text or a list"):
            writer.append_custom_message("note", None)
        writer.branch_from(first)
        with pytest.raises(EntryNotFoundError, match="on the branch"):
            writer.append_context_edit(reply, None)
        with pytest.raises(EntryNotFoundError):
            writer.branch_with_summary("nobody", "x")
        assert writer.leaf == first
        assert path.read_bytes() == before


def test_values_are_written_as_javascript_writes_them() -> None:
    """Numbers, key order, lone surrogates; what is no JSON is refused."""
    writer = SessionWriter.in_memory("/")
    writer.append_custom("x", {"b": 1.0, "10": 1e21, "2": -0.0, "a": "\ud83d", "c": 2**60})
    line = writer.data.splitlines()[1]
    assert b'"data":{"2":0,"10":1e+21,"b":1,"a":"\\ud83d","c":1152921504606847000}' in line
    with pytest.raises(TypeError):
        writer.append_custom("x", object())
    assert len(writer.session.entries) == 1


@pytest.mark.parametrize(("version", "newer"), [(None, False), (2, False), (4, True), ("x", False)])
def test_other_versions_are_refused(tmp_path: Path, version: object, newer: bool) -> None:
    """A newer one can be forced; an old one cannot, but can be forked."""
    file = tmp_path / "old.jsonl"
    said = b"" if version is None else b'"version":%s,' % str(version).encode()
    said = b'"version":"x",' if version == "x" else said
    data = b'{"type":"session",%s"id":"s-1","timestamp":"","cwd":"/"}\n' % said
    file.write_bytes(
        data + b'{"type":"message","id":"a","message":{"role":"user","content":"x"}}\n'
    )
    before = file.read_bytes()
    with pytest.raises(VersionNotWritableError, match="newer than 3" if newer else "upgrade"):
        SessionWriter.open(file)
    if newer:
        with pytest.raises(VersionNotWritableError):
            fork(load(file), tmp_path)
        with SessionWriter.open(file, force=True) as writer:
            writer.append_name("x")
        return
    with pytest.raises(VersionNotWritableError):
        SessionWriter.open(file, force=True)
    assert file.read_bytes() == before


def test_no_session_is_opened(tmp_path: Path) -> None:
    """A missing file, an empty one, one of other things."""
    file = tmp_path / "none.jsonl"
    with pytest.raises(UnreadableError):
        SessionWriter.open(file)
    for data in (b"", b"\n", b"{}\n", b"apples\n"):
        file.write_bytes(data)
        with pytest.raises(NotASessionError):
            SessionWriter.open(file)
        assert file.read_bytes() == data


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    """What it means is written."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    with SessionWriter.open(link) as writer:
        writer.append_name("apples")
    assert link.is_symlink()
    assert load(path).name == "apples"


def test_a_leaf_without_id_cannot_be_followed(path: Path) -> None:
    """Nothing is written that would begin another tree."""
    path.write_bytes(
        path.read_bytes() + b'{"type":"custom","customType":"x","parentId":"00000004"}\n'
    )
    before = path.read_bytes()
    with SessionWriter.open(path) as writer:
        with pytest.raises(EntryNotFoundError, match="line 6"):
            writer.append_message(user())
        assert path.read_bytes() == before
        writer.branch_from("00000004")
        writer.append_message(user())


class TestOthersWrite:
    """Another program appends while a writer is open."""

    @staticmethod
    def other(path: Path, parent: str | None, kind: str = "message") -> None:
        """Append as Pi does: no lock, one write."""
        what = {
            "message": '"message":{"role":"user","content":"from Pi"}',
            "label": f'"targetId":"{parent}","label":"x"',
            "model_change": '"provider":"birch","modelId":"birch-1"',
        }[kind]
        said = "null" if parent is None else f'"{parent}"'
        made = os.urandom(4).hex()
        with path.open("ab", buffering=0) as file:
            file.write(f'{{"type":"{kind}","id":"{made}","parentId":{said},{what}}}\n'.encode())

    def test_a_conversation_that_went_on_is_not_forked(self, path: Path) -> None:
        """Not at the first try and not at the second; after a look, behind the new end."""
        with SessionWriter.open(path) as writer:
            self.other(path, writer.leaf)
            before = path.read_bytes()
            for _ in range(2):
                with pytest.raises(SessionChangedError, match="has gone on behind"):
                    writer.append_message(assistant())
            with pytest.raises(SessionChangedError), writer.batch():
                writer.append_message(assistant())
            assert path.read_bytes() == before
            writer.refresh()
            made = writer.append_message(assistant())
        parent = load(path).entry(made).parent
        assert parent is not None
        assert parent.raw["message"]["content"] == "from Pi"

    def test_what_is_about_the_file_goes_behind_it(self, path: Path) -> None:
        """A name, a label, usage: they never move the leaf to another branch."""
        with SessionWriter.open(path) as writer:
            first = str(writer.leaf)
            self.other(path, first)
            name = writer.append_name("apples")
            self.other(path, name, "model_change")
            label = writer.append_label(first, "x")
            self.other(path, label)
            writer.append_usage("title", "birch", "birch-1", {})
            writer.append_message(assistant())
        session = load(path)
        assert len(session.branch()) == len(session.entries)

    def test_a_label_of_others_changes_nothing(self, path: Path) -> None:
        """A message goes on behind it."""
        with SessionWriter.open(path) as writer:
            self.other(path, writer.leaf, "label")
            writer.append_message(assistant())
        session = load(path)
        assert len(session.branch()) == len(session.entries)

    def test_a_branch_of_our_own_goes_on(self, path: Path) -> None:
        """As long as nobody goes on with it; a chosen point stays whatever comes."""
        with SessionWriter.open(path) as writer:
            end = writer.leaf
            writer.branch_from("00000002")
            self.other(path, "00000002")
            writer.append_message(assistant(1))
            self.other(path, end)
            mine = writer.append_message(user(2))
            self.other(path, mine)
            before = path.read_bytes()
            for _ in range(2):
                with pytest.raises(SessionChangedError):
                    writer.append_message(assistant(3))
            assert path.read_bytes() == before
            writer.branch_from(mine)
            writer.append_message(assistant(3))

    def test_another_file_of_the_same_name(self, path: Path) -> None:
        """A copy with the same session is gone on with, another session is not touched."""
        with SessionWriter.open(path) as writer:
            copy = path.with_name("copy")
            copy.write_bytes(path.read_bytes())
            copy.replace(path)
            writer.append_message(assistant(1))
            assert len(load(path).entries) == 5
            for data in (HEADER, b"apples\n", b""):
                copy.write_bytes(data)
                copy.replace(path)
                with pytest.raises(SessionChangedError):
                    writer.append_message(assistant(2))
                assert path.read_bytes() == data
            path.unlink()
            with pytest.raises(SessionChangedError, match="is gone"):
                writer.append_message(assistant(3))

    def test_a_shorter_file(self, path: Path) -> None:
        """Without our leaf nothing is appended; with it, it goes on."""
        with SessionWriter.open(path) as writer:
            data = path.read_bytes()
            lines = data.splitlines(keepends=True)
            path.write_bytes(b"".join(lines[:-1]))
            with pytest.raises(SessionChangedError, match="has no entry"):
                writer.append_message(assistant(1))
            path.write_bytes(data)
            writer.append_message(assistant(2))
        assert len(load(path).entries) == 5

    def test_somebody_else_in_the_middle_of_a_write(self, path: Path) -> None:
        """Half a line of theirs is closed, not continued."""
        with SessionWriter.open(path) as writer:
            with path.open("ab") as file:
                file.write(b'{"type":"message","id":"77')
            writer.append_message(assistant(1))
        session = load(path)
        assert len(session.entries) == 5
        assert len(session.branch()) == 5


def everything() -> list[Path]:
    folders = [SHARED / "wire", SHARED / "cases", SHARED / "real"]
    return [file for folder in folders for file in sorted(folder.rglob("*.jsonl"))]


def test_opening_changes_no_file(tmp_path: Path) -> None:
    """Every recording, case and real file: opened, read back, copied line by line."""
    need(SHARED / "real")
    opened = copied = 0
    for source in everything():
        data = source.read_bytes()
        file = tmp_path / "copy.jsonl"
        file.write_bytes(data)
        try:
            with SessionWriter.open(file) as writer:
                assert writer.data == data
        except (FormatError, VersionNotWritableError):
            pass
        else:
            opened += 1
            closed = data if data.endswith(b"\n") else data + b"\n"
            assert SessionWriter.from_bytes(data).data == closed
            if not loads(data).diagnostics:
                assert (
                    fork(loads(data), None).data.partition(b"\n")[2] == closed.partition(b"\n")[2]
                )
                copied += 1
        assert file.read_bytes() == data
    assert opened > 140
    assert copied > 100


@pytest.mark.parametrize("name", ["before-compaction", "large-session"])
def test_forks_of_real_sessions(tmp_path: Path, name: str) -> None:
    """Version 1 is migrated on the way, and the new session tells what the old one did."""
    session = load(need(SHARED / "real" / f"{name}.jsonl"))
    for made in (fork(session, tmp_path), fork_branch(session, tmp_path)):
        new = load(made.path or "")
        assert new.version == 3
        assert new.header.parent_session == session.path
        assert new.context().messages == session.context().messages
        assert [entry.id for entry in new.entries] == [entry.id for entry in session.entries]


def test_the_results_of_a_branch(tmp_path: Path) -> None:
    """A fork in memory has no parent, and nothing is written for it."""
    made = SessionBuilder()
    made.user("x")
    made.assistant("y")
    writer = fork_branch(loads(made.data), None)
    assert writer.path is None
    assert b"parentSession" not in writer.data
    writer.append_message(result())
    assert len(writer.session.entries) == 3
    assert not list(tmp_path.iterdir())

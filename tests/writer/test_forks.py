"""Forks of every recording and case, at several entries, beside those of the reference."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from conftest import SHARED, need
from pi_sessions import Code, FormatError, Session, _json, fork, fork_branch, load
from writer.conftest import NOW, ReferenceWriter, Refused, renamed

_PARENT = re.compile(r'"parentSession":"[^"]*"')


def sources() -> list[Path]:
    return [file for name in ("wire", "cases") for file in sorted((SHARED / name).rglob("*.jsonl"))]


def odd(session: Session) -> bool:
    """Say whether the reference hangs on it, or reads it otherwise by choice (divergences.toml)."""
    codes = {found.code for found in session.check()}
    choices = {Code.CYCLE, Code.SELF_PARENT, Code.NOT_AN_ENTRY, Code.MISSING_ID, Code.BOM}
    return bool(codes & (choices | {Code.MISSING_FIELD, Code.WRONG_TYPE}))


def leaves(session: Session) -> list[str]:
    """Give the file's leaf, one in the middle, and the ends of all branches."""
    ids = [entry.id for entry in session.entries]
    ends = [session.at(line).id for line in session.tree.leaves()]
    return [name for name in dict.fromkeys([ids[-1], ids[len(ids) // 2], *ends[:2]]) if name]


def made(folder: Path, known: frozenset[str], exact: bool) -> str:
    (file,) = folder.glob("*.jsonl")
    data = file.read_bytes()
    if not exact:
        # A line that is not Pi's own keeps its bytes with us; the reference writes it anew.
        data = b"".join(_json.encode(_json.loads(line)) + b"\n" for line in data.split(b"\n")[:-1])
    text = data.decode("utf-8")
    return _PARENT.sub('"parentSession":""', renamed([text], known)[0])


def fresh(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def test_forks(tmp_path: Path, reference_writer: ReferenceWriter) -> None:
    """The same lines but for what is invented; those of Pi's own files byte for byte."""
    need(SHARED / "wire")
    branches = wholes = 0
    for source in sources():
        file = tmp_path / "source.jsonl"
        shutil.copyfile(source, file)
        try:
            session = load(file)
        except FormatError:
            continue
        if session.version != 3 or odd(session) or not session.entries:
            continue
        exact = source.is_relative_to(SHARED / "wire")
        known = frozenset(str(entry.id) for entry in session.entries)
        for leaf in leaves(session):
            theirs, ours = fresh(tmp_path / "theirs"), fresh(tmp_path / "ours")
            reference_writer("begin", folder=os.fspath(theirs), cwd=session.cwd or "/")
            reference_writer("open", path=os.fspath(file))
            try:
                reference_writer("fork", target=leaf)
            except Refused:
                pytest.fail(f"{source}: the reference refuses {leaf}")
            writer = fork_branch(
                session, ours, leaf, cwd=session.cwd or os.fspath(Path.cwd()), clock=now
            )
            assert writer.has_file == bool(list(theirs.iterdir())), (source, leaf)
            if writer.has_file:
                assert made(ours, known, exact) == made(theirs, known, exact), (source, leaf)
                branches += 1
        theirs, ours = fresh(tmp_path / "theirs"), fresh(tmp_path / "ours")
        reference_writer("begin", folder=os.fspath(theirs), cwd="/work/pears")
        reference_writer("open", path=os.fspath(file))
        reference_writer("forkAll")
        if fork(session, ours, cwd="/work/pears", clock=now).has_file:
            assert made(ours, known, exact) == made(theirs, known, exact), source
            wholes += 1
    assert branches > 200
    assert wholes > 100


def now() -> int:
    return NOW

"""A session file again: byte for byte the same, and a branch as the reference exports it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import assume, given, seed, settings

from conftest import ROOT, SHARED, need
from export.conftest import BranchExport
from pi_sessions import _json, load, loads
from pi_sessions.errors import NotASessionError
from pi_sessions.export import Options, chunks
from pi_sessions.session import Session
from pi_sessions.testing import MISSING, SessionBuilder
from property import strategies

DEMO = ROOT / "examples/demo/session.jsonl"
EXAMPLES = int(os.environ.get("PI_SESSIONS_BRANCHES", "120"))
RECORDED = sorted(
    [
        DEMO,
        *ROOT.glob("tests/recordings/*/session*.jsonl"),
        *SHARED.glob("wire/*/session*.jsonl"),
        *SHARED.glob("wire/*/original.jsonl"),
    ]
)
OTHERS = sorted([*SHARED.glob("cases/*/*.jsonl"), *SHARED.glob("real/*.jsonl")])


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def exported(session: Session, **options: object) -> bytes:
    return b"".join(chunks("jsonl", session, Options(**options)))


def test_the_shared_folder_is_whole() -> None:
    need(SHARED / "wire")
    assert len(RECORDED) > 80
    assert len(OTHERS) > 55


def test_the_whole_file_is_the_same() -> None:
    """Every file that is a session comes out as it was."""
    same = 0
    for path in [*RECORDED, *OTHERS]:
        try:
            session = load(path)
        except NotASessionError:
            continue
        assert exported(session) == path.read_bytes(), path
        same += 1
    assert same >= len(RECORDED)


@given(strategies.damaged_sessions())
def test_any_session_is_the_same(data: bytes) -> None:
    try:
        session = loads(data)
    except NotASessionError:
        assume(False)
    assert exported(session) == data


def agree(data: bytes, branch_export: BranchExport, count: int = 4) -> int:
    """Compare the branch of the file's leaf and of some other leaves; count the comparisons."""
    session = loads(data)
    ids = [entry.id for entry in session.entries if entry.line not in session.table.shadowed]
    leaves = [None, *[i for i in ids[:: max(len(ids) // count, 1)] if i]]
    if session.table.stored_version < 2:
        leaves = [None]  # the reference invents ids
    compared = 0
    for leaf, theirs in zip(leaves, branch_export(data, leaves), strict=True):
        if theirs is None:
            continue
        first = theirs.partition("\n")[0]
        ours = exported(
            session, branch=True, leaf=leaf, timestamp=_json.loads(first.encode())["timestamp"]
        )
        assert renamed(session, ours, theirs) == ours.decode(), leaf
        compared += 1
    return compared


def renamed(session: Session, ours: bytes, theirs: str) -> str:
    """Put the ids we derive in the place of those the reference invents for version 1."""
    if session.table.stored_version >= 2:
        return theirs
    for mine, its in zip(ours.split(b"\n"), theirs.split("\n"), strict=True):
        if mine:
            invented, derived = _json.loads(its.encode())["id"], _json.loads(mine)["id"]
            theirs = theirs.replace(f'"{invented}"', f'"{derived}"')
    return theirs


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_recorded_branches(path: Path, branch_export: BranchExport) -> None:
    """What the real Pi wrote is exported as the real Pi exports it."""
    assert agree(path.read_bytes(), branch_export) > 0


@pytest.mark.parametrize("path", sorted(SHARED.glob("real/*.jsonl")), ids=name_of)
def test_real_branches(path: Path, branch_export: BranchExport) -> None:
    assert agree(path.read_bytes(), branch_export) == 1


def test_generated_branches(branch_export: BranchExport) -> None:
    """Generated sessions of all versions: the same bytes."""
    compared = 0

    @seed(3)
    @settings(max_examples=EXAMPLES, database=None)
    @given(strategies.sessions())
    def run(data: bytes) -> None:
        nonlocal compared
        assume(not loads(data).tree.cycles())  # there the reference never ends
        compared += agree(data, branch_export)

    run()
    print(f"{compared} branches are the same")
    assert compared > EXAMPLES


def test_a_leaf_without_id_is_part_of_its_branch() -> None:
    """Ours alone: the reference has no leaf then, and exports nothing."""
    session = SessionBuilder()
    session.user("one")
    session.user("two", id=MISSING)
    lines = exported(loads(session.data), branch=True).splitlines()
    assert [_json.loads(line).get("parentId", 0) for line in lines] == [0, None, "00000001"]


def test_a_branch_may_be_of_a_reply() -> None:
    session = load(DEMO)
    reply = session.responses[2]
    lines = exported(session, response=reply.id).splitlines()
    leaf = session.context(response=reply.id).leaf
    assert leaf is not None
    assert _json.loads(lines[-1])["id"] == leaf.id
    assert len(lines) == len(session.branch(leaf)) + 1

"""The list of sessions: as the reference lists them, what it adds, and what it passes over."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run
from conformance import reference
from conftest import REQUIRED, SHARED, need
from pi_sessions import _pool, store
from pi_sessions.cli.listing import preview, short_ids
from pi_sessions.testing import MISSING, SessionBuilder, text_block

KEYS = (
    "id", "cwd", "name", "parentSession", "created", "modified", "messageCount", "firstMessage",
)  # fmt: skip


def theirs(folder: Path, cwd: str) -> dict[str, list[dict[str, Any]]]:
    if why := reference.missing():
        assert not REQUIRED, why
        pytest.skip(why)
    node = reference.find_node()
    assert node is not None
    program = Path(__file__).parent / "list.mjs"
    words = [node, program, folder, cwd]
    done = subprocess.run(words, capture_output=True, check=True, timeout=120)
    told: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return told


def told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"path": Path(row["path"]).name} | {k: row[k] for k in KEYS} for row in rows]


def generated(folder: Path, seed: int, count: int, *, alone: bool = False) -> None:
    """Write sessions of all shapes in which the reference and we are to agree.

    Args:
        folder: where to.
        seed: of what is drawn.
        count: of sessions.
        alone: none is a fork, and ids of entries are their own.
    """
    rnd = random.Random(seed)
    names: list[str] = []
    for n in range(count):
        header: dict[str, Any] = {}
        if rnd.random() < 0.1:
            header["timestamp"] = rnd.choice(["yesterday", 1_770_000_000_000 + n, None])
        if names and not alone and rnd.random() < 0.3:
            header["parentSession"] = str(folder / rnd.choice(names))
        cwd = rnd.choice(["/a/b-c", "/a-b/c", "/a/b-c/", ""])
        made = SessionBuilder(id=f"{n:04x}-{rnd.getrandbits(32):08x}", cwd=cwd, **header)
        ids = [made.system(sections={"preamble": "x"})] if rnd.random() < 0.2 else []
        for _ in range(rnd.randrange(12)):
            ids.append(entry(made, rnd))
            if rnd.random() < 0.2:
                made.at(rnd.choice(ids))
        if rnd.random() < 0.1:
            made.raw_line(rnd.choice([b"{broken", b"", b"null", b"[1]", b'"text"']))
        names.append(f"2026-01-{1 + n % 28:02d}T00-00-00-000Z_{n:04x}.jsonl")
        (folder / names[-1]).write_bytes(made.data)
        stamp = 1_760_000_000 + rnd.randrange(10**6)
        os.utime(folder / names[-1], (stamp, stamp))


def entry(made: SessionBuilder, rnd: random.Random) -> str:
    late = {"timestamp": 1_770_000_000_000 + rnd.randrange(10**9)}
    odd = {"timestamp": rnd.choice([MISSING, "soon", None])}
    place: dict[str, Any] = rnd.choice([{}, {}, {"message": late}, {"message": odd}])
    content = [text_block("one"), text_block(f"two {rnd.random()}")]
    match rnd.randrange(9):
        case 0:
            return made.user(rnd.choice(["", " hi ", content, [], "größe 中文"]), **place)
        case 1:
            return made.user(f"said {rnd.random()}", **place)
        case 2 | 3:
            return made.assistant(f"told {rnd.random()}", usage=reported(rnd), **place)
        case 4:
            return made.tool_result("call-1", "gave", **place)
        case 5:
            return made.name(rnd.choice(["a name", "  spaces ", "", "\u00a0", "zwölf"]))
        case 6:
            return made.bash("ls", "a b")
        case 7:
            if rnd.random() < 0.5:
                return made.usage(reported(rnd))
            return made.branch_summary("left", extra={"usage": reported(rnd)})
        case _:
            return made.custom_message("noted")


def reported(rnd: random.Random) -> dict[str, Any]:
    tokens = {key: rnd.randrange(9000) for key in ("input", "output", "cacheRead", "cacheWrite")}
    cost = {key: value / 1e5 for key, value in tokens.items()}
    return {**tokens, "totalTokens": 0, "cost": {**cost, "total": sum(cost.values())}}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_list_is_that_of_the_reference(run: Run, tmp_path: Path, seed: int) -> None:
    """Every field and the order, of all projects and of one."""
    folder = tmp_path / "store"
    folder.mkdir()
    generated(folder, seed, 60)
    expected = theirs(folder, "/a/b-c")

    assert told(run("ls", folder, "--json").json) == told(expected["all"])
    here = run("ls", "--session-dir", folder, "--cwd", "/a/b-c", "--json").json
    assert told(here) == told(expected["here"])
    assert 5 < len(here) < 60


def test_recorded_sessions_are_listed_as_the_reference_lists_them(run: Run, tmp_path: Path) -> None:
    files = sorted((Path(__file__).parent.parent / "recordings").glob("*/session*.jsonl"))
    files += sorted((SHARED / "wire").glob("*/session*.jsonl"))
    files += sorted((SHARED / "real").glob("*.jsonl"))
    # The reference lists as if two characters ended a line, which they do not when it opens a
    # file; it leaves out files with a message without content, and old names of the parent.
    unlike = ("\u2028".encode(), "\u2029".encode(), b'"content":null', b'"branchedFrom"')
    for number, path in enumerate(files):
        if not any(text in path.read_bytes() for text in unlike):
            shutil.copy(path, tmp_path / f"{number:03}.jsonl")
    expected = theirs(tmp_path, "/")

    ours = {row["path"]: row for row in told(run("ls", tmp_path, "--json").json)}
    assert ours == {row["path"]: row for row in told(expected["all"])}
    assert len(ours) > 20


UNLIKE = {
    "02": "the reference takes a line separator for the end of a line",
    "38": "the reference leaves out a file in which a message has no content",
    "47": "the reference refuses a byte order mark",
    "39": "the reference leaves out a file with a message entry that has no message",
}
"""Cases in which the list of the reference is a fault of it."""


def test_lists_of_cases(run: Run) -> None:
    """What the reference gave for the cases that were listed."""
    compared = 0
    for case in sorted(need(SHARED / "cases").iterdir()):
        expected = json.loads((case / "expected.json").read_bytes())["ops"].get("list")
        if expected is None or case.name[:2] in UNLIKE:
            continue
        asked = json.loads((case / "case.json").read_bytes()).get("op_args", {}).get("list", {})
        folder = case / asked.get("dir", "")
        rows = run("ls", folder, "--json", "--session-dir", folder).json
        wanted = {row["file"]: row for row in expected["listAll"]}
        for row in rows:
            name = os.path.relpath(row["path"], folder)
            if os.sep in name:  # a folder of the default directory, which was not asked for
                continue
            want = wanted.pop(name)
            assert row["parentSession"] == want["parent"], case.name
            keys = set(KEYS) - {"parentSession"}
            assert {key: row[key] for key in keys} == {key: want[key] for key in keys}, case.name
            compared += 1
        assert not wanted, case.name

    assert compared >= 8


def test_the_header_decides_never_the_folder(run: Run) -> None:
    folder = next(need(SHARED / "cases").glob("63-*"))
    rows = run("ls", "--session-dir", folder, "--cwd", "/a/b-c", "--json").json

    assert "y.jsonl" not in " ".join(row["path"] for row in rows)
    assert {row["cwd"] for row in rows} == {"/a/b-c"}
    newest = store.newest(folder / "--a-b-c--", "/a/b-c")
    assert newest.name.endswith("_x.jsonl")


def test_foreign_files_are_passed_over_and_named(run: Run) -> None:
    folder = next(need(SHARED / "cases").glob("62-*"))
    rows = run("ls", folder, "--json").json
    said = run("ls", folder).out.decode()
    named = run("ls", folder, "--verbose").out.decode()

    assert [Path(row["path"]).name for row in rows] == ["session.jsonl"]
    assert run("usage", "--all", "--session-dir", folder, "--json").json["cost"] == 1.0
    assert "--verbose tells why" in said
    for name in ("bad.jsonl", "empty.jsonl", "transcript.jsonl", "nested", "notes.txt"):
        assert name in named
        assert name not in said


def session(path: Path, **keys: Any) -> Path:
    made = SessionBuilder(**keys)
    made.user("hi")
    made.assistant("ho")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data)
    return path


def test_several_stores_each_file_once(run: Run, tmp_path: Path) -> None:
    """Repeated --session-dir; links to files and folders are followed; loops end."""
    one, two = tmp_path / "one", tmp_path / "two"
    real = session(one / "--w--" / "a.jsonl", id="a")
    session(two / "b.jsonl", id="b")
    (two / "--link--").symlink_to(one / "--w--")
    (two / "again.jsonl").symlink_to(real)
    (two / "gone.jsonl").symlink_to(two / "nothing")
    (two / "self.jsonl").symlink_to(two / "self.jsonl")
    (two / "--self--").symlink_to(two / "--self--")
    os.link(two / "b.jsonl", two / "hard.jsonl")
    both = run("ls", "--all", "--session-dir", two, "--session-dir", one, "--json").json

    assert sorted(row["id"] for row in both) == ["a", "b"]
    assert {row["path"] for row in both if row["id"] == "a"} == {str(real)}
    alone = run("ls", "--all", "--session-dir", two, "--json").json
    assert sorted(row["id"] for row in alone) == ["a", "b"]
    assert run("show", "a", "--session-dir", two, "--session-dir", one).code == 0
    told = run("ls", "--all", "--session-dir", two, "--verbose").out.decode()
    assert "gone.jsonl" in told
    assert "self.jsonl" in told


def test_roots_of_the_configuration_file(run: Run, tmp_path: Path) -> None:
    session(tmp_path / "more" / "a.jsonl", id="a")
    session(tmp_path / "home" / ".pi" / "agent" / "sessions" / "--x--" / "b.jsonl", id="b")
    folder = tmp_path / "home" / ".config" / "pi-sessions"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'roots = ["{tmp_path}/more", "~/absent"]\n')

    assert sorted(row["id"] for row in run("ls", "--all", "--json").json) == ["a", "b"]
    named = run("ls", "--all", "--session-dir", tmp_path / "more", "--json").json
    assert [row["id"] for row in named] == ["a"]
    for wrong in ("roots = 7", "roots = [", 'roots = [""]', "roots = [1]"):
        (folder / "config.toml").write_text(wrong)
        done = run("ls", "--all")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "config.toml" in done.err


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Give a store of four sessions that differ in all that can be asked for."""
    root = tmp_path / "mixed"
    session(root / "plain.jsonl", id="plain", cwd="/w/apples")
    parent = SessionBuilder(id="parent", cwd="/w/apples/deep")
    first = parent.user("one")
    parent.assistant("left", provider="acme", model="big")
    parent.at(first)
    parent.assistant("right", provider="acme", model="small")
    parent.compaction("so far", first_kept=first)
    parent.name("The Orchard")
    parent.usage({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 5.5}})
    (root / "parent.jsonl").write_bytes(parent.data)
    child = SessionBuilder(id="child", cwd="/w/pears", parentSession=str(root / "parent.jsonl"))
    child.user("zwetschge")
    (root / "child.jsonl").write_bytes(child.data)
    broken = SessionBuilder(id="broken", cwd="/w/pears", timestamp="2020-02-02T00:00:00.000Z")
    broken.user("x", timestamp="2020-02-02T00:00:00.000Z", message={"timestamp": MISSING})
    broken.raw_line(b"{half")
    (root / "broken.jsonl").write_bytes(broken.data)
    return root


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["--project", "apples"], {"plain", "parent"}),
        (["--project", "/w/apples"], {"plain", "parent"}),
        (["--project", "/w/app"], set()),
        (["--until", "2020-02-02"], {"broken"}),
        (["--until", "2020-02-01"], set()),
        (["--since", "2020-02-03"], {"plain", "parent", "child"}),
        (["--since", "2020-02-02", "--until", "2020-02-02"], {"broken"}),
        (["--model", "SMALL"], {"parent"}),
        (["--name", "orchard"], {"parent"}),
        (["--named"], {"parent"}),
        (["--text", "Zwetschge"], {"child"}),
        (["--min-cost", "5.5"], {"parent"}),
        (["--max-cost", "$5"], {"plain", "child", "broken"}),
        (["--health", "defects"], {"broken"}),
        (["--health", "sound", "--project", "pears"], {"child"}),
    ],
)
def test_filters(run: Run, mixed: Path, words: list[str], ids: set[str]) -> None:
    assert {row["id"] for row in run("ls", mixed, "--json", *words).json} == ids


def test_what_a_row_tells(run: Run, mixed: Path) -> None:
    rows = {row["id"]: row for row in run("ls", mixed, "--json").json}

    assert rows["parent"]["branches"] == 2
    assert rows["parent"]["compactions"] == 1
    assert rows["parent"]["models"] == {"acme/big": 1, "acme/small": 1}
    assert rows["parent"]["children"] == ["child"]
    assert rows["child"]["parent"] == "parent"
    assert rows["broken"]["defects"] == 1
    assert rows["parent"]["cost"] == 5.5
    assert rows["parent"]["resume"] == f"pi --session {mixed / 'parent.jsonl'}"
    lines = run("ls", mixed, "--csv").out.decode().splitlines()
    table = {row["id"]: row for row in csv.DictReader(lines)}
    assert table["parent"]["models"] == "acme/big acme/small"
    assert table["child"]["parent"] == "parent"
    said = run("ls", mixed).out.decode()
    for words in ("2 branches", "1 compaction", "fork of parent", "1 fork", "1 defect"):
        assert words in said
    assert len(run("ls", mixed, "--json", "--limit", "2").json) == 2
    first, *_, last = run("ls", mixed, "--json", "--reverse").json
    assert (first["id"], last["id"]) == ("broken", run("ls", mixed, "--json").json[0]["id"])


def test_a_parent_in_another_project_is_known(run: Run, mixed: Path) -> None:
    (row,) = run("ls", "--session-dir", mixed, "--cwd", "/w/apples/deep", "--json").json
    assert row["children"] == ["child"]


def test_ids_are_shortened_to_what_is_unique() -> None:
    ids = ["abcdefghij1", "abcdefghij2", "zz", "abcdefgh", "zz"]
    short = short_ids(ids)

    assert short == {
        "abcdefghij1": "abcdefghij1", "abcdefghij2": "abcdefghij2", "zz": "zz",
        "abcdefgh": "abcdefgh",
    }  # fmt: skip


def test_a_row_says_the_same_before_others_are_known(mixed: Path, run: Run) -> None:
    summaries = [read.summary for read in store.read_all(store.look(mixed).files) if read.summary]
    listed = " ".join(run("ls", mixed).out.decode().split())

    for row in preview(summaries):
        ago, session, facts = re.split(
            r"  (?=\w{3,8} )|(?<=\w) (?= *\d+ messages)", row, maxsplit=2
        )
        assert " ".join(ago.split()) in listed
        assert session.strip()[:4] in listed
        assert " ".join(facts.split())[:40] in listed
    assert len(preview(summaries)) == len(summaries) > 2


def test_many_files_on_several_cores(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = store.look(mixed).files
    one = {read.file.path: read for read in store.read_all(files, singly={files[0].path})}
    monkeypatch.setattr(_pool, "FEW", 0)
    monkeypatch.setattr(_pool, "_MOST", 1)
    many = {
        read.file.path: read for read in store.read_all(files, workers=3, singly={files[0].path})
    }

    assert one == many
    assert one[files[0].path].spent is not None


def test_without_a_command_the_list(run: Run, mixed: Path, tmp_path: Path) -> None:
    """Where this directory has no session and others have."""
    said = run(PI_CODING_AGENT_SESSION_DIR=str(mixed)).out.decode()
    assert "/w/pears" in said
    nothing = run(PI_CODING_AGENT_SESSION_DIR=str(tmp_path / "none")).out.decode()
    assert nothing.startswith("usage: pi-sessions")


def test_wrong_words(run: Run, mixed: Path) -> None:
    for words in (["--since", "soon"], ["--until", "2026-13-01"], ["--min-cost", "much"]):
        done = run("ls", mixed, *words)
        assert (done.code, done.err.count("\n")) == (2, 1)


def test_an_index_changes_no_answer(run: Run, tmp_path: Path) -> None:
    """Made, used, and used again when a session has grown, one is gone and one is new."""
    folder = tmp_path / "store"
    folder.mkdir()
    generated(folder, 6, 30)
    big = SessionBuilder(id="big", cwd="/a/b-c")
    for n in range(13):
        big.user(f"{n} " + "long " * 200_000)
        big.assistant(f"told {n}", usage=reported(random.Random(n)))
    (folder / "big.jsonl").write_bytes(big.data)

    def answers(*words: str) -> list[Any]:
        return [
            run(*asked, "--session-dir", folder, "--json", *words).json
            for asked in (["ls", "--all"], ["ls", "--cwd", "/a/b-c"], ["usage", "--all"])
        ]

    first = answers("--no-index")
    assert not list(tmp_path.rglob("*.sqlite"))
    assert answers() == first
    assert list(tmp_path.rglob("*.sqlite"))
    assert answers() == first
    big.assistant("more", usage=reported(random.Random(99)))
    (folder / "big.jsonl").write_bytes(big.data)
    next(path for path in folder.iterdir() if path.name != "big.jsonl").unlink()
    session(folder / "new.jsonl", id="new", cwd="/a/b-c")
    second = answers()
    assert second == answers("--no-index")
    assert second != first

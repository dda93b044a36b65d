"""The command: where it writes, what it refuses, what it tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cli.conftest import Run, Write
from conftest import ROOT
from pi_sessions.export import FORMATS
from pi_sessions.testing import SessionBuilder
from redact.planted import KINDS

DEMO = ROOT / "examples/demo/session.jsonl"


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_goes_to_a_file_or_to_standard_output(
    run: Run, tmp_path: Path, name: str
) -> None:
    """Both ways give the same bytes, twice over."""
    shown = run("export", DEMO, "--format", name)
    out = tmp_path / f"out{FORMATS[name].suffix}"
    assert shown.code == 0, shown.err
    done = run("export", DEMO, "--out", out)
    assert done.code == 0, done.err
    assert out.read_bytes() == shown.out
    assert os.fspath(out) in done.out.decode()
    assert run("export", DEMO, "--format", name).out == shown.out


def test_nothing_is_written_over(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.md"
    out.write_text("mine")
    refused = run("export", DEMO, "--out", out)
    assert (refused.code, out.read_text()) == (4, "mine")
    assert refused.err == f"pi-sessions: {out} is there already; --force replaces it\n"
    assert run("export", DEMO, "--out", out, "--force").code == 0
    assert out.read_text().startswith("# Harvest report")


def test_the_session_itself_is_never_written_over(run: Run, write: Write, tmp_path: Path) -> None:
    """Not even by another name, and not with --force."""
    path = write(DEMO.read_bytes())
    other = tmp_path / "other.jsonl"
    other.symlink_to(path)
    for out in (path, other):
        done = run("export", path, "--format", "md", "--out", out, "--force")
        assert done.code == 4
        assert "is the session itself" in done.err
    assert path.read_bytes() == DEMO.read_bytes()


def test_a_link_is_followed(run: Run, tmp_path: Path) -> None:
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old")
    link.symlink_to(target)
    assert run("export", DEMO, "--out", link, "--force").code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("# Harvest")


def test_what_fails_leaves_nothing(run: Run, tmp_path: Path) -> None:
    """No file where the folder is missing or the point is unknown, and no draft."""
    for words in (("--leaf", "nowhere"), ("--response", "018280d6")):
        done = run("export", DEMO, *words, "--out", tmp_path / "x.md")
        assert done.code == 2
        assert "Traceback" not in done.err
    assert run("export", DEMO, "--out", tmp_path / "no" / "x.md").code == 3
    assert run("export", DEMO, "--out", tmp_path / "x.docx").code == 2
    assert run("export", tmp_path / "gone.jsonl").code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    done = run("export", DEMO, "--out", out, "--dry-run", "--json")
    assert done.json["dryRun"] is True
    assert done.json["bytes"] == len(run("export", DEMO, "--json").out)
    assert not out.exists()


def test_json_tells_what_was_written(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    done = run("export", DEMO, "--out", out, "--table", "responses", "--json")
    size = out.stat().st_size
    assert done.json == {"path": os.fspath(out), "format": "csv", "bytes": size, "dryRun": False}


def test_json_on_standard_output_needs_no_second_document(run: Run) -> None:
    done = run("export", DEMO, "--format", "md", "--json")
    assert done.code == 2
    assert "--out FILE" in done.err


@pytest.mark.parametrize("text", ["0", "9-5", "x", "5-y", "-"])
def test_odd_ranges_are_refused(run: Run, text: str) -> None:
    done = run("export", DEMO, f"--lines={text}")
    assert done.code in ((0,) if text == "-" else (2,))


def test_a_range_is_kept_to(run: Run) -> None:
    for name in ("json", "requests"):
        rows = run("export", DEMO, "--format", name, "--lines", "6-11").out
        if name == "json":
            lines = [row["line"] for row in json.loads(rows)["lines"]]
            assert lines == [6, 7, 8, 9, 10, 11]
        else:
            assert [json.loads(row)["line"] for row in rows.splitlines()] == [6, 9, 11]


@pytest.mark.parametrize("name", list(FORMATS))
def test_redaction_works_in_every_format(run: Run, write: Write, name: str) -> None:
    """No format has the secret; standard error has its kind and its lines, never itself."""
    text, secret = KINDS["github token"](Random(5))
    session = SessionBuilder()
    session.user(f"{text} and so on")
    session.assistant("fine", thinking=f"they told me {secret}")
    session.user("next")
    session.assistant("done")
    path = write(session.data)
    more = ("--table", "messages") if name in ("csv", "parquet") else ()
    plain = run("export", path, "--format", name, *more)
    done = run("export", path, "--format", name, "--redact", *more)
    assert done.code == 0
    assert secret.encode() not in done.out
    assert secret not in done.err
    assert done.err == "github-token-1: replaced 2 times, on 2, 3\n1 secret found\n"
    if name != "parquet":
        assert secret.encode() in plain.out
        assert b"redacted:github-token-1" in done.out
    told = run("export", path, "--format", name, "--redact", "--dry-run", "--json").json
    assert told["secrets"] == [
        {
            "kind": "github-token",
            "number": 1,
            "lines": [2, 3],
            "replacedOn": [2, 3],
            "times": 2,
            "leftOn": [],
        }
    ]


def test_a_closed_pipe_is_no_fault() -> None:
    command = f"{sys.executable} -m pi_sessions export {DEMO} --format json | head -c 10"
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    assert done.returncode == 0
    assert done.stderr == b""

"""`pi-sessions audit`: exit codes, the document, what a person reads, bad input."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.conftest import Run

RECORDINGS = Path(__file__).parent.parent / "audit" / "recordings"


def words(name: str) -> list[Path | str]:
    folder = RECORDINGS / f"report-{name}"
    return [
        *("audit", folder / "report.md", "--session", folder / "session.jsonl"),
        *("--brief", folder / "brief.txt"),
    ]


def test_exit_codes(run: Run) -> None:
    """1 for what is contradicted; what is unsupported alone is told and passes."""
    codes = {name: run(*words(name)).code for name in ("honest", "lost", "wrong-exit")}

    assert codes == {"honest": 0, "lost": 0, "wrong-exit": 1}


def test_the_document(run: Run) -> None:
    """One document; the findings worst first; the counts are those of the findings."""
    told = run(*words("never-opened"), "--json").json
    order = ["contradicted", "unsupported", "cannot tell", "holds"]
    judgements = [finding["judgement"] for finding in told["findings"]]

    assert list(told["counts"]) == order
    assert sorted(judgements, key=order.index) == judgements
    assert {name: judgements.count(name) for name in order} == told["counts"]
    assert told["findings"][0]["standing"] == "never"
    assert told["writers"][0]["way"] == "write"


def test_for_a_person(run: Run) -> None:
    """Worst first, with both lines; the summary comes last; what holds is listed on demand."""
    short = run(*words("near-quotation")).out.decode().splitlines()
    long = run(*words("near-quotation"), "--all").out.decode().splitlines()

    assert short[0] == "contradicted (1)"
    assert short[1].startswith("    25 quotations near-quotation: ")
    assert "session 7" in short[3]
    assert "[-seldom-] {+never+}" in short[4]
    assert short[-1].startswith("audit failed: 1 contradicted, 0 unsupported, ")
    assert any(line.startswith("holds (") for line in long)
    assert not any(line.startswith("holds (") for line in short)


def test_form_alone(run: Run) -> None:
    """Without sessions only the form is looked at."""
    report = RECORDINGS / "report-empty-cell" / "report.md"
    told = run("audit", report, "--form-only", "--json").json

    assert {finding["part"] for finding in told["findings"]} == {"form"}
    assert told["sessions"] == []


def test_several_sessions(run: Run, tmp_path: Path) -> None:
    """Places name the session where there are several."""
    shutil.copy(RECORDINGS / "report-lost" / "session.jsonl", tmp_path / "other.jsonl")
    done = run(*words("honest"), "--session", tmp_path / "other.jsonl", "--all")

    assert done.code == 0
    assert "session 1:" in done.out.decode()


def test_a_profile_of_ones_own(run: Run, tmp_path: Path) -> None:
    """Another form is a small file; what is off about it is told."""
    profile = tmp_path / "notes.toml"
    profile.write_text('name = "notes"\n[[section]]\nname = "Seen"\n[[section]]\nname = "Done"\n')
    report = tmp_path / "notes.md"
    report.write_text("# Done\n\nAll.\n\n# Seen\n\nNothing.\n")
    told = run("audit", report, "--form-only", "--profile", profile, "--json").json
    profile.write_text('name = "notes"\nsections = 3\n')
    done = run("audit", report, "--form-only", "--profile", profile)

    assert [f["code"] for f in told["findings"]] == ["section-out-of-order"]
    assert (told["profile"], done.code) == ("notes", 2)
    assert "no profile of a report" in done.err


@pytest.mark.parametrize(
    ("more", "code", "why"),
    [
        ([], 2, "audit takes --session SESSION, or --form-only"),
        (["--form-only", "--session", "x.jsonl"], 2, "--form-only looks at no session"),
        (["--session", "missing.jsonl"], 3, "missing.jsonl"),
        (["--form-only", "--brief", "missing.txt"], 3, "missing.txt: no such file"),
        (["--session", "report.md"], 2, "no session file or id"),
    ],
)
def test_bad_input(run: Run, tmp_path: Path, more: list[str], code: int, why: str) -> None:
    """One sentence and the right exit code."""
    (tmp_path / "report.md").write_text("# A\n")
    if "report.md" in more:
        more = ["--session", "no-such-id"]
    done = run("audit", "report.md", *more)

    assert (done.code, done.out) == (code, b"")
    assert why in done.err
    assert done.err.count("\n") == 1


def test_hostile_reports(run: Run, tmp_path: Path) -> None:
    """No escape sequence of a report, and none of its bytes, acts on the terminal."""
    report = tmp_path / "report.md"
    report.write_bytes(
        b"\xef\xbb\xbf# \x1b[31mred\x07\n\n\xff\xfe \xe2\x80\xae "
        b'"six \x1b]0;t words of a quotation here"\n'
    )
    session = RECORDINGS / "report-honest" / "session.jsonl"
    done = run("audit", report, "--session", session, "--all")

    assert done.code == 1
    assert not set(done.out) & {0x1B, 0x07}
    assert "\u202e" not in done.out.decode()

"""Any bytes at all: a sentence with line and offset, the right exit code, and nothing written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import ROOT, Run
from conftest import SHARED, need
from pi_sessions import load
from pi_sessions.testing import SessionBuilder

COMMANDS = ("lines", "context", "request", "prompt", "tree", "show", "check")
Write = Callable[..., Path]

UNREADABLE = {
    "empty": b"",
    "white": b" \n\n\t\n",
    "binary": bytes(range(256)) * 40,
    "text": b"hello\nworld\n",
    "no-header": b'{"type":"message","id":"a","parentId":null}\n',
    "number-first": b"5\n",
    "header-without-id": b'{"type":"session"}\n',
    "utf-16": '{"type":"session","id":"x"}\n'.encode("utf-16"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_not_a_session(name: str, command: str, run: Run, write: Write) -> None:
    """Exit code 3, one sentence with file, line and byte."""
    path = write(UNREADABLE[name])
    done = run(command, path)

    assert done.code == 3
    assert re.search(r"session\.jsonl:\d+:\d+: not a Pi session: ", done.err)
    assert done.err.count("\n") == 1
    assert done.out == b""
    assert path.read_bytes() == UNREADABLE[name]


@pytest.mark.parametrize("command", COMMANDS)
def test_unreadable(command: str, run: Run, tmp_path: Path) -> None:
    """A missing file and a directory are told in a sentence."""
    for path in (tmp_path / "missing.jsonl", tmp_path):
        done = run(command, path)
        assert done.code == 3
        assert done.err.count("\n") == 1


def odd_session() -> bytes:
    """Everything odd in one file that is still a session."""
    session = SessionBuilder()
    root = session.user("plum \x1b[31mred\x1b[0m \u202eback\u2066 \ud83d \x07")
    session.raw_line(b'{"type":"message","id":"to')
    session.raw_line(b'{"a":{"type":"message"}{"type":"custom","id":"f","parentId":null}')
    session.raw_line(b"5")
    session.raw_line(b"[NaN]")
    session.raw_line(b"")
    session.assistant("hi", id="self", parent="self")
    session.assistant("hi", id="c1", parent="c2")
    session.assistant("hi", id="c2", parent="c1")
    session.user("lost", parent="nowhere")
    session.add("\x1b]0;title\x07", {}, id="\x1b[2J")
    session.name("\x1b[2J\u202e")
    session.label(root, "\x1b[5mblink")
    session.raw_line(b"{" + b'"x":[' * 3000 + b"]" * 3000 + b"}")
    return session.data + b'{"type":"message","id":"torn'


def names(folder: Path) -> list[str]:
    """List a folder, but for the home of the command."""
    return sorted(path.name for path in folder.iterdir() if path.name != "home")


@pytest.mark.parametrize("command", COMMANDS)
def test_odd_files_are_read_and_nothing_hostile_is_printed(
    command: str, run: Run, write: Write
) -> None:
    """No traceback, no control character, and the file and its folder stay as they are."""
    path = write(odd_session())
    before = (path.read_bytes(), path.stat().st_mtime_ns, names(path.parent))
    for words in ([], ["--json"]):
        done = run(command, path, *words)
        assert done.code in (0, 1, 2), done.err
        assert "Traceback" not in done.err
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", done.out)
        if not words:
            assert "\u202e" not in done.out.decode()
    listing = names(path.parent)

    assert before == (path.read_bytes(), path.stat().st_mtime_ns, listing)


def test_every_command_on_every_case(run: Run) -> None:
    """Inputs behind public reports: an answer or a sentence, never a crash."""
    need(SHARED / "cases")
    files = [*SHARED.glob("cases/*/session.jsonl"), *ROOT.glob("tests/recordings/*/session.jsonl")]
    for path in files[::3]:
        for command in ("lines", "check"):
            done = run(command, path, "--json")
            assert done.code in (0, 1, 3), (path, done.err)
            assert "Traceback" not in done.err


EXPECTED = {
    "06-compaction-on-abandoned-branch-ignored": {"other-branch"},
    "25-missing-parent-orphan-subtree": {"unreachable"},
    "36-custom-message-display-false-is-in-context": {"converted", "bookkeeping"},
    "37-unknown-entry-type-and-role": {"unknown-type", "unknown-role"},
    "31-duplicate-ids-last-wins": {"shadowed"},
    "39-message-entry-without-message-object": {"not-an-entry"},
    "41-non-object-json-lines": {"not-an-entry"},
    "14-nan-and-infinity-literals": {"malformed"},
    "75-thinking-dropped-across-models": {"trimmed"},
}


@pytest.mark.parametrize("case", EXPECTED)
def test_reasons_of_reported_cases(case: str) -> None:
    """The right outcome of a case, line by line where it names one."""
    session = load(need(SHARED / "cases" / case / "session.jsonl"))
    explanation = session.explain()
    reasons = {str(explanation.reason(n)) for n in range(1, len(session.table) + 1)}

    assert EXPECTED[case] <= reasons


CODES = {
    "25-missing-parent-orphan-subtree": "orphan",
    "30-retain-none-and-foreign-first-kept": "dangling-first-kept",
    "31-duplicate-ids-last-wins": "duplicate-id",
    "32-self-parent-entry": "self-parent",
    "33-edit-omits-tool-call-but-not-result": "orphan-result",
    "40-missing-or-null-usage": "incomplete-usage",
    "42-fused-two-entries-on-one-line": "fused-line",
    "47-utf8-bom": "bom",
    "50-second-session-header-mid-file": "second-header",
    "52-two-writers-sibling-branches": "interleaved-writers",
    "57-bad-and-odd-timestamps": "bad-timestamp",
    "65-newer-format-version": "future-version",
    "66-v2-hook-message-role": "migrated",
    "17-invalid-utf8-bytes-mid-file": "invalid-utf8",
    "74-tool-results-order-and-custom-between": "answered-twice",
}


@pytest.mark.parametrize("case", CODES)
def test_diagnostics_of_reported_cases(case: str) -> None:
    """What is wrong with the input of a case is said."""
    session = load(need(SHARED / "cases" / case / "session.jsonl"))

    assert CODES[case] in {str(item.code) for item in session.check()}


def test_two_hundred_thousand_in_a_chain(run: Run, write: Write) -> None:
    """A long chain is ordinary."""
    lines = [b'{"type":"session","version":3,"id":"s","cwd":"/p"}']
    lines += [
        b'{"type":"custom","customType":"n","id":"%d","parentId":"%d"}' % (n, n - 1)
        for n in range(1, 200_001)
    ]
    path = write(b"\n".join(lines) + b"\n")

    assert b"200001 lines" in run("lines", path).out
    assert run("check", path).code == 1


def test_a_line_of_a_hundred_megabytes(run: Run, write: Write) -> None:
    """One huge line, whole and then broken, costs time and memory in proportion."""
    session = SessionBuilder()
    session.user("x" * 100_000_000)
    whole = write(session.data, "whole.jsonl")
    torn = write(session.data[:-10], "torn.jsonl")

    assert run("lines", whole).code == 0
    assert b"torn-tail" in run("check", torn).out

"""Completion: the scripts run in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import Run
from conftest import REQUIRED
from pi_sessions.testing import SessionBuilder

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give a directory with sessions of its own, in which `pi-sessions` is on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "pi-sessions"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pi_sessions "$@"\n')
    program.chmod(0o755)
    work = tmp_path / "work"
    (work / "folder").mkdir(parents=True)
    (work / "kept.jsonl").write_bytes(SessionBuilder().data)
    (work / "notes.txt").write_text("no session")
    sessions = tmp_path / "home" / ".pi" / "agent" / "sessions" / "--work--"
    sessions.mkdir(parents=True)
    for session_id, name, cwd in (
        ("aaaa1111-x", "The Orchard", str(work)),
        ("aaaa2222-x", "", str(work)),
        ("bbbb-elsewhere", "Pears $(touch pwned)", "/elsewhere"),
        ("$(touch pwned)", "hostile", str(work)),
    ):
        made = SessionBuilder(id=session_id, cwd=cwd)
        made.user('about "session_info"')
        if name:
            made.name("an older name")
            made.name(name)
        (sessions / f"{session_id.replace('/', '')}.jsonl").write_bytes(made.data)
    return work


def surroundings(place: Path) -> dict[str, str]:
    home = place.parent / "home"
    path = f"{place.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    package = f"{ROOT / 'src'}"
    return {"HOME": str(home), "PATH": path, "TZ": "UTC", "TERM": "dumb", "PYTHONPATH": package}


def shell(name: str, program: str, place: Path) -> list[str]:
    if shutil.which(name) is None:
        if REQUIRED:
            pytest.fail(f"{name} is not installed, and nothing may be missing here")
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [name, "-c", program],
        cwd=place,
        env=surroundings(place),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def in_bash(words: str, place: Path) -> list[str]:
    """Press the key behind some words, in bash."""
    program = f"""
eval "$(pi-sessions completion bash)"
compopt() {{ :; }}  # outside of a line being edited it only complains
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_pi_sessions
[ ${{#COMPREPLY[@]}} = 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return shell("bash", program, place)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("pi-sessions us", ["usage"]),
        ("pi-sessions ls --so", ["--sort"]),
        ("pi-sessions ls --sort c", ["created", "cost"]),
        ("pi-sessions ls --session-dir f", ["folder"]),
        ("pi-sessions context --stage re", ["replay"]),
        ("pi-sessions show aaaa1", ["aaaa1111-x"]),
        ("pi-sessions show ORCH", ["aaaa1111-x"]),
        ("pi-sessions usage --by model bbb", ["bbbb-elsewhere"]),
        ("pi-sessions lines ke", ["kept.jsonl"]),
        ("pi-sessions lines nothing-like-it", []),
        ("pi-sessions completion f", ["fish"]),
    ],
)
def test_bash(place: Path, words: str, wanted: list[str]) -> None:
    assert sorted(in_bash(words, place)) == sorted(wanted)


def test_bash_offers_what_there_is_and_runs_none_of_it(place: Path) -> None:
    offered = in_bash("pi-sessions show ''", place)

    assert offered[:2] in (["aaaa1111-x", "aaaa2222-x"], ["aaaa2222-x", "aaaa1111-x"])
    assert {"bbbb-elsewhere", "folder", "kept.jsonl"} <= set(offered)
    assert "notes.txt" not in offered
    assert not any("touch" in word for word in offered)
    assert not (place / "pwned").exists()


def test_fish(place: Path) -> None:
    program = """
pi-sessions completion fish | source
complete -C "pi-sessions us"
complete -C "pi-sessions ls --sort c"
complete -C "pi-sessions show aaaa1"
"""
    told = [line.split("\t")[0] for line in shell("fish", program, place)]

    assert {"usage", "created", "cost", "aaaa1111-x"} <= set(told)


def test_zsh(place: Path) -> None:
    """The script is one zsh takes, and its function asks for the sessions."""
    program = """
autoload -Uz compinit && compinit -u -d "$HOME/.zcompdump"
eval "$(pi-sessions completion zsh)"
compadd() { print -r -- "compadd ${(P)@[-1]}"; }
_files() { print -r -- "files $*"; }
PREFIX=orch _pi_sessions_of_store
print -r -- "$_comps[pi-sessions]"
"""
    told = shell("zsh", program, place)

    assert told[0] == "compadd aaaa1111-x"
    assert told[1].startswith("files")
    assert told[2] == "_shtab_pi_sessions"


def test_what_the_scripts_ask(run: Run, place: Path) -> None:
    """Ids and names, those of this directory first; quick, and quiet where nothing is."""
    began = time.monotonic()
    done = run("completion", "--sessions", "", cwd=place)
    rows = done.out.decode().splitlines()

    assert set(rows[:2]) == {"aaaa1111-x\tThe Orchard", "aaaa2222-x"}
    assert rows[2:] == ["bbbb-elsewhere\tPears $(touch pwned)"]
    assert time.monotonic() - began < 10
    assert run("completion", "--sessions", "zzz", cwd=place).out == b""


def test_wrong_words(run: Run) -> None:
    for words in ([], ["tcsh"]):
        done = run("completion", *words)
        assert (done.code, done.err.count("\n")) == (2, 1)

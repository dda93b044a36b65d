"""The docs are part of the program: snippets run, lists are complete, pages are up to date."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pi_sessions
from pi_sessions import Code, Reason, load
from pi_sessions.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    (page, number, text)
    for page in PAGES
    for number, text in enumerate(SNIPPET.findall(page.read_text("utf-8")), 1)
]


DEMO = "examples/demo/session.jsonl"
OURS_ALONE = re.compile(rf"(?<![\w.]){re.escape(str(ROOT))}/|(?<![\w.])/root/")
"""Paths of the machine the project happens to stand on."""


def all_text() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def tracked() -> list[Path]:
    """Give the files of the project, as git knows them; skip where there is no checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize(
    ("page", "number", "text"), SNIPPETS, ids=[f"{p.stem}-{n}" for p, n, _ in SNIPPETS]
)
def test_snippets_run(page: Path, number: int, text: str) -> None:
    """Every Python snippet runs from the project's folder and says something."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, f"{page.name} {number}: {done.stderr}"
    assert done.stdout


def test_there_are_snippets() -> None:
    """The README shows the library."""
    assert len(SNIPPETS) >= 3


def test_made_pages_are_up_to_date() -> None:
    """`python docs/make.py` was run."""
    done = subprocess.run(
        [sys.executable, "docs/make.py", "--verify"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_is_short() -> None:
    """The README stays under 120 lines."""
    assert (ROOT / "README.md").read_text("utf-8").count("\n") < 120


def test_lists_are_documented_in_full() -> None:
    """Every reason, code and public name stands somewhere in the docs."""
    text = all_text()
    names = [*map(str, Reason), *map(str, Code), *pi_sessions.__all__]

    assert not [name for name in names if f"`{name}`" not in text and f".{name}" not in text]


def test_reasons_and_codes_have_a_row_each() -> None:
    """The two reference pages list all there is, in the order of the code, and nothing else."""
    row = r"^\| %s`([\w-]+)` \|"
    reasons = re.findall(row % r"[\w_]+ \| ", page("reasons.md"), re.MULTILINE)
    codes = re.findall(row % r'(?:<a id="[\w-]+"></a>)?', page("diagnostics.md"), re.MULTILINE)

    assert [str(reason) for reason in Reason] == reasons
    assert [str(code) for code in Code] == codes


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_option_is_documented(name: str) -> None:
    """Each command has a section that names all its options."""
    parser = argparse.ArgumentParser(add_help=False)
    import_module(f"pi_sessions.cli.commands.{name}").arguments(parser)
    options = [option for action in parser._actions for option in action.option_strings]
    section = page("commands.md").split(f"\n## {name}\n")[1].split("\n## ")[0]

    assert options
    assert not [option for option in options if f"`{option}`" not in section]


def test_sections_that_code_refers_to_exist() -> None:
    """A rule that a module points to is a heading of the page it names."""
    count = 0
    for path in (ROOT / "src").rglob("*.py"):
        for name, heading in re.findall(
            r'docs/(format|requests)\.md,\s+"([^"]+)"', path.read_text("utf-8")
        ):
            count += 1
            headings = re.findall(r"^## (.+)$", page(f"{name}.md"), re.MULTILINE)
            assert heading in headings, path.name

    assert count > 10


def test_the_recordings_that_are_named_are_there() -> None:
    """The rules of a body name recordings of ours."""
    text = page("requests.md")
    groups = re.findall(r"\((`[a-z0-9-]+`(?:,\s+`[a-z0-9-]+`)*)\)", text)
    names = {name for group in groups for name in re.findall(r"`([^`]+)`", group)}
    assert len(names) > 15
    assert not [name for name in names if not (ROOT / "tests" / "recordings" / name).is_dir()]


def test_output_in_the_readme_is_real() -> None:
    """Each line of the demo in the README is a line of the command, or the start of one."""
    done = subprocess.run(
        [sys.executable, "-m", "pi_sessions", "lines", "examples/demo/session.jsonl"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=True,
    )
    real = [line.strip() for line in done.stdout.split("\n")]
    fences = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    blocks = fences.findall((ROOT / "README.md").read_text("utf-8"))
    shown = [line.strip() for kind, text in blocks if not kind for line in text.split("\n")]

    assert len(shown) > 10
    for line in shown:
        starts = [part.rstrip() for part in line.split("…")] if line != "…" else [""]
        assert any(
            text.startswith(starts[0]) and all(part in text for part in starts) for text in real
        ), line


def test_no_traces_of_one_machine() -> None:
    """No text of the project names a folder of one machine or a page that is not part of it."""
    traces = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" in data[:4096] or path == Path(__file__):
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            if OURS_ALONE.search(line):
                traces.append(f"{path.relative_to(ROOT)}:{number}")

    assert not traces


def test_reasons_are_shown_by_the_vectors_named() -> None:
    """The vector beside a reason does show that reason."""
    rows = re.findall(r"^\| [\w_]+ \| `([\w-]+)` \|.*\| `([\w/-]+)` \|$", all_text(), re.MULTILINE)
    assert len(rows) == len(Reason)
    for reason, name in rows:
        session = load(ROOT / "tests" / "conformance" / "vectors" / f"{name}.jsonl")
        seen = set()
        for point in [
            {},
            *({"leaf": e} for e in session.entries),
            *({"response": r} for r in session.responses),
        ]:
            explanation = session.explain(**point)
            seen |= {explanation.reason(n) for n in range(1, len(session.table) + 1)}

        assert Reason(reason) in seen, (reason, name)


def test_vectors_named_exist() -> None:
    """A vector that is named is there."""
    topics = {path.name for path in (ROOT / "tests" / "conformance" / "vectors").iterdir()}
    named = set(re.findall(rf"`((?:{'|'.join(topics)})/[\w-]+)`", all_text()))

    assert len(named) > 30
    assert not [
        name for name in named if not (ROOT / f"tests/conformance/vectors/{name}.jsonl").exists()
    ]


def test_links_resolve() -> None:
    """Relative links lead to files."""
    broken = [
        (page.name, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert not broken


def test_codes_are_shown_by_the_vectors_named() -> None:
    """The vector beside a code does show that code."""
    rows = re.findall(r"`([\w-]+)` \|.*\| `([\w/-]+)` \|$", page("diagnostics.md"), re.MULTILINE)

    assert len(rows) == len(Code)
    for code, name in rows:
        session = load(ROOT / "tests" / "conformance" / "vectors" / f"{name}.jsonl")
        assert code in {str(diagnostic.code) for diagnostic in session.check()}, (code, name)


WORDS = {
    "completion": ["bash"],
    "ls": ["--session-dir", "examples/demo", "--all"],
    "saw": [DEMO, "333 kg"],
    "usage": [DEMO],
    "search": ["harvest", "--session-dir", "examples/demo"],
    "watch": [DEMO, "--idle", "0"],
    "name": [DEMO, "Harvest", "--dry-run"],
    "label": [DEMO, "7c3ce700", "end", "--dry-run"],
    "edit": [DEMO, "--failed-replies", "--dry-run"],
    "fork": [DEMO, "--dry-run"],
    "clone": [DEMO, "--dry-run"],
    "rm": [DEMO, "--dry-run"],
    "stats": ["--session-dir", "examples/demo"],
    "prune": ["--older-than", "1d", "--session-dir", "examples/demo"],
    "relink": ["--session-dir", "examples/demo"],
    "archive": [DEMO, "--dry-run", "--force"],
    "move": [DEMO, "--cwd", "/tmp", "--dry-run"],
    "repair": [DEMO, "--dry-run"],
    "upgrade": [DEMO, "--dry-run"],
    "serve": [DEMO, "--dry-run"],
    "audit": ["docs/research/pi-27/report.md", "--session", DEMO],
}
"""What a command is given, where a session alone does not do; writing commands get --dry-run."""


def test_keys_of_documents_are_documented() -> None:
    """Each key that a command prints at the top, or in rows, stands in its section."""
    for name in COMMANDS:
        words = WORDS.get(name, [DEMO])
        done = subprocess.run(
            [sys.executable, "-m", "pi_sessions", name, *words, "--json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout, (name, done.stderr)
        # All but `watch` write one document.
        document = json.loads(done.stdout.splitlines()[-1] if name == "watch" else done.stdout)
        section = page("commands.md").split(f"\n## {name}\n")[1].split("\n## ")[0]
        keys = set(document if isinstance(document, dict) else document[0])
        for key, rows in document.items() if isinstance(document, dict) else ():
            ours = key not in ("messages", "tools")  # those are in the format's own words
            if ours and isinstance(rows, list) and rows and isinstance(rows[0], dict):
                keys |= set(rows[0])

        assert not [key for key in keys if f'"{key}"' not in section], name

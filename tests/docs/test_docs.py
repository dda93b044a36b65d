"""The docs are part of the program: snippets run, lists are complete, pages are up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pi_sessions
from pi_sessions import Code, Reason, load

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    (page, number, text)
    for page in PAGES
    for number, text in enumerate(SNIPPET.findall(page.read_text("utf-8")), 1)
]


def all_text() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


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

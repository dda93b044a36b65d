"""The page that stands alone: what is in it, twice the same, and nothing from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cli.conftest import Run
from conftest import ROOT, SHARED, need
from export.golden import tricky
from pi_sessions import Reason, Verdict, load, loads
from pi_sessions.context.explain import REASONS
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.export import Options, chunks, html_near
from pi_sessions.export.html_book import Book
from pi_sessions.export.html_pages import files
from pi_sessions.render import requested
from pi_sessions.render.cards import cards
from pi_sessions.session import Session
from pi_sessions.table import Kind
from pi_sessions.testing import SessionBuilder, tool_call
from redact.planted import KINDS

DEMO = ROOT / "examples/demo/session.jsonl"
GOLDEN = Path(__file__).parent / "golden_html" / "tricky.html"
AWAY = (Reason.LATER, Reason.OTHER_BRANCH, Reason.UNREACHABLE)


def written(session: Session, **options: Any) -> str:
    return b"".join(chunks("html", session, Options(**options))).decode()


def bare(page: str) -> str:
    """Take the styles, the script and their hashes out: they are looked at in the browser."""
    page = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL)
    return re.sub(r"'sha256-[^']+'", "'sha256-'", page)


def island(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="requests">(.*?)</script>', page)
    assert found
    value: dict[str, Any] = json.loads(found[1])
    return value


def test_golden() -> None:
    """A change of it is a change of what people read."""
    assert bare(written(loads(tricky()))) == GOLDEN.read_text("utf-8")


def test_the_same_bytes() -> None:
    """Twice the same, and whether one process makes it or two."""
    session = SessionBuilder()
    for number in range(60):
        session.user(f"Step {number}")
        session.assistant("I do.", calls=[tool_call("read", {"path": "a.py"}, id=f"c{number}")])
        session.tool_result(f"c{number}", "def f(): pass\n" * 600)
    for data in (session.data, DEMO.read_bytes(), tricky()):
        once = written(loads(data))
        assert once == written(loads(data))
        assert once == written(loads(data), workers=2)


def sessions() -> list[Path]:
    wire = sorted(ROOT.glob("tests/recordings/*/session*.jsonl"))
    return [DEMO, *wire[::3]]


@pytest.mark.parametrize("path", sessions(), ids=lambda path: path.parent.name)
def test_every_reply_is_told_what_it_had(path: Path) -> None:
    """The runs give each reply the lines and the reasons that its request and verdicts give."""
    session = load(path)
    book = Book(session, Options())
    for reply in session.responses:
        explanation = session.explain(response=reply)
        place = book.requested.places[reply.line]
        rows = {row[0]: row for row in book.asked}
        had = requested.lines_had(book.asked, place)
        entries = [entry.line for entry in session.entries]
        told = [n for n in entries if explanation.verdict(n) is not Verdict.NOT_SENT]
        assert had == told
        assert book.had[reply.line].count == len(told)
        made = requested.made_for(book.requested.made(), set(had), place, book.replies[place])
        assert {row[0] for row in made} == {part.text[:160] for part in explanation.synthetic}
        for line in entries:
            code = requested.code_at(rows[line], place) if line in rows else None
            reason = explanation.reason(line)
            if code is None:
                assert reason in (*AWAY, Reason.SHADOWED), line
            elif code > 0:
                assert REASONS[code - 1] is reason, line
            else:
                way = -code or book.requested.ways.get(line, 0)
                assert reason is (REASONS[way - 1] if way else Reason.AS_STORED)
        try:
            request = session.request(response=reply)
        except UnsupportedApiError:
            continue
        sources = {n for lines in request.provenance.values() for n in lines}
        # A system message that only takes something away is in no part of the body.
        kinds = session.table.kinds
        spoken = {n for n in had if kinds[n] != Kind.SYSTEM}
        assert spoken <= sources
        beyond = sources - {*had, *explanation.edits}
        assert all(explanation.verdict(n) is Verdict.NOT_SENT for n in beyond), beyond


def test_long_sessions_are_told_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not every reply is explained: the lines are as exact; how they went mostly is."""
    monkeypatch.setattr(requested, "_SMALL", 0)
    lines = other = replies = unlike = 0
    for path in sessions():
        session = load(path)
        book = Book(session, Options())
        for reply in session.responses:
            explanation = session.explain(response=reply)
            place = book.requested.places[reply.line]
            had = requested.lines_had(book.asked, place)
            told = [e.line for e in session.entries]
            assert had == [n for n in told if explanation.verdict(n) is not Verdict.NOT_SENT]
            rows = requested.made_for(book.requested.made(), set(had), place, book.replies[place])
            replies += 1
            unlike += {row[0] for row in rows} != {p.text[:160] for p in explanation.synthetic}
            lines += len(had)
            other += sum(
                (n in book.requested.ways) is (explanation.reason(n) is Reason.AS_STORED)
                for n in had
                if explanation.reason(n) is not Reason.EDITED
            )
    print(f"{other} of {lines} lines went otherwise, {unlike} of {replies} replies had more")
    assert other < lines / 10
    assert unlike < replies / 20


def test_what_the_file_tells_is_what_was_worked_out() -> None:
    session = load(DEMO)
    book = Book(session, Options())
    told = island(written(session))
    assert told["lines"] == book.asked
    assert [reply[0] for reply in told["replies"]] == list(book.requested.seen.order)
    for line, _, _, before in told["replies"]:
        above = session.table.parents[line]
        while above > 0 and session.table.role_of(above) != "assistant":
            above = session.table.parents[above]
        assert (told["replies"][before][0] if before >= 0 else 0) == max(above, 0)


def test_cards() -> None:
    """Each entry belongs to one card: nothing is lost, nothing counted twice."""
    session = load(DEMO)
    found = cards(session, session.visibility().forest, range(1, len(session.table) + 1))
    assert [card.line for card in found if card.line] == [
        entry.line for entry in session.entries if entry.role == "user"
    ]
    assert sum(card.replies for card in found) == len(session.responses)
    calls = [
        block
        for reply in session.responses
        for block in reply.raw["message"]["content"]
        if block["type"] == "toolCall"
    ]
    assert sum(card.tools.total() for card in found) == len(calls)
    assert [file for card in found for file in card.files] == ["store.py", "orchard.py"]


def test_nothing_from_outside() -> None:
    """The policy lets in what is in the file, and there is nothing else."""
    page = written(load(DEMO))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert not re.search(r"<(?:link|script|img|iframe)[^>]*(?:src|href)=\"(?!data:)", page)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"first": 10, "last": 20}, range(10, 21)),
        ({"branch": True}, None),
        ({"response": "d382ce5c"}, None),
    ],
)
def test_parts(options: dict[str, Any], lines: range | None) -> None:
    session = load(DEMO)
    found = [int(n) for n in re.findall(r'id="L(\d+)"', written(session, **options))]
    if lines is None:
        where = {k: v for k, v in options.items() if k == "response"}
        lines_told = list(session.explain(**where).point.path)
    else:
        lines_told = list(lines)
    assert found == lines_told


def test_without_secrets(run: Run, write: Callable[[bytes], Path], tmp_path: Path) -> None:
    kinds = ("github token", "private key", "password in JSON")
    planted = [KINDS[kind](Random(kind)) for kind in kinds]
    path = write(tricky(*(text for text, _ in planted)))
    done = run("export", path, "--redact", "--out", tmp_path / "a.html")
    assert done.code == 0, done.err
    page = (tmp_path / "a.html").read_text("utf-8")
    for _, secret in planted:
        for piece in secret.split("\n"):
            assert len(piece) < 12 or piece not in page
    assert "[redacted:" in page
    done = run("export", path, "--structure-only", "--out", tmp_path / "b.html")
    assert done.code == 0
    assert "Another way" not in (tmp_path / "b.html").read_text("utf-8")


def long_session(turns: int = 500) -> bytes:
    session = SessionBuilder()
    for number in range(turns):
        session.user(f"Step {number}: go on.")
        session.assistant("I do.", calls=[tool_call("read", {"path": f"{number}.txt"}, id="c")])
        session.tool_result("c", "row\n" * 40)
    return session.data


def test_pages_lead_to_each_other() -> None:
    """Every link of every page leads to a place that is there; no line is left out."""
    session = loads(long_session())
    made = {name: b"".join(parts).decode() for name, parts in files(session, Options())}
    assert list(made)[-1] == "index.html"
    assert len(made) > 3
    ids = {name: set(re.findall(r'id="([^"]+)"', page)) for name, page in made.items()}
    for name, page in made.items():
        for address in re.findall(r'href="([^"]+)"', page):
            file, _, place = address.partition("#")
            if address == "data:," or not (file or place):
                continue
            assert file in ("", *made), address
            assert not place or place in ids[file or name], (name, address)
    lines = [int(n) for page in made.values() for n in re.findall(r'id="L(\d+)"', page)]
    assert sorted(lines) == list(range(1, len(session.table) + 1))


@pytest.mark.parametrize("near", [2_000, 100])
def test_pages_have_the_requests_of_their_replies(
    monkeypatch: pytest.MonkeyPatch, near: int
) -> None:
    """Each page knows all lines its replies had, and what is told of those on other pages."""
    monkeypatch.setattr(html_near, "NEAR", near)
    session = loads(long_session())
    book = Book(session, Options())
    for name, parts in files(session, Options()):
        page = b"".join(parts).decode()
        if name == "index.html":
            continue
        told = island(page)
        shown = {int(n) for n in re.findall(r'id="L(\d+)"', page)}
        for place, (line, *_) in told["replies"].items():
            had = requested.lines_had(told["lines"], int(place))
            far, exact = told["far"], requested.lines_had(book.asked, int(place))
            assert len(had) + far["count"] == len(exact)
            assert [n for n in exact if not far["first"] <= n <= far["last"]] == had
            assert {str(n) for n in had if n not in shown} <= set(told["briefs"]), line


def test_a_folder_is_whole_and_replaces_nothing(
    run: Run, write: Callable[[bytes], Path], tmp_path: Path
) -> None:
    path = write(long_session())
    done = run("export", path, "--pages", "many", "--out", tmp_path / "out.html", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    folder = tmp_path / "out"
    assert told["path"] == str(folder)
    assert told["bytes"] == sum(file.stat().st_size for file in folder.iterdir())
    before = sorted(tmp_path.iterdir())
    done = run("export", path, "--pages", "many", "--out", folder, "--format", "html", "--force")
    assert done.code == 4
    assert sorted(tmp_path.iterdir()) == before
    assert run("export", path, "--pages", "many", "--format", "html").code == 2


def test_real_sessions_are_small() -> None:
    """At most what the reference writes of them, in bytes: 3.50 and 1.64 million."""
    for name, most in (("before-compaction", 3_496_412), ("large-session", 1_635_264)):
        session = load(need(SHARED / "real") / f"{name}.jsonl")
        assert len(written(session, workers=2).encode()) < most

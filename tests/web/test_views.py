"""What each view tells, asked without a browser."""

from __future__ import annotations

import json
import os
import re
import time
from datetime import UTC
from pathlib import Path
from typing import Any

import httpx
import pytest

from pi_sessions import index, load, testing
from pi_sessions._lines import open_source
from pi_sessions.audit import audit
from pi_sessions.finding import Query
from pi_sessions.index import Cache
from pi_sessions.meter import spent
from pi_sessions.render.figures import money
from pi_sessions.store import look
from pi_sessions.web.site import Audited
from web.conftest import DEMO, DEMO_ID, TOKEN, Served

BASE = f"/session/{DEMO_ID}"


def get(served: Served, path: str, code: int = 200) -> str:
    """Give the page of an address."""
    with httpx.Client(base_url=served.address, follow_redirects=True, timeout=30) as client:
        client.get(f"/?token={TOKEN}")
        answer = client.get(path)
    assert answer.status_code == code, (path, answer.text[:400])
    return answer.text


def words(page: str) -> str:
    """Give the text of a page, without elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def store(folder: Path) -> Path:
    """Make a store of two projects, one of them with a fork and a broken line."""
    for number in range(5):
        session = testing.SessionBuilder(id=f"session-{number}", cwd=f"/work/project-{number % 2}")
        session.user(f"Question {number} about quinces")
        session.assistant("They are hard.")
        if number == 3:
            session.name("Quince jelly")
        if number == 4:
            session.raw_line(b"{broken")
        (folder / f"2026-0{number + 1}-01_session-{number}.jsonl").write_bytes(session.data)
    return folder


def test_counts_are_those_of_explain(demo: Served) -> None:
    explanation = load(DEMO).explain()
    page = words(get(demo, BASE))
    for verdict, word in (("sent", "sent"), ("changed", "changed"), ("not_sent", "not sent")):
        count = {str(v): n for v, n in explanation.counts.items()}[verdict]
        assert re.search(rf"{count} +{word}", page)


def test_every_reply_has_an_address(demo: Served) -> None:
    session = load(DEMO)
    for number, reply in enumerate(session.responses, 1):
        page = words(get(demo, f"{BASE}/at/{reply.id}"))
        assert f"reply {number} of {len(session.responses)}" in page
        assert "The request, in order" in page
    assert "no reply of the model" in words(get(demo, f"{BASE}/at/nothing", 404))


def test_the_prompt_is_that_of_the_reply(demo: Served) -> None:
    session = load(DEMO)
    for reply in (session.responses[0], session.responses[-1]):
        page = words(get(demo, f"{BASE}/prompt/at/{reply.id}"))
        prompt = session.prompt(response=reply)
        for name in prompt.sections:
            assert f" {name} " in page
        for tool in prompt.tools:
            assert f"tool {tool['name']}" in page
        assert "How it came to be" in page


def test_usage_adds_up(demo: Served) -> None:
    total = sum(item.totals.cost for item in spent(open_source(DEMO), load(DEMO).zone))
    page = get(demo, f"{BASE}/usage")
    assert f"<h1>{money(total)} " in page
    assert "By day" in page
    assert "By model" in page


def test_health_has_commands(served: Any) -> None:
    session = testing.SessionBuilder()
    session.user("One")
    session.raw_line(b"{broken")
    session.tool_result("nobody-called", "a result")
    key = json.loads(session.data.splitlines()[0])["id"]
    health = words(get(served(session.data), f"/session/{key}/health"))
    assert "malformed-json" in health
    assert "orphan-result" in health
    assert "pi-sessions repair" in health
    assert "providers refuse the request" in health


def test_raw_gives_every_line(demo: Served) -> None:
    lines = DEMO.read_bytes().splitlines()
    for number in (1, 4, 46):
        page = get(demo, f"{BASE}/raw/{number}")
        assert f"{len(lines[number - 1]):,} bytes" in words(page)
        assert get(demo, f"{BASE}/raw/{number}/bytes").encode() == lines[number - 1]
    get(demo, f"{BASE}/raw/47", 404)
    get(demo, f"{BASE}/raw/0", 404)


def test_bytes_are_shown_in_windows(served: Any) -> None:
    session = testing.SessionBuilder()
    session.user("x" * 5000)
    key = json.loads(session.data.splitlines()[0])["id"]
    running = served(session.data)
    page = get(running, f"/session/{key}/raw/2?at=4096")
    assert "00001000" in page
    assert "00000000  " not in page


def test_saw(demo: Served) -> None:
    session = load(DEMO)
    found = session.look_for("333 kg")
    had = sum(saw for _, saw in found.replies())
    page = words(get(demo, f"{BASE}/saw?q=333+kg"))
    assert f"{had} of {len(session.responses)} replies had it" in page
    assert "It stands nowhere" in words(get(demo, f"{BASE}/saw?q=nowhere-at-all"))
    assert "no regular expression" in words(get(demo, f"{BASE}/saw?q=(&regex=on"))
    assert "replies had it" in words(get(demo, f"{BASE}/saw?q=HARVEST&fold=on"))


def test_sessions(served: Any, tmp_path: Path) -> None:
    """By project, filtered, sorted, with findings and names."""
    running = served(root=store(tmp_path))
    page = words(get(running, "/sessions"))
    assert "5 sessions" in page
    assert "Quince jelly" in page
    assert "1 finding" in page
    only = words(get(running, "/sessions?project=/work/project-1"))
    assert "2 sessions" in only
    assert "Question 0" not in only
    assert "1 session " in words(get(running, "/sessions?text=jelly"))
    sizes = get(running, "/sessions?sort=size")
    assert sizes.index("session-3") < sizes.index("session-0")
    for sort in ("created", "cost", "messages", "nonsense"):
        get(running, f"/sessions?sort={sort}")
    assert "No session is here" in words(get(running, "/sessions?text=zucchini"))


def test_a_list_of_many_has_pages(served: Any, tmp_path: Path) -> None:
    for number in range(130):
        session = testing.SessionBuilder(id=f"many-{number}")
        session.user(f"Hello {number}")
        (tmp_path / f"{number}.jsonl").write_bytes(session.data)
    running = served(root=tmp_path)
    first = get(running, "/sessions")
    assert "1 to 100 of 130" in words(first)
    rest = get(running, "/sessions?from=100")
    assert "101 to 130 of 130" in words(rest)
    keys = set(re.findall(r'href="/session/(many-\d+)"', first + rest))
    assert len(keys) == 130


def test_search(served: Any, tmp_path: Path) -> None:
    running = served(root=store(tmp_path))
    page = words(get(running, "/search?q=quinces"))
    assert "5 places in 5 of 5 sessions" in page
    assert "It stands in none of 5 sessions" in words(get(running, "/search?q=zucchini"))
    part = json.loads(get(running, "/search?q=quinces&part=json&in=session-2"))
    assert [row["line"] for row in part["lines"]] == [2]
    assert part["lines"][0]["url"] == "/session/session-2?line=2#L2"
    assert "no regular expression" in words(get(running, "/search?q=(&regex=on"))


def test_search_with_the_index(served: Any, tmp_path: Path) -> None:
    root = store(tmp_path)
    cache = Cache(str(tmp_path / "cache"), str(root), time.time_ns)
    plain, indexed = served(root=root), served(root=root, cache=cache)
    query = Query("quinces")
    index.search([cache], look(root).files, query, UTC)
    files = sorted(root.rglob("*.jsonl"))
    with files[-1].open("ab") as file:
        file.write(b'{"type":"session_info","id":"new","parentId":null,"name":"more quinces"}\n')

    rest = index.known(cache, look(root).files, Query("zucchini"), UTC, 200)[1]
    assert 0 < len(rest) < len(files)
    assert index.known(cache, look(root).files, query, UTC, 1)[0]
    for asked in ("q=quinces", "q=zucchini", "q=quin.es&regex=on", "q=QUINCES&in=session-2"):
        one, other = (words(get(each, f"/search?{asked}")) for each in (plain, indexed))
        assert re.findall(r"\d+ places? in .*? sessions|none of \d+", one)
        assert one == other


@pytest.mark.parametrize(
    "data",
    [
        testing.SessionBuilder().data,
        testing.SessionBuilder().data + b"\n\n{broken\n[1]\n",
        testing.SessionBuilder().data + b'{"type":"message","id":"a","parentId":"a"}\n',
    ],
)
def test_sessions_with_next_to_nothing(served: Any, data: bytes) -> None:
    """Every view of them is a page."""
    key = json.loads(data.splitlines()[0])["id"]
    running = served(data)
    for view in ("", "/next", "/saw", "/saw?q=a", "/prompt", "/usage", "/health", "/raw/1"):
        get(running, f"/session/{key}{view}")
    get(running, f"/session/{key}/reply?n=1", 404)


def forked(folder: Path) -> Path:
    """Make a store in which one session was forked twice over, and two name each other."""
    for number, parent in enumerate([None, 0, 1, 4, 3, 99]):
        words: dict[str, Any] = {"id": f"s-{number}", "cwd": "/work/one"}
        if parent is not None:
            words["parentSession"] = f"/elsewhere/{parent}.jsonl"
        header = {"type": "session", "version": 3, "timestamp": f"2026-01-0{number + 1}T00:00:00Z"}
        path = folder / f"{number}.jsonl"
        path.write_text(json.dumps(header | words) + "\n")
        os.utime(path, (number + 1, number + 1))
    return folder


def test_forks_stand_under_their_parents(served: Any, tmp_path: Path) -> None:
    """Each session is there once, also where they claim to be in a circle."""
    page = get(served(root=forked(tmp_path)), "/sessions")
    found = re.findall(r'<li( class="under n(\d)")?><a class="what" href="/session/(s-\d)"', page)
    levels = [(key, int(level or 0)) for _, level, key in found]
    assert levels[:1] == [("s-5", 0)]
    assert levels[-3:] == [("s-0", 0), ("s-1", 1), ("s-2", 2)]
    assert sorted(key for key, _ in levels) == [f"s-{number}" for number in range(6)]
    assert page.count("fork of a session that is gone") == 1


def test_sessions_are_filtered_by_what_their_replies_tell(served: Any, tmp_path: Path) -> None:
    for number, model in enumerate(("quince-1", "medlar-2")):
        session = testing.SessionBuilder(id=f"s-{number}")
        session.user("Hello")
        session.assistant("Hello", message={"model": model})
        (tmp_path / f"{number}.jsonl").write_bytes(session.data)
    running = served(root=store(tmp_path))
    assert "1 session " in words(get(running, "/sessions?model=MEDLAR"))
    assert "1 session " in words(get(running, "/sessions?named=1"))
    assert "1 session " in words(get(running, "/sessions?health=defects"))
    assert "7 sessions" in words(get(running, "/sessions?since=2000-01-01"))
    assert "No session is here that fits" in words(get(running, "/sessions?until=2000-01-01"))


def test_a_list_is_the_same_with_a_cache(served: Any, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    store(folder)
    cache = Cache(str(tmp_path / "cache"), str(folder), time.time_ns)
    asked = ("/sessions", "/sessions?sort=cost", "/sessions?text=jelly")
    plain = [get(served(root=folder), path) for path in asked]
    for _ in range(2):
        running = served(root=folder, cache=cache)
        assert [get(running, path) for path in asked] == plain
    with (folder / "2026-01-01_session-0.jsonl").open("ab") as file:
        file.write(b'{"type":"session_info","id":"n","parentId":null,"name":"Grown since"}\n')
    assert "Grown since" in get(running, "/sessions")


def test_usage_of_the_store_counts_copies_once(served: Any, tmp_path: Path) -> None:
    session = testing.SessionBuilder(id="first", cwd="/work/one")
    session.user("Hello")
    usage = {"input": 100, "output": 10, "cost": {"total": 0.5}, "totalTokens": 110}
    session.assistant("Hello", message={"usage": usage})
    (tmp_path / "1.jsonl").write_bytes(session.data)
    fork = session.data.replace(b'"first"', b'"second"', 1)
    header, _, rest = fork.partition(b"\n")
    parent = json.loads(header) | {"parentSession": str(tmp_path / "1.jsonl")}
    (tmp_path / "2.jsonl").write_bytes(json.dumps(parent).encode() + b"\n" + rest)
    page = words(get(served(root=tmp_path), "/usage"))
    assert "$0.500 110 tokens in 2 sessions" in page
    assert "1 copy in forks, $0.500" in page
    for name in ("By day", "By model", "By project", "By kind", "Dearest sessions"):
        assert name in page


def test_an_audit_is_shown_beside_its_session(served: Any) -> None:
    """Each finding leads to its line of the report and to that of the session."""
    folder = Path(__file__).parent.parent / "audit" / "recordings" / "report-blurred"
    session, report = load(folder / "session.jsonl"), (folder / "report.md").read_text()
    result = audit(report, [session], path="report.md", brief=(folder / "brief.txt").read_text())
    running = served(audited=Audited(result, report))
    page = get(running, "/")
    assert result.summary.capitalize() in page
    assert page.count('class="finding') == len(result.findings)
    places = set(re.findall(r'href="(#[RFS]\w+)"', page))
    assert places
    assert all(f'id="{place[1:]}"' in page for place in places)
    there = re.findall(r'href="(/session/[^"#]+)#L(\d+)" class="there"', page)
    assert there
    assert f'id="L{there[0][1]}"' in get(running, there[0][0].replace("&amp;", "&"))


def test_without_a_report_there_is_no_audit(demo: Served) -> None:
    assert "without a report" in words(get(demo, "/audit", 404))

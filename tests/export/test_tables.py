"""Tables as CSV and Parquet, and the requests of all replies."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import assume, given, settings

from conftest import ROOT, SHARED, need
from payload import wire
from payload.test_wire import folders
from pi_sessions import _json, load, loads
from pi_sessions.context.models import resolve
from pi_sessions.context.target import Target
from pi_sessions.errors import NotASessionError
from pi_sessions.export import Options, chunks
from pi_sessions.export.sheets import SHEETS
from pi_sessions.session import Session
from pi_sessions.testing import GIF, SessionBuilder, image_block, tool_call
from pi_sessions.usage import spent
from property import strategies

DEMO = ROOT / "examples/demo/session.jsonl"


def written(name: str, session: Session, **options: Any) -> bytes:
    return b"".join(chunks(name, session, Options(**options)))


def rows_of(session: Session, table: str, **options: Any) -> list[dict[str, str]]:
    text = written("csv", session, table=table, **options).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_entries() -> None:
    session = load(DEMO)
    explanation = session.explain()
    rows = rows_of(session, "entries")
    assert [int(row["line"]) for row in rows] == [entry.line for entry in session.entries]
    for row, entry in zip(rows, session.entries, strict=True):
        assert row["id"] == entry.id
        assert row["timestamp"] == entry.timestamp
        assert row["verdict"] == explanation.verdict(entry.line)
        assert row["reason"] == explanation.reason(entry.line)
        assert row["because"].split() == [str(n) for n in explanation.because(entry.line)]
        assert int(row["bytes"]) == entry.length
    assert [row["label"] for row in rows if row["label"]] == ["total is right"]


def test_messages() -> None:
    session = load(DEMO)
    rows = rows_of(session, "messages")
    called = [row for row in rows if row["kind"] == "toolCall"]
    assert json.loads(called[0]["text"]) == {"path": "orchard.py"}
    assert {row["kind"] for row in rows} >= {"text", "thinking", "toolCall", "section", "summary"}
    assert {row["kind"] for row in rows} >= {"command", "output"}
    told = "".join(row["text"] for row in rows if row["line"] == "5")
    assert told == "The harvest total looks too high. Please find out why."


def test_a_picture_is_counted_and_not_written() -> None:
    session = SessionBuilder()
    session.user([image_block()])
    (row,) = rows_of(loads(session.data), "messages")
    assert (row["kind"], row["characters"], row["text"]) == ("image", str(len(GIF)), "")


def test_responses() -> None:
    session = load(DEMO)
    rows = rows_of(session, "responses")
    assert len(rows) == len(session.responses)
    for row, reply in zip(rows, session.responses, strict=True):
        message = reply.raw["message"]
        assert row["model"] == message["model"]
        assert int(row["input"]) == message["usage"]["input"]
        assert float(row["cost"]) == message["usage"]["cost"]["total"]
        assert int(row["toolCalls"]) == sum(b["type"] == "toolCall" for b in message["content"])


def test_usage_has_every_source() -> None:
    """Replies, tools, both kinds of summaries and usage entries; the sums are those of `usage`."""
    session = SessionBuilder()
    usage = {"input": 5, "output": 1, "cacheRead": 2, "cacheWrite": 0, "cost": {"total": 0.5}}
    session.user("Go")
    session.assistant("Done", calls=[tool_call("ask", {}, id="c")], message={"usage": usage})
    session.tool_result("c", "said", name="ask", message={"usage": usage})
    session.branch_summary("left", extra={"usage": usage})
    session.compaction("so far", extra={"usage": usage})
    session.add("usage", {"kind": "warm", "provider": "p", "model": "m", "usage": usage})
    rows = rows_of(loads(session.data), "usage")
    kinds = ["reply", "tool", "branch_summary", "compaction", "warm"]
    assert [row["kind"] for row in rows] == kinds
    assert [row["tool"] for row in rows if row["tool"]] == ["ask"]
    assert {row["totalTokens"] for row in rows} == {"8"}
    assert sum(float(row["cost"]) for row in rows) == 2.5
    demo = load(DEMO)
    told = [item.totals.cost for item in spent(demo.table.source, demo.zone)]
    assert [float(row["cost"]) for row in rows_of(demo, "usage")] == told


def test_visibility_is_that_of_the_explanations() -> None:
    """The runs of each entry hold just the replies that had it."""
    for path in [DEMO, *ROOT.glob("tests/recordings/*/session*.jsonl")]:
        session = load(path)
        seen = session.visibility()
        had: dict[int, int] = {}
        for row in rows_of(session, "visibility"):
            line = int(row["line"])
            had[line] = had.get(line, 0) + int(row["responses"])
        told = {reply.line: session.explain(response=reply) for reply in session.responses}
        for entry in session.entries:
            count = sum(e.verdict(entry.line) != "not_sent" for e in told.values())
            assert had[entry.line] == count == len(seen.of(entry.line)), (path, entry.line)


def test_formulas_are_disarmed() -> None:
    """No cell begins as a formula would; Parquet has the text as it is."""
    session = SessionBuilder()
    for sign in "=+-@\t":
        session.user(f"{sign}cmd|'/c calc'!A1")
    rows = rows_of(loads(session.data), "messages")
    assert all(row["text"].startswith("'") for row in rows)


@pytest.mark.parametrize("table", list(SHEETS))
def test_parquet_has_the_same_rows(table: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    session = load(DEMO)
    data = written("parquet", session, table=table)
    assert data == written("parquet", session, table=table)
    found = pq.read_table(io.BytesIO(data))
    assert found.column_names == list(SHEETS[table].columns)
    rows = [tuple(row.values()) for row in found.to_pylist()]
    assert rows == list(SHEETS[table].rows(session, Options()))
    assert len(rows) == len(rows_of(session, table))


@pytest.mark.parametrize("table", list(SHEETS))
def test_any_session_has_tables(table: str) -> None:
    """Odd values, lone surrogates, cycles: rows all the same, in both forms."""
    pq = pytest.importorskip("pyarrow.parquet")

    @settings(max_examples=40)
    @given(strategies.damaged_sessions())
    def run(data: bytes) -> None:
        try:
            session = loads(data)
        except NotASessionError:
            assume(False)
        rows = rows_of(session, table)
        parquet = pq.read_table(io.BytesIO(written("parquet", session, table=table)))
        assert len(rows) == parquet.num_rows
        if table in ("entries", "visibility"):
            assert {int(row["line"]) for row in rows} == {e.line for e in session.entries}

    run()


def test_requests_are_the_recorded_ones() -> None:
    """The bodies of a recording come out as they were sent."""
    need(wire.WIRE)
    same = total = 0
    for folder in folders(wire.WIRE)[::4]:
        config, preferences = wire.config(folder)

        def model_of(target: Target, config: Any = config) -> Any:
            return resolve(target.provider, target.model, target.api, config=config)

        options = {
            "model_of": model_of,
            "preferences": preferences,
            "cache_retention": "short",
            "provenance": False,
        }
        bodies: dict[tuple[str, str], str] = {}
        for path in folder.glob("session*.jsonl"):
            for line in written("requests", load(path), **options).splitlines():
                row = _json.loads(line)
                bodies[path.name, row["id"]] = _json.dumps(row["body"])
        for turn in wire.turns(folder):
            total += 1
            same += bodies[turn.session, turn.answered] == turn.body
    print(f"{same} of {total} bodies are the recorded ones")
    assert total > 80
    assert same >= total - 4


def test_what_cannot_be_built_is_told() -> None:
    session = SessionBuilder()
    session.user("hi")
    session.assistant("ho", api="bedrock-converse-stream")
    (row,) = map(json.loads, written("requests", loads(session.data)).splitlines())
    assert list(row) == [
        *("id", "line", "api", "provider", "model", "body"),
        *("unknown", "estimatedTokens", "reportedTokens"),
    ]
    assert row["body"] is None
    assert "bedrock-converse-stream" in row["unknown"][0]["why"]


def test_rows_of_requests_have_these_keys() -> None:
    session = load(DEMO)
    first = json.loads(written("requests", session).splitlines()[0])
    keys = ["id", "line", "api", "provider", "model", "body", "provenance", "unknown"]
    assert list(first) == [*keys, "estimatedTokens", "reportedTokens"]
    one = written("requests", session, response=session.responses[3].id).splitlines()
    assert [json.loads(row)["line"] for row in one] == [session.responses[3].line]
    branch = written("requests", session, branch=True).splitlines()
    assert len(branch) < len(session.responses)


@given(strategies.damaged_sessions())
@settings(max_examples=40)
def test_any_session_has_requests_and_a_document(data: bytes) -> None:
    """One line for every reply; one document with a row for each line."""
    try:
        session = loads(data)
    except NotASessionError:
        assume(False)
    rows = [_json.loads(row) for row in written("requests", session).splitlines()]
    assert [row["line"] for row in rows] == [entry.line for entry in session.responses]
    document = _json.loads(written("json", session))
    assert [row["line"] for row in document["lines"]] == list(range(1, len(session.table) + 1))


def test_calls_in_tables_may_be_odd() -> None:
    session = SessionBuilder()
    session.assistant("", calls=[tool_call("x", [1], id=None)])  # type: ignore[arg-type]
    session.assistant([{"type": 7}, "text"])  # type: ignore[list-item]
    rows = rows_of(loads(session.data), "messages")
    assert [row["kind"] for row in rows] == ["toolCall", "unknown", "unknown"]


def test_the_shared_folder_has_rows() -> None:
    for path in sorted(need(SHARED / "real").glob("*.jsonl")):
        session = load(path)
        assert len(rows_of(session, "entries")) == len(session.entries)


def test_columns_are_documented() -> None:
    """The guide lists the columns of each table, in order."""
    guide = (ROOT / "docs/exporting.md").read_text("utf-8")
    for name, sheet in SHEETS.items():
        columns = " ".join(f"`{column}`" for column in sheet.columns)
        assert any(
            line.startswith(f"| `{name}` |") and columns in line for line in guide.split("\n")
        ), name

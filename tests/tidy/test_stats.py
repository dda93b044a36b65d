"""`stats`: every byte counted once, by what it is; the same however the work is shared."""

from __future__ import annotations

import json
import os
import shlex
import time
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Run
from conftest import SHARED, need
from pi_sessions import _pool
from pi_sessions.testing import (
    SessionBuilder,
    image_block,
    text_block,
    thinking_block,
    tool_call,
)
from pi_sessions.tidy.space import measure
from pi_sessions.tidy.weighing import Weights, What
from property.strategies import sessions as generated
from tidy.stores import session

LINES = st.lists(
    st.binary(max_size=80)
    | st.sampled_from(
        [
            b'{"type":"message","message":{"role":"user","content":[{"type":"text","text":"\\ud800"}]}}',
            b'{"type":"message","message":{"role":"toolResult","toolName":7,"content":[1,{}]}}',
            b'{"type":"message","message":{"role":"assistant","content":{"a":1}}}',
            b'{"type":"message","message":{"role":"user","content":"x"},"message":{"role":"user"}}',
            b'{"type":"custom","customType":"\xff","data":[[[[]]]]}',
            b'{"type":"custom_message","customType":"x","content":"\\u0000"}',
            b"[" * 5000,
        ]
    )
)


def weigh(data: bytes) -> Weights:
    weights = Weights(UTC)
    for line in data.splitlines(keepends=True):
        weights.add(line)
    return weights


MEGABYTE = 1 << 20


@pytest.mark.parametrize("text", ["x", "\\ud800", "\\n", "é"])
def test_long_lines(text: str) -> None:
    data = b'{"type":"message","message":{"role":"user","content":"%s"}}\n' % (
        text.encode() * MEGABYTE
    )
    parts = weigh(data).parts
    assert sum(parts.values()) == len(data)
    assert parts[What.USER, "" if "ud800" not in text else "user"] > MEGABYTE


@given(lines=LINES)
def test_every_byte_counts_once(lines: list[bytes]) -> None:
    weights = weigh(data := b"\n".join(lines))
    assert sum(weights.parts.values()) == weights.size == len(data)
    assert all(size > 0 for size in weights.parts.values())


@given(made=generated())
def test_of_any_session(made: bytes) -> None:
    assert sum(weigh(made).parts.values()) == len(made)


def test_of_every_file_there_is() -> None:
    paths = [*need(SHARED / "wire").rglob("*.jsonl"), *need(SHARED / "real").glob("*.jsonl")]
    assert len(paths) > 50
    for path in paths:
        data = path.read_bytes()
        weights = Weights(UTC)
        for line in data.splitlines(keepends=True) if b"\r" not in data else [data]:
            weights.add(line)
        assert sum(weights.parts.values()) == len(data), path


def test_what_each_part_is() -> None:
    made = SessionBuilder()
    made.user([text_block("ab"), image_block("aaaa")])
    made.assistant(
        "hello",
        thinking=thinking_block("hm", "sign"),
        calls=[tool_call("read", {"path": "x"}), tool_call("bash", {})],
    )
    made.tool_result("call-1", [text_block("four"), image_block("bb")])
    made.bash("ls", "out")
    made.custom({"a": [1, 2]}, custom_type="notes")
    made.custom_message("hi there", custom_type="greeting")
    made.compaction("short", first_kept=1)
    made.edit("2", None)
    made.label("2", "x")
    made.raw_line(b"junk")
    made.raw_line(b'{"type":"moon"}')
    parts = weigh(made.data).parts

    assert parts[What.USER, ""] == len('"ab"')
    assert parts[What.IMAGE, "the user"] == len('"aaaa"')
    assert parts[What.REPLY, ""] == len('"hello"')
    assert parts[What.THINKING, ""] == len('"hm"')
    assert parts[What.SIGNATURE, ""] == len('"sign"')
    assert parts[What.TOOL_CALL, "read"] == len('{"path":"x"}')
    assert parts[What.SHELL, ""] == len('"ls""out"')
    assert parts[What.EXTENSION_MESSAGE, "greeting"] == len('"hi there"')
    assert parts[What.UNREADABLE, ""] == len("junk\n")
    assert parts[What.OTHER, "moon"] == len('{"type":"moon"}\n')
    lines = made.data.splitlines(keepends=True)
    whole = {
        (What.EXTENSION_STATE, "notes"): b'"custom",',
        (What.SUMMARY, "compaction"): b'"compaction",',
        (What.EDIT, "context_edit"): b'"context_edit",',
    }
    for part, mark in whole.items():
        assert parts[part] == sum(len(line) for line in lines if mark in line), part
    results = {of: size for (what, of), size in parts.items() if what is What.TOOL_RESULT}
    assert list(results.values()) == [len('"four"')]


def test_shares_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store"
    for number in range(25):
        session(store, f"s{number}", cwd=f"/work/{number % 3}", turns=number)
    (store / "junk.jsonl").write_bytes(b"junk\n")
    monkeypatch.setattr(_pool, "FEW", 0)
    monkeypatch.setattr(_pool, "_SHARE", 1000)
    told = [measure(store, before=1e15, zone=UTC, top=5, workers=n) for n in (1, 2, 5)]

    assert told[0] == told[1] == told[2]
    whole = told[0].whole()
    sizes = [path.stat().st_size for path in store.rglob("s*.jsonl")]
    assert (whole.whole.count, whole.whole.size) == (25, sum(sizes))
    assert sum(whole.parts.values()) == sum(sizes)
    assert [each.size for each in told[0].sessions] == sorted(sizes, reverse=True)[:5]
    assert len(told[0].projects) == 3
    assert (told[0].foreign.count, told[0].foreign.size) == (1, 5)
    assert told[0].empty.count == 1
    assert told[0].idle.count == 24
    longest = told[0].lines[0]
    data = Path(longest.path).read_bytes().splitlines(keepends=True)
    assert len(data[longest.line - 1]) == longest.size


def test_the_command(tmp_path: Path, run: Run) -> None:
    store = tmp_path / "store"
    path = session(store, "large", turns=50)
    session(store, "small\x1b[31m", cwd="/work/barn")
    words = ("--session-dir", store)
    told = run("stats", *words, "--json").json

    assert told["bytes"] == sum(row["bytes"] for row in told["kinds"])
    for row in told["kinds"]:
        assert row["bytes"] == sum(part["bytes"] for part in row["parts"])
    assert [row["cwd"] for row in told["projects"]] == ["/work/orchard", "/work/barn"]
    assert told["largestSessions"][0]["path"] == str(path)
    assert any("prune --older-than 90d" in way["command"] for way in told["ways"])
    shown = run("stats", *words, "--top", "1")
    assert shown.code == 0
    assert b"\x1b" not in shown.out
    assert run("stats", *words, "--top", "0", "--json").json["longestLines"] == []
    assert run("archive", "large", *words).code == 0
    assert run("stats", *words, "--json").json["archive"]["sessions"] == 1


def test_ways_do_what_is_said(tmp_path: Path, run: Run) -> None:
    """Each command that is told runs, and means as many sessions."""
    store = tmp_path / "a store"
    session(store, "apples", turns=3)
    empty = store / "empty.jsonl"
    empty.write_bytes(SessionBuilder(id="empty").data)
    os.utime(empty, (time.time() - 10_000,) * 2)
    ways = run("stats", "--session-dir", store, "--idle", "1h", "--json").json["ways"]
    assert len(ways) == 4
    for way in ways:
        words = shlex.split(way["command"])[1:]
        done = run(*words, "--dry-run", "--json").json
        rows = done["chosen"] if words[0] == "prune" else done["sessions"]
        assert len(rows) >= way["sessions"], way
        assert sum(row["size"] for row in rows) >= way["bytes"]


def test_empty_and_wrong(tmp_path: Path, run: Run) -> None:
    for root in (tmp_path / "none", tmp_path):
        done = run("stats", "--session-dir", root, "--json")
        assert (done.code, done.json["bytes"], done.json["kinds"]) == (0, 0, [])
        assert run("stats", "--session-dir", root).code == 0
    for wrong in (["--top", "x"], ["--idle", "soon"], ["--top", "-1"]):
        assert run("stats", "--session-dir", tmp_path, *wrong).code == 2
    (tmp_path / "deep.jsonl").write_bytes(
        b'{"type":"session","id":"a"}\n' + b'{"type":"custom","data":' + b"[" * 200_000 + b"\n"
    )
    told = run("stats", "--session-dir", tmp_path, "--json").json
    assert {row["kind"] for row in told["kinds"]} == {"bookkeeping", "unreadable"}
    assert json.dumps(told)

"""Tokens and money: as the reference adds them up, each copied entry once, days in a zone."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC
from pathlib import Path

import pytest

from cli.conftest import Run
from conformance import reference
from conftest import REQUIRED, SHARED, need
from pi_sessions._lines import BytesSource, open_source
from pi_sessions.errors import NotASessionError
from pi_sessions.testing import SessionBuilder
from pi_sessions.usage import Again, Totals, spent
from store.test_list import generated

FILES = [
    *sorted((Path(__file__).parent.parent / "recordings").glob("*/session*.jsonl")),
    *sorted((SHARED / "wire").glob("*/session*.jsonl")),
    *sorted((SHARED / "cases").glob("*/*.jsonl")),
    *sorted((SHARED / "real").glob("*.jsonl")),
]


def total(path: Path) -> tuple[Totals, Again] | None:
    sums, again = Totals(), Again()
    try:
        for item in spent(open_source(path), UTC):
            sums.add(item.totals)
            again.add(item.again or Again())
    except NotASessionError:
        return None
    return sums, again


def test_totals_are_those_of_the_reference(tmp_path: Path) -> None:
    """To the cent, for every file there is; where the reference fails, we have a number.

    It is given copies: it writes while it reads.
    """
    if why := reference.missing():
        assert not REQUIRED, why
        pytest.skip(why)
    node = reference.find_node()
    assert node is not None
    program = Path(__file__).parent / "usage.mjs"
    copies = [Path(shutil.copy(path, tmp_path / f"{n}.jsonl")) for n, path in enumerate(FILES)]
    for copy in copies:
        copy.chmod(0o644)
    done = subprocess.run([node, program, *copies], capture_output=True, check=True, timeout=120)
    compared = missed = 0
    for line in done.stdout.splitlines():
        told = json.loads(line)
        found = total(Path(told["file"]))
        if told["error"] or found is None:
            continue
        ours, again = found
        theirs = told["totals"]
        tokens = (ours.input, ours.output, ours.cache_read, ours.cache_write)
        expected = [theirs[key] for key in ("input", "output", "cacheRead", "cacheWrite")]
        if None in expected or theirs["cost"] is None:
            continue  # NaN: something was missing
        assert list(tokens) == expected, told["file"]
        assert ours.cost == pytest.approx(theirs["cost"], abs=1e-9), told["file"]
        waste = told["waste"]
        assert again.tokens == waste["missedTokens"], told["file"]
        assert again.replies == waste["missCount"], told["file"]
        assert again.cost <= waste["missedCost"] + 1e-9, told["file"]
        compared += 1
        missed += again.replies

    assert compared > 40
    assert missed > 3


@pytest.mark.parametrize("seed", [4, 5])
def test_totals_of_a_made_store_are_those_of_the_reference(
    run: Run, tmp_path: Path, seed: int
) -> None:
    """What the command says of many sessions is what the reference says of each, added up."""
    if why := reference.missing():
        assert not REQUIRED, why
        pytest.skip(why)
    folder = tmp_path / "store"
    folder.mkdir()
    generated(folder, seed, 60, alone=True)
    told = run("usage", "--all", "--session-dir", folder, "--by", "session", "--json").json
    node = reference.find_node()
    assert node is not None
    files = sorted(folder.iterdir())
    program = Path(__file__).parent / "usage.mjs"
    done = subprocess.run([node, program, *files], capture_output=True, check=True, timeout=120)
    theirs = [json.loads(line)["totals"] for line in done.stdout.splitlines()]

    for key in ("input", "output", "cacheRead", "cacheWrite"):
        assert told[key] == sum(each[key] for each in theirs)
    assert told["cost"] == pytest.approx(sum(each["cost"] for each in theirs), abs=1e-9)
    assert told["cost"] > 1
    assert sum(row["cost"] for row in told["rows"]) == pytest.approx(told["cost"])
    ours = {row["key"]: row["tokens"] for row in told["rows"]}
    assert len(ours) > 40


def test_copies_are_counted_once(run: Run) -> None:
    folder = next(need(SHARED / "cases").glob("10-*"))
    told = run("usage", "--all", "--session-dir", folder, "--json").json

    assert (told["cost"], told["input"], told["output"], told["cacheRead"]) == (
        0.875,
        117,
        25,
        1200,
    )
    assert told["countedOnce"] == {"copies": 2, "cost": 0.75}
    alone = run("usage", folder / "fork.jsonl", "--json").json
    assert (alone["cost"], alone["countedOnce"]["copies"]) == (0.875, 0)


def test_days_are_those_of_a_zone(run: Run) -> None:
    path = next(need(SHARED / "cases").glob("26-*")) / "session.jsonl"

    def days(zone: str, *more: str) -> dict[str, float]:
        told = run("usage", path, "--by", "day", "--tz", zone, "--json", *more).json
        return {row["key"]: row["cost"] for row in told["rows"]}

    assert list(days("America/Los_Angeles").values()) == [1.5, 0.5]
    assert list(days("UTC").values()) == [2.0]
    (first, second) = days("America/Los_Angeles")
    assert days("America/Los_Angeles", "--until", first) == {first: 1.5}
    assert days("America/Los_Angeles", "--since", second) == {second: 0.5}


def test_what_is_missing_is_told_and_counts_as_nothing(run: Run) -> None:
    path = next(need(SHARED / "cases").glob("40-*")) / "session.jsonl"
    told = run("usage", path, "--json").json

    assert (told["cost"], told["input"], told["output"]) == (1.0, 110, 55)
    assert [row["line"] for row in told["incomplete"]] == [3, 4]


def test_all_five_sources_and_every_key(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": cost}
    made = SessionBuilder()
    first = made.user("one")
    made.assistant("left", usage=usage)
    made.at(first)
    made.assistant("a", usage=usage)
    made.message({"role": "toolResult", "toolCallId": "x", "toolName": "agent", "content": [],
                  "usage": usage})  # fmt: skip
    made.usage(usage)
    made.add("compaction", {"summary": "s", "firstKeptEntryId": first, "usage": usage})
    made.add("branch_summary", {"summary": "s", "fromId": first, "usage": usage})
    path = write(made.data)
    rows = {}
    for by in ("model", "kind", "tool", "branch", "session", "project"):
        told = run("usage", path, "--by", by, "--json").json
        assert (told["cost"], told["tokens"]) == (1.5, 60)
        rows[by] = {row["key"]: row["cost"] for row in told["rows"]}

    assert rows["branch"] == {"this branch": 1.25, "other branches": 0.25}
    assert rows["kind"]["reply"] == 0.5
    assert {"tool", "compaction", "branch_summary"} < set(rows["kind"])
    assert rows["tool"]["agent"] == 0.25
    csv = run("usage", path, "--by", "kind", "--csv").out.decode().splitlines()
    assert csv[0] == "kind,input,output,cacheRead,cacheWrite,tokens,cost"
    assert "reply,2,4,6,8,20,0.5" in csv


def test_odd_bytes() -> None:
    """Numbers of wrong types, broken lines and lone surrogates end nothing."""
    data = b"\n".join(
        [
            b'{"type":"session","version":3,"id":"s"}',
            b'{"type":"message","id":"a","message":{"role":"assistant","usage":{"input":"9","cost":7}}}',
            b'{"type":"message","id":"b","message":{"role":"assistant","usage":{"input":1e999}}}',
            b'{"type":"usage","usage":{"input":5,"note":"\\ud800"}}',
            b'{"type":"message","message":{"role":"assistant","usage":null',
            b'{"type":"message","message":{"role":"assistant"}}',
            b"[1,",
        ]
    )
    found = list(spent(BytesSource(data), UTC))

    assert [item.line for item in found] == [2, 3, 4, 6]
    assert sum(item.totals.input for item in found) == 5
    assert not any(item.is_complete for item in found)


def test_what_was_paid_again_and_why(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    """Each cause that stands in a file, what it cost, and what a chart says of it."""

    def usage(read: int, written: int) -> dict[str, object]:
        cost = {"input": 0, "output": 0, "cacheRead": read / 1000, "cacheWrite": written / 100}
        total = {**cost, "total": sum(cost.values())}
        return {"input": 0, "output": 1, "cacheRead": read, "cacheWrite": written, "cost": total}

    made = SessionBuilder()
    first = made.user("one")
    made.assistant("a", usage=usage(0, 10_000))
    made.assistant("hit", usage=usage(10_000, 10))
    made.assistant("other model", model="birch-2", usage=usage(0, 10_010))
    edited = made.assistant("again", model="birch-2", usage=usage(10_010, 10))
    made.omit(edited)
    made.assistant("edited", model="birch-2", usage=usage(2000, 8020))
    late = {"timestamp": 1_990_000_000_000}
    made.assistant("late", model="birch-2", usage=usage(0, 10_020), message=late)
    made.at(first)
    made.user("two")
    made.assistant("branch", model="birch-2", usage=usage(0, 9000), message=late)
    made.compaction("s", first_kept=first)
    made.assistant("not counted", model="birch-2", usage=usage(0, 9000), message=late)
    path = write(made.data)
    told = run("usage", path, "--json").json["paidAgain"]

    assert {row["key"]: row["tokens"] for row in told["why"]} == {
        "model": 10_010, "edit": 8020, "idle": 10_020, "branch": 9000,
    }  # fmt: skip
    assert told["replies"] == 4
    assert told["tokens"] == 37_050
    # What birch-2 paid for a token into the cache, less what it last paid for one from it.
    assert {row["key"]: row["cost"] for row in told["why"]}["branch"] == pytest.approx(81)
    said = run("usage", path).out.decode()
    assert "paid again: 37,050 tokens in 4 replies" in said
    for words in ("another model", "an edit of the context", "another branch", "five minutes"):
        assert words in said


def test_charts(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    """By model and by day; days without anything have their place, the largest the longest bar."""
    made = SessionBuilder()
    made.user("one")
    for day, dollars in (("05", 1.0), ("06", 4.0), ("08", 0.001)):
        usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0}
        made.usage({**usage, "cost": {"total": dollars}}, timestamp=f"2026-01-{day}T10:00:00.000Z")
    said = run("usage", write(made.data), "--tz", "UTC").out.decode().splitlines()
    days = {line[:10]: line.count("█") for line in said if line.startswith("2026-")}

    assert days == {"2026-01-05": 6, "2026-01-06": 24, "2026-01-07": 0, "2026-01-08": 0}
    assert "by day, UTC" in said
    assert next(line for line in said if line.startswith("2026-01-08")).endswith("▏")


def test_projects_of_a_store(run: Run, tmp_path: Path) -> None:
    for name, cwd in (("a", "/w/x"), ("b", "/w/x/y"), ("c", "/w/z")):
        made = SessionBuilder(id=name, cwd=cwd)
        made.usage({"input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 1}})
        (tmp_path / f"{name}.jsonl").write_bytes(made.data)

    def keys(*words: str) -> dict[str, float]:
        told = run("usage", *words, "--session-dir", tmp_path, "--json").json
        return {row["key"]: row["cost"] for row in told["rows"]}

    assert keys("--all", "--by", "project") == {"/w/x": 1, "/w/x/y": 1, "/w/z": 1}
    assert keys("--project", "/w/x", "--by", "session") == {"a": 1, "b": 1}
    assert keys("--project", "y", "--by", "session") == {"b": 1}
    assert keys("--cwd", "/w/x", "--by", "session") == {"a": 1}
    assert keys("--all", "--by", "branch") == {"this branch": 3}


def test_wrong_use(run: Run) -> None:
    for words in (["--since", "yesterday"], ["--tz", "Moon/Base"], ["--by", "colour"]):
        done = run("usage", "x.jsonl", *words)
        assert done.code == 2
        assert done.err.count("\n") == 1

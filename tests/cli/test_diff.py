"""The difference between two requests, by line."""

from __future__ import annotations

from cli.conftest import ROOT, Run
from pi_sessions.testing import SessionBuilder

DEMO = ROOT / "examples" / "demo" / "session.jsonl"


def test_the_demo_from_an_early_reply_to_the_last(run: Run) -> None:
    """What was summarised went out, what was said came in, and the prompt moved."""
    early = run("lines", DEMO, "--json").json["lines"][12]["id"]
    done = run("diff", DEMO, "--json", "--from", early, "--models", DEMO.parent / "models.json")
    told = done.json
    gone = {row["line"]: (row["reason"], row["because"]) for row in told["out"]}

    assert done.code == 1
    assert set(told) == {
        "from", "to", "in", "out", "changed", "sections", "tools", "synthetic", "estimatedTokens",
        "cache",
    }  # fmt: skip
    assert gone[5] == ("summarised", [15])
    assert gone[4] == ("checkpointed", [15])
    assert [row["line"] for row in told["changed"]] == [11]
    assert 24 in {row["line"] for row in told["in"]}
    assert told["sections"] == {"style": [4, 42], "season": [None, 42]}
    assert told["tools"] == {"almanac": [None, 42]}


def test_the_reply_before_is_the_default(run: Run) -> None:
    """Without --from and --to, the last reply and the one before it on its branch."""
    told = run("diff", DEMO, "--json").json

    assert (told["from"]["line"], told["to"]["line"]) == (44, 46)
    assert [row["line"] for row in told["in"]] == [44, 45]
    assert told["out"] == []


def test_a_request_asked_twice(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    """A failed reply and its retry were asked the same; then the exit code is 0."""
    session = SessionBuilder()
    session.user("hi")
    session.assistant("", stop_reason="error")
    session.assistant("yo")
    done = run("diff", write(session.data), "--json")

    assert done.code == 0
    assert done.json["in"] == done.json["out"] == done.json["changed"] == []


def test_nothing_to_compare(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    """One reply alone is told in a sentence."""
    session = SessionBuilder()
    session.user("hi")
    session.assistant("yo")
    path = write(session.data)

    assert run("diff", path).code == 2
    assert "no reply before it" in run("diff", path).err
    assert run("diff", path, "--to", "00000001").code == 2


def usage(**tokens: int) -> dict[str, int]:
    return {"input": 0, "output": 1, "cacheRead": 0, "cacheWrite": 0, **tokens}


def test_what_was_paid_again_and_why(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    """The beginning that the cache lost is told with its causes; a cached one is not."""
    session = SessionBuilder()
    session.system(sections={"tone": "kind"})
    session.user("one")
    first = session.assistant("a", usage=usage(cacheWrite=9000))
    session.user("two")
    second = session.assistant("b", usage=usage(cacheRead=9000, cacheWrite=100))
    session.system(sections={"tone": "brief"})
    kept = session.user("three")
    session.compaction("so far", first_kept=kept)
    third = session.assistant("c", model="birch-2", usage=usage(cacheWrite=9400))
    path = write(session.data)
    kept_all = run("diff", path, "--json", "--from", first, "--to", second).json["cache"]
    lost = run("diff", path, "--json", "--from", second, "--to", third)

    assert kept_all == {"read": 9000, "written": 100, "fresh": 0, "again": 0, "why": []}
    assert lost.json["cache"]["again"] == 9100
    assert lost.json["cache"]["why"] == ["model", "compaction", "prompt"]
    told = run("diff", path, "--from", second, "--to", third).out.decode()
    assert "about 9,100 paid again: model, compaction, prompt" in told


def test_a_long_pause_lets_a_cache_expire(run: Run, write) -> None:  # type: ignore[no-untyped-def]
    session = SessionBuilder()
    session.user("one")
    session.assistant("a", usage=usage(cacheWrite=9000))
    session.user("two")
    hour = 60 * 60_000
    session.message(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "b"}],
            "api": "openai-completions",
            "provider": "birch",
            "model": "birch-1",
            "stopReason": "stop",
            "usage": usage(cacheWrite=9100),
            "timestamp": 1_900_000_000_000 + hour,
        }
    )
    assert run("diff", write(session.data), "--json").json["cache"]["why"] == ["idle"]

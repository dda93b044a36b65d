"""Which replies had what, by the rules of their day: what explaining each of them says as well."""

from __future__ import annotations

import pytest

from pi_sessions import Session, Verdict, load, loads
from pi_sessions.testing import SessionBuilder
from releases import recorded
from releases.recorded import model_of


def _check(session: Session, release: str | None = None, **options: object) -> None:
    found = session.visibility(release=release, **options)  # type: ignore[arg-type]
    explained = {}
    for reply in session.responses:
        model = found.fates.model_of(session.target(response=reply))
        explained[reply.line] = session.explain(response=reply, target=model, release=release)
    for entry in session.entries:
        saw = [
            line
            for line, told in explained.items()
            if told.verdict(entry.line) is not Verdict.NOT_SENT
        ]
        assert found.of(entry.line) == saw, (session.path, entry.line)
        for line, told in explained.items():
            reason = found.reason(line, entry.line)
            assert reason == (None if line in saw else told.reason(entry.line))


@pytest.mark.parametrize("release", recorded.releases())
def test_recorded_sessions(release: str) -> None:
    for folder in recorded.scenarios(release):
        for path in sorted(folder.glob("session*.jsonl")):
            _check(load(path), model_of=lambda target, folder=folder: model_of(folder, target))


@pytest.mark.parametrize("release", ["0.7.6", "0.24.5", "0.45.7", "0.49.3", "0.86.1", "1.6.0"])
def test_a_named_release(release: str) -> None:
    file = SessionBuilder()
    first = file.user("a")
    file.assistant("b", stop_reason="aborted")
    file.assistant("b", stop_reason="error", thinking="hm", model="birch-2")
    file.assistant("", stop_reason="error")
    file.user("c")
    file.assistant("d", stop_reason="length", thinking="what")
    file.compaction("A summary.", first_kept=first)
    file.assistant("e")
    file.user("f")
    file.assistant("g", model="birch-2")
    file.compaction("Another.")
    file.user("h")
    file.assistant("i")
    _check(loads(file.data), release)


def test_an_aborted_reply_was_seen_then() -> None:
    file = SessionBuilder()
    file.user("a")
    aborted = file.assistant("half a word", stop_reason="aborted")
    file.user("b")
    reply = file.assistant("c")
    session = loads(file.data)
    line = session.entry(aborted).line
    assert session.visibility(release="0.45.7").of(line) == [session.entry(reply).line]
    assert session.visibility(release="0.49.2").of(line) == []
    then = session.look_for("half a word", visibility=session.visibility(release="0.45.7"))
    assert [saw for _, saw in then.replies()] == [False, True]

"""The real Pi opens what we wrote, goes on with it, and asks the model what we predicted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorder.scenarios import orchard
from recorder.stage import Setting, Stage
from recorder.steps import Call, reply

from conformance import reference
from conftest import REQUIRED
from pi_sessions import SessionChangedError, SessionWriter, _json, fork, fork_branch, load
from pi_sessions.context import models
from pi_sessions.testing import SessionBuilder

QUESTION = "Which of them keeps longest?"


class Orchard:
    """A Pi and a session it made, in which apples were named and a file was read."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        stage.say("Name an apple.", reply("Cox."))
        stage.say(
            "What is in the notes?",
            reply("I look.", Call("read", {"path": "harvest.csv"})),
            reply("A list of the harvest."),
        )
        stage.say("Name another.", reply("Ontario."))
        stage.pi.close()
        self.original = stage.current_file
        self.made = load(self.original)
        text = (stage.home / ".pi" / "agent" / "models.json").read_text()
        self.config = models.parse_models(text)

    def said(self, text: str) -> str:
        """Give the id of the entry that says this."""
        return self.stage.find(text)

    def predict(self, path: Path) -> str:
        """Say what Pi will send when the user asks the question behind a file's leaf."""
        ahead = SessionWriter.from_bytes(path.read_bytes())
        message = {"role": "user", "content": [{"type": "text", "text": QUESTION}], "timestamp": 1}
        ahead.append_message(message)
        target = load(path).target()
        model = models.resolve(target.provider, target.model, target.api, config=self.config)
        preferences = models.parse_settings(json.dumps(self.stage.settings))
        request = ahead.session.request(
            model=model, preferences=preferences, cache_retention="short"
        )
        return _json.dumps(request.body)

    def ask(self, path: Path) -> str:
        """Let Pi open a file, ask the question, and give the body it sent."""
        stage = self.stage
        stage.pi = stage._start(path)
        stage.say(QUESTION, reply("Boskoop."))
        stage.pi.close()
        return _json.dumps(_json.loads(stage.script.received[-1].body))


@pytest.fixture(scope="module")
def apples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orchard]:
    """Start Pi against the scripted server."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    home = tmp_path_factory.mktemp("pi") / "home"
    with Stage("writer", Setting(files=orchard.FILES), home) as stage:
        yield Orchard(stage)


def created(apples: Orchard) -> SessionWriter:
    """Every entry of Pi's session appended by us."""
    writer = SessionWriter.create(apples.stage.sessions, apples.made.cwd or "")
    for entry in apples.made.entries:
        raw = entry.raw
        if entry.type == "message":
            writer.append_message(raw["message"])
        elif entry.type == "model_change":
            writer.append_model_change(raw["provider"], raw["modelId"])
        elif entry.type == "thinking_level_change":
            writer.append_thinking_level(raw["thinkingLevel"])
        else:
            pytest.fail(f"the session has a {entry.type}")
    return writer


def forked(apples: Orchard) -> SessionWriter:
    """All branches in a new file."""
    return fork(apples.made, apples.stage.sessions)


def branch_forked(apples: Orchard) -> SessionWriter:
    """One branch in a new file, with a label."""
    writer = fork(apples.made, apples.stage.sessions)
    writer.append_label(apples.said("Cox."), "first")
    return fork_branch(writer.session, apples.stage.sessions, apples.said("A list of the harvest."))


def edited(apples: Orchard) -> SessionWriter:
    """A reply is omitted, a result replaced."""
    writer = fork(apples.made, apples.stage.sessions)
    result = next(entry for entry in apples.made.entries if entry.role == "toolResult")
    with writer.batch():
        writer.append_context_edit(str(result.id), {"content": "(left out)"})
        writer.append_context_edit(apples.said("Ontario."), None)
    return writer


def compacted(apples: Orchard) -> SessionWriter:
    """Only the end is kept, behind a summary and the prompt."""
    writer = fork(apples.made, apples.stage.sessions)
    writer.append_compaction("Cox was named.", apples.said("Name another."), 1200)
    return writer


def branched(apples: Orchard) -> SessionWriter:
    """Back to the first reply with a summary of what is left behind, and a message there."""
    writer = fork(apples.made, apples.stage.sessions)
    writer.branch_with_summary(apples.said("Cox."), "The harvest was read.")
    writer.append_custom_message("note", "The list is of 2026.", display=True)
    writer.append_name("apples")
    return writer


def from_version_one(apples: Orchard) -> SessionWriter:
    """The session as version 1 had it, forked: which the reference itself does not migrate."""
    header, *entries = apples.original.read_bytes().splitlines()
    old = apples.stage.home / "old.jsonl"
    kept = {key: value for key, value in json.loads(header).items() if key != "version"}
    lines = [kept]
    for line in entries:
        entry = json.loads(line)
        del entry["id"], entry["parentId"]
        lines.append(entry)
    old.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return fork(load(old), apples.stage.sessions)


WAYS: list[Callable[[Orchard], SessionWriter]] = [
    created, forked, branch_forked, edited, compacted, branched, from_version_one,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_pi_sends_what_we_predicted(
    apples: Orchard, way: Callable[[Orchard], SessionWriter]
) -> None:
    """And leaves our lines as they were."""
    writer = way(apples)
    writer.close()
    path = Path(writer.path or "")
    written = path.read_bytes()
    predicted = apples.predict(path)

    sent = apples.ask(path)

    assert sent == predicted
    assert path.read_bytes().startswith(written)
    after = load(path)
    assert after.leaf is not None
    assert after.leaf.raw["message"]["content"][0]["text"] == "Boskoop."
    assert [entry.role for entry in after.entries][-2:] == ["user", "assistant"]
    assert not after.check()


def test_we_go_on_where_pi_went_on(apples: Orchard) -> None:
    """A writer that was open while Pi wrote refuses a message, and appends a name behind Pi's."""
    writer = fork(apples.made, apples.stage.sessions)
    assert writer.path is not None
    path = Path(writer.path)
    apples.ask(path)
    lines = path.read_bytes().count(b"\n")

    with pytest.raises(SessionChangedError, match="has gone on behind"):
        writer.append_message({"role": "user", "content": "And plums?", "timestamp": 1})
    assert path.read_bytes().count(b"\n") == lines
    writer.append_name("apples")
    made = load(path)
    name = made.entries[-1]
    assert name.parent is not None
    assert name.parent.raw["message"]["content"][0]["text"] == "Boskoop."
    assert made.name == "apples"


def test_the_builder_is_not_needed() -> None:
    """A session of the builder can be gone on with in memory."""
    made = SessionBuilder()
    made.user("Name an apple.")
    writer = SessionWriter.from_bytes(made.data)
    writer.append_message({"role": "assistant", "content": [], "timestamp": 1})
    assert writer.data.startswith(made.data)

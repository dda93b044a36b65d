"""What goes wrong: errors and retries, aborts, a cut stream, a call without its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, failure, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage


@scenario("retry", files=orchard.FILES)
def retry(stage: Stage) -> None:
    """A failure that is tried again, one in the middle of a tool loop, and one that is final."""
    stage.say("Name an apple.", failure(503, "Service unavailable"), reply("Cox."))
    stage.say(
        "Run the check.",
        reply(Call("bash", {"command": "echo checked"})),
        failure(529, "Overloaded"),
        reply("Checked."),
    )
    stage.say("Name a pear.", failure(400, "Malformed request"))
    stage.say("Again, a pear.", reply("Conference."))


def _aborts(stage: Stage) -> None:
    """A reply that the user stopped, then one of which the stream broke off."""
    stage.say("Name an apple.", reply("Cox."))
    stage.begin("Tell a long story.", reply("Once there was an orchard on a hill.", hold=True))
    stage.pi.wait_for(_has_text)
    stage.pi.ask("abort")
    stage.say("Shorter.", reply("There was an orchard."))
    stage.say("And then?", reply("It bloomed for many years.", cut=True), reply("It bloomed."))
    stage.say("Fine.", reply("Good night."))


def _has_text(record: dict[str, object]) -> bool:
    event = record.get("assistantMessageEvent")
    return isinstance(event, dict) and event.get("type") == "text_delta"


def _unanswered(stage: Stage) -> None:
    """Pi is killed while a tool runs: the call never gets a result, in any later request."""
    stage.say("Name an apple.", reply("Cox."))
    stage.begin("Wait for the frost.", reply("Waiting.", Call("bash", {"command": "sleep 60"})))
    stage.pi.wait_for(lambda record: record["type"] == "tool_execution_start")
    stage.restart(kill=True)
    stage.say("Still there?", reply("Yes."))
    stage.say("Good.", reply("Indeed."))


for _api, _model in (
    ("chat", "birch/birch-1"),
    ("anthropic", "larch/larch-1"),
    ("responses", "cedar/cedar-1"),
):
    scenario(f"aborts-{_api}", model=_model, files=orchard.FILES)(_aborts)
    scenario(f"unanswered-{_api}", model=_model, files=orchard.FILES)(_unanswered)


@scenario("steering", model="larch/larch-1", files=orchard.FILES)
def steering(stage: Stage) -> None:
    """A message while a tool runs, and one that waits for the end of the run."""
    stage.begin(
        "Run the slow check.",
        reply("Running.", Call("bash", {"command": "sleep 1; echo slow"})),
        reply("Steered."),
        reply("Followed up."),
    )
    stage.pi.wait_for(lambda record: record["type"] == "tool_execution_start")
    stage.pi.ask("steer", message="Only tell me whether it passed.")
    stage.pi.ask("follow_up", message="Then stop.")
    stage.pi.wait_until_settled()
    stage.say("Done?", reply("Done."))

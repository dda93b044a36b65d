"""Branches, with and without a summary, forks and clones, a second root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage


@scenario("branch", files=orchard.FILES)
def branch(stage: Stage) -> None:
    """Back to a reply, to a question, and to the old tip, without a summary; a label on the way."""
    stage.say("Name an apple.", reply("Cox."))
    stage.say("Another one.", reply("Ontario."))
    stage.navigate("Cox.", label="first apple")
    stage.say("A red one.", reply("Jonathan."))
    stage.navigate("Name an apple.")
    stage.say("Name a pear.", reply("Conference."))
    stage.navigate("Ontario.")
    stage.say("A third one.", reply("Berlepsch."))


@scenario("branch-summary", model="larch/larch-1", files=orchard.FILES)
def branch_summary(stage: Stage) -> None:
    """Back with a summary: to a reply, and to the first question."""
    stage.say("Name an apple.", reply("Cox."))
    stage.say(
        "Is it in the harvest?",
        reply(Call("bash", {"command": "grep -c Cox harvest.csv"})),
        reply("Yes."),
    )
    stage.navigate("Cox.", reply("Cox is in the harvest."), label="apple named")
    stage.say("How long does it keep?", reply("Until December."))
    stage.navigate("Name an apple.", reply("Apples were named."))
    stage.say("Name a pear.", reply("Conference."))


@scenario("fork", model="cedar/cedar-1", files=orchard.FILES)
def fork(stage: Stage) -> None:
    """A fork from the second question, then a clone: three files."""
    stage.say("Name an apple.", reply("Cox."))
    stage.say("Another one.", reply("Ontario."))
    stage.pi.drive("label", target=stage.find("Cox."), label="kept in forks")
    stage.pi.ask("fork", entryId=stage.find("Another one."))
    stage.say("Rather a pear.", reply("Conference."))
    stage.pi.ask("clone")
    stage.say("And a plum.", reply("Victoria."))


@scenario("resume", files=orchard.FILES)
def resume(stage: Stage) -> None:
    """The session is closed and opened again; a navigation without an entry is forgotten."""
    stage.say("Name an apple.", reply("Cox."))
    stage.say("Another one.", reply("Ontario."))
    stage.navigate("Cox.")
    stage.restart()
    stage.say("A third one.", reply("Berlepsch."))

"""Switching models: what one provider wrote, told to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, Thinking, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

LONG = "call_" + "x" * 60


@scenario("model-switch", model="larch/larch-1", thinking="high", files=orchard.FILES)
def switch(stage: Stage) -> None:
    """All three APIs and back, with thinking of each and tool ids that need another form."""
    read = {"path": "check.py"}
    stage.say(
        "Read the check.",
        reply(
            Thinking("Read it.", "c2lnLTE"),
            Thinking("", "cmVk", redacted=True),
            Call("read", read, id="toolu_a+b/c"),
        ),
        reply("It compares two sums."),
    )
    stage.model("cedar/cedar-1")
    stage.say(
        "Read it again.",
        reply(Thinking("Again.", "ZW5jLTE"), Call("read", read, id="call_1+2=3")),
        reply("It still compares two sums."),
    )
    stage.model("cedar/cedar-2")
    stage.say("Short, please.", reply(Thinking("", "ZW5jLTI"), "Two sums."))
    stage.model("birch/birch-1")
    stage.say(
        "And a long id?",
        reply(Thinking("Fine."), Call("read", read, id=LONG)),
        reply(Thinking("Named otherwise.", "reasoning"), "Done."),
    )
    stage.model("birch/birch-plain")
    stage.say("No thinking here?", reply("None."))
    stage.model("larch/larch-1")
    stage.say("Back at the start?", reply(Thinking("Home.", "c2lnLTI"), "Yes."))
    stage.model("cedar/cedar-1")
    stage.say("And you?", reply("Also back."))

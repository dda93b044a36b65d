"""The same short conversation on each API, without and with thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, Part, Thinking, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

MODELS = {"chat": "birch/birch-1", "anthropic": "larch/larch-1", "responses": "cedar/cedar-1"}


def _plain(stage: Stage) -> None:
    """A tool call, then two calls in one reply of which one fails, then a last question."""
    stage.say(
        "What is in orchard.py?",
        reply("I'll read it.", Call("read", {"path": "orchard.py"})),
        reply("It loads harvest.csv and adds up the kilos."),
    )
    stage.say(
        "Does the check pass?",
        reply(
            "I'll look at the check",
            " and run it.",
            Call("read", {"path": "check.py"}),
            Call("bash", {"command": "python3 check.py"}),
        ),
        reply("No: late rows are added twice."),
    )
    stage.say("Thanks.", reply("You're welcome."))


def _thinking(stage: Stage) -> None:
    """Thinking before a tool call and before a text, another level, then none."""
    signature = {"birch": "", "larch": "c2lnbmVk", "cedar": "ZW5jcnlwdGVk"}
    mark = signature[stage.setting.model.split("/")[0]]

    def think(text: str) -> Part:
        return Thinking(text, mark)

    stage.say(
        "How many rows has the harvest?",
        reply(think("Count the lines."), Call("bash", {"command": "wc -l < harvest.csv"})),
        reply(think("One line is the heading."), f"{orchard.DAYS} rows."),
    )
    stage.thinking("high")
    stage.say("Are you sure?", reply(think("41 lines, one heading."), "Yes."))
    stage.thinking("off")
    stage.say("Good.", reply("Anything else?"))


for _api, _model in MODELS.items():
    scenario(f"plain-{_api}", model=_model, files=orchard.FILES)(_plain)
    scenario(f"thinking-{_api}", model=_model, thinking="medium", files=orchard.FILES)(_thinking)


@scenario("unsigned-thinking", model="larch/larch-1", thinking="low", files=orchard.FILES)
def unsigned(stage: Stage) -> None:
    """Anthropic thinking without a signature, blank, redacted, and a reply of thinking alone."""
    stage.say("One?", reply(Thinking("No signature here."), "One."))
    stage.say("Two?", reply(Thinking("  "), "Two."))
    stage.say("Three?", reply(Thinking("", "cmVkYWN0ZWQ", redacted=True), "Three."))
    stage.say("Four?", reply(Thinking("Only thought.", "c2lnbmVk")))
    stage.say("Five?", reply("Five."))


@scenario("length-and-unicode", files=orchard.FILES)
def length(stage: Stage) -> None:
    """A reply that ran into the token limit, and text beyond ASCII in every place."""
    stage.say("Grüße! 🍎\u2028Wie heißt „Boskoop“ noch?", reply("Schöner aus Boskoop \U0001f34f."))
    arguments = {"command": "printf 'Äpfel\\r\\n🍐'"}
    stage.say("Print some.", reply(Call("bash", arguments)), reply("Done: Äpfel and 🍐."))
    stage.say("Write a long text.", reply("It was a long autumn and", stop="length"))
    stage.say("Go on.", reply("the pears were late."))

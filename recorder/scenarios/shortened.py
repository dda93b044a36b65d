"""Compaction in its forms, and context edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, Tokens, failure, reply

from . import orchard
from .images import IMAGE
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

STORY = "The trees were pruned in February, bloomed in April and were picked from September on. "
SMALL = {"compaction": {"reserveTokens": 1000, "keepRecentTokens": 60}}


def _three_turns(stage: Stage) -> None:
    stage.say("Tell the year.", reply(STORY * 2))
    stage.say(
        "And the check?",
        reply("Running it.", Call("read", {"path": "check.py"})),
        reply("It compares two sums. " + STORY),
    )
    stage.say("And the end?", reply("In November. " + STORY))


@scenario("compaction", settings={"compaction": {"keepRecentTokens": 40}}, files=orchard.FILES)
def compaction(stage: Stage) -> None:
    """Compacted by hand twice, the second time with instructions; then back before the first."""
    _three_turns(stage)
    stage.compact(reply("The year was told."), reply("The turn so far."))
    stage.say("Once more?", reply("Pruned, bloomed, picked. " + STORY))
    stage.say("Shorter?", reply("Picked."))
    stage.compact(
        reply("The year was told twice."),
        reply("The turn so far."),
        customInstructions="Keep the months.",
    )
    stage.say("Which months?", reply("February, April, September."))
    stage.navigate("And the end?")
    stage.say("Start over.", reply("Pruned in February."))


@scenario(
    "compaction-split-turn",
    model="larch/larch-1",
    settings={"compaction": {"keepRecentTokens": 20}},
    files=orchard.FILES,
)
def split_turn(stage: Stage) -> None:
    """What is kept begins in the middle of a turn, with a reply."""
    stage.say("Tell the year.", reply(STORY))
    stage.say(
        "And the check?",
        reply("Running it.", Call("read", {"path": "check.py"})),
        reply("It compares two sums. " + STORY),
    )
    stage.compact(reply("The year was told."), reply("The check was read."))
    stage.say("And now?", reply("Now it rests."))


@scenario("compaction-automatic", model="birch/birch-small", settings=SMALL, files=orchard.FILES)
def automatic(stage: Stage) -> None:
    """The window is nearly full: Pi compacts by itself after the reply."""
    stage.say("Tell the year.", reply(STORY))
    stage.script.summaries.extend((reply("The year was told."), reply("Told once more.")))
    stage.say("Again.", reply(STORY * 3, tokens=Tokens(8300, 0, 90)))
    stage.say("And then?", reply("Winter."))


@scenario("compaction-overflow", model="birch/birch-small", settings=SMALL, files=orchard.FILES)
def overflow(stage: Stage) -> None:
    """The provider refuses a prompt that is too long: omitted, compacted, asked again."""
    stage.say("Tell the year.", reply(STORY * 3))
    stage.say("Again, please.", reply(STORY * 3))
    stage.script.summaries.extend((reply("The year was told."), reply("Told once more.")))
    stage.say(
        "And then?",
        failure(400, "prompt is too long: 9500 tokens > 9000 maximum"),
        reply("Winter."),
    )
    stage.say("And after that?", reply("Pruning."))


def _edits(stage: Stage) -> None:
    """Replacements and omissions of each kind of entry, the latest wins, and a branch before."""
    edit = stage.pi.drive
    stage.say("Name an apple.", reply("Cox."))
    stage.say(
        "Look twice.",
        reply(
            "Looking.",
            Call("bash", {"command": "echo one"}),
            Call("bash", {"command": "echo two"}),
        ),
        reply("Looked."),
    )
    edit("message", kind="note", content="A note of an extension.", details={"page": 1})
    question, answer = stage.find("Name an apple."), stage.find("Cox.")
    calls, note = stage.find("Looking."), stage.find("A note of an extension.")
    one, two = stage.find("one\n", role="toolResult"), stage.find("two\n", role="toolResult")
    edit("edit", target=question, replacement={"content": "Name a fruit."})
    edit("edit", target=answer, replacement={"content": "Pear."})
    edit("edit", target=one, replacement={"content": [{"type": "text", "text": "1"}]})
    edit("edit", target=note, replacement={"content": [{"type": "text", "text": "Noted."}]})
    stage.say("After replacements.", reply("Seen."))
    edit("edit", target=two, replacement=None)
    stage.say("After a result was omitted.", reply("Stand-in seen."))
    edit("edit", target=calls, replacement=None)
    stage.say("After the calls were omitted.", reply("Orphan seen."))
    image = {"content": [{"type": "text", "text": "With image"}, IMAGE]}
    edit("edit", target=question, replacement=image)
    edit("edit", target=answer, replacement={"content": []})
    edit("edit", target=note, replacement=None)
    stage.say("The latest edit wins.", reply("Latest seen."))
    stage.navigate("After a result was omitted.")
    stage.say("Before the later edits.", reply("Only the first."))


for _api, _model in (
    ("chat", "birch/birch-1"),
    ("anthropic", "larch/larch-1"),
    ("responses", "cedar/cedar-1"),
):
    scenario(f"edits-{_api}", model=_model, files=orchard.FILES)(_edits)

"""Changes of prompt and tools in the conversation, and tools with constrained sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

USUAL = ["read", "write", "edit", "bash"]


def _changes(stage: Stage) -> None:
    """Sections added, changed and removed; tools added, removed, added again and redefined."""
    drive = stage.pi.drive
    stage.say("Begin.", reply("Begun."))
    drive("sections", values={"style": "Answer briefly.", "season": "It is spring."})
    stage.say("A section changed, one is new.", reply("Seen."))
    drive("tools", names=[*USUAL, "weather"])
    stage.say(
        "A tool is new.",
        reply(Call("weather", {"days": 2})),
        reply("Two days are known."),
    )
    drive("tools", names=["read", "bash", "weather"])
    drive("sections", values={"season": None})
    stage.say("Tools and a section are gone.", reply("Gone."))
    drive("tools", names=[*USUAL, "weather", "almanac"])
    stage.say("Tools are back, and one is new.", reply("Back."))
    drive("redefine", name="weather", change={"description": "Forecast with frost warning."})
    stage.say("A tool was redefined.", reply("Redefined."))
    stage.navigate("Two days are known.")
    stage.say("Before the removals.", reply("As before."))


def _constrained(stage: Stage) -> None:
    """A tool with a schema to hold to, and one with a grammar."""
    grammar = "grammar" in stage.setting.model
    scions = [{"variety": "Cox", "count": 3}]
    stage.say(
        "Plan a graft.",
        reply(Call("graft", {"rootstock": "M9", "scions": scions})),
        reply("Planned."),
    )
    stage.say(
        "Lay out a row.",
        reply(Call("layout", {"input": "aab"}, grammar=grammar)),
        reply("Two apples and a birch."),
    )
    stage.say("Thanks.", reply("Gladly."))


for _name in (
    "birch/birch-1",
    "birch/birch-mid",
    "larch/larch-1",
    "larch/larch-mid",
    "cedar/cedar-1",
    "cedar/cedar-mid",
    "cedar/cedar-search",
):
    scenario(
        f"changes-{_name.split('/')[1]}",
        model=_name,
        sections={"style": "Answer in full sentences."},
        files=orchard.FILES,
    )(_changes)

for _name in (
    "birch/birch-1",
    "birch/birch-strict",
    "birch/birch-grammar",
    "larch/larch-strict",
    "cedar/cedar-grammar",
):
    scenario(
        f"constrained-{_name.split('/')[1]}",
        model=_name,
        toolset="strict",
        files=orchard.FILES,
    )(_constrained)


@scenario("no-tools", toolset="none")
def no_tools(stage: Stage) -> None:
    """A session without any tool."""
    stage.say("Hello.", reply("Hello."))
    stage.say("Goodbye.", reply("Goodbye."))


@scenario(
    "changes-then-compaction",
    model="birch/birch-mid",
    sections={"style": "Answer in full sentences."},
    settings={"compaction": {"keepRecentTokens": 34}},
    files=orchard.FILES,
)
def compacted(stage: Stage) -> None:
    """Changes before, inside and after the kept range, on a model that takes them in place."""
    drive = stage.pi.drive
    stage.say("Begin.", reply("Begun, and here is a sentence long enough to be left behind."))
    drive("sections", values={"season": "It is spring."})
    drive("tools", names=[*USUAL, "weather"])
    stage.say("Kept.", reply("A reply that is long enough to be the first that is kept."))
    drive("sections", values={"season": "It is late spring."})
    stage.say("Kept too.", reply("Short."))
    stage.compact(reply("It was begun."))
    stage.say("After the compaction.", reply("Seen."))
    drive("sections", values={"season": "It is summer."})
    drive("tools", names=["read", "weather", "almanac"])
    stage.say("Changed after the compaction.", reply("Seen as well."))

"""Entries beside the conversation: names, labels, state, usage, notes, runs of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

COST = {"input": 0.0003, "output": 0.0003, "cacheRead": 0, "cacheWrite": 0, "total": 0.0006}
USAGE = {
    "input": 100,
    "output": 20,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 120,
    "cost": COST,
}


@scenario("bookkeeping", files=orchard.FILES)
def bookkeeping(stage: Stage) -> None:
    """Name, labels set and cleared, state, usage, notes of an extension, shown and hidden."""
    drive = stage.pi.drive
    stage.say("Name an apple.", reply("Cox."))
    stage.pi.ask("set_session_name", name="Apples")
    drive("label", target=stage.find("Cox."), label="good")
    drive("label", target=stage.find("Name an apple."), label="start")
    drive("state", kind="board", data={"open": ["pick"], "count": 1})
    drive("usage", kind="title", provider="birch", model="birch-1", usage=USAGE, note="naming")
    drive("message", kind="note", content="A shown note.", details={"page": 1})
    blocks = [{"type": "text", "text": "A hidden"}, {"type": "text", "text": "note."}]
    drive("message", kind="note", content=blocks, display=False)
    stage.say("Another one.", reply("Ontario."))
    drive("label", target=stage.find("Name an apple."))
    stage.pi.ask("set_session_name", name="Apples and pears")
    drive("state", kind="board", data=None)
    stage.say("Thanks.", reply("Gladly."))


def _runs(stage: Stage) -> None:
    """Commands of the user: told to the model, hidden, failing, silent."""
    stage.say("Name an apple.", reply("Cox."))
    stage.shell("ls")
    stage.shell("cat prices.txt", hidden=True)
    stage.say("What did I see?", reply("Your files."))
    stage.shell("ls missing 2>/dev/null; exit 3")
    stage.shell("true")
    stage.say("And now?", reply("A failure, and silence."))


for _api, _model in (
    ("chat", "birch/birch-1"),
    ("anthropic", "larch/larch-1"),
    ("responses", "cedar/cedar-1"),
):
    scenario(f"runs-{_api}", model=_model, files=orchard.FILES)(_runs)

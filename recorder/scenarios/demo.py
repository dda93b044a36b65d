"""The showpiece: one believable conversation with everything a session file can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.steps import Call, Thinking, failure, reply

from . import orchard
from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage

PROMPT = (
    "You look after a small Python program that keeps the books of an orchard. "
    "Read before you change anything, and run check.py afterwards."
)
STYLE = "Explain what you did in a few sentences. Kilos are whole numbers."
SHORT_STYLE = "Answer in one or two sentences. Kilos are whole numbers."
SEASON = "It is the end of November. Picking is over; all fruit is in the cold store."

COMPACTION = f"""## Goal
The harvest total must be right.

## Done
- check.py failed: expected {orchard.TOTAL}, got {orchard.TOTAL + orchard.LATE}.
- Cause found in total() of orchard.py: rows marked late are added twice.

## Next
Remove the second addition and run check.py again."""

BRANCH = """The report by variety was tried with SQLite: store.py loads harvest.csv into a table.
It works, but the table has to be rebuilt after every change of the file. Nothing else changed."""


def signed(text: str, number: int) -> Thinking:
    """Thinking of the first model, with a signature as its provider would give."""
    return Thinking(text, f"c2lnbmF0dXJlLW9mLXRoaW5raW5nLWxhcmNoLT{number:02}")


@scenario(
    "demo",
    model="larch/larch-1",
    thinking="low",
    prompt=PROMPT,
    sections={
        "project": "orchard.py is the program, harvest.csv its data, check.py its test.",
        "style": STYLE,
    },
    settings={"compaction": {"keepRecentTokens": 50}},
    files=orchard.FILES,
    start="2026-11-24T08:41:07Z",
)
def demo(stage: Stage) -> None:
    """Everything at once.

    A prompt that is patched later, tool calls, a compaction, a branch that was given up, context
    edits, a failed reply, runs of the user, a call without a result, a model switch, and the
    bookkeeping of an extension.
    """
    _double_count(stage)
    _branch_given_up(stage)
    _report(stage)
    _watcher(stage)
    _next_day(stage)


def _double_count(stage: Stage) -> None:
    late = orchard.LATE
    stage.say(
        "The harvest total looks too high. Please find out why.",
        reply(
            signed("Read the program and run its check at the same time.", 1),
            "I'll read the program and run the check.",
            Call("read", {"path": "orchard.py"}),
            Call("bash", {"command": "python3 check.py"}),
        ),
        reply(
            signed(f"The difference is {late}, the sum of the late rows.", 2),
            f"The total is {late} kg too high. total() adds every row once, and rows marked as "
            "late a second time: the last two lines of the loop are a leftover.",
        ),
        think=31,
    )
    stage.say(
        "Right, that was for a bonus we no longer pay. Remove it.",
        reply(
            signed("Delete both lines, then run the check.", 3),
            Call("bash", {"command": "sed -i '/late/,+1d' orchard.py && python3 check.py"}),
        ),
        reply(f"Removed. check.py passes, and the total is {orchard.TOTAL} kg."),
        think=74,
    )
    stage.pi.drive("label", target=stage.find("Removed. check.py"), label="total is right")
    stage.compact(reply(COMPACTION))
    stage.pi.ask("set_session_name", name="Harvest report by variety")


def _branch_given_up(stage: Stage) -> None:
    store = (
        "import sqlite3\n\nfrom orchard import load\n\n"
        'db = sqlite3.connect("orchard.db")\n'
        'db.execute("create table picked (date, variety, kilos)")\n'
    )
    question = "Add a report by variety. Put the rows into SQLite so that I can query them."
    stage.say(
        question,
        reply(
            signed("A table and a loader will do.", 4),
            "I'll add a loader.",
            Call("write", {"path": "store.py", "content": store}),
        ),
        reply("store.py loads harvest.csv into a table. Rebuild it when the file changes."),
        think=95,
    )
    stage.navigate(question, reply(BRANCH))


def _report(stage: Stage) -> None:
    edits = {
        "path": "orchard.py",
        "oldText": orchard.ENTRY + orchard.MAIN,
        "newText": orchard.BY_VARIETY + orchard.ENTRY + orchard.MAIN_BY_VARIETY,
    }
    stage.say(
        "Simpler: a plain function in orchard.py, largest variety first.",
        reply(
            signed("I need the column names.", 5),
            "I'll look at the data first.",
            Call("read", {"path": "harvest.csv"}),
        ),
        reply(
            signed("The column is called variety. A dict, sorted by kilos.", 6),
            Call("edit", edits),
        ),
        reply("Added by_variety() to orchard.py; running the program now prints the report."),
        think=52,
    )
    stage.pi.drive(
        "edit",
        target=stage.find("date,variety,kilos", role="toolResult"),
        replacement={
            "content": f"harvest.csv: {orchard.DAYS} rows with the columns date, variety, kilos, "
            "late. (Rows left out, they are no longer needed.)"
        },
    )
    stage.shell("python3 orchard.py")
    stage.shell("cat prices.txt", hidden=True)
    stage.say(
        "Off topic: what is a windfall?",
        reply("Fruit that has dropped before it was picked. Most of it ends up in the press."),
        think=66,
    )
    stage.pi.drive("edit", target=stage.find("what is a windfall"), replacement=None)
    stage.pi.drive("edit", target=stage.find("Most of it ends up"), replacement=None)


def _watcher(stage: Stage) -> None:
    loop = "while sleep 5; do python3 orchard.py; done"
    stage.begin(
        "Print the report again whenever the file changes.",
        failure(529, "Overloaded: try again in a moment."),
        reply(
            signed("A loop in the shell is enough to try it.", 7),
            "I'll try a loop.",
            Call("bash", {"command": loop}),
        ),
        think=120,
    )
    stage.pi.wait_for(lambda record: record["type"] == "tool_execution_start")
    stage.restart(kill=True)


def _next_day(stage: Stage) -> None:
    kilos = orchard.kilos_of("Boskoop")
    stage.pi.drive(
        "message",
        kind="check-on-open",
        content="check.py was run when the session was opened: 1 check passed.",
        details={"exitCode": 0},
    )
    stage.pi.drive("state", kind="task-board", data={"done": ["total", "report"], "open": []})
    stage.model("cedar/cedar-1")
    stage.pi.drive(
        "sections",
        values={"style": SHORT_STYLE, "season": SEASON},
    )
    stage.pi.drive("tools", names=["read", "write", "edit", "bash", "almanac"])
    stage.say(
        "That loop never came back, so no watching. Which variety keeps longest, and how much of "
        "it is there?",
        reply(
            Thinking("The report has the kilos; the almanac knows how long it keeps.", "ZW5jLTE="),
            Call("almanac", {"variety": "Boskoop"}),
        ),
        reply(
            f"Boskoop keeps longest, until the end of March, and there are {kilos} kg of it. "
            "The watcher is dropped; orchard.py prints the report when you run it."
        ),
        think=140,
    )

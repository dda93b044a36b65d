"""What each role and entry type becomes for the model."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder, image_block, text_block

Vector = tuple[str, bytes]


def bash(sentence: str, output: str = "list\n", **message: Any) -> Vector:
    """Run a command of the user's."""
    session = SessionBuilder()
    session.bash("ls", output, message=message)
    session.user("And now?")
    return sentence, session.data


def message(sentence: str, value: Any) -> Vector:
    """Store a message as it is."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.message(value)
    session.user("And now?")
    return sentence, session.data


def content(sentence: str, value: Any) -> Vector:
    """Give one content to a message of every role that has one."""
    session = SessionBuilder()
    session.system("", message={"content": value})
    session.user("", message={"content": value})
    session.assistant("", message={"content": value})
    session.tool_result("call-1", message={"content": value})
    session.custom_message("", extra={"content": value})
    session.user("And now?")
    return sentence, session.data


def custom(sentence: str, value: Any, **keywords: Any) -> Vector:
    """Add a message of an extension."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.custom_message(value, **keywords)
    session.user("And now?")
    return sentence, session.data


def branch_summary(sentence: str, summary: Any, **keywords: Any) -> Vector:
    """Come back from a branch."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    answer = session.assistant("Cox.")
    session.at(question)
    session.branch_summary(summary, answer, **keywords)
    session.user("And now?")
    return sentence, session.data


def entry(sentence: str, kind: str, **fields: Any) -> Vector:
    """Add an entry of any type."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.add(kind, fields)
    session.user("And now?")
    return sentence, session.data


def users(sentence: str, *values: Any) -> Vector:
    """Let the user say several things."""
    session = SessionBuilder()
    for value in values:
        session.user(value)
    return sentence, session.data


def stored(role: str, **fields: Any) -> dict[str, Any]:
    """Make a message of a role."""
    return {"role": role, **fields, "timestamp": 1767600002000}


VECTORS = {
    "bash": bash("A command is told with its output."),
    "bash-no-output": bash("Without output the command says so.", ""),
    "bash-output-missing": bash("A missing output is none.", output=MISSING),
    "bash-output-blank": bash("A blank output is an output.", " \n"),
    "bash-exit-code": bash("An exit code is told.", exitCode=3),
    "bash-exit-code-null": bash("An exit code of null is not told.", exitCode=None),
    "bash-exit-code-missing": bash("A missing exit code is not told.", exitCode=MISSING),
    "bash-exit-code-negative": bash("A negative exit code is told.", exitCode=-1),
    "bash-exit-code-text": bash("An exit code may be a text.", exitCode="0"),
    "bash-cancelled": bash("A cancelled command says so.", cancelled=True, exitCode=130),
    "bash-truncated": bash(
        "A truncated output names its file.", truncated=True, fullOutputPath="/tmp/out"
    ),
    "bash-truncated-no-path": bash("Without a file truncation is not told.", truncated=True),
    "bash-path-only": bash("A file without truncation is not told.", fullOutputPath="/tmp/out"),
    "bash-all": bash(
        "Code and truncation are both told.", exitCode=2, truncated=True, fullOutputPath="/tmp/out"
    ),
    "bash-excluded": bash("A command may be excluded.", excludeFromContext=True),
    "bash-excluded-truthy": bash("Any truthy value excludes.", excludeFromContext="no"),
    "bash-excluded-falsy": bash("No falsy value excludes.", excludeFromContext=0),
    "bash-fence": bash("A fence in the output stays.", "```\nx\n```\n"),
    "custom-text": custom("The text of an extension becomes one block.", "Ripe."),
    "custom-blocks": custom("Blocks of an extension stay.", [text_block("Ripe."), image_block()]),
    "custom-empty": custom("An empty text becomes an empty block.", ""),
    "custom-hidden": custom("What is not shown is sent all the same.", "Ripe.", display=False),
    "custom-details": custom("Details are not sent.", "Ripe.", extra={"details": {"page": 1}}),
    "custom-null": custom("Null content becomes no blocks.", None),
    "custom-bad-time": custom("A bad time does no harm.", "Ripe.", timestamp="soon"),
    "custom-time-missing": custom("A missing time does no harm.", "Ripe.", timestamp=MISSING),
    "custom-time-local": custom(
        "A time without a zone is local.", "Ripe.", timestamp="2026-01-05T08:00:00"
    ),
    "custom-data": entry(
        "Data of an extension is not sent.", "custom", customType="board", data=[1]
    ),
    "role-custom": message(
        "A stored role custom is as good.", stored("custom", customType="a", content="Ripe.")
    ),
    "role-hook": message(
        "The old name is unknown in version 3.", stored("hookMessage", content="Ripe.")
    ),
    "role-branch-summary": message(
        "A stored branch summary is told.", stored("branchSummary", summary="Aside.", fromId="a")
    ),
    "role-compaction-summary": message(
        "A stored compaction summary is told.",
        stored("compactionSummary", summary="Long.", tokensBefore=1),
    ),
    "role-unknown": message("An unknown role is not sent.", stored("weather", content="Rain.")),
    "role-developer": message(
        "The role developer is unknown.", stored("developer", content="Be brief.")
    ),
    "role-missing": message("A message without role is not sent.", {"content": "Rain."}),
    "role-number": message("A role must be a text.", {"role": 5, "content": "Rain."}),
    "role-proto": message(
        "Names of JavaScript's own are unknown roles.", stored("constructor", content="a")
    ),
    "message-null": message("A message of null makes Pi fail.", None),
    "message-missing": entry("A missing message makes Pi fail.", "message"),
    "message-text": message("A message that is a text.", "Rain."),
    "message-list": message("A message that is a list.", []),
    "message-number": message("A message that is a number.", 5),
    "content-null": content("Null content becomes empty.", None),
    "content-missing": content("Missing content becomes empty.", MISSING),
    "content-empty-text": content("An empty text stays.", ""),
    "content-empty-list": content("No blocks stay no blocks.", []),
    "content-empty-block": content("An empty block stays.", [text_block("")]),
    "content-key-order": message(
        "Content may stand anywhere.", {"timestamp": 1, "content": None, "role": "user"}
    ),
    "extra-keys": message(
        "Keys nobody knows are kept.", stored("user", content="Hi", mood={"2": 1, "1": 2})
    ),
    "unknown-block": message(
        "Blocks of unknown type are kept.", stored("user", content=[{"type": "video", "data": "x"}])
    ),
    "unknown-type": entry("An entry of unknown type is not sent.", "weather", sky="grey"),
    "unknown-type-message": entry(
        "Nor is the message in it.", "reply", message={"role": "user", "content": "Hi"}
    ),
    "type-proto": entry("Names of JavaScript's own are unknown types.", "toString"),
    "type-empty": entry("An empty type is unknown.", ""),
    "branch-summary": branch_summary("The summary of a branch is told.", "Cox was named."),
    "branch-summary-empty": branch_summary("An empty summary adds nothing.", ""),
    "branch-summary-null": branch_summary("A summary of null adds nothing.", None),
    "branch-summary-missing": branch_summary("A missing summary adds nothing.", MISSING),
    "branch-summary-number": branch_summary("A number is written out.", 5),
    "branch-summary-details": branch_summary(
        "Details are not sent.", "Cox.", extra={"details": {"a": 1}, "fromHook": True}
    ),
    "users": users("Users that follow each other stay apart.", "Name an apple.", "And a pear."),
    "user-odd-text": users(
        "Control characters and separators stay.", "a\r\nb\x00c\x1b[1md\u2028e\ufefff"
    ),
    "user-surrogates": users(
        "Lone surrogates stay until a body is built.", "a\ud83db", [text_block("\ude00")]
    ),
}

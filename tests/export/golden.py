"""Sessions and what becomes of them: `python tests/export/golden.py` writes the files anew.

They stand in `golden/`, one for each session and way; a change of them is a change of what people
and programs read, and belongs in the changelog.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from pi_sessions import load, loads  # noqa: E402
from pi_sessions.export import FORMATS, Options, chunks  # noqa: E402
from pi_sessions.export.options import Tools  # noqa: E402
from pi_sessions.redact import Redaction  # noqa: E402
from pi_sessions.session import Session  # noqa: E402
from pi_sessions.testing import SessionBuilder, image_block, tool, tool_call  # noqa: E402

GOLDEN = Path(__file__).parent / "golden"


def tricky(*more: str) -> bytes:
    """Branches, an edit, a compaction, an unknown API, broken lines, text that acts."""
    session = SessionBuilder()
    session.system("Be brief.", sections={"cwd": "/home/dev"}, tools_added=[tool("read")])
    question = session.user("Look at <b>this</b>: ![x](http://outside.example/p.png)\n```\nopen")
    session.assistant(
        "I look. =1+1", thinking="Which?", calls=[tool_call("read", {"path": "a.txt", "n": 2})]
    )
    result = session.tool_result("call-1", "a\n```\nb\u202e \x1b[31mred")
    session.assistant("Done.", api="bedrock-converse-stream")
    session.edit(result, "(short)")
    session.at(question)
    session.user([{"type": "text", "text": "Another way"}, image_block()])
    kept = session.assistant("Yes.", stop_reason="error", message={"errorMessage": "529 | busy"})
    session.raw_line(b'{"type":"message","id":"x')
    session.raw_line(b"")
    session.compaction("So far: nothing.", first_kept=kept)
    session.label(kept, "=here")
    session.bash("ls", "a.txt\n" * 3)
    session.bash("env", "SECRET_TOKEN=none", message={"excludeFromContext": True})
    session.custom_message("noted", custom_type="note")
    session.add("quantum", {"spin": 1})
    for text in more:
        session.user(text)
    session.user("\ud800 and 😀")
    session.assistant("ok", calls=[tool_call("read", None, id="call-2")])
    return session.data


def secret() -> Session:
    """The tricky one with secrets in it, without them."""
    from redact.planted import KINDS  # noqa: PLC0415

    kinds = ("github token", "private key", "password in a URL", "password in JSON")
    return Redaction(loads(tricky(*(KINDS[kind](Random(kind))[0] for kind in kinds)))).result()


FULL = {"thinking": True, "tools": Tools.FULL, "times": True}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "md": ("md", {}),
    "full.md": ("md", FULL),
    "prompts.md": ("md", {"prompts": True, "states": False}),
    "json": ("json", {}),
    "branch.jsonl": ("jsonl", {"branch": True}),
    "requests.jsonl": ("requests", {}),
    "entries.csv": ("csv", {"table": "entries"}),
    "messages.csv": ("csv", {"table": "messages"}),
    "responses.csv": ("csv", {"table": "responses"}),
    "visibility.csv": ("csv", {"table": "visibility"}),
}
"""Format and options by the end of the file's name."""


def sessions() -> dict[str, Session]:
    """Give the sessions by name."""
    small = loads(tricky())
    return {
        "demo": load(ROOT / "examples/demo/session.jsonl"),
        "tricky": small,
        "redacted": secret(),
        "structure": Redaction(small, structure_only=True).result(),
    }


def made() -> Iterator[tuple[str, bytes]]:
    """Give name and content of every file."""
    for name, session in sessions().items():
        for end, (form, options) in WAYS.items():
            if name in ("redacted", "structure") and end not in ("full.md", "branch.jsonl"):
                continue
            if (name, end) == ("demo", "requests.jsonl"):
                options = {**options, "first": 40}  # noqa: PLW2901 - the last few are enough
            yield f"{name}.{end}", b"".join(chunks(form, session, Options(**options)))


if __name__ == "__main__":
    assert {form for form, _ in WAYS.values()} <= set(FORMATS)
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    for file, content in made():
        (GOLDEN / file).write_bytes(content)

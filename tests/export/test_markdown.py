"""Markdown: what it tells, and that nothing in a session acts in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from conftest import ROOT, SHARED, need
from pi_sessions import load, loads
from pi_sessions.errors import NotASessionError
from pi_sessions.export import Options, chunks
from pi_sessions.export.marking import code, escaped, fenced, quoted
from pi_sessions.export.options import Tools
from pi_sessions.session import Session
from pi_sessions.testing import SessionBuilder, image_block, tool_call
from property import strategies

DEMO = ROOT / "examples/demo/session.jsonl"
EVERYTHING = {"thinking": True, "tools": Tools.FULL, "times": True}
READERS = (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table"))
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- never closed",
    "```\nnever closed",
    "~~~\nnever closed\n<b>",
    "`<b>` and <b>",
    "``<b>` <i>",
    "a | b\n--|--\n`c | <b>` | d",
    "# a heading\n## ● user · line 1 · ● sent",
    "> quote\n# heading after",
    "![beacon](http://outside.example/pixel.png)",
    "![beacon][1]\n\n[1]: http://outside.example/pixel.png",
    "<http://outside.example>",
    "\\<b>",
    "\\\\<b>",
    "    <b>indented",
    "- x\n\n      <b>",
    "<a\nhref=x>",
    "&lt;b&gt;",
    "\x1b[31mred\x1b]8;;http://x\x07",
    "left \u202e right",
    "\ud800",
    "a\rb\r# c",
    ">" * 40 + " <b>",
    "`" * 7,
    "<svg/onload=alert(1)>",
    "<?php ?>",
    "<![CDATA[x]]>",
    "[x](<b>)",
    "---\n===\n",
    "[ref]: /url '<b>'",
]


def written(session: Session, **options: object) -> str:
    return b"".join(chunks("md", session, Options(**options))).decode()


def flat(tokens: Iterable[Any]) -> Iterable[Any]:
    for token in tokens:
        yield token
        yield from flat(token.children or ())


def assert_harmless(text: str, headings: int) -> None:
    """No HTML, no pictures, no headings but ours, no signs that act on a terminal."""
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    for reader in READERS:
        tokens = reader.parse(text)
        assert not [t for t in flat(tokens) if t.type in ("html_block", "html_inline", "image")]
        found = [t for t in tokens if t.type == "heading_open" and t.level == 0]
        assert len(found) == headings


def hostile_session(text: str) -> bytes:
    """A text in every place that Markdown tells."""
    session = SessionBuilder(cwd=text, id=f"id {text}")
    session.name(text)
    session.user(text)
    session.user([{"type": "text", "text": text}, image_block(mime_type=text), {"type": text}])
    session.assistant(text, thinking=text, calls=[tool_call(text, {text: text}, id=text)])
    session.tool_result(text, text, name=text)
    session.system(text, sections={text: text}, tools_added=[{"name": text, "description": text}])
    session.bash(text, text)
    session.compaction(text)
    session.branch_summary(text)
    session.custom_message(text, custom_type=text)
    session.custom({text: text}, custom_type=text)
    session.label("00000001", text)
    session.model_change(text, text)
    session.edit("00000002", text)
    session.add(text or "t", {"x": text}, timestamp=text)
    session.message({"role": text or "r", "content": text})
    session.assistant("", stop_reason="error", message={"errorMessage": text})
    return session.data


def headings_of(session: Session) -> int:
    told = {"message", "compaction", "branch_summary", "custom_message"}
    return 1 + sum(entry.type in told for entry in session.branch())


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("options", [{}, EVERYTHING], ids=["brief", "full"])
def test_nothing_acts(text: str, options: dict[str, object]) -> None:
    session = loads(hostile_session(text))
    assert_harmless(written(session, **options), headings_of(session))


SIGNS = st.text("<>!/?-`~#*_[]()\\|&\n \t>bai=\"':1.", max_size=40)


@settings(max_examples=300)
@given(SIGNS)
@example("`<a\n>`")
@example("\t<?")
def test_no_text_acts(text: str) -> None:
    """A quote, a fence, code and a line of any text: no HTML, and what follows is not lost."""
    for made in (
        quoted(text),
        fenced(text),
        code(text),
        f"- {escaped(text)}",
        f"## {escaped(text)}",
    ):
        for reader in READERS:
            tokens = reader.parse(f"{made}\n\n# end\n")
            kinds = {token.type for token in flat(tokens)}
            assert not kinds & {"html_block", "html_inline", "image"}
            assert tokens[-3].type == "heading_open"
            assert tokens[-3].level == 0


@settings(max_examples=100)
@given(strategies.damaged_sessions())
def test_any_session_can_be_told(data: bytes) -> None:
    try:
        session = loads(data)
    except NotASessionError:
        assume(False)
    assert written(session, **EVERYTHING) == written(session, **EVERYTHING)
    written(session, prompts=True)


def test_recorded_sessions_can_be_told() -> None:
    for path in sorted(need(SHARED / "wire").glob("*/session*.jsonl")):
        session = load(path)
        assert written(session, **EVERYTHING).startswith("# "), path


def test_fences_hold_their_text() -> None:
    """What stands in a block of code comes out of it as it was."""
    for text in ("a\n```\nb", "````", "x", "tab\there", "last\n"):
        (token,) = MarkdownIt().parse(fenced(text))
        assert token.content.removesuffix("\n") == text.removesuffix("\n")


def test_only_prompts() -> None:
    """Nothing but what the user said."""
    text = written(load(DEMO), prompts=True, states=False)
    assert "The harvest total looks too high." in text
    assert text.count("\n## user") == 6
    assert "###" not in text
    assert "●" not in text


def test_states_times_thinking_and_tools() -> None:
    """Each option adds what it says."""
    session = load(DEMO)
    plain = written(session, states=False, tools=Tools.NONE)
    assert "○" not in plain
    assert "python3 check.py" not in plain
    assert "Read the program and run its check" not in plain
    assert "2026-11-24T08:41:39.332Z" not in plain
    full = written(session, **EVERYTHING)
    assert "○ not sent: summarised by line 15" in full
    assert "python3 check.py" in full
    assert "Read the program and run its check" in full
    assert "2026-11-24T08:41:39.332Z" in full
    assert "def total(rows" in full


def test_a_range_and_a_branch() -> None:
    session = load(DEMO)
    part = written(session, first=9, last=12)
    assert [int(n) for n in re.findall(r"· line (\d+) ·", part)] == [9, 10, 11, 12]
    other = written(session, leaf="69708197")
    assert "store.py loads harvest.csv" in other
    assert "line 22" not in other


def test_long_texts_are_told_as_code() -> None:
    """Where looking closely would take long, it is not looked at closely."""
    text = "<b> " * 100_000
    assert quoted(text).startswith("> ```text\n")


@pytest.mark.parametrize("path", [DEMO], ids=["demo"])
def test_the_head_counts_the_lines(path: Path) -> None:
    assert "- 46 lines: 11 ● sent, 10 ◐ changed, 25 ○ not sent" in written(load(path))

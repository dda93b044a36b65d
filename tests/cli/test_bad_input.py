"""Any bytes at all: a sentence with line and offset, the right exit code, and nothing written."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run, Write
from conftest import SHARED, need
from pi_sessions import Session, UnreadableError, load, loads, store
from pi_sessions.cli.main import main
from pi_sessions.testing import SessionBuilder, text_block

COMMANDS = ("lines", "context", "request", "prompt", "tree", "show", "check")

UNREADABLE = {
    "empty": b"",
    "white": b" \n\n\t\n",
    "binary": bytes(range(256)) * 40,
    "text": b"hello\nworld\n",
    "no-header": b'{"type":"message","id":"a","parentId":null}\n',
    "number-first": b"5\n",
    "header-without-id": b'{"type":"session"}\n',
    "utf-16": '{"type":"session","id":"x"}\n'.encode("utf-16"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_not_a_session(name: str, command: str, run: Run, write: Write) -> None:
    """Exit code 3, one sentence with file, line and byte."""
    path = write(UNREADABLE[name])
    done = run(command, path)

    assert done.code == 3
    assert re.search(r"session\.jsonl:\d+:\d+: not a Pi session: ", done.err)
    assert done.err.count("\n") == 1
    assert done.out == b""
    assert path.read_bytes() == UNREADABLE[name]


@pytest.mark.parametrize("command", COMMANDS)
def test_unreadable(command: str, run: Run, tmp_path: Path) -> None:
    """A missing file and a directory are told in a sentence."""
    for path in (tmp_path / "missing.jsonl", tmp_path):
        done = run(command, path)
        assert done.code == 3
        assert done.err.count("\n") == 1


def odd_session() -> bytes:
    """Everything odd in one file that is still a session."""
    session = SessionBuilder()
    root = session.user("plum \x1b[31mred\x1b[0m \u202eback\u2066 \ud83d \x07")
    session.raw_line(b'{"type":"message","id":"to')
    session.raw_line(b'{"a":{"type":"message"}{"type":"custom","id":"f","parentId":null}')
    session.raw_line(b"5")
    session.raw_line(b"[NaN]")
    session.raw_line(b"")
    session.assistant("hi", id="self", parent="self")
    session.assistant("hi", id="c1", parent="c2")
    session.assistant("hi", id="c2", parent="c1")
    session.user("lost", parent="nowhere")
    session.add("\x1b]0;title\x07", {}, id="\x1b[2J")
    session.name("\x1b[2J\u202e")
    session.label(root, "\x1b[5mblink")
    session.raw_line(b"{" + b'"x":[' * 3000 + b"]" * 3000 + b"}")
    return session.data + b'{"type":"message","id":"torn'


def names(folder: Path) -> list[str]:
    """List a folder, but for the home of the command."""
    return sorted(path.name for path in folder.iterdir() if path.name != "home")


@pytest.mark.parametrize("command", COMMANDS)
def test_odd_files_are_read_and_nothing_hostile_is_printed(
    command: str, run: Run, write: Write
) -> None:
    """No traceback, no control character, and the file and its folder stay as they are."""
    path = write(odd_session())
    before = (path.read_bytes(), path.stat().st_mtime_ns, names(path.parent))
    for words in ([], ["--json"]):
        done = run(command, path, *words)
        assert done.code in (0, 1, 2), done.err
        assert "Traceback" not in done.err
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", done.out)
        if not words:
            assert "\u202e" not in done.out.decode()
    listing = names(path.parent)

    assert before == (path.read_bytes(), path.stat().st_mtime_ns, listing)


WORDS = [
    ["lines"],
    ["lines", "--json", "--all"],
    ["lines", "--json", "--stage", "projection"],
    *(["context", "--json", "--stage", stage] for stage in ("entries", "projection", "llm")),
    ["context", "--stage", "replay"],
    ["context", "--json", "--tail"],
    ["context", "--json", "--stage", "replay", "--as", "anthropic-messages/larch/larch-1"],
    ["request", "--json", "--as", "openai-responses/cedar/cedar-1"],
    ["request", "--json", "--as", "openai-completions/birch/birch-1"],
    ["prompt"],
    ["prompt", "--json"],
    ["tree", "--all"],
    ["tree", "--json"],
    ["show", "--full"],
    ["show", "--json"],
    ["check"],
    ["check", "--json"],
]
"""Every command, in all the ways that differ."""


def inputs() -> list[Path]:
    """Give the inputs behind public reports."""
    return sorted((SHARED / "cases").rglob("*.jsonl"))


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_on_every_case(words: list[str], capfdbinary: Any) -> None:
    """An answer or a sentence, never a crash, and nothing that acts on a terminal."""
    need(SHARED / "cases")
    for path in inputs():
        before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir()))
        code = main([words[0], str(path), *words[1:]])
        out, err = capfdbinary.readouterr()
        assert code in {0, 1, 3}, (path, err)
        assert (code == 3) == (err != b"") == (out == b""), path
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out), path
        if "--json" in words and out:
            json.loads(out)
        assert before == (
            path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
        )  # fmt: skip


def case(name: str, file: str = "session.jsonl") -> Session:
    """Open the input of the case whose number is `name`."""
    folder = next(iter(sorted(need(SHARED / "cases").glob(f"{name}-*"))))
    return load(folder / file)


def told(session: Session) -> dict[int, str]:
    """Give the reason of each line."""
    explanation = session.explain()
    return {n: str(explanation.reason(n)) for n in range(1, len(session.table) + 1)}


def codes(session: Session) -> list[tuple[int, str]]:
    """Give line and code of each finding."""
    return [(item.line, str(item.code)) for item in session.check()]


def texts(session: Session, stage: str = "projection") -> list[str]:
    """Give what each message of the context says, in short."""
    found = []
    for message in session.context(stage=stage).messages:
        content = message.get("content", message.get("summary", message.get("command")))
        if isinstance(content, list):
            content = "".join(block.get("text", f"[{block['type']}]") for block in content)
        found.append(content)
    return found


MESSAGES = {
    "02": 3, "06": 4, "14": 3, "17": 3, "25": 2, "30": 2, "31": 3, "32": 2, "35": 2, "37": 4,
    "38": 5, "39": 2, "41": 2, "42": 1, "43": 1, "44": 2, "47": 1, "48": 2, "49": 2, "50": 2,
    "52": 5, "53": 2, "56": 3000, "65": 2, "66": 3, "70": 3,
}  # fmt: skip
"""Messages of the context, by the number of the case."""


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_of_reported_cases(name: str) -> None:
    """As many as the right outcome has."""
    assert len(case(name).context().messages) == MESSAGES[name]


def test_cases_about_lines() -> None:
    """Physical lines, what stands on each, and what is said of it."""
    assert set(told(case("02")).values()) <= {"header", "as-stored"}
    assert [line for line, code in codes(case("14")) if code == "malformed-json"] == [4, 5]
    assert case("14").leaf is not None
    assert case("14").leaf.id == "good0001"
    assert sum(code == "not-an-entry" for _, code in codes(case("41"))) == 6
    assert case("41").leaf.id == "a0000021"
    assert [line for line, code in codes(case("39")) if code == "missing-field"] == [3, 4]
    assert (4, "fused-line") in codes(case("42"))
    assert sum(reason == "malformed" for reason in told(case("43")).values()) == 3
    assert [entry.line for entry in case("44").entries] == [7, 11]
    assert case("46", "header-only.jsonl").leaf is None
    assert case("46", "no-newline-header.jsonl").leaf is None
    assert "\r" not in "".join(texts(case("48")))
    assert len(case("49").entries) == 2
    assert (3, "second-header") in codes(case("50"))
    assert case("51").table.length(1) > 4096
    assert (case("51").cwd or "").endswith("d")
    assert len(case("56").entries) == 3000
    assert case("69").id == "../../escape"


def test_cases_about_the_tree() -> None:
    """Roots, children, branches, labels."""
    gap = case("25")
    assert len(gap.tree.roots) == 2
    assert "a0000003" in next(item.message for item in gap.check() if item.code == "orphan")
    assert "2 earlier" in next(item.message for item in gap.check() if item.code == "orphan")
    assert texts(case("31")) == ["root", "version two", "tail"]
    assert (3, "self-parent") in codes(case("32"))
    assert 3 in case("32").tree.roots
    reset = case("53")
    assert [reset.at(line).id for line in reset.tree.roots] == ["a0000001", "a0000003", "a0000005"]
    siblings = case("54")
    assert [entry.id for entry in siblings.children(siblings.entry("a0000001"))] == [
        "a0000003", "a0000005", "a0000002", "a0000004"
    ]  # fmt: skip
    early = case("55")
    assert len(early.tree.roots) == 1
    assert early.leaf.id == "a0000002"
    assert told(early)[2] == "later"
    assert case("59").labels == {"a0000001": "two", "nope0000": "points nowhere"}
    assert (8, "dangling-target") in codes(case("59"))
    two = told(case("52"))
    assert "other-branch" in two.values()
    assert case("37").leaf.id == "a0000006"


def test_cases_about_the_context() -> None:
    """Compactions, edits, settings, prompts, and what is added."""
    branch = case("06")
    compaction = next(entry for entry in branch.entries if entry.type == "compaction")
    assert told(branch)[compaction.line] == "other-branch"
    assert texts(case("30")) == ["SECOND", "u3"]
    assert texts(case("35")) == ["kept", "after"]
    assert told(case("35"))[4] == "omitted"
    assert case("35").explain().because(4) == (5,)
    assert case("35").explain().edits == {5: True, 6: False}
    assert texts(case("34"))[:6] == [
        "REPL 01", "REPL 02", "REPL 03", "REPL 04", "echo hi", "sys orig"
    ]  # fmt: skip
    hidden = told(case("36"))
    assert sum(reason == "converted" for reason in hidden.values()) == 2
    assert sum(reason == "bookkeeping" for reason in hidden.values()) == 2
    settings = case("58")
    assert settings.context().thinking_level == "high"
    assert settings.context().model == {"provider": "zeta", "modelId": "z-9"}
    assert settings.context("a0000006").model == {"provider": "acme", "modelId": "acme-real-7"}
    prompt = case("71").prompt()
    assert prompt.sections == {"a": "A2", "c": "C1"}
    assert [tool["name"] for tool in prompt.tools] == ["read"]
    stand_in = case("08").explain().synthetic
    assert [part.text for part in stand_in] == ["No result provided"]
    assert "trimmed" in told(case("75")).values()
    orphan = case("33")
    result = next(entry for entry in orphan.entries if entry.role == "toolResult")
    assert (result.line, "orphan-result") in codes(orphan)
    assert (6, "answered-twice") in codes(case("74"))
    assert case("66").context().messages[1]["role"] == "custom"


def test_cases_about_a_list_of_sessions() -> None:
    """What is a session, its first message, and whose directory it belongs to."""
    cases = need(SHARED / "cases")
    flat = next(cases.glob("62-*"))
    assert [found.path.name for found in store.sessions(flat)] == ["session.jsonl"]
    shared = next(cases.glob("63-*"))
    names = [found.path.name for found in store.sessions(shared / "--a-b-c--", "/a/b-c")]
    assert names == ["2026-03-01T10-00-00-000Z_x.jsonl"]
    first = store.summarise(next(cases.glob("64-*")) / "session.jsonl")
    assert first is not None
    assert first.first_message == "part one part two"
    none = store.summarise(next(cases.glob("64-*")) / "none.jsonl")
    assert none is not None
    assert none.first_message == ""
    odd = store.summarise(next(cases.glob("57-*")) / "session.jsonl")
    assert odd is not None
    assert odd.modified == "2026-03-01T10:00:06.000Z"
    broken = store.summarise(next(cases.glob("39-*")) / "session.jsonl")
    assert broken is not None
    assert broken.message_count == 2


EXPECTED = {
    "06-compaction-on-abandoned-branch-ignored": {"other-branch"},
    "25-missing-parent-orphan-subtree": {"unreachable"},
    "36-custom-message-display-false-is-in-context": {"converted", "bookkeeping"},
    "37-unknown-entry-type-and-role": {"unknown-type", "unknown-role"},
    "31-duplicate-ids-last-wins": {"shadowed"},
    "39-message-entry-without-message-object": {"not-an-entry"},
    "41-non-object-json-lines": {"not-an-entry"},
    "14-nan-and-infinity-literals": {"malformed"},
    "75-thinking-dropped-across-models": {"trimmed"},
}


@pytest.mark.parametrize("case", EXPECTED)
def test_reasons_of_reported_cases(case: str) -> None:
    """The right outcome of a case, line by line where it names one."""
    session = load(need(SHARED / "cases" / case / "session.jsonl"))
    explanation = session.explain()
    reasons = {str(explanation.reason(n)) for n in range(1, len(session.table) + 1)}

    assert EXPECTED[case] <= reasons


CODES = {
    "25-missing-parent-orphan-subtree": "orphan",
    "30-retain-none-and-foreign-first-kept": "dangling-first-kept",
    "31-duplicate-ids-last-wins": "duplicate-id",
    "32-self-parent-entry": "self-parent",
    "33-edit-omits-tool-call-but-not-result": "orphan-result",
    "40-missing-or-null-usage": "incomplete-usage",
    "42-fused-two-entries-on-one-line": "fused-line",
    "47-utf8-bom": "bom",
    "50-second-session-header-mid-file": "second-header",
    "52-two-writers-sibling-branches": "interleaved-writers",
    "57-bad-and-odd-timestamps": "bad-timestamp",
    "65-newer-format-version": "future-version",
    "66-v2-hook-message-role": "migrated",
    "17-invalid-utf8-bytes-mid-file": "invalid-utf8",
    "74-tool-results-order-and-custom-between": "answered-twice",
}


@pytest.mark.parametrize("case", CODES)
def test_diagnostics_of_reported_cases(case: str) -> None:
    """What is wrong with the input of a case is said."""
    session = load(need(SHARED / "cases" / case / "session.jsonl"))

    assert CODES[case] in {str(item.code) for item in session.check()}


def test_two_hundred_thousand_in_a_chain(run: Run, write: Write) -> None:
    """A long chain is ordinary."""
    lines = [b'{"type":"session","version":3,"id":"s","cwd":"/p"}']
    lines += [
        b'{"type":"custom","customType":"n","id":"%d","parentId":"%d"}' % (n, n - 1)
        for n in range(1, 200_001)
    ]
    path = write(b"\n".join(lines) + b"\n")

    assert b"200001 lines" in run("lines", path).out
    assert run("check", path).code == 1


def test_a_line_of_a_hundred_megabytes(run: Run, write: Write) -> None:
    """One huge line, whole and then broken, costs time and memory in proportion."""
    session = SessionBuilder()
    session.user("x" * 100_000_000)
    whole = write(session.data, "whole.jsonl")
    torn = write(session.data[:-10], "torn.jsonl")

    assert run("lines", whole).code == 0
    assert b"torn-tail" in run("check", torn).out


# Size and depth


PATIENCE = 6
"""How much slower than ours a machine may be."""


def within(seconds: float, data: bytes) -> Session:
    """Ask a session all that walks it; a guard against hanging, no measure of speed."""
    start = time.process_time()
    session = loads(data)
    session.check()
    session.explain()
    session.explain(stage="projection")
    session.context()
    assert sum(1 for _ in session.tree.walk()) <= len(session.table)
    assert time.process_time() - start < PATIENCE * seconds
    return session


def custom(entry_id: object, parent: object, more: str = "") -> bytes:
    """Write a small entry."""
    keys = {"type": "custom", "customType": "n", "id": entry_id, "parentId": parent}
    return json.dumps(keys | {"timestamp": "2026-01-05T08:00:00.000Z"}).encode() + more.encode()


SHAPES = {
    "chain": lambda n: (n, n - 1 if n > 1 else None),
    "chain-from-the-end": lambda n: (n, n + 1 if n < 40_000 else None),
    "siblings": lambda n: (n, 1 if n > 1 else None),
    "comb": lambda n: (n, (n // 2 * 2 - 1) if n > 1 else None),
    "roots": lambda n: (n, None),
    "orphans": lambda n: (n, f"lost{n}"),
    "one-lost-parent": lambda n: (n, "lost"),
    "same-id": lambda _: ("same", "same"),
    "cycle": lambda n: (n, n % 40_000 + 1),
    "pairs": lambda n: (n, n + 1 if n % 2 else n - 1),
    "themselves": lambda n: (n, n),
    "branches-off-a-cycle": lambda n: (n, (2, 1)[n - 1] if n < 3 else 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_the_tree_takes_more_than_its_size(shape: str) -> None:
    """40,000 entries in every arrangement that invites a loop in a loop."""
    lines = [b'{"type":"session","version":3,"id":"s","cwd":"/p"}']
    for n in range(1, 40_001):
        entry_id, parent = SHAPES[shape](n)
        named = [None if x is None else str(x) for x in (entry_id, parent)]
        lines.append(custom(*named))
    within(10, b"\n".join(lines) + b"\n")


def test_many_compactions_edits_labels_and_branches() -> None:
    """What looks back along the path does not do so once for every entry."""
    session = SessionBuilder()
    root = session.user("root")
    for n in range(4_000):
        kept = session.user(f"{n}")
        session.compaction(first_kept=root if n % 2 else kept)
        session.omit(kept)
        session.label(kept, f"label {n}")
        session.assistant("yes", timestamp="2026-01-05T09:00:00.000Z")
    within(10, session.data)


def deep(levels: int) -> Any:
    """Nest a list deeper than any stack."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


FIELDS = (
    "parentId", "id", "timestamp", "targetId", "label", "replacement", "summary", "content",
    "firstKeptEntryId", "systemMessage", "customType", "data", "name", "usage", "provider",
    "modelId", "thinkingLevel", "fromId", "kind", "message",
)  # fmt: skip
TYPES = (
    "message", "compaction", "branch_summary", "context_edit", "custom_message", "custom", "label",
    "session_info", "usage", "model_change", "thinking_level_change", "odd",
)  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_no_field_is_too_deep(kind: str, tmp_path: Path, capfdbinary: Any) -> None:
    """A value nested deeper than the stack goes, in every field of every type."""
    path = tmp_path / "deep.jsonl"
    for field in FIELDS:
        entry = {"type": kind, "id": "a", "parentId": None, "timestamp": "2026-01-05T08:00:00Z"}
        message: Any = {"role": "user", "content": "hi"}
        if kind == "message":
            entry["message"] = message
        entry[field] = "@"
        line = json.dumps(entry).replace('"@"', "[" * 1500 + "]" * 1500)
        path.write_bytes(SessionBuilder().data + line.encode() + b"\n")
        for words in (["lines"], ["lines", "--json"], ["context"], ["tree"], ["show"], ["check"]):
            assert main([words[0], str(path), *words[1:]]) in {0, 1}, (field, words)
        err = capfdbinary.readouterr().err
        assert err == b""


# Text that acts on a terminal


NASTY = "\x1b[2J\x1b]8;;https://x\x07\u202e\u2066\u200f\x00\r\x08\x9b31m\ud83d\ufeff"


def nasty_session() -> SessionBuilder:
    """Put a text that would act on a terminal wherever one can stand."""
    s = SessionBuilder(id=NASTY, cwd=NASTY, timestamp=NASTY, parentSession=NASTY)
    s.system(NASTY, sections={NASTY: NASTY}, tools_added=[{"name": NASTY, "description": NASTY}])
    root = s.user(NASTY, id=NASTY)
    call = {"type": "toolCall", "id": NASTY, "name": NASTY, "arguments": {NASTY: NASTY}}
    odd = {"type": NASTY}
    s.assistant([text_block(NASTY), odd], calls=[call], thinking=NASTY, provider=NASTY, model=NASTY)
    s.tool_result(NASTY, NASTY, name=NASTY)
    s.bash(NASTY, NASTY)
    s.custom_message(NASTY, custom_type=NASTY)
    s.custom(NASTY, custom_type=NASTY)
    s.branch_summary(NASTY, NASTY)
    s.label(root, NASTY)
    s.edit(NASTY, NASTY)
    s.name(NASTY)
    s.usage({"totalTokens": NASTY})
    s.thinking_level(NASTY)
    s.add(NASTY, {NASTY: NASTY})
    s.user("x", message={"role": NASTY})
    s.assistant("", stop_reason="error", message={"errorMessage": NASTY})
    s.user("lost", parent=NASTY + "lost")
    s.at(root)
    s.compaction(NASTY, first_kept=NASTY)
    s.raw_line(NASTY.encode("utf-8", "replace"))
    s.assistant("end", provider=NASTY, model=NASTY)
    s.model_change(NASTY, NASTY)
    return s


@pytest.mark.parametrize("command", [*COMMANDS, "ls"])
def test_nothing_hostile_reaches_a_terminal(command: str, run: Run, write: Write) -> None:
    """No control character and no directional mark, in output and in errors, for no option."""
    path = write(nasty_session().data)
    more: list[list[str]] = [[], ["--leaf", NASTY.replace("\x00", "").replace("\ud83d", "")]]
    more += [["--all"]] if command in ("lines", "tree") else []
    more += [["--full"], ["--thinking", "--tools"]] if command == "show" else []
    more += [["--stage", "llm"], ["--stage", "replay"]] if command == "context" else []
    for words in more:
        place = ["--session-dir", str(path.parent), "--all"] if command == "ls" else [path]
        done = run(command, *place, *words)
        for text in (done.out.decode(), done.err):
            assert "Traceback" not in text
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), words
            assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", text), words


def test_a_hostile_name_of_a_file(run: Run, tmp_path: Path) -> None:
    """The name in a sentence is as harmless as what is in the file, and is one line."""
    path = tmp_path / "a\x1b[31m\n\u202e.jsonl"
    path.write_bytes(b"")
    for command in COMMANDS:
        done = run(command, path)
        assert done.code == 3
        assert "\x1b" not in done.err
        assert done.err.count("\n") == 1
    other = os.fsencode(tmp_path) + b"/\xff.jsonl"
    session = SessionBuilder()
    session.user("hi")
    Path(os.fsdecode(other)).write_bytes(session.data)
    for command in COMMANDS:
        for words in ([], ["--json"]):
            done = run(command, os.fsdecode(other), *words)
            assert "Traceback" not in done.err


# Nothing is written, and a file may change


def test_no_command_writes(run: Run, tmp_path: Path) -> None:
    """Bytes, times and the listing of a store stay as they are, whatever is in it."""
    root = tmp_path / "store" / "--p--"
    root.mkdir(parents=True)
    old = SessionBuilder(version=1, linked=False)
    old.user("hi")
    files = {
        "good": odd_session(), "empty": b"", "torn": old.data[:-20], "old": old.data,
        "no-newline": old.data[:-1], "bom": b"\xef\xbb\xbf" + old.data,
    }  # fmt: skip
    for name, data in files.items():
        (root / f"{name}.jsonl").write_bytes(data)

    def state() -> dict[str, object]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
            for path in sorted((tmp_path / "store").rglob("*"))
        } | {"roots": sorted((tmp_path / "store").iterdir())}

    before = state()
    for command in COMMANDS:
        for name in files:
            run(command, root / f"{name}.jsonl")
    run("ls", "--all", "--session-dir", tmp_path / "store")
    run("lines", "--session-dir", tmp_path / "store")

    assert state() == before


def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path: Path) -> None:
    """As the reference does when it migrates."""
    path, other = tmp_path / "s.jsonl", tmp_path / "new.jsonl"
    session = SessionBuilder()
    session.user("as it was")
    path.write_bytes(session.data)
    opened = load(path)
    other.write_bytes(SessionBuilder().data)
    other.replace(path)

    assert opened.context().messages[0]["content"] == "as it was"
    path.unlink()
    assert str(opened.explain().reason(2)) == "as-stored"


def test_a_file_that_grows_or_shrinks(tmp_path: Path) -> None:
    """What is added is not seen; what is gone is told."""
    path = tmp_path / "s.jsonl"
    session = SessionBuilder()
    session.user("x" * 100)
    path.write_bytes(session.data)
    opened = load(path)
    with path.open("ab") as file:
        file.write(b"more\n")
    assert opened.context().messages[0]["content"] == "x" * 100
    os.truncate(path, 50)
    with pytest.raises(UnreadableError, match="became shorter"):
        opened.context()


def test_a_pipe_is_read_whole(run: Run, write: Write) -> None:
    """`/dev/stdin` and the like are sessions as well."""
    path = write(odd_session())
    fifo = path.with_name("pipe.jsonl")
    os.mkfifo(fifo)
    if os.fork() == 0:
        fifo.write_bytes(path.read_bytes())
        os._exit(0)
    done = run("lines", fifo, "--json")
    os.wait()

    assert done.json["lines"] == run("lines", path, "--json").json["lines"]


@pytest.mark.parametrize(
    "piece", [b"[", b'{"a":', b"[" * 1500 + b"[],"], ids=["list", "object", "wide"]
)
def test_a_huge_line_of_brackets_is_kept_unread(piece: bytes, run: Run, write: Write) -> None:
    """What nests beyond reason costs no minutes: the line stays as it is, and is told."""
    session = SessionBuilder()
    session.user("hi")
    session.raw_line(b'{"type":"custom","data":' + piece * (30_000_000 // len(piece)))
    session.user("there")
    path = write(session.data)
    told = run("check", path, "--json").json

    assert "too-deep" in {row["code"] for row in told["diagnostics"] if row["line"] == 3}
    assert run("context", path).code == 0

"""The claims of a chapter on the session file, asked of the installed release.

Each row of `docs/research/pi-27/report.md` that says "reproduced locally" names tests of this
module: when a new release changes an answer, the test that fails names the rows that fell.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance import reference
from conftest import REQUIRED

ROOT = Path(__file__).parent.parent.parent
REPORT = (ROOT / "docs" / "research" / "pi-27" / "report.md").read_text("utf-8")
RECORDINGS = sorted((ROOT / "tests" / "recordings").glob("*/session*.jsonl"))


@cache
def answers() -> dict[str, Any]:
    """Ask the reference once for all claims."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    node = reference.find_node()
    assert node is not None
    program = Path(__file__).parent / "claims.mjs"
    done = subprocess.run([node, str(program)], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def answer(claim: str) -> Any:
    found = answers()[claim]
    assert "error" not in found, found
    return found["value"]


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def rows() -> dict[str, list[str]]:
    """Give the cells of each claim, by its id."""
    found = {}
    for line in REPORT.splitlines():
        if re.match(r"\| C\d+ \|", line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[cells[0]] = cells
    return found


def test_every_row_that_was_reproduced_names_its_tests() -> None:
    named: set[str] = set()
    for claim, cells in rows().items():
        assert len(cells) == 6, claim
        assert all(cells), claim
        tests = re.findall(r"`(test_\w+)`", cells[2])
        assert bool(tests) == ("eproduced locally" in cells[2]), claim
        assert all(test in globals() for test in tests), claim
        named |= set(tests)
    ours = {name for name in globals() if name.startswith("test_")}
    assert ours - named == {
        "test_every_row_that_was_reproduced_names_its_tests",
        "test_the_report_is_about_the_installed_release",
    }


def test_the_report_is_about_the_installed_release() -> None:
    assert answer("documents")["version"] in REPORT


QUOTATIONS = {
    "session-format.md": [
        "Sessions are stored as JSONL (JSON Lines) files.",
        "Each line is a JSON object with a `type` field.",
        "enabling in-place branching without creating new files.",
        "Sessions can be removed by deleting their `.jsonl` files",
        "**Version 1**: Linear entry sequence (legacy, auto-migrated on load)",
        "**Version 2**: Tree structure with `id`/`parentId` linking",
        "**Version 3**: Renamed `hookMessage` role to `custom`",
        "Existing sessions are automatically migrated to the current version (v3) when loaded.",
        "Usually an 8-char hex ID; may fall back to a full UUID",
        "there is no separate prompt state entry.",
        "Consumers should treat unknown `kind` values as normal usage rather than rejecting them.",
    ],
    "sessions.md": ["grouped by working directory", "The CLI option has highest precedence."],
}


def test_quotations_are_in_the_documentation() -> None:
    pages = answer("documents")
    for page, sentences in QUOTATIONS.items():
        for sentence in sentences:
            assert sentence in pages[page], sentence


def test_a_branch_only_appends() -> None:
    assert answer("branching_keeps_the_file") == {"prefixKept": True, "files": 1, "children": 2}


def test_opening_an_old_file_rewrites_it() -> None:
    header, entry = answer("opening_writes")["old"]
    assert header["version"] == 3
    assert re.fullmatch(r"[0-9a-f]{8}", entry["id"])
    assert entry["parentId"] is None


def test_opening_a_torn_file_appends_a_newline() -> None:
    assert answer("opening_writes")["grown"] == 1


def test_the_folder_of_a_path() -> None:
    folder = answer("folder_of_a_path")
    assert (folder["unix"], folder["colon"]) == ("--work-api--", "--a-b--")


def test_the_folder_of_a_windows_path() -> None:
    assert answer("folder_of_a_path")["windows"].endswith("-C--work-api--")


def test_a_directory_that_is_set_is_flat() -> None:
    assert answer("set_directory_is_flat")["directly"] is True


def test_a_fork_of_an_old_file_is_not_migrated() -> None:
    fork = answer("fork_does_not_migrate")
    assert fork == {"version": 3, "ids": [None, None], "told": ["two"]}


def test_the_role_is_renamed_inside_a_message_entry() -> None:
    renamed = answer("role_is_renamed")
    assert (renamed["version"], renamed["type"], renamed["role"]) == (3, "message", "custom")
    assert renamed["told"] == ["hooked"]
    assert renamed["unmigrated"] == []


def test_the_header_stands_apart() -> None:
    found = answer("header_stands_apart")
    assert found["header"]["id"] == "s"
    assert "parentId" not in found["header"]
    assert (found["entries"], found["inTree"]) == (["message"], 1)


def test_a_fork_names_its_parent() -> None:
    assert answer("parent_session") == {"parentSession": True, "newHasNone": True, "sameIds": True}


def test_a_fork_can_hold_a_branch_summary() -> None:
    fork = answer("fork_holds_a_summary")
    assert "branch_summary" in fork["types"]
    assert any("what was tried on the other branch" in text for text in fork["told"])


def test_there_are_eleven_types() -> None:
    found = answer("entry_types")
    assert found["types"] == [
        "branch_summary", "compaction", "context_edit", "custom", "custom_message", "label",
        "message", "model_change", "session_info", "thinking_level_change", "usage",
    ]  # fmt: skip
    for keys in found["keys"].values():
        assert {"type", "id", "parentId", "timestamp"} <= set(keys)
    assert all(re.fullmatch(r"[0-9a-f]{8}", entry_id) for entry_id in found["ids"])


def test_system_messages_are_replayed() -> None:
    found = answer("prompt_is_replayed")
    assert (found["sections"], found["tools"]) == ({"a": "ONE"}, [])
    assert found["checkpoint"] == {"a": "ONE"}
    assert (found["first"]["role"], found["first"]["sections"]) == ("system", {"a": "ONE"})


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_recorded_sessions_begin_with_the_prompt(path: Path) -> None:
    """The first system message of each session of ours has all sections and all tools there are."""
    system = [
        line["message"]
        for line in recorded(path)
        if line["type"] == "message" and line["message"]["role"] == "system"
    ]
    assert system[0]["sections"]
    assert None not in system[0]["sections"].values()
    assert all(
        "sections" in later or "toolsAdded" in later or "toolsRemoved" in later for later in system
    )


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_recorded_sessions_begin_with_the_model(path: Path) -> None:
    kinds = [line["type"] for line in recorded(path)[1:3]]
    assert kinds == ["model_change", "thinking_level_change"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_recorded_replies_name_their_model(path: Path) -> None:
    for line in recorded(path):
        if line["type"] == "message" and line["message"]["role"] == "assistant":
            assert line["message"]["provider"]
            assert line["message"]["model"]


def test_a_reply_counts_as_the_model_too() -> None:
    assert answer("model_of_a_context") == {"provider": "birch", "modelId": "birch-other"}


def test_usage_is_no_context() -> None:
    assert answer("usage_is_not_context") == {"told": ["one"], "entries": 2}


def test_a_compaction_without_a_kept_id_keeps_nothing() -> None:
    assert answer("compaction_without_kept_id") == {"kept": 2, "missing": 1, "own": 1}


def test_an_edit_is_appended_and_branch_relative() -> None:
    edit = answer("edit_is_appended")
    assert edit["prefixKept"] is True
    assert edit["content"] == [{"type": "text", "text": "short"}]
    assert edit["original"] == edit["entry"] == [{"type": "text", "text": "a"}]


def test_what_an_edit_can_omit() -> None:
    found = answer("edit_targets")
    assert found["writer"] == {
        "system": "refused",
        "user": "accepted",
        "custom_message": "accepted",
        "custom": "refused",
        "bash": "refused",
    }
    assert found["reader"] == {
        "system": ["end"],
        "bash": ["end"],
        "branch_summary": ["a", "end"],
        "compaction": ["end"],
    }


def test_custom_entries_are_no_context() -> None:
    assert answer("custom_is_not_context") == ["one", "injected"]

"""The real Pi opens what was upgraded and repaired, and asks the model what we predicted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC
from typing import Any

import pytest
from recorder.scenarios import orchard
from recorder.stage import Setting, Stage

from conformance import reference
from conftest import REQUIRED
from pi_sessions import Entry, load
from pi_sessions.repair.applying import Patient
from repair.conftest import Mend
from writer.test_real_pi import Orchard


class BrokenLines(Stage):
    """A stage whose session files may have lines that are no entries."""

    def entries(self) -> list[dict[str, Any]]:
        """Give the entries alone."""
        session = load(self.current_file)
        return [session.header.raw, *(entry.raw for entry in session.entries)]


@pytest.fixture(scope="module")
def apples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orchard]:
    """Start Pi against the scripted server."""
    if why := reference.missing():
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)
    home = tmp_path_factory.mktemp("pi") / "home"
    with BrokenLines("repair", Setting(files=orchard.FILES), home) as stage:
        yield Orchard(stage)


def lines(apples: Orchard) -> list[bytes]:
    return apples.original.read_bytes().splitlines()


def said(apples: Orchard, text: str) -> Entry:
    """Give the entry that says this."""
    return next(
        entry
        for entry in apples.made.entries
        if entry.type == "message"
        and json.dumps(text) in json.dumps(entry.raw["message"]["content"])
    )


def number_of(apples: Orchard, text: str) -> int:
    """Give the place of the line that says this."""
    return said(apples, text).line - 1


def fused(apples: Orchard) -> list[bytes]:
    """A reply stands behind a torn line."""
    made = lines(apples)
    place = number_of(apples, "Cox.")
    made[place] = made[place][:90] + made[place]
    return made


def spread(apples: Orchard) -> list[bytes]:
    """A question has a raw newline."""
    made = lines(apples)
    place = number_of(apples, "Name an apple.")
    made[place] = made[place].replace(b"Name an apple.", b"Name an\napple.")
    return made


def without_message(apples: Orchard) -> list[bytes]:
    """An entry in the middle lacks its message, on which Pi fails."""
    made = lines(apples)
    place = number_of(apples, "Ontario.")
    entry = json.loads(made[place])
    stub = {**entry, "id": "eeeeeeee"}
    del stub["message"]
    entry["parentId"] = "eeeeeeee"
    made[place : place + 1] = [json.dumps(each).encode() for each in (stub, entry)]
    return made


def own_parent(apples: Orchard) -> list[bytes]:
    """The first entry is its own parent, on which Pi hangs."""
    made = lines(apples)
    entry = json.loads(made[1])
    made[1] = json.dumps({**entry, "parentId": entry["id"]}).encode()
    return made


def twice(apples: Orchard) -> list[bytes]:
    """A line was copied."""
    made = lines(apples)
    place = number_of(apples, "Ontario.")
    return [*made[:place], made[place], *made[place:]]


def orphan_result(apples: Orchard) -> list[bytes]:
    """The reply with the call was edited out, its result was not."""
    made = lines(apples)
    edit: dict[str, Any] = {
        "type": "context_edit",
        "id": "eeeeeeee",
        "parentId": json.loads(made[-1])["id"],
        "timestamp": "2026-01-05T08:00:00.000Z",
        "targetId": said(apples, "I look.").id,
        "replacement": None,
    }
    return [*made, json.dumps(edit).encode()]


def dead_branch(apples: Orchard) -> list[bytes]:
    """A name was written behind the first reply."""
    made = lines(apples)
    name = {
        "type": "session_info",
        "id": "eeeeeeee",
        "parentId": said(apples, "Cox.").id,
        "timestamp": "2026-01-05T08:00:00.000Z",
        "name": "apples",
    }
    return [*made, json.dumps(name).encode()]


def ghost(apples: Orchard) -> list[bytes]:
    """The last line is no entry, and makes Pi's next request empty."""
    return [*lines(apples), b"42"]


def torn(apples: Orchard) -> list[bytes]:
    """The last line is cut off, and has no newline."""
    made = lines(apples)
    return [*made[:-1], made[-1][: len(made[-1]) // 2]]


WAYS: list[Callable[[Orchard], list[bytes]]] = [
    fused, spread, without_message, own_parent, twice, orphan_result, dead_branch, ghost, torn,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_repaired(apples: Orchard, mend: Mend, way: Callable[[Orchard], list[bytes]]) -> None:
    path = apples.stage.sessions / f"{way.__name__}.jsonl"
    end = b"" if way is torn else b"\n"
    path.write_bytes(b"\n".join(way(apples)) + end)
    assert not mend(path).is_empty
    mended = path.read_bytes()
    predicted = apples.predict(path)

    assert apples.ask(path) == predicted
    assert path.read_bytes().startswith(mended)
    assert "Boskoop." in str(load(path).context().messages[-1])
    # All that was said before is there, but for what an edit takes out or the cut has taken.
    known = {"own_parent", "without_message", "fused", "twice", "dead_branch", "ghost"}
    if way.__name__ in known:
        assert len(load(path).branch()) >= len(apples.made.branch())


def test_upgraded(apples: Orchard) -> None:
    header, *entries = map(json.loads, lines(apples))
    del header["version"]
    for entry in entries:
        del entry["id"], entry["parentId"]
    path = apples.stage.sessions / "upgraded.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [header, *entries]))
    Patient(str(path), UTC).upgrade()
    upgraded = path.read_bytes()
    predicted = apples.predict(path)

    assert apples.ask(path) == predicted
    assert path.read_bytes().startswith(upgraded)
    assert len(load(path).branch()) == len(load(path).entries)

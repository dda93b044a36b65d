"""Bodies of recorded model turns: what the session decides comes out equal, key order included."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conftest import need
from payload import wire
from pi_sessions import _json

UNDECIDED = {
    "b-anthropic-threads#2": "/thread",
    "b-anthropic-threads#3": "/thread",
}
"""Turns whose difference is named as unknown: the request continued a thread."""
HOOKS = {
    "n-context-hook#2",
    "n-context-hook#3",
    "n-context-hook#4",
    "n-before-provider-request#2",
    "n-before-provider-request#3",
}
"""Turns that an extension changed on their way out; nothing in the file says so."""
SETTINGS = {
    "j-images-blocked#1": "/messages",
    "n-codemode-only#1": "/tools",
    "n-codemode-only#2": "/tools",
    "p-settings-and-env#1": "/thinking/budget_tokens",
    "p-settings-and-env#2": "/prompt_cache_retention",
    "p-settings-and-env#3": "/prompt_cache_key",
    "p-settings-and-env#4": "/prompt_cache_key",
}
"""Turns that come out equal with settings and environment only, and what is unknown without."""


def folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(folder for folder in root.iterdir() if (folder / "requests.jsonl").exists())


def test_wire_is_there() -> None:
    need(wire.WIRE)
    assert sum(len(wire.turns(folder)) for folder in folders(wire.WIRE)) == 436


@pytest.mark.parametrize(
    "folder",
    [*folders(wire.WIRE), *folders(wire.RECORDINGS)],
    ids=lambda folder: f"{folder.parent.name}/{folder.name}",
)
def test_bodies(folder: Path) -> None:
    for turn in wire.turns(folder):
        built = wire.build(turn)
        if turn.name in UNDECIDED:
            assert _json.dumps(built.body) != turn.body, turn.name
            assert UNDECIDED[turn.name] in {unknown.pointer for unknown in built.unknown}
        elif turn.name in HOOKS:
            assert _json.dumps(built.body) != turn.body, turn.name
        else:
            assert _json.dumps(built.body) == turn.body, turn.name


@pytest.mark.parametrize("root", [wire.WIRE, wire.RECORDINGS], ids=["wire", "recordings"])
def test_share_of_equal_bodies(root: Path) -> None:
    equal, total = Counter[str](), Counter[str]()
    others = set()
    for folder in folders(need(root)):
        for turn in wire.turns(folder):
            built = wire.build(turn)
            api = wire.context(turn)[1]["api"]
            total[api] += 1
            if _json.dumps(built.body) == turn.body:
                equal[api] += 1
            else:
                others.add(turn.name)
    for api in sorted(total):
        print(f"{root.name}: {equal[api]} of {total[api]} bodies of {api} are equal")
    assert others == ({*UNDECIDED, *HOOKS} if root == wire.WIRE else set())


@pytest.mark.parametrize("name", SETTINGS)
def test_without_settings(name: str) -> None:
    folder, _, number = name.partition("#")
    turns = wire.turns(need(wire.WIRE / folder))
    turn = next(turn for turn in turns if turn.number == int(number))
    built = wire.build(turn, plain=True)
    assert _json.dumps(built.body) != turn.body
    assert SETTINGS[name] in {unknown.pointer for unknown in built.unknown}


def test_a_continued_thread_holds_the_end_of_the_body() -> None:
    for turn in wire.turns(need(wire.WIRE / "b-anthropic-threads")):
        sent = _json.loads(turn.body.encode())
        built = wire.build(turn).body
        assert built["messages"][-len(sent["messages"]) :] == sent["messages"]

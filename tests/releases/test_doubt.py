"""Answers that know their doubt: what comes out otherwise than it was sent is named as open."""

from __future__ import annotations

from collections import Counter

import pytest

from conftest import need
from pi_sessions import _json, load, loads
from pi_sessions.context import doubt
from pi_sessions.context.model import Model
from pi_sessions.context.payload import Payload
from pi_sessions.testing import SessionBuilder
from releases import recorded
from releases.recorded import Turn
from releases.test_recorded import UNDECIDED

CONVERSATION = ("/messages", "/input")


def _auto(turn: Turn) -> Payload:
    session = recorded.session(turn.folder / turn.file)
    reply = session.at(turn.line)
    model = recorded.model_of(turn.folder, session.target(response=reply))
    return session.request(response=reply, model=model)


def _doubts(built: Payload) -> list[str]:
    found = [told for told in built.unknown if told.why.startswith("rule ")]
    return [told.why for told in found if told.pointer.startswith(CONVERSATION)]


@pytest.mark.parametrize("release", recorded.releases())
def test_no_request_is_wrong_without_a_word(release: str) -> None:
    """Nobody says which release it was; all these sessions are dated after the newest."""
    counted = Counter[str]()
    for folder in recorded.scenarios(release):
        for turn in recorded.turns(folder):
            built = _auto(turn)
            ours, sent = recorded.conversation(built.body), recorded.conversation(turn.body)
            if release in ("0.7.6", "0.13.2"):
                ours, sent = recorded.without_random_ids(ours), recorded.without_random_ids(sent)
            equal = _json.dumps(ours) == _json.dumps(sent)
            open_ = bool(_doubts(built))
            counted[f"{'equal' if equal else 'different'}, {'open' if open_ else 'sure'}"] += 1
            assert equal or open_ or turn.name in UNDECIDED, turn.name
    print(f"{release}: {dict(counted)}")


@pytest.mark.parametrize("release", recorded.releases())
def test_the_prompt_is_never_guessed(release: str) -> None:
    for folder in recorded.scenarios(release):
        for turn in recorded.turns(folder):
            built = _auto(turn)
            said = {told.pointer for told in built.unknown if told.why == doubt.PROMPT}
            if built.rules.records_prompt:
                assert not said, turn.name
                assert "tools" in built.body, turn.name
            else:
                assert "/tools" in said, turn.name
                assert "tools" not in built.body, turn.name


def test_a_doubt_names_the_rule_and_the_places() -> None:
    need(recorded.RELEASES)
    folder = recorded.RELEASES / "0.49.3" / "abort-anth"
    turn = next(turn for turn in recorded.turns(folder) if turn.number == 3)
    (why,) = _doubts(_auto(turn))
    assert why == (
        "rule drops_aborted (an aborted reply in later requests): before 0.49.2 sent as far as it "
        "came; its calls get results; taken here: left out; would differ: /messages/3"
    )
    session = load(folder / turn.file)
    explained = session.explain(response=session.at(turn.line))
    assert ("line 7", why.partition("; would differ")[0]) in {
        (told.what, told.why) for told in explained.unknown
    }


def test_a_named_release_leaves_no_doubt() -> None:
    need(recorded.RELEASES)
    folder = recorded.RELEASES / "0.49.3" / "abort-anth"
    turn = next(turn for turn in recorded.turns(folder) if turn.number == 3)
    session = load(folder / turn.file)
    built = session.request(response=session.at(turn.line), release="0.45.7")
    assert not _doubts(built)
    assert built.rules.release == "0.45.7"


def test_replies_of_other_programs_are_read_by_the_rules_of_today() -> None:
    file = SessionBuilder()
    file.user("a")
    file.assistant("b", stop_reason="aborted")
    file.user("c")
    reply = file.assistant("d")
    session = loads(file.data)
    model = Model(api="openai-completions", provider="birch", id="birch-1")
    built = session.request(response=reply, model=model)
    assert built.rules.release == "1.6.0"
    assert not [told for told in built.unknown if told.why.startswith("rule ")]


@pytest.mark.parametrize(
    ("ours", "other", "places"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1}, {}, ["/a"]),
        ({"m": [1, 2]}, {"m": [1, 3, 2]}, ["/m/1"]),
        ({"m": [1, 3, 2]}, {"m": [1, 2]}, ["/m/1"]),
        ({"m": [{"content": [1, 2]}]}, {"m": [{"content": [1, 3]}]}, ["/m/0/content/1"]),
        ({"m": [{"content": "x"}]}, {"m": [{"content": [1]}]}, ["/m/0"]),
        ({"m": [1, 2, 3]}, {"m": [2, 1, 4, 3]}, ["/m/0", "/m/1"]),
    ],
)
def test_differing_places(
    ours: dict[str, object], other: dict[str, object], places: list[str]
) -> None:
    assert doubt.differing(ours, other) == places


@pytest.mark.parametrize(
    ("pointers", "common"),
    [
        (["/messages/3"], "/messages/3"),
        (["/messages/3", "/messages/4/content/1"], "/messages"),
        (["/messages/3/content/0", "/messages/3/content/1"], "/messages/3/content"),
        (["/store", "/messages/3"], ""),
    ],
)
def test_the_common_place(pointers: list[str], common: str) -> None:
    assert doubt.common(pointers) == common


def test_many_places_are_counted() -> None:
    assert doubt.listed(range(9)) == "0, 1, 2, 3, 4, 5 and 3 more"

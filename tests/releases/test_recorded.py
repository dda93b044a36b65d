"""Every recorded turn of releases of old: what we build by their rules is what they sent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import need
from pi_sessions import _json
from pi_sessions.context import models
from releases import recorded
from releases.recorded import Turn

UNDECIDED = {
    "0.7.6/session-flag#3": "the file was continued without being loaded",
    "0.13.2/session-flag#3": "the file was continued without being loaded",
}
"""Turns that no file can tell, and why."""
FROM_CATALOGUE = "0.7.6"
"""It had no models.json: what hangs on the configuration of a model is not recorded."""
LEVEL_NOWHERE = ("0.27.9",)
"""Releases whose files do not tell the thinking level."""
_LEVEL = ("thinking", "reasoning", "reasoning_effort", "include")


def _built(turn: Turn) -> dict[str, Any]:
    session = recorded.session(turn.folder / turn.file)
    reply = session.at(turn.line)
    model = recorded.model_of(turn.folder, session.target(response=reply))
    settings = models.parse_settings((turn.folder / "settings.json").read_text("utf-8"))
    return session.request(
        response=reply,
        model=model,
        preferences=settings,
        cache_retention="short",
        release=turn.release,
    ).body


def _same(ours: list[Any], sent: list[Any], release: str) -> bool:
    if release in ("0.7.6", "0.13.2"):
        ours, sent = recorded.without_random_ids(ours), recorded.without_random_ids(sent)
    return _json.dumps(ours) == _json.dumps(sent)


def _parameters(body: dict[str, Any], release: str) -> dict[str, Any]:
    left_out = {"messages", "input", "system", "tools"}
    if release == FROM_CATALOGUE:
        left_out |= {"max_tokens", "max_completion_tokens", "max_output_tokens"}
    if release in LEVEL_NOWHERE:
        left_out |= set(_LEVEL)
    return {key: value for key, value in body.items() if key not in left_out}


@pytest.mark.parametrize("release", recorded.releases())
def test_conversations(release: str) -> None:
    counted = Counter[str]()
    for folder in recorded.scenarios(release):
        for turn in recorded.turns(folder):
            body = _built(turn)
            ours, sent = recorded.conversation(body), recorded.conversation(turn.body)
            equal = _same(ours, sent, release)
            assert equal != (turn.name in UNDECIDED), turn.name
            counted["turns"] += 1
            counted["equal"] += equal
            assert _parameters(body, release) == _parameters(turn.body, release), turn.name
    print(f"{release}: {counted['equal']} of {counted['turns']} conversations are equal")


@pytest.mark.parametrize("release", ["0.86.1", "1.0.3", "1.4.0"])
def test_whole_bodies(release: str) -> None:
    """From 0.86.0 on prompt and tools are in the file, and the whole body is the same."""
    turns = 0
    for folder in recorded.scenarios(str(need(recorded.RELEASES / release).name)):
        for turn in recorded.turns(folder):
            assert _json.dumps(_built(turn)) == _json.dumps(turn.body), turn.name
            turns += 1
    assert turns > 80


def test_the_recordings_are_there() -> None:
    need(recorded.RELEASES)
    counted = sum(
        1
        for release in recorded.releases()
        for folder in recorded.scenarios(release)
        for _ in recorded.turns(Path(folder))
    )
    assert counted == 2057

"""Requests that releases of old really sent, and what we make of their sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from pi_sessions import Session, _json, load
from pi_sessions.context import models
from pi_sessions.context.model import Found, Model
from pi_sessions.context.target import Target

ROOT = Path(__file__).parents[2]
RELEASES = Path(os.environ.get("PI_SESSIONS_SHARED", ROOT.parent / "shared")) / "releases"
TEXT_ONLY = frozenset({"gpt-oss-120b"})
"""Models of the catalogue of 0.7.6, which had no models.json, that take no pictures."""


@dataclass(frozen=True)
class Turn:
    """One recorded request of a model turn that a reply answers."""

    folder: Path
    number: int
    """Counted from 1 among all requests of the recording."""
    file: str
    line: int
    """Line of the reply."""
    body: Any
    attempts: int = 1

    @property
    def release(self) -> str:
        return self.folder.parent.name

    @property
    def name(self) -> str:
        return f"{self.release}/{self.folder.name}#{self.number}"


def releases() -> list[str]:
    """Name the recorded releases, oldest first."""
    if not RELEASES.is_dir():
        return []
    names = (folder.name for folder in RELEASES.iterdir() if folder.is_dir())
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def scenarios(release: str) -> list[Path]:
    folder = RELEASES / release
    return sorted(path.parent for path in folder.glob("*/requests.meta.jsonl"))


def turns(folder: Path) -> Iterator[Turn]:
    """Give the answered model turns of one recording."""
    meta = (folder / "requests.meta.jsonl").read_bytes().splitlines()
    bodies = (folder / "requests.jsonl").read_bytes().split(b"\n")
    for number, (told, line) in enumerate(zip(meta, bodies, strict=False), 1):
        entry = _json.loads(told)
        answer = entry.get("answered")
        if entry["kind"] == "turn" and answer:
            yield Turn(folder, number, answer["file"], answer["line"], _json.loads(line)["body"])


@cache
def session(path: Path) -> Session:
    return load(path)


@cache
def config(folder: Path) -> models.ModelsFile:
    return models.parse_models((folder / "models.json").read_text("utf-8"))


def model_of(folder: Path, target: Target) -> Model:
    """Give the model of a reply as it was configured."""
    model = models.resolve(target.provider, target.model, target.api, config=config(folder))
    if model.found is Found.NOWHERE:
        kinds = ("text",) if target.model in TEXT_ONLY else ("text", "image")
        model = msgspec.structs.replace(model, input=kinds, reasoning=True)
    return model


def conversation(body: Any) -> list[Any]:
    """Give the conversation of a body: no prompt in front, no cache markers."""
    told = body.get("input", body.get("messages"))
    found = [message for message in told if message.get("role") not in ("system", "developer")]
    return _unmarked(found)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def without_random_ids(told: list[Any]) -> list[Any]:
    """Mask the ids that releases up to 0.13 made at random."""
    made = re.compile(r"msg_[0-9a-z]{6,13}|msg_\d+")
    return [
        {**item, "id": "msg"}
        if item.get("type") == "message" and made.fullmatch(str(item.get("id")))
        else item
        for item in told
    ]

"""Recorded requests and the bodies we build for them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

from pi_sessions import _json, _lines, scan
from pi_sessions.context import llm, models, payload, point, projection, selection
from pi_sessions.context.message import ContextMessage
from pi_sessions.context.model import Model
from pi_sessions.table import Table

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "recordings"
WIRE = Path(os.environ.get("PI_SESSIONS_SHARED", ROOT.parent / "shared")) / "wire"
LONG_CACHE = ("p-settings-and-env",)
"""Recorded with the environment's PI_CACHE_RETENTION=long."""


@dataclass(frozen=True)
class Turn:
    """One recorded request of a model turn."""

    folder: Path
    number: int
    """Counted from 1 among all requests of the recording."""
    session: str
    answered: str
    body: str
    """Its text, as JSON.stringify writes it."""

    @property
    def name(self) -> str:
        return f"{self.folder.name}#{self.number}"


def turns(folder: Path) -> list[Turn]:
    """Give the model turns of one recording that a reply answers."""
    meta = _objects(folder / "requests.meta.jsonl")
    bodies = (folder / "requests.jsonl").read_bytes().split(b"\n")
    return [
        Turn(
            folder,
            number,
            entry["session_file"],
            entry["answered"],
            _json.dumps(_json.loads(line)["body"]),
        )
        for number, (entry, line) in enumerate(zip(meta, bodies, strict=False), 1)
        if entry["kind"] == "turn" and entry.get("answered")
    ]


def _objects(path: Path) -> list[Any]:
    return [_json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


@cache
def table(path: Path) -> Table:
    return scan.read(_lines.open_source(path))


@cache
def config(folder: Path) -> tuple[models.ModelsFile, models.Preferences]:
    parsed = models.parse_models((folder / "models.json").read_text("utf-8"))
    assert not parsed.error
    return parsed, models.parse_settings((folder / "settings.json").read_text("utf-8"))


def context(turn: Turn) -> tuple[Table, dict[str, Any], tuple[ContextMessage, ...]]:
    """Give the table, the answering message, and the LLM messages behind it."""
    lines = table(turn.folder / turn.session)
    line = lines.lines_by_id[turn.answered]
    place = point.at_response(lines, line)
    chosen = selection.select(lines, place.path)
    projected = projection.project(lines, chosen, UTC)
    return lines, lines.raw(line)["message"], llm.convert(projected.messages).messages


def model_of(turn: Turn, reply: dict[str, Any]) -> Model:
    return models.resolve(
        reply["provider"], reply["model"], reply["api"], config=config(turn.folder)[0]
    )


def build(turn: Turn, *, plain: bool = False) -> payload.Payload:
    """Build the body of a turn; `plain` leaves out what only settings and environment say."""
    lines, reply, messages = context(turn)
    level, session_id = reply.get("thinkingLevel", "off"), lines.header.get("id")
    options = payload.Options(thinking_level=level, session_id=session_id)
    if not plain:
        settings = config(turn.folder)[1]
        options = payload.Options(
            thinking_level=level,
            session_id=session_id,
            thinking_budgets=settings.thinking_budgets,
            block_images=settings.block_images,
            codemode_only=settings.codemode_only,
            cache_retention="long" if turn.folder.name in LONG_CACHE else "short",
        )
    return payload.build(messages, model_of(turn, reply), options)

"""What a model had in front of it at one point, put together for a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.caching import Cached, cached
from pi_sessions.context.difference import Asked, Difference, differ
from pi_sessions.context.explain import REASONS
from pi_sessions.context.message import Verdict
from pi_sessions.context.model import Found, Model
from pi_sessions.context.models import Preferences
from pi_sessions.context.payload.draft import Retention
from pi_sessions.context.remarks import remarks, reported_tokens
from pi_sessions.context.target import Target
from pi_sessions.context.tokens import weigh
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.render.asked import Block, blocks_of, blocks_of_messages
from pi_sessions.render.states import WHY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_sessions.context.explain import Explanation
    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.payload import Payload
    from pi_sessions.context.tokens import Weight
    from pi_sessions.session import Session

PARTS = {
    "prompt": "prompt and tools",
    "summary": "summaries",
    "talk": "conversation",
    "thinking": "thinking",
    "results": "tool results",
    "others": "pictures and the rest",
}
"""The parts of a request in the order of the bar, and what they are called."""
_GROUPS = {
    "prompt": "prompt",
    "tools": "prompt",
    "summary": "summary",
    "user": "talk",
    "assistant": "talk",
    "calls": "talk",
    "thinking": "thinking",
    "custom": "others",
    "shell": "others",
    "images": "others",
    "stand-in": "others",
}


def group_of(part: str) -> str:
    """Give the part of the bar that a part of the weighing belongs to."""
    if part.startswith("section "):
        return "prompt"
    return "results" if part.startswith("result") else _GROUPS.get(part, "others")


class Part(msgspec.Struct, frozen=True):
    """A part of the token bar."""

    key: str
    name: str
    tokens: int
    share: float
    """Of all, from 0 to 1."""
    start: float
    """The shares before it."""
    finer: tuple[tuple[str, int], ...] = ()
    """What it is made of, with its tokens."""


class Point(msgspec.Struct, frozen=True):
    """Where a request is looked at: a reply, or a leaf; lines, 0 for what is not meant."""

    response: int = 0
    leaf: int = 0

    def words(self, session: Session) -> dict[str, Any]:
        """Give the keywords that the session's methods take."""
        if self.response:
            return {"response": session.at(self.response)}
        return {"leaf": session.at(self.leaf)} if self.leaf else {}


_FIRST = 6
"""Lines that are named of those left out for one reason."""


class Left(msgspec.Struct, frozen=True):
    """Lines that were left out for one reason."""

    reason: str
    why: str
    count: int
    lines: tuple[int, ...]
    """The first of them."""


class Saw(msgspec.Struct, frozen=True, kw_only=True):
    """All that is told of one request."""

    api: str
    provider: str
    model: str
    level: str
    release: str
    blocks: Sequence[Block]
    parts: Sequence[Part]
    counted: int
    estimated: float
    reported: float | None
    left: Sequence[Left]
    unknown: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    before: int = 0
    """Line of the reply before, 0 if there is none."""
    difference: Difference | None = None
    cached: Cached | None = None
    is_built: bool = True
    """Whether the body of the request is rebuilt, not only its messages."""


class Setting(msgspec.Struct, frozen=True):
    """What requests hang on besides the session."""

    model_of: Callable[[Target], Model]
    preferences: Preferences | None = None
    retention: Retention | None = None
    release: str | None = None


def asked_of(session: Session, setting: Setting, line: int) -> Asked | None:
    """Rebuild the request of a reply for comparison, None if bodies of its API are not built."""
    try:
        return session.asked(
            session.at(line),
            model=setting.model_of(session.target(response=session.at(line))),
            preferences=setting.preferences,
            release=setting.release,
        )
    except UnsupportedApiError:
        return None


def explained(session: Session, setting: Setting, point: Point) -> Explanation:
    """Give every line its verdict at a point."""
    where = point.words(session)
    model = setting.model_of(session.target(**where))
    return session.explain(
        **where,
        target=model if model.found is not Found.NOWHERE else None,
        preferences=setting.preferences,
        release=setting.release,
    )


def saw(
    session: Session,
    setting: Setting,
    point: Point,
    explanation: Explanation,
    pair: tuple[Asked | None, tuple[int, Asked] | None] = (None, None),
) -> Saw:
    """Put together what a model had at a reply, or would have at a leaf.

    Args:
        session: the file.
        setting: the models and what else requests hang on.
        point: the reply, or the leaf.
        explanation: the verdicts there.
        pair: the request for comparison, and line and request of the reply before.
    """
    where, table = point.words(session), session.table
    asked, before = pair
    with table.remembering():
        target = session.target(**where)
        model = setting.model_of(target)
        told = session.context(**where, stage="llm", release=setting.release)
        messages = asked.messages if asked else _replayed(session, setting, where, target)
        prompt = session.prompt(**where)
        payload = _payload(session, setting, where, model)
        if payload is None:
            blocks = blocks_of_messages(messages, prompt, table)
        else:
            blocks = blocks_of(payload, prompt, table)
        weights = weigh(table, messages, prompt)
    estimated = payload.estimated_tokens if payload else sum(w.tokens for w in weights)
    reported = reported_tokens(table, point.response)
    difference = differ(before[1], asked) if asked and before else None
    cost = None
    if asked and before and difference:
        replies, requests = (before[0], point.response), (before[1], asked)
        cost = cached(table, replies, requests, difference)
    unknown = (
        [(item.pointer or "the whole", item.why) for item in payload.unknown] if payload else []
    )
    hints = remarks(
        table,
        (told.leaf.line if told.leaf else 0, point.response),
        told.parts,
        (estimated, reported),
    )
    return Saw(
        api=target.api or "unknown API",
        provider=target.provider,
        model=target.model,
        level=session.thinking_level(**where),
        release=explanation.point.rules.release,
        blocks=blocks,
        parts=parts_of(weights),
        counted=round(sum(weight.tokens for weight in weights)),
        estimated=estimated,
        reported=reported,
        left=left_out(explanation),
        unknown=unknown or [(item.what, item.why) for item in explanation.unknown],
        remarks=[str(remark["message"]) for remark in hints],
        before=before[0] if before else 0,
        difference=difference,
        cached=cost,
        is_built=payload is not None,
    )


def _replayed(
    session: Session, setting: Setting, where: dict[str, Any], target: Target
) -> Sequence[ContextMessage]:
    return session.context(**where, stage="replay", target=target, release=setting.release).parts


def _payload(
    session: Session, setting: Setting, where: dict[str, Any], model: Model
) -> Payload | None:
    try:
        return session.request(
            **where,
            model=model,
            preferences=setting.preferences,
            cache_retention=setting.retention,
            release=setting.release,
        )
    except UnsupportedApiError:
        return None


def left_out(explanation: Explanation) -> list[Left]:
    """Count the lines that were not sent by their reasons, most first."""
    reasons, found = explanation.reasons, []
    for number, reason in enumerate(REASONS):
        if reason.verdict is not Verdict.NOT_SENT:
            continue
        total = reasons.count(number, 1)
        if total:
            lines: list[int] = []
            line = 0
            while len(lines) < _FIRST and (line := reasons.find(number, line + 1)) > 0:
                lines.append(line)
            found.append(Left(str(reason), WHY[reason], total, tuple(lines)))
    return sorted(found, key=lambda left: -left.count)


def parts_of(weights: Iterable[Weight]) -> list[Part]:
    """Add up the parts of the bar."""
    finer: dict[str, dict[str, float]] = {key: {} for key in PARTS}
    for weight in weights:
        inner = finer[group_of(weight.part)]
        inner[weight.part] = inner.get(weight.part, 0) + weight.tokens
    total = sum(sum(inner.values()) for inner in finer.values()) or 1
    parts, start = [], 0.0
    for key, name in PARTS.items():
        tokens = sum(finer[key].values())
        if tokens:
            rows = sorted(finer[key].items(), key=lambda row: -row[1])
            told = tuple((part, round(n)) for part, n in rows)
            parts.append(Part(key, name, round(tokens), tokens / total, start, told))
            start += tokens / total
    return parts

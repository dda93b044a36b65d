"""What single lines tell about the release that wrote them. Rules: docs/releases.md.

A reply is looked at once, typed, for the fields that every reply of some release has; what a look
tells is worked out once for all replies that look the same.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions import _json
from pi_sessions.context import releases
from pi_sessions.table import FIRST_TYPE, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator


class Surety(StrEnum):
    """How sure a clue is."""

    SURE = "sure"
    """Measured: every reply of the release has it, or none."""
    GOOD = "good"
    """So unless an extension or another program had a hand in it."""
    CLOCK = "clock"
    """As good as the clock of the machine."""
    HINT = "hint"
    """Told, and not counted."""


class Clue(msgspec.Struct, frozen=True):
    """Something in a file that not all releases write."""

    line: int
    oldest: str | None
    """The oldest release that can have written it, None if any old one can."""
    newest: str | None
    told: str
    """What it is, in a few words."""
    surety: Surety = Surety.SURE


class Telltale(msgspec.Struct, frozen=True):
    """A field that all good replies have from some release on."""

    name: str
    after: str
    """The last release known to write replies without it."""
    since: str
    """The first release known to write it always."""
    apis: tuple[str, ...]
    """APIs whose replies have it always; others may lack it for reasons of their own."""


CHAT, ANTHROPIC, RESPONSES = "openai-completions", "anthropic-messages", "openai-responses"
_ALL = (CHAT, ANTHROPIC, RESPONSES)
TELLTALES = (
    Telltale("usage.totalTokens", "0.12.15", "0.13.0", _ALL),
    Telltale("responseId", "0.58.4", "0.61.1", _ALL),
    Telltale("usage.cacheWrite1h", "0.78.1", "0.79.10", (ANTHROPIC,)),
    Telltale("usage.reasoning", "0.80.2", "0.80.3", (CHAT, RESPONSES)),
    Telltale("rawStopReason", "0.82.1", "0.83.0", _ALL),
    Telltale("thinkingLevel", "0.87.1", "0.99.1", _ALL),
    Telltale("durationMs", "1.0.3", "1.3.0", _ALL),
)
PREAMBLES = {"00aa6d13d165": ("0.86.0", "1.4.0"), "52b86ec55cab": ("1.5.0", None)}
"""Digests of the preamble of the default prompt, and the releases that have it."""
_MISSING: Any = msgspec.UNSET
_HEAD = 160
"""Bytes of a line that hold its own keys, if Pi wrote them."""


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    textSignature: Any = None  # noqa: N815 - the format's own names
    redacted: Any = None
    partialJson: Any = _MISSING  # noqa: N815


class _Usage(msgspec.Struct, gc=False):
    cost: dict[str, Any]
    totalTokens: Any = _MISSING  # noqa: N815
    cacheWrite1h: Any = _MISSING  # noqa: N815
    reasoning: Any = _MISSING


class _Message(msgspec.Struct, gc=False):
    api: str
    provider: str
    model: str
    stopReason: str  # noqa: N815
    usage: _Usage
    timestamp: int | float
    content: list[_Block]
    responseId: Any = _MISSING  # noqa: N815
    rawStopReason: Any = _MISSING  # noqa: N815
    thinkingLevel: Any = _MISSING  # noqa: N815
    durationMs: Any = _MISSING  # noqa: N815


class _Reply(msgspec.Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Reply).decode


class Look(msgspec.Struct, frozen=True):
    """What a reply looks like, as far as releases differ."""

    api: str
    is_whole: bool
    """Whether it came to its end: neither failed nor aborted."""
    has: tuple[bool, ...]
    """Which of TELLTALES it has."""
    time_first: bool
    """Whether its keys have the order of version 1: the time before an id that was put in."""
    plain_signature: bool = False
    json_signature: bool = False
    redacted: bool = False
    leftovers: bool = False
    """Whether a call has what was left of parsing it."""
    has_calls: bool = False

    @property
    def is_of_today(self) -> bool:
        """Whether the reply alone tells enough: it has the newest of all telltales."""
        return self.has[-1]


def look(data: bytes) -> tuple[Look, float] | None:
    """Look at a reply and its time in milliseconds; None for one that no release writes so."""
    try:
        message = _decode(data).message
    except (msgspec.MsgspecError, RecursionError):
        # What the typed decoder refuses may be good JSON.
        try:
            message = msgspec.convert(_json.loads(data), _Reply).message
        except (msgspec.MsgspecError, _json.JSONError, UnicodeEncodeError, RecursionError):
            return None
    usage = message.usage
    has = (
        usage.totalTokens is not _MISSING,
        message.responseId is not _MISSING,
        usage.cacheWrite1h is not _MISSING,
        usage.reasoning is not _MISSING,
        message.rawStopReason is not _MISSING,
        message.thinkingLevel is not _MISSING,
        message.durationMs is not _MISSING,
    )
    plain = structured = redacted = leftovers = calls = False
    for block in message.content:
        if block.type == "toolCall":
            calls = True
            leftovers = leftovers or block.partialJson is not _MISSING
        elif block.type == "text":
            signature = block.textSignature
            if isinstance(signature, str):
                structured = structured or signature.startswith('{"v"')
                plain = plain or not signature.startswith("{")
        elif block.redacted:
            redacted = True
    is_whole = message.stopReason not in ("error", "aborted")
    order = time_first(data)
    found = Look(message.api, is_whole, has, order, plain, structured, redacted, leftovers, calls)
    return found, message.timestamp


def time_first(data: bytes) -> bool:
    """Say of a line whether its time stands before its id, or it has no id at all."""
    own = data.find(b'"id":"', 0, _HEAD)
    time = data.find(b'"timestamp":"', 0, own if own >= 0 else _HEAD)
    return time >= 0


@cache
def told(found: Look) -> tuple[Clue, ...]:
    """Give the clues of a reply that looks so, for line 0."""
    return tuple(_told(found))


def _told(found: Look) -> Iterator[Clue]:
    if found.time_first:
        yield Clue(0, None, releases.before("0.31.0"), "time before id, as in version 1")
    else:
        yield Clue(0, "0.31.0", None, "entries with ids")
    for telltale, is_there in zip(TELLTALES, found.has, strict=True):
        if is_there:
            yield Clue(0, releases.following(telltale.after), None, telltale.name)
        elif found.is_whole and found.api in telltale.apis:
            yield Clue(0, None, releases.before(telltale.since), f"no {telltale.name}")
    if found.redacted:
        yield Clue(0, "0.55.2", None, "redacted thinking")
    if found.api != RESPONSES:
        return
    if found.json_signature:
        yield Clue(0, "0.56.2", None, "signature of a text as JSON")
    elif found.plain_signature:
        yield Clue(0, None, releases.before("0.56.2"), "signature of a text as a plain id")
    if found.leftovers:
        yield Clue(0, None, releases.before("0.67.2"), "partialJson left in a call")
    elif found.has_calls and found.is_whole:
        yield Clue(0, "0.67.2", None, "no partialJson left in a call", Surety.GOOD)


_SINCE: dict[int, str] = {
    Kind.BRANCH_SUMMARY: "0.31.0",
    Kind.CUSTOM: "0.31.0",
    Kind.CUSTOM_MESSAGE: "0.31.0",
    Kind.LABEL: "0.31.0",
    Kind.SESSION_INFO: "0.44.0",
    Kind.BASH: "0.14.0",
    Kind.SYSTEM: "0.86.0",
    Kind.USAGE: "0.86.0",
    Kind.CONTEXT_EDIT: "0.87.0",
}
TELLING = frozenset({*_SINCE, Kind.ASSISTANT, Kind.COMPACTION})
"""Kinds of lines that tell something."""


def of_entry(table: Table, line: int, data: bytes) -> Iterator[Clue]:
    """Give the clues of an entry that is no reply."""
    kind = table.kinds[line]
    if since := _SINCE.get(kind):
        name = table.role_of(line) if kind < FIRST_TYPE else table.type_of(line)
        yield Clue(line, since, None, f"an entry {name}")
    if kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.BASH):
        return
    entry = table.decoded(line, data)
    if kind == Kind.BASH:
        if "excludeFromContext" in entry["message"]:
            yield Clue(line, "0.32.1", None, "a shell run that is not told", Surety.GOOD)
        return
    if "usage" in entry:
        yield Clue(line, "0.81.0", None, "usage of a summary")
    if kind == Kind.BRANCH_SUMMARY:
        if entry.get("fromId") == entry.get("parentId"):
            newest = releases.before("0.84.3")
            yield Clue(line, None, newest, "summary of a branch from its own parent", Surety.GOOD)
        else:
            yield Clue(line, "0.84.3", None, "summary of a branch from its leaf", Surety.GOOD)
    elif "firstKeptEntryIndex" in entry:
        yield Clue(line, "0.12.7", releases.before("0.31.0"), "firstKeptEntryIndex")
    elif "systemMessage" in entry:
        yield Clue(line, "0.86.0", None, "a compaction with a checkpoint")
    elif not time_first(data):
        yield Clue(line, "0.31.0", None, "firstKeptEntryId")


def of_parent(table: Table, reply: int) -> Iterator[Clue]:
    """Give what it tells that a reply has another one as its parent, or a compaction after one.

    Today an edit that takes out the failed or cut reply stands between.
    """
    parent = table.parents[reply]
    newest = releases.before("0.87.0")
    if parent > 0 and table.kinds[parent] == Kind.ASSISTANT:
        if table.raw(parent)["message"].get("stopReason") == "error":
            yield Clue(reply, None, newest, "asked again after a failure", Surety.GOOD)
    elif parent > 0 and table.kinds[parent] == Kind.COMPACTION:
        cut = table.parents[parent]
        if (
            cut > 0
            and table.kinds[cut] == Kind.ASSISTANT
            and table.raw(cut)["message"].get("stopReason") == "length"
        ):
            yield Clue(reply, "0.84.0", newest, "asked again after a cut reply", Surety.GOOD)


def of_header(table: Table) -> Iterator[Clue]:
    """Give what the header tells about the first writer of a file."""
    header, line = table.header, table.header_line
    keys = list(header)
    version = header.get("version")
    is_first = version is None or (keys[-1] == "version" and keys[1] != "version")
    if is_first:
        oldest, newest, named = _first_version(header)
        yield Clue(line, oldest, newest, f"a header of version 1 that names {named}")
        if "branchedFrom" in header:
            yield Clue(line, "0.12.7", releases.before("0.31.0"), "branchedFrom")
        return
    yield Clue(line, "0.31.0", None, f"a header of version {version}")
    session_id = header.get("id")
    if isinstance(session_id, str) and len(session_id) == 36:
        if is_ordered(session_id):
            yield Clue(line, "0.67.1", None, "a session id by time (UUID 7)", Surety.GOOD)
        elif session_id[14] == "4":
            newest = releases.before("0.67.1")
            yield Clue(line, None, newest, "a random session id (UUID 4)", Surety.HINT)


def is_ordered(session_id: str) -> bool:
    """Say whether a session id is one by time, a UUID of version 7."""
    return len(session_id) == 36 and session_id[14] == "7"


def _first_version(header: dict[str, Any]) -> tuple[str | None, str, str]:
    if isinstance(header.get("model"), str):
        return None, releases.before("0.10.0"), "its model in one text"
    if "modelId" in header:
        return None, releases.before("0.26.0"), "provider and model"
    return "0.26.0", releases.before("0.31.0"), "no model"


def of_version(table: Table) -> Iterator[Clue]:
    """Give what the stored version of a file tells about all that is in it."""
    if table.stored_version < 2:
        yield Clue(table.header_line, None, releases.before("0.31.0"), "a file of version 1")
    elif table.stored_version < 3:
        yield Clue(table.header_line, None, releases.before("0.35.0"), "a file of version 2")

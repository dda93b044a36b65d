"""The keys of each entry type in the order the reference writes them, and what is refused.

Each function gives the object of one entry from a `Place` and its own fields. A field that is
`MISSING` is left out, as JavaScript leaves out `undefined`; None is written as null.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import msgspec

from pi_sessions import _json
from pi_sessions._javascript import trim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MISSING: Any = msgspec.UNSET
"""Stands for a key that is not written."""
SUMMARY_ROLES = ("compactionSummary", "branchSummary")
"""Roles that Pi makes from entries of their own; a message entry must not have them."""
EDITABLE_ROLES = ("user", "assistant", "toolResult")
"""Roles of messages that a context edit may act on."""

_BREAKS = re.compile(r"[\r\n]+")
_SIGNS = bytes(
    {**dict.fromkeys(b"0123456789", 48), **dict.fromkeys(b".eE", 46), 34: 34, 58: 58}.get(byte, 0)
    for byte in range(256)
)
"""Digits become 0, what makes a number no integer a point; quotes and colons stay."""
_LONG = b"0" * 16
_FRAME = b'{"type":"message","id":"%b","parentId":%b,"timestamp":"%b","message":%b}\n'
_INDEX_KEY = b'0":'


class Told(TypedDict, total=False):
    """What may be told of a summary; a key that is not given is not written."""

    details: Any
    """What the maker of the summary wants to remember."""
    usage: Any
    """Tokens spent on it."""
    from_hook: bool
    """Whether an extension made it."""


class Place(msgspec.Struct, gc=False):
    """Where a new entry stands: what every entry has."""

    id: str
    parent: Any
    """Id of its parent, None for a root."""
    timestamp: str

    @property
    def keys(self) -> dict[str, Any]:
        """The three keys in their order."""
        return {"id": self.id, "parentId": self.parent, "timestamp": self.timestamp}


def line_of(entry: dict[str, Any]) -> bytes:
    """Write an entry as `JSON.stringify` does, with a newline.

    Raises:
        TypeError: something in it is no JSON value.
    """
    if entry["type"] != "message":
        return _exactly(_json.encode(entry)) + b"\n"
    data = _json.encode(entry["message"])
    if _is_peculiar(data):
        data = _exactly(data)
    parent = _parent(entry["parentId"])
    return _FRAME % (entry["id"].encode(), parent, entry["timestamp"].encode(), data)


def message_lines(
    place: Place, ids: Sequence[str], messages: Sequence[Mapping[str, Any]]
) -> list[bytes]:
    """Write message entries, each the child of the one before, as `line_of` writes each.

    Args:
        place: of the first.
        ids: of all of them.
        messages: what they say.

    Raises:
        ValueError: as for `message`.
    """
    for value in messages:
        _check_message(value)
    encoded = [_json.encode(value) for value in messages]
    if _is_peculiar(b"\n".join(encoded)):
        encoded = [_exactly(data) for data in encoded]
    timestamp, parent = place.timestamp.encode(), _parent(place.parent)
    lines = []
    for made, data in zip([name.encode() for name in ids], encoded, strict=True):
        lines.append(_FRAME % (made, parent, timestamp, data))
        parent = b'"%b"' % made
    return lines


def _parent(parent: Any) -> bytes:
    if type(parent) is str and parent.isalnum():
        return b'"%b"' % parent.encode()
    return _json.encode(parent)


def _exactly(data: bytes) -> bytes:
    return _json.encode(_json.loads(data))


def _is_peculiar(data: bytes) -> bool:
    """Say whether JavaScript may write some of it in other words than msgspec.

    That is so of fractions, exponents, long integers, and keys that look like integers. They are
    found in text as well, where it costs a second look and no more.
    """
    signs = data.translate(_SIGNS)
    return b"0." in signs or _LONG in signs or _INDEX_KEY in signs


def header(
    session: str, timestamp: str, cwd: str, parent_session: str | None = None
) -> dict[str, Any]:
    """Give the header of a new session."""
    made = {"type": "session", "version": 3, "id": session, "timestamp": timestamp, "cwd": cwd}
    return made if parent_session is None else {**made, "parentSession": parent_session}


def message(place: Place, value: Mapping[str, Any]) -> dict[str, Any]:
    """Give a message entry.

    Raises:
        ValueError: it has no role, or one that only Pi makes.
    """
    _check_message(value)
    return {
        "type": "message",
        "id": place.id,
        "parentId": place.parent,
        "timestamp": place.timestamp,
        "message": value,
    }


def _check_message(value: Mapping[str, Any]) -> None:
    role = value.get("role") if isinstance(value, dict) else None
    if type(role) is not str:
        raise ValueError("a message is an object with a role")
    if role in SUMMARY_ROLES:
        raise ValueError(
            f"a {role} has an entry of its own; use append_compaction or branch_with_summary"
        )


def custom_message(
    place: Place, custom_type: str, content: Any, display: bool, details: Any = MISSING
) -> dict[str, Any]:
    """Give a message of an extension; its own keys come first.

    Raises:
        ValueError: the content is neither text nor a list of blocks.
    """
    if type(content) not in (str, list):
        raise ValueError("the content of a custom message is text or a list of blocks")
    own = {"customType": custom_type, "content": content, "display": display, "details": details}
    return _without_missing({"type": "custom_message", **own, **place.keys})


def custom(place: Place, custom_type: str, data: Any = MISSING) -> dict[str, Any]:
    """Give what an extension remembers; its own keys come first."""
    own = {"type": "custom", "customType": custom_type, "data": data}
    return _without_missing({**own, **place.keys})


def model_change(place: Place, provider: str, model: str) -> dict[str, Any]:
    """Give a choice of model."""
    return _entry("model_change", place, provider=provider, modelId=model)


def thinking_level_change(place: Place, level: str) -> dict[str, Any]:
    """Give a choice of thinking level."""
    return _entry("thinking_level_change", place, thinkingLevel=level)


def usage(
    place: Place, kind: str, provider: str, model: str, spent: Any, note: str = ""
) -> dict[str, Any]:
    """Give tokens that no reply accounts for."""
    own: dict[str, Any] = {"kind": kind, "provider": provider, "model": model, "usage": spent}
    return _entry("usage", place, **own, note=note or MISSING)


def session_name(place: Place, name: str) -> dict[str, Any]:
    """Give a name of the session; line breaks become spaces, blanks at the ends go."""
    return _entry("session_info", place, name=trim(_BREAKS.sub(" ", name)))


def label(place: Place, target: Any, text: str | None) -> dict[str, Any]:
    """Give a label of an entry; None leaves the key out, which clears it, as "" does."""
    return _entry("label", place, targetId=target, label=MISSING if text is None else text)


def compaction(
    place: Place,
    summary: str,
    first_kept: Any,
    tokens_before: float,
    system_message: dict[str, Any] | None,
    **told: Unpack[Told],
) -> dict[str, Any]:
    """Give a compaction with the prompt it was made under.

    Args:
        place: where it stands.
        summary: what stands for the entries before the kept ones.
        first_kept: id of the first entry that is still sent; its own id if none is.
        tokens_before: tokens of the context that it shortens.
        system_message: the prompt in force, as one message; None if there is none.
        told: see `Told`.
    """
    return _entry(
        "compaction",
        place,
        summary=summary,
        firstKeptEntryId=first_kept,
        tokensBefore=tokens_before,
        **_told(told),
        systemMessage=system_message or MISSING,
    )


def branch_summary(
    place: Place,
    from_id: Any,
    summary: str,
    **told: Unpack[Told],
) -> dict[str, Any]:
    """Give the summary of a branch that was left at `from_id`."""
    return _entry("branch_summary", place, fromId=from_id, summary=summary, **_told(told))


def _told(told: Told) -> dict[str, Any]:
    """Give what is told of a summary, in the order of the reference."""
    return {
        "details": told.get("details", MISSING),
        "usage": told.get("usage", MISSING),
        "fromHook": told.get("from_hook", MISSING),
    }


def context_edit(place: Place, target: Any, role: str, replacement: Any) -> dict[str, Any]:
    """Give an edit of what is sent of an earlier entry.

    Args:
        place: where it stands.
        target: id of the entry it acts on.
        role: role of that entry's message, `custom` for a custom message.
        replacement: None omits the target; else `{"content": text or list of blocks}`.

    Raises:
        ValueError: the replacement is neither.
    """
    if replacement is not None:
        content = replacement.get("content") if isinstance(replacement, dict) else None
        if not isinstance(content, str | list):
            raise ValueError(
                "a replacement is None or an object whose content is text or a list of blocks"
            )
        if isinstance(content, str) and role in ("assistant", "toolResult"):
            replacement = {"content": [{"type": "text", "text": content}]}
    return _entry("context_edit", place, targetId=target, replacement=replacement)


def _entry(kind: str, place: Place, /, **own: Any) -> dict[str, Any]:
    return _without_missing({"type": kind, **place.keys, **own})


def _without_missing(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not MISSING}

"""Where in a line of a session text may stand, and where it is structure.

`rewrite` goes through the JSON value of a line and lets a `Change` decide on every text, key and
number that belongs to somebody. Ids, types, roles, times, names of tools and models, and counts are
the structure: they are never offered. What the format does not know is text.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from pi_sessions._json import JSON


class Change(Protocol):
    """What is done to the parts of a line that are not structure."""

    def text(self, text: str) -> str:
        """Give what stands for a text."""

    def key(self, key: str) -> str:
        """Give what stands for a key that the format does not know."""

    def number(self, number: float) -> float:
        """Give what stands for a number in a value that the format does not know."""

    def signature(self, text: str) -> str:
        """Give what stands for a provider's sealed text."""

    def kept(self, text: str) -> None:
        """Take note of a text that is structure."""

    def picture(self, block: dict[str, Any]) -> dict[str, Any]:
        """Give what stands for a picture, whose bytes are offered to nothing else."""


class Place(msgspec.Struct, frozen=True):
    """A kind of place in a line: what stands under each key that is known there."""

    name: str
    known: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of the place under a key."""
    other: str = "free"
    """Name of the place under all other keys, whose names are text."""
    keeps_keys: bool = False
    """Whether the other keys are structure as well."""
    items: str = "free"
    """Name of the place of each item of a list."""


def _keys(names: str, place: str = "kept") -> dict[str, str]:
    return dict.fromkeys(names.split(), place)


_SHARED = _keys("timestamp provider model api thinkingLevel customType display tokensBefore fromId")
_SYSTEM = {"content": "content", "sections": "sections", "toolsAdded": "tools"}
_SYSTEM |= {"toolsRemoved": "tools", "usage": "usage"}
PLACES = {
    place.name: place
    for place in (
        Place(
            "entry",
            _SHARED
            | _SYSTEM
            | _keys(
                "type id parentId targetId firstKeptEntryId firstKeptEntryIndex version modelId"
            )
            | _keys("kind fromHook")
            | _keys("cwd parentSession branchedFrom summary name label note data details", "free")
            | _keys("message systemMessage", "message")
            | {"replacement": "replacement"},
        ),
        Place(
            "message",
            _SHARED
            | _SYSTEM
            | _keys("role toolCallId toolName stopReason responseId responseModel isError")
            | _keys("rawStopReason providerThinkingLevel excludeFromContext exitCode cancelled")
            | _keys("truncated durationMs")
            | _keys("command output fullOutputPath summary errorMessage details", "free"),
        ),
        Place("replacement", {"content": "content"}),
        Place("content", items="block"),
        Place(
            "block",
            _keys("type id name mimeType redacted")
            | _keys("textSignature thinkingSignature thoughtSignature", "signature")
            | _keys("text thinking arguments data", "free"),
        ),
        Place("sections", other="free", keeps_keys=True),
        Place("tools", items="tool"),
        Place("tool", _keys("name") | _keys("description parameters", "free")),
        Place("usage", other="usage", keeps_keys=True, items="usage"),
        Place("picture", _keys("type id name mimeType data")),
        Place(
            "sealed",
            _keys("type id v phase status format index"),
            other="sealed",
            keeps_keys=True,
            items="sealed",
        ),
        Place("kept"),
        Place("signature"),
        Place("free"),
    )
}
"""The places by name. What a list or object holds where the format has none is text."""


def rewrite(value: JSON, change: Change, place: str = "entry") -> JSON:
    """Give a JSON value with every text that is not structure as `change` has it.

    Args:
        value: the value of a line; it is not changed.
        change: what to do.
        place: name of the place the value stands at: `entry` for a line that holds an object.
    """
    holder: list[JSON] = [None]
    todo: list[tuple[Any, Any, JSON, str]] = [(holder, 0, value, place)]
    while todo:
        target, key, item, name = todo.pop()
        if isinstance(item, dict):
            target[key] = {}
            todo += _object(target[key], item, name, change)
        elif isinstance(item, list):
            target[key] = [None] * len(item)
            inner = PLACES[name].items
            todo += [(target[key], n, child, inner) for n, child in enumerate(item)]
        else:
            target[key] = _scalar(item, name, change)
    return holder[0]


def _object(
    target: dict[str, Any], item: dict[str, Any], name: str, change: Change
) -> list[tuple[Any, Any, JSON, str]]:
    """Lay out the keys of an object in their order, and say what is to be done for each."""
    if name == "block" and item.get("type") == "image":
        item, name = change.picture(item), "picture"
    place = PLACES[name]
    todo = []
    for key, child in item.items():
        inner = place.known.get(key)
        told = key
        if inner is None:
            inner = place.other
            told = key if place.keeps_keys else change.key(key)
            while told in target:
                told += "_"
        target[told] = None
        todo.append((target, told, child, inner))
    return todo


def _scalar(item: JSON, name: str, change: Change) -> JSON:
    if isinstance(item, str):
        if name in ("kept", "picture"):
            change.kept(item)
            return item
        return change.signature(item) if name == "signature" else change.text(item)
    if isinstance(item, bool) or item is None or name != "free":
        return item
    return change.number(item)

"""Keeping the structure alone: every text becomes as many `x`, every unknown key a number."""

from __future__ import annotations

import re
from typing import Any

from pi_sessions._javascript import trim
from pi_sessions._json import JSONError, dumps, loads
from pi_sessions.context.replay import TOOL_IMAGE, USER_IMAGE
from pi_sessions.redact.pictures import without_picture
from pi_sessions.redact.places import rewrite

OWN = frozenset({USER_IMAGE, TOOL_IMAGE})
"""Texts of Pi itself that decide what is sent."""
_KEPT = "\n\ud800-\udfff"
_FAR = re.compile("[\U00010000-\U0010ffff]")
_SIGNS = re.compile(f"[^{_KEPT}]+")
_NAME = re.compile(r"(?:(?:reasoning|thinking)\w{0,16}|(?:msg|rs|fc)_[\w-]{1,64})\Z", re.ASCII)
"""A signature that is an id, or names the field that thinking came in."""


class StructureOnly:
    """The change that leaves ids, types, times, sizes and costs, and nothing that was said.

    The length of a text in UTF-16 units stays, and so do its line ends, so that estimates of tokens
    and pictures of a session are what they were. Blank texts and lone surrogates stay, too: they
    decide what is sent.
    """

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        """Number of each key, the same in the whole file."""

    def text(self, text: str) -> str:
        """Give as many `x`."""
        if text in OWN or not trim(text):
            return text
        if not text.isascii():
            text = _FAR.sub("xx", text)
        return _SIGNS.sub(lambda match: "x" * len(match[0]), text)

    def key(self, key: str) -> str:
        """Give a number with a letter, in order of appearance."""
        return self.keys.setdefault(key, f"k{len(self.keys) + 1}")

    def number(self, number: float) -> float:
        """Give nought, with nought staying what it is."""
        return number and 1

    def signature(self, text: str) -> str:
        """Give a signature of the same make: names stay, and of one that is JSON its keys."""
        if _NAME.match(text):
            return text
        try:
            value = loads(text.encode("utf-8", "surrogatepass"))
        except JSONError:
            return self.text(text)
        return dumps(rewrite(value, self, "sealed"))

    def kept(self, text: str) -> None:
        """Take no note."""

    def picture(self, block: dict[str, Any]) -> dict[str, Any]:
        """Give a picture of one pixel."""
        return without_picture(block)

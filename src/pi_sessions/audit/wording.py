"""Comparing words: verbatim but for white space, quotes and dashes, or how near.

A text is compared in several forms: as it stands, without its tags where it is HTML, and with its
escapes undone where it is JSON.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

import msgspec

NEAR = 0.6
"""Likeness, from 0 to 1, from which on a passage is told as near."""
_PAIRS = 60
"""Pairs of words of a quotation by which the place of a near passage is looked for."""
_PLACES = 20
"""Places of one pair that are looked at."""
_SINGLE = dict.fromkeys(map(ord, "‘’‚‛′`´"), "'")
_DOUBLE = dict.fromkeys(map(ord, "“”„‟″«»「」『』＂"), '"')
_DASH = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_GONE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff*_"), None)
_LOOK = {**_SINGLE, **_DOUBLE, **_DASH, **_GONE}
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,4000}>")
_ASIDES = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_ESCAPE = re.compile(r"\\([nrt\"/\\])")
_GAP = re.compile(
    r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\(\s*(?:\.\.\.|…)\s*\)|\.\.\.+|…|\[[^\]]{0,40}\])\s*"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+(?:['.-][^\W_]+)*")
_ENDS = " \t\n.,;:!?\"'"


def normal(text: str) -> str:
    """Make quotes, dashes and white space one; marks of emphasis and soft hyphens go."""
    text = unicodedata.normalize("NFC", text).translate(_LOOK)
    return " ".join(text.replace('"', "'").replace("--", "-").replace("--", "-").split())


def word_count(text: str) -> int:
    """Count words; of scripts without spaces two signs are taken for one."""
    signs = len(_CJK.findall(text))
    return (signs + 1) // 2 + len(_CJK.sub(" ", text).split())


def pieces(quotation: str) -> list[str]:
    """Take a quotation apart where it leaves something out or puts something in, in brackets."""
    parts = [part.strip(_ENDS) for part in _GAP.split(normal(quotation))]
    return [part for part in parts if part]


class Near(msgspec.Struct, frozen=True):
    """The passage that is most like a quotation."""

    likeness: float
    words: str
    difference: tuple[tuple[str, str], ...]


class Wording(msgspec.Struct, frozen=True, dict=True):
    """A text, ready to be searched."""

    text: str

    @cached_property
    def forms(self) -> list[str]:
        """Its forms, each normal."""
        found = [normal(self.text)]
        if "<" in self.text and _TAG.search(self.text):
            bare = _without_asides(self.text)
            found.append(normal(html.unescape(_TAG.sub(" ", bare))))
            found.append(normal(html.unescape(_TAG.sub("", bare))))
        if "](" in self.text:
            found.append(normal(_LINK.sub(r"\1", self.text)))
        if "\\n" in self.text or '\\"' in self.text:
            undone = {"n": "\n", "r": "\n", "t": "\t"}
            found.append(normal(_ESCAPE.sub(lambda m: undone.get(m[1], m[1]), self.text)))
        if "\n" in self.text and re.search(r"^[ \t]*[>#*|-]", self.text, re.MULTILINE):
            found.append(normal(re.sub(r"^[ \t]*(?:>[ \t]?)+", "", self.text, flags=re.MULTILINE)))
        return found

    @cached_property
    def folded(self) -> list[str]:
        """Its forms without capitals."""
        return [form.casefold() for form in self.forms]

    def holds(self, parts: list[str], *, capitals: bool = True) -> bool:
        """Say whether the pieces of a quotation stand in it, in their order."""
        if not capitals:
            parts = [part.casefold() for part in parts]
        return any(_in_order(form, parts) for form in (self.forms if capitals else self.folded))

    def near(self, quotation: str) -> Near | None:
        """Find the passage most like a quotation, None where none is near."""
        asked = normal(quotation)
        best: tuple[float, str] = (0.0, "")
        for form, folded in zip(self.forms, self.folded, strict=True):
            text = form if len(form) == len(folded) else folded
            for start, stop in _regions(folded, asked.casefold()):
                best = max(best, _likest(asked, text[start:stop]))
        likeness, words = best
        if likeness < NEAR:
            return None
        return Near(likeness, words, difference(asked.strip(_ENDS), words))


def _regions(text: str, asked: str) -> list[tuple[int, int]]:
    """Give the parts of a text that have most in common with what is asked, both without capitals.

    Its pairs of neighbouring words (of scripts without spaces: runs of signs) are looked for; each
    place votes for where the whole would begin.
    """
    words = asked.split(" ")
    pairs = [f"{a} {b}" for a, b in pairwise(words) if len(a) + len(b) > 4]
    if len(words) < 4:
        pairs = [asked[n : n + 4] for n in range(0, len(asked) - 3, 2)]
    votes: Counter[int] = Counter()
    found = 0
    step = max(40, len(asked) // 2)
    for pair in dict.fromkeys(pairs[:_PAIRS]):
        place, count, shift = text.find(pair), 0, asked.find(pair)
        found += place >= 0
        while place >= 0 and count < _PLACES:
            votes[(place - shift) // step] += 1
            place, count = text.find(pair, place + 1), count + 1
    if found < min(2, len(pairs)):
        return []
    slack = step + 60
    return [
        (max(0, bucket * step - slack), (bucket + 1) * step + len(asked) + slack)
        for bucket, _ in votes.most_common(3)
    ]


def _likest(asked: str, text: str) -> tuple[float, str]:
    """Give the likeness of a passage in a text, and the passage."""
    wanted = [match[0].casefold() for match in _WORD.finditer(asked)]
    spans = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:stop].casefold() for start, stop in spans]
    matcher = SequenceMatcher(None, wanted, words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return 0.0, ""
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    likeness = 2 * sum(block.size for block in blocks) / (len(wanted) + last - first)
    return likeness, text[spans[first][0] : spans[last - 1][1]]


def _without_asides(text: str) -> str:
    """Take comments, scripts and styles out of HTML."""
    for start, stop in _ASIDES:
        parts: list[str] = []
        place, low = 0, text.lower()
        while (begin := low.find(start, place)) >= 0 and (end := low.find(stop, begin)) >= 0:
            parts.append(text[place:begin])
            place = end + len(stop)
        text = " ".join([*parts, text[place:]])
    return text


def _in_order(form: str, parts: list[str]) -> bool:
    place = 0
    for part in parts:
        place = form.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def difference(left: str, right: str) -> tuple[tuple[str, str], ...]:
    """Tell two texts apart by words: `=` in both, `-` only in the left, `+` only in the right."""
    a, b = left.split(" "), right.split(" ")
    found: list[tuple[str, str]] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(("=", " ".join(a[a1:a2])))
            continue
        if a2 > a1:
            found.append(("-", " ".join(a[a1:a2])))
        if b2 > b1:
            found.append(("+", " ".join(b[b1:b2])))
    return tuple(found)

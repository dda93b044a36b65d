"""Comparing words: verbatim but for white space, quotes and dashes, or how near.

A text is compared in several forms: as it stands, without its tags where it is HTML, and with its
escapes undone where it is JSON.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import cached_property

import msgspec

NEAR = 0.6
"""Likeness, from 0 to 1, from which on a passage is told as near."""
_RARE = 10
"""Words of a quotation by which the place of a near passage is looked for."""
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

    @cached_property
    def _words(self) -> tuple[list[str], list[tuple[int, int]], dict[str, list[int]]]:
        form = self.forms[1] if len(self.forms) > 1 and "<" in self.text else self.forms[0]
        words: list[str] = []
        spans: list[tuple[int, int]] = []
        places: dict[str, list[int]] = defaultdict(list)
        for match in _WORD.finditer(form):
            word = match[0].casefold()
            places[word].append(len(words))
            words.append(word)
            spans.append(match.span())
        return words, spans, places

    def near(self, quotation: str) -> Near | None:
        """Find the passage most like a quotation, None where none is near."""
        asked = [match[0].casefold() for match in _WORD.finditer(normal(quotation))]
        words, spans, places = self._words
        votes: Counter[int] = Counter()
        rare = sorted(
            (n for n, w in enumerate(asked) if w in places), key=lambda n: len(places[asked[n]])
        )
        for n in rare[:_RARE]:
            for place in places[asked[n]][:200]:
                votes[place - n] += 1
        best: tuple[float, int, int] = (0.0, 0, 0)
        slack = max(2, len(asked) // 4)
        for start, _ in votes.most_common(4):
            low, high = max(0, start - slack), min(len(words), start + len(asked) + slack)
            matcher = SequenceMatcher(None, asked, words[low:high], autojunk=False)
            blocks = [b for b in matcher.get_matching_blocks() if b.size]
            if not blocks:
                continue
            first, last = low + blocks[0].b, low + blocks[-1].b + blocks[-1].size
            same = sum(block.size for block in blocks)
            likeness = 2 * same / (len(asked) + last - first)
            best = max(best, (likeness, first, last))
        likeness, first, last = best
        if likeness < NEAR:
            return None
        form = self.forms[1] if len(self.forms) > 1 and "<" in self.text else self.forms[0]
        seen = form[spans[first][0] : spans[last - 1][1]]
        return Near(likeness, seen, difference(normal(quotation).strip(_ENDS), seen))


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

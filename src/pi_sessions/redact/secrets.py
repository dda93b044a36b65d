"""The secrets of one session: collected once, then replaced wherever and however they stand."""

from __future__ import annotations

import base64
import html
import json
import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import msgspec

from pi_sessions._json import dumps
from pi_sessions.redact.detectors import MARK, PART, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STRONG = 6
"""Characters from which on a secret is replaced in the whole session."""
_WORD = re.compile(r"[a-z]{1,15}\Z")
_ENCODED = 8
"""Characters from which on base64 of a secret is looked for."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBERED = re.compile(re.escape(MARK) + r"[a-z0-9-]*?-(\d+)")


class Secret(msgspec.Struct):
    """One secret that was found. What it is stays here; reports tell its kind and its lines."""

    kind: str
    """What sort of secret: `aws-access-key`, `private-key`, …"""
    number: int
    """Its number in the placeholders."""
    value: str
    lines: list[int]
    """Lines in which a detector found it, in order."""
    parts: list[str] = msgspec.field(default_factory=list)
    """Parts of it that are as secret as the whole: the lines of a private key."""
    replaced: dict[int, int] = msgspec.field(default_factory=dict)
    """How often it was replaced, by line; filled while the session is rewritten."""
    left: dict[int, int] = msgspec.field(default_factory=dict)
    """How often it stands in ids, types and the like, where nothing is replaced, by line."""

    @property
    def is_weak(self) -> bool:
        """Whether it might as well be a word: then it is replaced only in the lines it is in."""
        return len(self.value) < STRONG or _WORD.match(self.value) is not None

    def placeholder(self, form: str = "") -> str:
        """Give what stands in its place, for the form it was met in."""
        return f"{MARK}{self.kind}-{self.number}{form and ':'}{form}]"


class Collection:
    """Secrets as they are found, each once, numbered in order of appearance."""

    def __init__(self) -> None:
        self.by_value: dict[str, Secret] = {}
        self.highest = 0
        """Highest number in placeholders that were there before."""
        self._seen: set[int] = set()
        self._line = 0
        self._here: set[int] = set()

    def look(self, line: int, text: str) -> None:
        """Look for secrets in a text of a line."""
        if MARK in text:
            numbers = map(int, _NUMBERED.findall(text))
            self.highest = max(self.highest, *numbers, 0)
        key = hash(text)
        if key in self._seen and len(text) > _ONCE:
            return
        self._seen.add(key)
        secret = None
        for kind, value in find(text):
            if kind == PART and secret is not None:
                if value not in secret.parts:
                    secret.parts.append(value)
                continue
            secret = self.by_value.get(value)
            if secret is None:
                number = len(self.by_value) + 1
                secret = self.by_value[value] = Secret(kind, number, value, [])
            if line not in secret.lines[-1:]:
                secret.lines.append(line)

    def finish(self) -> tuple[Secret, ...]:
        """Give the secrets; their numbers follow those that are in use."""
        for secret in self.by_value.values():
            secret.number += self.highest
        return tuple(self.by_value.values())


_ONCE = 200
"""Characters from which on a text that was looked at before is not looked at again."""


def forms(value: str) -> Iterator[tuple[str, str]]:
    """Give the forms in which a secret may stand, each with its name; "" is the plain one."""
    plain = [value]
    with suppress(ValueError):
        # It may have been found in a text that was JSON itself, or part of a URL.
        plain += [json.loads(f'"{value}"', strict=False), unquote(value)]
    for text in dict.fromkeys(text for text in plain if isinstance(text, str) and text):
        yield text, "" if text == value else "decoded"
        escaped = dumps(text)[1:-1]
        yield escaped, "json"
        yield dumps(escaped)[1:-1], "json"
        yield html.escape(text), "html"
        with suppress(UnicodeEncodeError):
            yield quote(text, safe=""), "url"
            yield from ((part, "base64") for part in _in_base64(text.encode()))


def _in_base64(data: bytes) -> Iterator[str]:
    """Give what base64 of a longer text has of `data`, for each of the three ways to begin."""
    if len(data) < _ENCODED:
        return
    for shift, skipped in enumerate((0, 2, 3)):
        whole = (shift + len(data)) * 4 // 3
        part = base64.b64encode(b"\0" * shift + data)[skipped:whole]
        yield part.decode()
        yield part.translate(bytes.maketrans(b"+/", b"-_")).decode()


class Replacement:
    """Replaces secrets in texts: all at once, the longest first."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self._places: dict[str, tuple[Secret, str]] = {}
        self._weak: dict[int, list[Secret]] = defaultdict(list)
        for secret in secrets:
            if secret.is_weak:
                for line in secret.lines:
                    self._weak[line].append(secret)
                continue
            told = [*forms(secret.value)]
            told += [(text, "part") for part in secret.parts for text, _ in forms(part)]
            for text, form in told:
                if len(text) >= STRONG:
                    self._places.setdefault(text, (secret, form))
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for text in sorted(self._places, key=len, reverse=True):
            self._by_start[text[:_START]].append(text)
        self._starts = _any_of(self._by_start) if self._by_start else None

    def replaced(self, line: int, text: str) -> str:
        """Give a text of a line without the secrets, and count them."""
        if self._starts is not None and self._starts.search(text):
            text = self._without_strong(line, text)
        for secret in self._weak.get(line, ()):
            if secret.value in text:
                text = self._without_weak(line, text, secret)
        return text

    def note(self, line: int, text: str) -> None:
        """Count the secrets in a text that stays."""
        if self._starts is not None:
            for value in self._found(text):
                left = self._places[value[1]][0].left
                left[line] = left.get(line, 0) + 1

    def _found(self, text: str) -> Iterator[tuple[int, str]]:
        """Give where in a text which form of a secret stands, from left to right."""
        assert self._starts is not None, "there are secrets"
        place = 0
        while match := self._starts.search(text, place):
            place = match.start()
            found = next((v for v in self._by_start[match[0]] if text.startswith(v, place)), None)
            if found is None:
                place += 1
            else:
                yield place, found
                place += len(found)

    def _without_strong(self, line: int, text: str) -> str:
        parts, done = [], 0
        for place, value in self._found(text):
            secret, form = self._places[value]
            _count(secret, line)
            parts += [text[done:place], secret.placeholder(form), _surrogates(value)]
            done = place + len(value)
        return "".join([*parts, text[done:]])

    def _without_weak(self, line: int, text: str, secret: Secret) -> str:
        pattern = rf"(?<!\w){re.escape(secret.value)}(?!\w)"
        told, count = re.subn(pattern, lambda _: secret.placeholder(), text)
        if count:
            _count(secret, line, count)
        return told


def _count(secret: Secret, line: int, times: int = 1) -> None:
    secret.replaced[line] = secret.replaced.get(line, 0) + times


def _surrogates(value: str) -> str:
    # Lone ones decide whether a message counts as trimmed; they tell nothing.
    return "".join(_SURROGATE.findall(value))


_START = 4
"""Characters by which the secrets are told apart before they are compared."""


def _any_of(starts: Iterable[str]) -> re.Pattern[str]:
    """Make a pattern for the beginnings of secrets that branches at each character.

    An alternative of hundreds of texts would be tried one by one at every place.
    """
    tree: dict[str, dict[str, dict[str, list[str]]]] = {}
    for start in sorted(starts):
        inner = tree.setdefault(start[0], {}).setdefault(start[1], {})
        inner.setdefault(start[2], []).append(start[3])
    e = re.escape
    return re.compile(
        "|".join(
            f"{e(a)}(?:"
            + "|".join(
                f"{e(b)}(?:"
                + "|".join(f"{e(c)}[{''.join(map(e, ds))}]" for c, ds in cs.items())
                + ")"
                for b, cs in bs.items()
            )
            + ")"
            for a, bs in tree.items()
        )
    )

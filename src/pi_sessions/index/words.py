"""Words of files, and what a query asks of them.

A word is a stretch of letters, digits and bytes beyond ASCII, capitals made small. Whoever looks
for a text looks for its stretches *inside* of words: a line without such words cannot hold the
text. Lines that have them still have to be read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_sessions.finding import without_sealed

if TYPE_CHECKING:
    from pi_sessions.finding import Query

ALL = "0all0"
"""A word that is put to every text."""
ODD = "0odd0"
"""A word that is put to a text that may hold any word: it has letters of many forms."""
LONGEST = 64
"""Bytes of a word; longer ones are kept as pieces that overlap by half."""
_HALF = LONGEST // 2
SMALL = bytes(
    byte + 32
    if 0x41 <= byte <= 0x5A
    else byte
    if 0x30 <= byte <= 0x39 or 0x61 <= byte <= 0x7A or byte == 0x5F or byte >= 0x80
    else 0x20
    for byte in range(256)
)
"""Makes capitals small and all that stands between words blanks."""
HAS_LONG = re.compile(rb"[0-9A-Za-z_\x80-\xff]{%d}" % (LONGEST + 1)).search
"""Finds a word that has to be kept in pieces."""
_LOOKALIKES = tuple("\u0130 \u0131 \u017f \u212a".encode().split())
"""Letters that are capitals of ASCII ones, or have them as capitals (`needle`)."""
_ESCAPED = re.compile(rb"(?<![a-z0-9_\x80-\xff])u(?!00[01])[0-9a-f]{4}")
"""A word, as `words_of` makes it, with which an escape of such a letter begins."""
_ENVELOPE = re.compile(
    rb'\{"type":"\w+","id":"\w+","parentId":(?:"\w+"|null),"timestamp":"[\w:.+-]*"'
)
"""How writers begin a line; none of these values is ever looked into."""
_STAMP = re.compile(rb',"timestamp":\d+\}\}\r?\n\Z')
"""How they end it: the time of a message is a number, and not looked into either."""
_STAMP_LENGTH = 48


def words_of(data: bytes) -> set[bytes]:
    """Give the words of some bytes."""
    words = set(data.translate(SMALL).split())
    if max(map(len, words), default=0) <= LONGEST:
        return words
    for word in [word for word in words if len(word) > LONGEST]:
        words.remove(word)
        words.update(word[at : at + LONGEST] for at in range(0, len(word) - _HALF, _HALF))
    return words


def are_odd(words: bytes) -> bool:
    """Say whether the words of lines tell of letters in a form in which they are not seen.

    Args:
        words: all of them, with blanks between.
    """
    return has_lookalikes(words) or _ESCAPED.search(words) is not None


def has_lookalikes(data: bytes) -> bool:
    """Say whether some text has letters that are capitals of others, in an unusual form."""
    return not data.isascii() and any(letter in data for letter in _LOOKALIKES)


def body(line: bytes) -> bytes:
    """Give a line of a session in which nothing is odd, without the ids and times around it."""
    begin = _ENVELOPE.match(line)
    end = _STAMP.search(line, max(len(line) - _STAMP_LENGTH, 0))
    return line[begin.end() if begin else 0 : end.start() if end else len(line)]


def joined(lines: list[bytes]) -> bytes:
    """Join lines, without what is never looked into."""
    return without_sealed(b"\n".join(lines))


def spelled(words: set[bytes]) -> str:
    """Write words as one text, which the tables take."""
    return b" ".join(words).decode("utf-8", "replace")


def pieces_of(query: Query) -> list[bytes]:
    """Give stretches that each stand in one word of a text that is found; none: all may be."""
    text = _literals(query.text) if query.is_regex else query.text
    kept = "".join(char if _is_plain(char, query.is_exact) else " " for char in text)
    found = dict.fromkeys(piece.encode().translate(SMALL) for piece in kept.split())
    return [_short(piece) for piece in found]


def _is_plain(char: str, is_exact: bool) -> bool:
    """Say whether a character, where it is found, stands in a word as itself or as its capital."""
    if char.isascii():
        return char.isalnum() or char == "_"
    if "\ud800" <= char <= "\udfff" or "\ufffd" <= char <= "\uffff" or char < "\xa0":
        return False
    return not char.isspace() and (is_exact or char.lower() == char == char.upper())


def _short(piece: bytes) -> bytes:
    """Cut a stretch to what lies within one of the pieces of a long word."""
    return piece[:_HALF].decode("utf-8", "ignore").encode()


_PART = re.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)((?:[*+?]|\{\d*,?\d*\})[?+]?)?", re.DOTALL)


def _literals(expression: str) -> str:
    """Give what a regular expression must find as it stands, blanks between; "" if unsure."""
    kept = []
    for atom, repeat in _PART.findall(expression):
        is_escape = len(atom) == 2 and atom[0] == "\\"
        if atom in ("|", "(", ")") or (
            is_escape and atom[1].isalnum() and atom[1] not in "bBdDsSwWAZ"
        ):
            return ""
        if repeat or (len(atom) == 1 and atom in ".^$"):
            kept.append(" ")
        elif is_escape and not atom[1].isalnum():
            kept.append(atom[1])
        else:
            kept.append(atom if len(atom) == 1 else " ")
    return "".join(kept)

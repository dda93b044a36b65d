"""JSON as JavaScript reads and writes it.

`loads` accepts what `JSON.parse` accepts of the text that `TextDecoder` makes of the bytes, and
gives plain Python values: objects are dicts in JavaScript's key order (integer keys first), numbers
stay int or float and are taken as doubles when written. `dumps` writes what `JSON.stringify` would.
Three parsers in turn: msgspec (what it accepts is valid), the standard library (lone surrogates,
replaced bytes), and a loop of our own for nesting beyond the other two.
"""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from pi_sessions._javascript import is_array_index, number_text, pair_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

JSON = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

DEPTH = 1_000
"""Nesting beyond this is read here and by the reference, but by few other programs."""


class JSONError(ValueError):
    """The text is not JSON; `position` counts bytes from its start."""

    def __init__(self, why: str, position: int) -> None:
        self.why = why
        self.position = position
        super().__init__(f"{why} at byte {position}")


class TooDeepError(JSONError):
    """The text nests so deep, or is so long where it nests deep, that it is not read."""


DEEPEST = 250_000
"""Levels beyond which a text is not read."""
LONGEST_DEEP = 4 << 20
"""Bytes beyond which a text that nests deeper than the C parsers go is not read."""


class _Odd(float):
    """A number that others print in another way than JavaScript; `encode` knows it by type."""


def _float(digits: str) -> int | float:
    """Read a number with a fraction or an exponent, as an int where JavaScript prints one."""
    value = float(digits)
    size = abs(value)
    if size < _SAFE and value.is_integer():
        return int(value)
    return value if _PLAIN <= size < _SAFE else _Odd(value)


_SAFE = 2**53
_PLAIN = 1e-5
_decode = msgspec.json.Decoder(float_hook=_float).decode
_encode = msgspec.json.Encoder().encode
_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else 0 for byte in range(256))
_SIXTEEN = b"0" * 16
_LONG_INTEGER = re.compile(rb"[\[:,\s]-?[0-9]{16,}")
_INDEX_KEY = re.compile(rb'"[0-9]{1,10}"\s*:')
_SURROGATE = re.compile("[\ud800-\udfff]")


def loads(data: bytes) -> JSON:
    """Parse one JSON text.

    Raises:
        JSONError: `JSON.parse` would refuse the text.
    """
    try:
        value = _decode(data)
    except (msgspec.MsgspecError, RecursionError):
        value = _loads_exactly(data)
    if _INDEX_KEY.search(data):
        value = _order_keys(value)
    return _as_doubles(value) if _has_long_integer(data) else value


def _has_long_integer(data: bytes) -> bool:
    # Sixteen digits in a row are rare and found fast; only then it matters where they stand.
    return _SIXTEEN in data.translate(_DIGITS) and _LONG_INTEGER.search(data) is not None


def _loads_exactly(data: bytes) -> JSON:
    text = data.decode("utf-8", "replace")
    try:
        return _stdlib.decode(text)
    except json.JSONDecodeError as error:
        raise JSONError(error.msg, _byte_position(data, text, error.pos)) from None
    except _RefusedConstantError as error:
        raise JSONError(f"{error} is not JSON", _byte_position(data, text, 0)) from None
    except RecursionError:
        if len(data) > LONGEST_DEEP:
            raise TooDeepError("too long for a value that nests so deep", 0) from None
        return _Deep(data, text).parse()


class _RefusedConstantError(ValueError):
    """NaN or Infinity, which Python's parser would take."""


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedConstantError(name)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 16 else _double(float(digits))


def _double(value: float) -> int | float:
    return int(value) if abs(value) < _SAFE else _Odd(value)


_stdlib = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer, parse_float=_float)


def _byte_position(data: bytes, text: str, index: int) -> int:
    """Give the byte at which character `index` of the decoded text begins, as well as can be."""
    return min(len(text[:index].encode("utf-8", "surrogatepass")), len(data))


_TOKEN = re.compile(
    r"[ \t\n\r]*(?:(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)|(?P<quote>\")"
    r"|(?P<word>true|false|null)|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?))",
    re.ASCII,
)
_scan_string = json.decoder.scanstring  # type: ignore[attr-defined]
_WORDS = {"true": True, "false": False, "null": None}


class _Deep:
    """A parser without recursion; slow, and only for nesting the C parsers give up on."""

    def __init__(self, data: bytes, text: str) -> None:
        self.data = data
        self.text = text
        self.position = 0
        self.root: list[JSON] = []
        self.stack: list[Any] = [self.root]
        self.keys: list[str] = []
        self.state = "value"
        """What may come next: value, value-or-close, key, key-or-close, colon, comma-or-close."""

    def parse(self) -> JSON:
        while len(self.stack) > 1 or not self.root:
            match = _TOKEN.match(self.text, self.position)
            if match is None or match.lastgroup is None:
                at_end = self.position >= len(self.text)
                self.fail("unexpected end" if at_end else "unexpected character")
            self.take(match.lastgroup, match[match.lastgroup], match.end())
        if self.text[self.position :].strip(" \t\n\r"):
            self.fail("trailing characters")
        return self.root[0]

    def fail(self, why: str) -> NoReturn:
        raise JSONError(why, _byte_position(self.data, self.text, self.position))

    def take(self, kind: str, sign: str, end: int) -> None:
        """Take one token that ends at `end`."""
        wants_value = self.state in ("value", "value-or-close")
        if kind == "quote":
            self.take_string(end, wants_value=wants_value)
            return
        if kind in ("word", "number") and wants_value:
            self.put(_WORDS[sign] if kind == "word" else _number(sign))
        elif kind == "open" and wants_value:
            self.open({} if sign == "{" else [])
        elif kind == "close" and len(self.stack) > 1 and self.closes(sign):
            self.stack.pop()
            self.keys.pop()
            self.state = "comma-or-close"
        elif kind == "comma" and self.state == "comma-or-close" and len(self.stack) > 1:
            self.state = "key" if isinstance(self.stack[-1], dict) else "value"
        elif kind == "colon" and self.state == "colon":
            self.state = "value"
        else:
            self.fail("unexpected character")
        self.position = end

    def take_string(self, start: int, *, wants_value: bool) -> None:
        try:
            string, end = _scan_string(self.text, start, True)
        except json.JSONDecodeError as error:
            self.position = error.pos
            self.fail(error.msg)
        if self.state in ("key", "key-or-close"):
            self.keys[-1], self.state = string, "colon"
        elif wants_value:
            self.put(string)
        else:
            self.fail("unexpected string")
        self.position = end

    def put(self, value: JSON) -> None:
        if isinstance(self.stack[-1], dict):
            self.stack[-1][self.keys[-1]] = value
        else:
            self.stack[-1].append(value)
        self.state = "comma-or-close"

    def open(self, container: JSON) -> None:
        if len(self.stack) > DEEPEST:
            why = f"nested deeper than {DEEPEST} levels"
            raise TooDeepError(why, _byte_position(self.data, self.text, self.position))
        self.put(container)
        self.stack.append(container)
        self.keys.append("")
        self.state = "key-or-close" if isinstance(container, dict) else "value-or-close"

    def closes(self, sign: str) -> bool:
        is_object = isinstance(self.stack[-1], dict)
        first = "key-or-close" if is_object else "value-or-close"
        return is_object == (sign == "}") and self.state in ("comma-or-close", first)


def _number(token: str) -> int | float:
    return _float(token) if any(char in token for char in ".eE") else _integer(token)


def _order_keys(value: JSON) -> JSON:
    """Put integer-like keys first, ascending, in every object, as JavaScript objects hold them."""
    holder = [value]
    todo: list[Any] = [holder]
    while todo:
        container = todo.pop()
        if isinstance(container, dict):
            ordered = {key: container[key] for key in object_order(container)}
            container.clear()
            container.update(ordered)
            todo.extend(container.values())
        elif isinstance(container, list):
            todo.extend(container)
    return holder[0]


def object_order(keys: Iterable[str]) -> list[str]:
    """Put keys in the order of a JavaScript object: integer-like ones first, ascending."""
    keys = list(keys)
    indices = sorted((key for key in keys if is_array_index(key)), key=int)
    return indices + [key for key in keys if not is_array_index(key)] if indices else keys


def _as_doubles(value: JSON) -> JSON:
    """Round integers beyond 2^53 to the doubles they are in JavaScript, in place."""
    holder = [value]
    todo: list[Any] = [holder]
    while todo:
        container = todo.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in list(pairs):
            if isinstance(item, dict | list):
                todo.append(item)
            elif type(item) is int and not -_SAFE < item < _SAFE:
                container[key] = _double(float(item) if abs(item) < 1 << 1023 else math.inf)
    return holder[0]


def depth(value: JSON) -> int:
    """Count the levels of nesting of a value (a scalar has none)."""
    level, layer = 0, [value]
    while layer := [item for item in layer if isinstance(item, dict | list)]:
        level += 1
        layer = [
            child for item in layer for child in (item.values() if isinstance(item, dict) else item)
        ]
    return level


def dumps(value: JSON) -> str:
    """Write a value as `JSON.stringify` does: no spaces, lone surrogates as escapes.

    The text holds no surrogates and can be encoded as UTF-8. Works at any depth.
    """
    out: list[str] = []
    try:
        _write(value, out.append)
    except RecursionError:
        return _dumps_deep(value)
    return "".join(out)


def encode(value: JSON) -> bytes:
    """Write a value made of what `loads` gave, ints and texts; as `dumps`, but faster."""
    return _encode_within(value, 3)


def _encode_within(value: JSON, levels: int) -> bytes:
    """Encode a value; where one part of it needs the slow way, only that part goes it."""
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        if levels and isinstance(value, list | tuple):
            return b"[" + b",".join(_encode_within(item, levels - 1) for item in value) + b"]"
        if levels and isinstance(value, dict):
            pairs = (
                _string(key).encode() + b":" + _encode_within(item, levels - 1)
                for key, item in value.items()
            )
            return b"{" + b",".join(pairs) + b"}"
        return dumps(value).encode()


def _write(value: JSON, put: Callable[[str], None]) -> None:
    """Write a value piece by piece; raises RecursionError where it is nested too deep for that."""
    if isinstance(value, dict):
        opening = "{"
        for key, item in value.items():
            put(opening)
            put(_string(key))
            if isinstance(item, str):
                put(":")
                put(_string(item))
            else:
                put(":")
                _write(item, put)
            opening = ","
        put("}" if value else "{}")
    elif isinstance(value, list | tuple):
        opening = "["
        for item in value:
            put(opening)
            _write(item, put)
            opening = ","
        put("]" if value else "[]")
    else:
        put(_scalar(value))


def _dumps_deep(value: JSON) -> str:
    out: list[str] = []
    # A stack of what is still to be written: text as it is, or a value in a one-element tuple.
    todo: list[str | tuple[JSON]] = [(value,)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        current = item[0]
        if isinstance(current, dict):
            pairs = [part for key in current for part in (",", _string(key) + ":", (current[key],))]
            todo += ["}", *reversed(pairs[1:]), "{"]
        elif isinstance(current, list | tuple):
            items = [part for child in current for part in (",", (child,))]
            todo += ["]", *reversed(items[1:]), "["]
        else:
            out.append(_scalar(current))
    return "".join(out)


def _scalar(value: JSON) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = number_text(value)
    return text if text[-1].isdigit() else "null"


def _string(text: str) -> str:
    quoted: str = encode_basestring(text)
    if quoted.isascii() or not _SURROGATE.search(quoted):
        return quoted
    paired = pair_surrogates(quoted)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", paired)

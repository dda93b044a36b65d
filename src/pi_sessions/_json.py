"""JSON as JavaScript reads and writes it.

`loads` accepts what `JSON.parse` accepts of the text that `TextDecoder` makes of the bytes, and
gives plain Python values: objects are dicts in JavaScript's key order (integer keys first), numbers
stay int or float and are taken as doubles when written. `dumps` writes what `JSON.stringify` would.
Three parsers in turn: msgspec (what it accepts is valid), the standard library (lone surrogates,
replaced bytes), and a loop of our own for nesting beyond the other two.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from pi_sessions._javascript import is_array_index, number_text, pair_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable

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


_decode = msgspec.json.Decoder().decode
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
    return _order_keys(value) if _INDEX_KEY.search(data) else value


def _loads_exactly(data: bytes) -> JSON:
    text = data.decode("utf-8", "replace")
    try:
        return _stdlib.decode(text)
    except json.JSONDecodeError as error:
        raise JSONError(error.msg, _byte_position(data, text, error.pos)) from None
    except _RefusedConstantError as error:
        raise JSONError(f"{error} is not JSON", _byte_position(data, text, 0)) from None
    except RecursionError:
        return _loads_deep(data, text)


class _RefusedConstantError(ValueError):
    """NaN or Infinity, which Python's parser would take."""


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedConstantError(name)


def _integer(digits: str) -> int | float:
    # Python refuses to convert very long digit strings; as doubles they are what they are.
    return int(digits) if len(digits) < 400 else float(digits)


_stdlib = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)


def _byte_position(data: bytes, text: str, index: int) -> int:
    """Give the byte at which character `index` of the decoded text begins, as well as can be."""
    return min(len(text[:index].encode("utf-8", "surrogatepass")), len(data))


_TOKEN = re.compile(
    r"[ \t\n\r]*(?:(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)|(?P<quote>\")"
    r"|(?P<word>true|false|null)|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?))",
    re.ASCII,
)
_WORDS = {"true": True, "false": False, "null": None}


def _loads_deep(data: bytes, text: str) -> JSON:
    """Parse without recursion; slow, and only for nesting the C parsers give up on."""
    root: list[JSON] = []
    stack: list[Any] = [root]
    keys: list[str | None] = []
    state = "value"  # value | value-or-close | key-or-close | key | colon | comma-or-close
    position = 0
    scan = json.decoder.scanstring  # type: ignore[attr-defined]

    def fail(why: str) -> NoReturn:
        raise JSONError(why, _byte_position(data, text, position))

    def put(value: JSON) -> None:
        if isinstance(stack[-1], dict):
            stack[-1][keys[-1]] = value
        else:
            stack[-1].append(value)

    while len(stack) > 1 or not root:
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            fail("unexpected character" if position < len(text) else "unexpected end")
        kind, token, end = match.lastgroup, match[match.lastgroup], match.end()
        if kind == "quote":
            try:
                string, end = scan(text, end, True)
            except json.JSONDecodeError as error:
                position = error.pos
                fail(error.msg)
            if state in ("key", "key-or-close"):
                keys[-1], state = string, "colon"
            elif state in ("value", "value-or-close"):
                put(string)
                state = "comma-or-close"
            else:
                fail("unexpected string")
        elif kind in ("word", "number") and state in ("value", "value-or-close"):
            put(_WORDS[token] if kind == "word" else _number(token))
            state = "comma-or-close"
        elif kind == "open" and state in ("value", "value-or-close"):
            child: JSON = {} if token == "{" else []
            put(child)
            stack.append(child)
            keys.append(None)
            state = "key-or-close" if token == "{" else "value-or-close"
        elif kind == "close" and len(stack) > 1 and _closes(stack[-1], token, state):
            stack.pop()
            keys.pop()
            state = "comma-or-close"
        elif kind == "comma" and state == "comma-or-close" and len(stack) > 1:
            state = "key" if isinstance(stack[-1], dict) else "value"
        elif kind == "colon" and state == "colon":
            state = "value"
        else:
            fail("unexpected character")
        position = end
    if text[position:].strip(" \t\n\r"):
        fail("trailing characters")
    return root[0]


def _closes(container: JSON, token: str, state: str) -> bool:
    first = "key-or-close" if token == "}" else "value-or-close"
    return isinstance(container, dict) == (token == "}") and state in ("comma-or-close", first)


def _number(token: str) -> int | float:
    return float(token) if any(char in token for char in ".eE") else _integer(token)


def _order_keys(value: JSON) -> JSON:
    """Put integer-like keys first, ascending, in every object, as JavaScript objects hold them."""
    holder = [value]
    todo: list[Any] = [holder]
    while todo:
        container = todo.pop()
        if isinstance(container, dict):
            indices = sorted((key for key in container if is_array_index(key)), key=int)
            if indices:
                rest = {key: item for key, item in container.items() if not is_array_index(key)}
                ordered = {key: container[key] for key in indices} | rest
                container.clear()
                container.update(ordered)
            todo.extend(container.values())
        elif isinstance(container, list):
            todo.extend(container)
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

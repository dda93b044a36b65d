"""JSON as JavaScript reads it: keys, numbers, escapes and nesting."""

from __future__ import annotations

from pi_sessions.testing import SessionBuilder, tool_call


def arguments(raw: bytes) -> bytes:
    """Make a session whose tool call has arguments in just these bytes."""
    session = SessionBuilder()
    session.user("Count the apples.")
    session.assistant(calls=[tool_call("read", {"raw": 0})])
    session.tool_result("call-1", "5")
    return session.data.replace(b'{"raw":0}', raw)


def custom(raw: bytes) -> bytes:
    """Make a session with data of an extension in just these bytes."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.custom({"raw": 0})
    return session.data.replace(b'{"raw":0}', raw)


def text(raw: bytes) -> bytes:
    """Make a session whose user says a text in just these bytes."""
    session = SessionBuilder()
    session.user("raw")
    session.assistant("Cox.")
    return session.data.replace(b'"raw"', raw)


def line(raw: bytes) -> bytes:
    """Make a session with a value of its own line between two messages."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.raw_line(raw)
    session.assistant("Cox.")
    return session.data


def key_twice(key: str, first: str, *, where: int = 1) -> bytes:
    """Make a session with a key that stands twice, first with a value that must not count."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.assistant("Cox.")
    lines = session.data.splitlines(keepends=True)
    name = f'"{key}":'.encode()
    lines[where] = lines[where].replace(name, name + first.encode() + b"," + name, 1)
    return b"".join(lines)


VECTORS = {
    "duplicate-key": ("Of a key that stands twice the last counts.", arguments(b'{"a":1,"a":2}')),
    "duplicate-key-order": (
        "A key that stands twice keeps its first place.",
        arguments(b'{"a":1,"b":2,"a":3}'),
    ),
    "duplicate-type": ("The last type counts.", key_twice("type", '"custom"')),
    "duplicate-id": ("The last id counts.", key_twice("id", '"x"')),
    "duplicate-parent": ("The last parent counts.", key_twice("parentId", '"x"', where=2)),
    "duplicate-message": ("The last message counts.", key_twice("message", "null")),
    "duplicate-role": ("The last role counts.", key_twice("role", '"assistant"')),
    "escaped-keys": (
        "Keys may be written in escapes.",
        line(b"").replace(b'"type":"message"', b'"\\u0074ype":"mess\\u0061ge"'),
    ),
    "integer-keys": (
        "Keys that are integers come first, in order.",
        arguments(b'{"b":1,"2":2,"10":3,"1":4,"a":5}'),
    ),
    "integer-keys-nested": (
        "Integer keys come first at every depth.",
        arguments(b'{"z":[{"y":1,"0":{"x":1,"3":2}}]}'),
    ),
    "integer-like-keys": (
        "01, -1, 1.5 and 4294967295 are no integer keys.",
        arguments(b'{"01":1,"-1":2,"1.5":3,"4294967295":4,"4294967294":5,"":6," 1":7}'),
    ),
    "integer-keys-sections": (
        "Integer keys of an entry itself come first.",
        custom(b'{"x":1}').replace(b'"customType"', b'"7":0,"customType"'),
    ),
    "proto": ("__proto__ is a key like any other.", arguments(b'{"__proto__":{"a":1},"b":2}')),
    "constructor": (
        "Names that JavaScript objects inherit are keys like any other.",
        arguments(b'{"constructor":1,"toString":2,"hasOwnProperty":3}'),
    ),
    "big-integer": (
        "Integers are doubles.",
        arguments(b'{"a":12345678901234567890,"b":9007199254740993,"c":-9007199254740993}'),
    ),
    "huge-integer": ("An integer of 400 digits is too big.", arguments(b"[" + b"9" * 400 + b"]")),
    "minus-zero": ("Minus zero is written as 0.", arguments(b'{"a":-0,"b":-0.0,"c":0}')),
    "one-point-zero": ("1.0 is written as 1.", arguments(b'{"a":1.0,"b":100e-2,"c":1.50}')),
    "exponents": (
        "Big and small numbers have exponents.",
        arguments(b'{"a":1e21,"b":1e20,"c":1e-7,"d":0.000001,"e":123e-20,"f":1E+2}'),
    ),
    "fractions": (
        "Numbers are written with as few digits as tell them apart.",
        arguments(b'{"a":0.1,"b":0.30000000000000004,"c":2.675,"d":5e-324,"e":1e23}'),
    ),
    "infinite": ("1e400 is infinite and written as null.", arguments(b'{"a":1e400,"b":-1e400}')),
    "leading-zero": ("A number with a leading zero is no JSON.", line(b'{"type":"custom","a":01}')),
    "bare-fraction": (
        "A number without a whole part is no JSON.",
        line(b'{"type":"custom","a":.5}'),
    ),
    "nan": ("NaN is no JSON.", line(b'{"type":"custom","id":"x","data":NaN}')),
    "infinity": ("Infinity is no JSON.", line(b'{"type":"custom","id":"x","data":-Infinity}')),
    "single-quotes": ("Single quotes are no JSON.", line(b"{'type':'custom','id':'x'}")),
    "comment": ("A comment is no JSON.", line(b'{"type":"custom","id":"x"} // old')),
    "trailing-comma": ("A comma before a brace is no JSON.", line(b'{"type":"custom","id":"x",}')),
    "bad-escape": ("An unknown escape is no JSON.", line(b'{"type":"custom","id":"\\x41"}')),
    "short-escape": (
        "An escape of three digits is no JSON.",
        line(b'{"type":"custom","id":"\\u041"}'),
    ),
    "lone-high": ("A lone high surrogate stays in the file's text.", text(b'"a\\ud83db"')),
    "lone-low": ("A lone low surrogate stays in the file's text.", text(b'"a\\ude00b"')),
    "swapped-pair": ("A low and a high surrogate are two lone ones.", text(b'"\\ude00\\ud83d"')),
    "escaped-pair": ("Two escapes make one character.", text(b'"\\ud83d\\ude00"')),
    "lone-in-key": ("A key may hold a lone surrogate.", arguments(b'{"\\ud83d":"\\ud83d"}')),
    "lone-in-id": ("An id may be a lone surrogate.", text(b'"a"').replace(b"00000001", b"\\ud83d")),
    "escaped-control": ("Escaped control characters are text.", text(b'"\\u0000\\u001b[1m\\n"')),
    "escaped-separator": ("An escaped U+2028 is written raw.", arguments(b'{"a":"\\u2028\\/"}')),
    "deep": ("Nesting of 1,200 lists can be read.", custom(b"[" * 1200 + b"]" * 1200)),
    "deep-objects": (
        "Nesting of 1,200 objects can be read.",
        arguments(b'{"a":' * 1200 + b"1" + b"}" * 1200),
    ),
    "number-line": ("A number is no entry.", line(b"5")),
    "true-line": ("True is no entry.", line(b"true")),
    "text-line": ("A text is no entry.", line(b'"Cox"')),
    "list-line": ("A list is no entry.", line(b'[{"type":"custom"}]')),
    "falsy-lines": ("Null, false, 0 and an empty text are skipped.", line(b'null\nfalse\n-0\n""')),
    "number-last": ("A number at the end.", line(b"") + b"5\n"),
    "empty-object": ("An object without type and id is no entry.", line(b"{}")),
    "type-number": ("A type must be a text.", line(b'{"type":5,"id":"x","parentId":null}')),
    "inner-spaces": (
        "White space may stand between the parts of a line.",
        line(b'{ "type" :\t"custom" , "id":"x" ,"parentId": null, "data" : [ 1 , 2 ] }'),
    ),
}

"""Sessions as hypothesis makes them: well formed at first, then odd, then damaged.

Left out are the few shapes in which we differ from the reference on purpose
(`conformance/divergences.toml`): values that are no entries, messages that are no objects, labels
that are no texts, edits without content, empty ids.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

MODELS = [
    ("openai-completions", "mockchat", "chat-1"),
    ("openai-completions", "openai", "gpt-x"),
    ("anthropic-messages", "mockanth", "anth-1"),
    ("openai-responses", "mockresp", "resp-1"),
    ("openai-responses", "openai", "gpt-y"),
    ("openai-responses", "openai", "gpt-z"),
]
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "plum",
            "two\nlines",
            "\ud83d",
            "a\ud83d",
            "😀",
            "\u2028",
            "\x00",
            "é\u0301",
            "\ufeff",
        ]
    ),
    st.text(max_size=8),
)
CALL_IDS = st.sampled_from(
    [
        "c1",
        "c2",
        "call+/=1",
        "a|fc_1",
        "a|fc_2",
        "x_y|item+" + "q" * 70,
        "w" * 45,
        "é😀",
        "___",
        "a|b|c",
        "|",
        "",
    ]
)
NAMES = st.sampled_from(["read", "bash", "1", "0", "__proto__"])
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
ODDLY = st.integers(0, 19)


def text_block() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("text"), "text": TEXTS},
        optional={"textSignature": st.sampled_from(["s", ""])},
    )


def image_block() -> st.SearchStrategy[dict[str, Any]]:
    return st.just(
        {"type": "image", "data": "R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "mimeType": "image/gif"}
    )


def thinking_block() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("thinking"), "thinking": TEXTS},
        optional={"thinkingSignature": st.sampled_from(["", "sig"]), "redacted": st.booleans()},
    )


def call_block() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("toolCall"), "id": CALL_IDS, "name": NAMES, "arguments": JSON_VALUES},
        optional={"thoughtSignature": st.sampled_from(["", "t"])},
    )


PLACEHOLDERS = st.sampled_from(
    [
        {"type": "text", "text": "(image omitted: model does not support images)"},
        {"type": "text", "text": "(tool image omitted: model does not support images)"},
    ]
)
USER_CONTENT = st.one_of(
    TEXTS, st.lists(st.one_of(text_block(), image_block(), PLACEHOLDERS), max_size=4), st.none()
)
RESULT_CONTENT = st.one_of(
    st.lists(st.one_of(text_block(), image_block(), PLACEHOLDERS), max_size=4), st.none()
)
REPLY_CONTENT = st.one_of(
    st.lists(st.one_of(text_block(), thinking_block(), call_block()), max_size=4), st.none()
)
TIMES = st.one_of(st.integers(1_770_000_000_000, 1_770_000_050_000), st.none())


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """One message object of any role."""
    role = draw(
        st.sampled_from(
            [
                "user",
                "user",
                "assistant",
                "assistant",
                "assistant",
                "toolResult",
                "toolResult",
                "system",
                "bashExecution",
                "custom",
                "narrator",
                "hookMessage",
                "compactionSummary",
            ]
        )
    )
    time = {"timestamp": draw(TIMES)} if draw(ODDLY) else {}
    if role == "assistant":
        api, provider, model = draw(st.sampled_from(MODELS))
        return {
            "role": role,
            "content": draw(REPLY_CONTENT),
            "api": api,
            "provider": provider,
            "model": model,
            "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2},
            "stopReason": draw(st.sampled_from(["stop", "toolUse", "length", "error", "aborted"])),
            **time,
        }
    if role == "toolResult":
        return {
            "role": role,
            "toolCallId": draw(CALL_IDS),
            "toolName": draw(NAMES),
            "content": draw(RESULT_CONTENT),
            "isError": draw(st.booleans()),
            **time,
        }
    if role == "system":
        return {"role": role, "content": draw(SYSTEM_CONTENT), **draw(system_parts()), **time}
    if role == "bashExecution":
        return draw(shell_runs()) | time
    if role == "compactionSummary":
        return {"role": role, "summary": draw(TEXTS), **time}
    return {"role": role, "content": draw(USER_CONTENT), **time}


SYSTEM_CONTENT = st.one_of(TEXTS, st.lists(text_block(), max_size=2))


def tool_declarations() -> st.SearchStrategy[list[dict[str, Any]]]:
    tool = st.fixed_dictionaries(
        {
            "name": NAMES,
            "description": st.sampled_from(["", "d", "e"]),
            "parameters": st.just({"type": "object"}),
        }
    )
    return st.lists(tool, max_size=3)


def system_parts() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "sections": st.dictionaries(
                st.sampled_from(["preamble", "cwd", "10", "9", "__proto__"]),
                st.none() | TEXTS,
                max_size=3,
            ),
            "toolsAdded": tool_declarations(),
            "toolsRemoved": st.lists(st.fixed_dictionaries({"name": NAMES}), max_size=2),
        },
    )


def shell_runs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"role": st.just("bashExecution"), "command": TEXTS},
        optional={
            "output": TEXTS,
            "exitCode": st.sampled_from([0, 1, -1, None, 2.5]),
            "cancelled": st.booleans(),
            "truncated": st.booleans(),
            "fullOutputPath": st.sampled_from(["", "/t/log"]),
            "excludeFromContext": st.booleans(),
        },
    )


def _id(number: int) -> str:
    return f"{number:08x}"


@st.composite
def entries(draw: st.DrawFn, number: int, total: int) -> dict[str, Any]:
    """The `number`-th entry of a session, linked to those before it, now and then oddly."""
    some_id = st.integers(0, total + 1).map(_id)
    entry: dict[str, Any] = {"type": "", "id": _id(number)}
    odd = draw(ODDLY)
    if odd == 0:
        entry["id"] = draw(some_id)
    entry["parentId"] = _id(number - 1) if number else None
    if odd in (1, 2, 3):
        entry["parentId"] = draw(st.integers(0, max(number - 1, 0)).map(_id) | st.none())
    elif odd == 4:
        entry["parentId"] = draw(some_id | st.sampled_from(["", "nowhere", 0, 7]))
    second = number if odd != 5 else draw(st.integers(0, 59))
    entry["timestamp"] = f"2026-02-02T10:{number // 60:02d}:{second % 60:02d}.000Z"
    if odd == 6:
        entry["timestamp"] = draw(
            st.sampled_from(["", "never", "2026-02-02", "2026-02-02T10:00:09+02:00"])
        )
    entry |= draw(_payload(some_id))
    return entry


@st.composite
def _payload(draw: st.DrawFn, some_id: st.SearchStrategy[str]) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(
            ["message"] * 12
            + ["compaction", "compaction", "context_edit", "context_edit", "context_edit"]
            + ["custom_message", "branch_summary", "model_change", "thinking_level_change"]
            + ["label", "session_info", "custom", "usage", "quantum"]
        )
    )
    fields: dict[str, Any] = {"type": kind}
    if kind == "message":
        fields["message"] = draw(messages())
    elif kind == "compaction":
        fields |= {"summary": draw(TEXTS), "firstKeptEntryId": draw(some_id), "tokensBefore": 5}
        if draw(st.booleans()):
            parts = draw(system_parts())
            fields["systemMessage"] = {
                "role": "system",
                "content": draw(TEXTS),
                **parts,
                "timestamp": 3,
            }
    elif kind == "context_edit":
        content = st.one_of(TEXTS, st.lists(st.one_of(text_block(), call_block()), max_size=2))
        fields |= {
            "targetId": draw(some_id),
            "replacement": draw(st.none() | st.fixed_dictionaries({"content": content})),
        }
    elif kind == "custom_message":
        fields |= {
            "customType": "note",
            "content": draw(USER_CONTENT),
            "display": draw(st.booleans()),
        }
        if draw(st.booleans()):
            fields["details"] = draw(JSON_VALUES)
    elif kind == "branch_summary":
        fields |= {"fromId": draw(some_id), "summary": draw(TEXTS)}
    elif kind == "model_change":
        fields |= {"provider": draw(NAMES), "modelId": draw(NAMES)}
    elif kind == "thinking_level_change":
        fields["thinkingLevel"] = draw(st.sampled_from(["off", "low", "high"]))
    elif kind == "label":
        fields |= {"targetId": draw(some_id), "label": draw(st.none() | TEXTS)}
    elif kind == "session_info":
        fields["name"] = draw(TEXTS)
    elif kind == "custom":
        fields |= {"customType": "state", "data": draw(JSON_VALUES)}
    return fields


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


@st.composite
def sessions(draw: st.DrawFn, max_entries: int = 14) -> bytes:
    """The bytes of a session file of any version, whole."""
    return b"\n".join(draw(session_lines(max_entries))) + b"\n"


@st.composite
def session_lines(draw: st.DrawFn, max_entries: int = 14) -> list[bytes]:
    """The lines of a session file, without their newlines."""
    total = draw(st.integers(1, max_entries))
    version = draw(st.sampled_from([3, 3, 3, 3, 3, 2, 1]))
    header = {
        "type": "session",
        "version": version,
        "id": "s-1",
        "timestamp": "2026-02-02T10:00:00.000Z",
        "cwd": "/p",
    }
    if version == 1:
        del header["version"]
    lines = [_line(header)]
    for number in range(total):
        entry = draw(entries(number, total))
        if version == 1:
            entry = {key: item for key, item in entry.items() if key not in ("id", "parentId")}
            if entry["type"] == "compaction":
                del entry["firstKeptEntryId"]
                # 0, the header, is the divergence `first-version-that-kept-all`.
                index = draw(st.integers(0, total + 2))
                entry["firstKeptEntryIndex"] = index or -1
        lines.append(_line(entry))
    return lines


@st.composite
def damaged_sessions(draw: st.DrawFn) -> bytes:
    """The bytes of a session file with blank, broken, doubled or cut lines and odd bytes."""
    lines = draw(session_lines(10))
    ends = [b"\n"] * len(lines)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(1, len(lines)))
        harm = draw(
            st.sampled_from(["blank", "broken", "double", "cut", "crlf", "bytes", "header"])
        )
        line = lines[at - 1]
        if harm == "blank":
            line = draw(st.sampled_from([b"", b" \t", "\u00a0\ufeff".encode(), b"\r"]))
        elif harm == "broken":
            line = draw(
                st.sampled_from([b"{", b"{}{}", b"[NaN]", b"\x00", b'{"type":"message"', b"null"])
            )
        elif harm == "cut":
            line = line[: draw(st.integers(0, len(line)))]
        elif harm == "bytes":
            line = line.replace(b"plum", draw(st.sampled_from([b"\xff", b"\xed\xa0\xbd", b"\xc3"])))
        elif harm == "crlf":
            ends[at - 1] = b"\r\n"
        elif harm == "header":
            line = lines[0]
        if harm in ("cut", "bytes", "crlf"):
            lines[at - 1] = line
        else:
            lines.insert(at, line)
            ends.insert(at, b"\n")
    data = b"".join(line + end for line, end in zip(lines, ends, strict=True))
    return data[: len(data) - draw(st.sampled_from([0, 0, 1, 2, 30]))]

"""Strict and grammar tools, settings, what is unknown, odd values: facts about bodies."""

from __future__ import annotations

from typing import Any

import pytest

from payload.conversation import (
    ANTHROPIC,
    CHAT,
    IMAGE,
    MID,
    RESPONSES,
    Value,
    anthropic,
    build,
    call,
    chat,
    model,
    removed,
    reply,
    responses,
    result,
    system,
    text,
    thought,
    told,
    tools,
    user,
)
from pi_sessions.context.payload.strict import (
    NotStrictError,
    refused_by_anthropic,
    strict_schema,
)
from pi_sessions.context.rules import Rules

# Strict tools


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "string"}}},
            {
                "type": "object",
                "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                "required": ["a"],
                "additionalProperties": False,
            },
        ),
        (
            {"required": ["a"], "type": "object", "properties": {"a": {"enum": [1]}}},
            {
                "required": ["a"],
                "type": "object",
                "properties": {"a": {"enum": [1]}},
                "additionalProperties": False,
            },
        ),
        ({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}, ...),
        ({"type": "object", "properties": {"a": {"$ref": "#/b"}}}, None),
        ({"type": "object", "properties": {"a": {"const": 1}}}, None),
        ({"type": "object", "properties": {"a": True}}, None),
        ({"type": "object", "additionalProperties": True}, None),
        ({"type": "object", "properties": {}, "required": ["a"]}, None),
        ({"type": ["object", "null"], "properties": {}}, None),
        ({"type": "string"}, None),
        ({"type": "object", "properties": {"a": {"type": "array", "items": [{}]}}}, None),
    ],
)
def test_strict(schema: Value, strict: Any) -> None:
    if strict is None:
        with pytest.raises(NotStrictError):
            strict_schema(schema)
    elif strict is ...:
        assert strict_schema(schema)["properties"] == schema["properties"]
    else:
        rewritten = strict_schema(schema)
        assert rewritten == strict
        assert list(rewritten) == list(strict)


@pytest.mark.parametrize(
    ("keyword", "value", "refused"),
    [
        ("minimum", 1, True),
        ("minItems", 1, False),
        ("minItems", 2, True),
        ("format", "uuid", False),
        ("format", "odd", True),
        ("pattern", "a", False),
    ],
)
def test_keywords_anthropic_refuses(keyword: str, value: Any, refused: bool) -> None:
    assert refused_by_anthropic(keyword, value) is refused


GRAMMAR = {
    "name": "sql",
    "description": "d",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    "constrainedSampling": {"type": "grammar", "variants": {"openai_lark": "start: x"}},
}


def test_grammar_tools() -> None:
    messages = [system(toolsAdded=[GRAMMAR]), reply(call("1|ctc_1", "sql", q="select"))]
    flags = {"supportsOpenAIGrammarTools": True}
    body = build(messages, model(compat=flags)).body
    assert body["tools"][0]["custom"]["format"]["grammar"]["syntax"] == "lark"
    call_ = body["messages"][0]["tool_calls"][0]
    assert call_["custom"] == {"name": "sql", "input": "select"}
    item = responses(messages, model(RESPONSES, compat=flags))[0]
    assert (item["type"], item["id"], item["input"]) == ("custom_tool_call", "ctc_1", "select")
    assert build(messages, model()).body["tools"][0]["type"] == "function"


# Settings


def declared_names(messages: list[Value], **fields: Any) -> list[str]:
    body = build(messages, model(**fields), codemode_only=True).body
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def test_codemode_hides_the_tools_that_scripts_call() -> None:
    some = system("p", toolsAdded=tools("read", "codemode", "tool_search", "late"))
    assert declared_names([some, user()]) == ["codemode", "tool_search"]
    assert declared_names([system("p", toolsAdded=tools("read", "late")), user()]) == [
        "read",
        "late",
    ]
    without = [some, user(), system(toolsRemoved=removed("codemode")), user()]
    assert declared_names(without) == ["read", "tool_search", "late"]


def test_codemode_hides_no_tool_that_is_gone() -> None:
    messages = [
        system("p", toolsAdded=tools("read", "codemode", "late")),
        user(),
        system(toolsRemoved=removed("late")),
        user(),
    ]
    compat = {"supportsMidConvoSystemMessages": True, "supportsAdditionalTools": True}
    built = build(messages, model(RESPONSES, compat=compat), codemode_only=True)
    items = built.body["input"]
    assert [tool["name"] for tool in items[0]["tools"]] == ["codemode", "late"]
    assert items[3]["content"].endswith("Do not call them:\n- late")


def test_blocked_pictures_of_a_run_are_one_text() -> None:
    blocked = "Image reading is disabled."
    content = [IMAGE, IMAGE, text("a"), IMAGE, text(blocked), text("b"), IMAGE]
    built = build([user(content)], model(), block_images=True)
    texts = [block["text"] for block in built.body["messages"][0]["content"]]
    assert texts == [blocked, "a", blocked, "b", blocked]
    assert built.outcomes[1].leading.value == "trimmed"


# What the session does not decide


READ = system("p", toolsAdded=tools("read"))
AT_OPENAI = {"provider": "openai", "base_url": "https://api.openai.com/v1"}


@pytest.mark.parametrize(
    ("target", "options", "pointers"),
    [
        (model(ANTHROPIC), {}, set()),
        (model(ANTHROPIC, provider="anthropic"), {}, {"/system", "/tools"}),
        (model(RESPONSES, **AT_OPENAI), {}, {"/max_output_tokens"}),
        (
            model(RESPONSES, **AT_OPENAI),
            {"cache_retention": "long"},
            {"/max_output_tokens", "/prompt_cache_retention"},
        ),
        (model(RESPONSES, provider="openai", base_url="http://x"), {}, set()),
        (model(CHAT, **AT_OPENAI), {}, set()),
    ],
)
def test_sign_ins(target: Any, options: Value, pointers: set[str]) -> None:
    known = {"cache_retention": "short", "thinking_budgets": {}, "block_images": False}
    built = build([READ, user()], target, **{**known, "codemode_only": False, **options})
    assert {unknown.pointer for unknown in built.unknown} == pointers
    assert all("taken as an API key" in unknown.why for unknown in built.unknown)


@pytest.mark.parametrize(("strict", "pointers"), [("prefer", {"/tools"}), ("require", set())])
def test_strict_tools_may_be_given_up(strict: str, pointers: set[str]) -> None:
    bound = {"constrainedSampling": {"type": "json_schema", "strict": strict}}
    declared = system("p", toolsAdded=[{**tools("read")[0], **bound}])
    target = model(ANTHROPIC, compat={"supportsStrictTools": True})
    built = build([declared, user()], target, cache_retention="short")
    assert built.body["tools"][0]["strict"]
    assert {unknown.pointer for unknown in built.unknown} == pointers


NO_USAGE = reply("x", usage=None)
USED = reply("x", usage={"totalTokens": 5})


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([user(None)], "the user message in line 1 has no content"),
        # What stands before the usage that counts is not estimated.
        ([user(None), USED], None),
        ([{**result("a"), "content": "text"}], "has a text in the place of its blocks"),
        ([{**USED, "content": "text"}], "has a text in the place of its blocks"),
        ([user([None])], "has null in the place of a block"),
        ([user(5)], "has a content that is neither text nor blocks"),
        ([user(), NO_USAGE], "the assistant message in line 2 has no usage"),
        # Its usage is not looked at.
        ([user(), {**NO_USAGE, "stopReason": "error"}], None),
        ([user(), {**NO_USAGE, "timestamp": 0}], None),
    ],
)
@pytest.mark.parametrize("api", [CHAT, ANTHROPIC, RESPONSES])
def test_requests_that_fail(api: str, messages: list[Value], why: str | None) -> None:
    told = [unknown.why for unknown in build(messages, model(api)).unknown if not unknown.pointer]
    assert len(told) == (why is not None)
    assert all(text.startswith("Pi fails") and why and text.endswith(why) for text in told)


# Rules of old releases


def test_rules_of_old_releases() -> None:
    old = Rules(
        empty_result="(see attached image)",
        chat_replies_as_blocks=True,
        chat_images_after_each_result=True,
        responses_images_in_result=False,
        keeps_empty_signed_thinking=False,
        message_ids="numbered",
    )
    messages = [
        reply(thought("", "SIG"), "x", " ", call("a"), call("b")),
        result("a", IMAGE),
        result("b"),
    ]
    sent = chat(messages, rules=old)
    assert sent[0]["content"] == [text("x")]
    assert [value["role"] for value in sent] == ["assistant", "tool", "user", "tool"]
    assert sent[3]["content"] == "(see attached image)"
    blocks = anthropic(messages[:1], rules=old)[0]["content"]
    assert [block["type"] for block in blocks] == ["text", "tool_use", "tool_use"]
    items = responses([reply("a", "b"), *messages[1:]], rules=old)
    assert [value["id"] for value in items[:2]] == ["msg_0", "msg_0"]
    assert told(items)[2:] == [
        "function_call_output: (see attached image)",
        "user: Attached image(s) from tool result:+input_image",
        "function_call_output: (see attached image)",
    ]


# Odd values


ODD = [
    {"role": "user", "content": 5},
    {"role": "user", "content": [None, "x", {"type": "text"}, {"type": "image"}, {}]},
    {"role": "user"},
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": "plain"},
    {"role": "assistant", "content": [{"type": "toolCall"}, {"type": "thinking"}, 7]},
    {"role": "assistant", "content": [{"type": "toolCall", "id": 4, "name": [], "arguments": 1}]},
    {"role": "toolResult"},
    {"role": "toolResult", "content": "text", "toolCallId": 3, "toolName": {}, "isError": "y"},
    {"role": "system", "content": {"a": 1}, "sections": [], "toolsAdded": {}, "timestamp": "x"},
    {"role": "system", "toolsAdded": [1, {"name": "t", "constrainedSampling": {}}, {"name": 2}]},
    {"role": "system", "sections": {"a": 4}, "toolsRemoved": [None, {"name": "t"}]},
]


@pytest.mark.parametrize("api", [CHAT, ANTHROPIC, RESPONSES])
@pytest.mark.parametrize("flags", [{}, MID])
def test_odd_messages_are_survived(api: str, flags: dict[str, bool]) -> None:
    every = {
        **flags,
        "supportsStrictMode": True,
        "supportsStrictTools": True,
        "supportsOpenAIGrammarTools": True,
        "supportsMidConvoToolChanges": True,
        "supportsMidConvoToolAdditions": True,
        "supportsAdditionalTools": True,
    }
    for compat in (flags, every):
        for takes in (("text",), ("text", "image")):
            built = build(ODD, model(api, compat=compat, input=takes), thinking_level="odd")
            assert built.provenance
            assert built.outcomes.keys() == set(range(1, len(ODD) + 1))
            assert isinstance(built.unknown, tuple)


@pytest.mark.parametrize("place", range(len(ODD)))
def test_odd_messages_alone(place: int) -> None:
    for api in (CHAT, ANTHROPIC, RESPONSES):
        assert build([ODD[place]], model(api)).outcomes.keys() == {1}

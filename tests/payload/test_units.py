"""Facts about bodies, each measured with the reference's own functions."""

from __future__ import annotations

import math
from typing import Any

import pytest

from payload.conversation import (
    ANTHROPIC,
    CHAT,
    IMAGE,
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
from pi_sessions.context.message import ContextMessage
from pi_sessions.context.payload import build as build_payload
from pi_sessions.context.payload.draft import Options
from pi_sessions.context.payload.limits import estimate_context, output_limit
from pi_sessions.context.payload.strict import (
    NotStrictError,
    refused_by_anthropic,
    strict_schema,
)
from pi_sessions.context.payload.thinking import clamp_level
from pi_sessions.context.rules import Rules
from pi_sessions.errors import UnsupportedApiError


def test_other_apis_are_refused() -> None:
    with pytest.raises(UnsupportedApiError):
        build_payload([], model("google-generative-ai"), Options())


# Token limit


@pytest.mark.parametrize(
    ("window", "used", "wanted", "limit"),
    [
        (200_000, 100_000, 90_000, 85_000),
        (200_000, 150_000, 64_000, 32_768),
        (200_000, 170_000, 64_000, 25_904),
        (200_000, 199_999, 64_000, 1),
        (32_768, 1_000, 64_000, 27_672),
        (128_000, 27_307, 128_000, 96_596),
        (0, 10**9, 64_000, 64_000),
    ],
)
def test_output_limit(window: int, used: int, wanted: int, limit: int) -> None:
    assert output_limit(model(context_window=window), used, wanted) == limit


@pytest.mark.parametrize(
    ("window", "used", "level", "limit", "budget"),
    [
        (20_000, 10_001, "high", 5_903, 4_879),
        (20_000, 15_501, "high", 403, 1_024),
    ],
)
def test_thinking_budget(window: int, used: int, level: str, limit: int, budget: int) -> None:
    target = model(ANTHROPIC, reasoning=True, context_window=window, max_tokens=64_000)
    used_before = reply("a", usage={"totalTokens": used - 1})
    body = build([used_before, user("abc")], target, thinking_level=level).body
    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (limit, budget)


@pytest.mark.parametrize(("limit", "budget"), [(2000, 976), (1025, 1), (1024, 1024), (1, 1024)])
def test_thinking_budget_has_no_floor_but_for_zero(limit: int, budget: int) -> None:
    target = model(ANTHROPIC, reasoning=True, max_tokens=limit)
    body = build([user()], target, thinking_level="low").body
    assert body["thinking"]["budget_tokens"] == budget


def usage(tokens: int) -> Value:
    return {"totalTokens": tokens}


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([user("1234567")], 2),
        ([user("😀😀")], 2),
        ([user([text("abc"), IMAGE])], 1373),
        ([reply("ab", thought("cd"), call("1", "ls", a=1))], 4),
        ([reply({"type": "toolCall", "id": "1", "name": "x"})], 3),
        ([system("p", sections={"a": "q", "b": None}, toolsAdded=[])], 2),
        ([user("1234567"), reply("x", usage=usage(50)), user("1234567")], 52),
        ([user(), reply("1234567", usage=usage(9), stop="error")], 3),
        ([{**user(), "timestamp": 5}, reply("1234567", usage=usage(50))], 3),
        ([{"role": "user", "content": "u"}, reply("1234567", usage=usage(50))], 3),
        ([reply("x", usage={"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4})], 10),
        ([reply("x", usage={"input": 1})], 1),
        ([reply("x", usage=None)], 1),
    ],
)
def test_estimate(messages: list[Value], tokens: int) -> None:
    assert estimate_context([ContextMessage(value, 1) for value in messages]) == tokens


# Thinking levels


@pytest.mark.parametrize("api", [CHAT, ANTHROPIC, RESPONSES])
def test_a_reply_may_report_any_number(api: str) -> None:
    used = reply("x", usage={"totalTokens": math.inf})
    built = build([user(), used], model(api, reasoning=True), thinking_level="high")
    assert built.estimated_tokens == math.inf
    limits = [value for key, value in built.body.items() if key.startswith("max_")]
    assert limits == [16 if api == RESPONSES else 1]


@pytest.mark.parametrize(
    ("names", "level", "used"),
    [
        ({"low": None}, "low", "medium"),
        ({}, "xhigh", "high"),
        ({"xhigh": "X"}, "max", "xhigh"),
        ({"low": None, "medium": None, "high": None}, "high", "minimal"),
        ({"minimal": None, "low": None, "medium": None, "high": None}, "low", "off"),
        ({"off": None}, "off", "minimal"),
    ],
)
def test_clamp(names: dict[str, str | None], level: str, used: str) -> None:
    assert clamp_level(model(reasoning=True, thinking_level_map=names), level) == used


KWARGS = {
    "on": {"$var": "thinking.enabled"},
    "effort": {"$var": "thinking.effort"},
    "budget": {"$var": "thinking.budget"},
    "kept": {"$var": "thinking.enabled", "omitWhenOff": True},
    "null": None,
}


@pytest.mark.parametrize(
    ("form", "level_on", "level_off"),
    [
        ("openai", {"reasoning_effort": "L"}, {"reasoning_effort": "none"}),
        ("openrouter", {"reasoning": {"effort": "L"}}, {"reasoning": {"effort": "none"}}),
        (
            "deepseek",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "L"},
            {"thinking": {"type": "disabled"}},
        ),
        (
            "zai",
            {"thinking": {"type": "enabled", "clear_thinking": False}, "reasoning_effort": "L"},
            {"thinking": {"type": "disabled"}},
        ),
        ("qwen", {"enable_thinking": True, "reasoning_effort": "L"}, {"enable_thinking": False}),
        (
            "together",
            {"reasoning": {"enabled": True}, "reasoning_effort": "L"},
            {"reasoning": {"enabled": False}},
        ),
        (
            "qwen-chat-template",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}},
        ),
        (
            "chat-template",
            {
                "chat_template_kwargs": {
                    "on": True,
                    "effort": "L",
                    "budget": 2048,
                    "kept": True,
                    "null": None,
                }
            },
            {"chat_template_kwargs": {"on": False, "effort": "none", "null": None}},
        ),
        ("baseten", {"reasoning_effort": "L"}, {"reasoning_effort": "none"}),
        ("string-thinking", {"thinking": "L"}, {"thinking": "none"}),
        ("ant-ling", {"reasoning": {"effort": "L"}}, {"reasoning_effort": "none"}),
    ],
)
def test_thinking_formats(form: str, level_on: Value, level_off: Value) -> None:
    compat = {"thinkingFormat": form, "chatTemplateKwargs": KWARGS}
    names = {"low": "L", "off": "none"}
    target = model(reasoning=True, max_tokens=20_000, thinking_level_map=names, compat=compat)
    plain = build([user()], model(max_tokens=20_000)).body.keys()
    for level, fields in (("low", level_on), ("off", level_off)):
        body = build([user()], target, thinking_level=level).body
        assert {key: value for key, value in body.items() if key not in plain} == fields
    assert build([user()], model(compat=compat), thinking_level="low").body.keys() == plain


@pytest.mark.parametrize(("limit", "budget"), [(20_000, 2048), (1_500, 476), (900, None)])
def test_budget_field(limit: int, budget: int | None) -> None:
    compat = {"supportsThinkingTokenBudget": True}
    target = model(reasoning=True, max_tokens=limit, compat=compat)
    body = build([user()], target, thinking_level="low").body
    assert body.get("thinking_token_budget") == budget


# System messages and tools

MID = {"supportsMidConvoSystemMessages": True}


def test_fold_counts_system_messages_only() -> None:
    messages = [
        system("p", toolsAdded=tools("a")),
        user(),
        system(toolsAdded=tools("b")),
        user(),
        system(toolsRemoved=removed("a")),
        user(),
        system(toolsAdded=tools("c")),
    ]
    compat = {**MID, "supportsMidConvoToolAdditions": True}
    built = build(messages, model(compat=compat))
    assert [tool["function"]["name"] for tool in built.body["tools"]] == ["b"]
    inline = [value for value in built.body["messages"] if "tools" in value]
    assert [tool["function"]["name"] for tool in inline[0]["tools"]] == ["c"]
    assert len(inline) == 1
    assert built.provenance["/tools/0"] == (3,)
    reasons = {line: outcome.leading.value for line, outcome in built.outcomes.items()}
    assert reasons[1] == reasons[3] == reasons[5] == "folded"
    assert reasons[7] == "converted"


def test_inline_tools_are_never_of_the_developer() -> None:
    compat = {**MID, "supportsMidConvoToolAdditions": True, "supportsDeveloperRole": True}
    messages = [user(), system("late", toolsAdded=tools("b"))]
    sent = chat(messages, model(reasoning=True, compat=compat))
    assert [value["role"] for value in sent] == ["user", "system", "developer"]


def test_removals_in_changes_mode() -> None:
    compat = {**MID, "supportsAdditionalTools": True}
    messages = [
        system(toolsAdded=tools("a", "b", "d")),
        user(),
        system(toolsRemoved=removed("a", "d")),
        system(toolsAdded=tools("c")),
        system(toolsAdded=tools("b", "a"), toolsRemoved=removed("b")),
    ]
    sent = responses(messages, model(RESPONSES, compat=compat))
    notices = [value["content"] for value in sent if value.get("role") == "system"]
    assert notices[0].endswith("Do not call them:\n- a\n- d")
    assert notices[1].endswith("earlier one.\nStill unavailable: a, d.")
    assert notices[2].endswith("\nStill unavailable: d.")


def test_a_system_message_that_only_dropped_replies_precede_leads() -> None:
    messages = [reply("x", stop="error"), system("p", sections={"s": "q"}), user()]
    assert told(chat(messages, model(compat=MID))) == ["system: p\n\nq", "user: u"]
    sent = anthropic(messages, model(ANTHROPIC, compat=MID))
    assert told(sent)[-1] == 'system: p\n\nUpdated system prompt section "s":\n\nq'


def test_anthropic_holds_updates_for_the_next_reply_that_is_sent() -> None:
    messages = [
        system("p"),
        system("late"),
        user("1"),
        reply("x", stop="error"),
        reply(" "),
        user("2"),
        reply("y"),
    ]
    built = build(messages, model(ANTHROPIC, compat=MID), cache_retention="none")
    sent = told(built.body["messages"])
    assert sent == ["user: 1", "user: 2", "system: late", "assistant: y"]
    assert built.outcomes[2].leading == "moved"
    assert [built.outcomes[line].leading.value for line in (4, 5)] == ["failed-reply", "empty"]


def test_native_tool_changes() -> None:
    compat = {**MID, "supportsMidConvoToolChanges": True}
    messages = [
        system("p", toolsAdded=tools("a", "b")),
        user(),
        system(toolsAdded=tools("b", "c"), toolsRemoved=removed("a", "b")),
    ]
    built = build(messages, model(ANTHROPIC, compat=compat))
    names = [tool["name"] for tool in built.body["tools"]]
    assert names == ["a", "b", "__pi_deferred_placeholder__"]
    assert [block["type"] for block in built.body["messages"][-1]["content"]] == [
        "tool_removal",
        "tool_addition",
        "tool_addition",
    ]


def test_superseded() -> None:
    messages = [
        system("base"),
        system(sections={"a": "old"}),
        system(sections={"a": "new"}),
        user(),
    ]
    built = build(messages, model())
    assert [built.outcomes[line].leading.value for line in (1, 2, 3, 4)] == [
        "folded",
        "superseded",
        "folded",
        "as-stored",
    ]
    assert built.outcomes[2].because == (3,)
    assert built.provenance["/messages/0#a"] == (3,)
    assert built.provenance["/messages/0#"] == (1,)


def test_a_checkpoint_and_its_summary_are_one_line() -> None:
    placed = [
        ContextMessage(system("p"), 4),
        ContextMessage({"role": "user", "content": [text("s")], "timestamp": 1}, 4),
    ]
    built = build_payload(placed, model(), Options())
    assert built.outcomes[4].leading == "folded"


# Chat


@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ([result("a", "r"), system("in place"), user()], "tool system user"),
        ([result("a", "r"), reply("x", stop="error"), user()], "tool assistant user"),
        ([result("a", "r"), reply(" "), user()], "tool assistant user"),
        ([result("a", "r"), user([]), user()], "tool assistant assistant user"),
        ([result("a", IMAGE), user()], "tool assistant user user"),
    ],
)
def test_filler(messages: list[Value], roles: str) -> None:
    target = model(compat={**MID, "requiresAssistantAfterToolResult": True})
    assert " ".join(value["role"] for value in chat(messages, target)) == roles


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([IMAGE], "(see attached image)"),
        ([" ", "\n", IMAGE], "(see attached image)"),
        ([], "(no tool output)"),
        ([" "], "(no tool output)"),
        (["x", IMAGE, ""], "x\n"),
        (["\ud800"], ""),
    ],
)
def test_chat_results(content: list[Any], expected: str) -> None:
    assert chat([result("a", *content)])[0]["content"] == expected


ONE, TWO = thought("one", "reasoning_content"), thought("two", "reasoning")
DETAILS = '[{"type":"reasoning.text","text":"t"}]'


@pytest.mark.parametrize(
    ("content", "message", "reason"),
    [
        (
            [ONE, thought(" "), TWO, "a", " ", "b"],
            {"content": "ab", "reasoning_content": "one\ntwo"},
            "trimmed",
        ),
        ([ONE, TWO, "ab"], {"content": "ab", "reasoning_content": "one\ntwo"}, "as-stored"),
        ([thought("one"), TWO, "a"], {"content": "a"}, "trimmed"),
        (
            [thought("t", DETAILS), "a"],
            {"content": "a", "reasoning_details": [{"type": "reasoning.text", "text": "t"}]},
            "as-stored",
        ),
        (["a\ud83d", "\ude00b"], {"content": "ab"}, "trimmed"),
        (["\ud800", call("1")], {"content": None}, "trimmed"),
    ],
)
def test_chat_replies(content: list[Any], message: Value, reason: str) -> None:
    built = build([reply(*content)], model())
    sent = built.body["messages"][0]
    assert {key: sent[key] for key in sent if key not in ("role", "tool_calls")} == message
    assert built.outcomes[1].leading == reason


def test_a_reply_of_thinking_alone_vanishes() -> None:
    built = build([reply(ONE)], model())
    assert built.body["messages"] == []
    assert built.outcomes[1].leading == "empty"


def test_pictures_of_results_follow_the_run() -> None:
    messages = [reply(call("a"), call("b")), result("a", IMAGE), result("b", "r"), user()]
    built = build(messages, model())
    assert built.body["messages"][3]["content"][0]["text"] == "Attached image(s) from tool result:"
    assert built.provenance["/messages/3/content/1"] == (2,)
    assert [built.outcomes[line].leading.value for line in (2, 3)] == ["moved", "as-stored"]
    assert {synthetic.kind for synthetic in built.synthetic} == {"placeholder", "attached-images"}


def test_missing_results_get_a_stand_in() -> None:
    built = build([reply(call("a")), user()], model())
    assert told(built.body["messages"])[1] == "tool: No result provided"
    assert built.provenance["/messages/1"] == (1,)
    assert built.synthetic[0].kind == "stand-in-result"


# Anthropic


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ("\ud800", [{"role": "user", "content": ""}]),
        (" ", []),
        ([text("\ud800"), text("x")], [{"role": "user", "content": [text("x")]}]),
        ([text(" ")], []),
    ],
)
def test_anthropic_users(content: Any, sent: list[Value]) -> None:
    assert anthropic([user(content)]) == sent


def test_anthropic_thinking_without_a_signature_is_said() -> None:
    messages = [reply(thought("t"), thought(" "), thought("s", "SIG"), "x")]
    built = build(messages, model(ANTHROPIC))
    types = [block["type"] for block in built.body["messages"][0]["content"]]
    assert types == ["text", "thinking", "text"]
    assert built.outcomes[1].leading == "trimmed"
    kept = anthropic(messages, model(ANTHROPIC, compat={"allowEmptySignature": True}))
    assert kept[0]["content"][0] == {"type": "thinking", "thinking": "t", "signature": ""}


def test_anthropic_results_of_one_run_are_one_message() -> None:
    messages = [reply(call("a"), call("b")), result("a", IMAGE, isError=True), result("b", " ")]
    built = build(messages, model(ANTHROPIC), cache_retention="none")
    blocks = built.body["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["tool_result", "tool_result", "text", "image"]
    assert blocks[0]["content"] == "(image attached after the tool results)"
    assert blocks[2]["text"] == "Images from the error result of tool call a (read):"
    assert built.provenance["/messages/1"] == (2, 3)
    assert [built.outcomes[line].leading.value for line in (2, 3)] == ["moved", "as-stored"]


def test_effort_markers() -> None:
    compat = {"supportsMidConvoEffort": True, "forceAdaptiveThinking": True}
    target = model(ANTHROPIC, reasoning=True, compat=compat)
    sent = anthropic(
        [user(), reply("x", providerThinkingLevel="low"), user()], target, thinking_level="high"
    )
    efforts = [value.get("output_config", {}).get("effort") for value in sent]
    assert efforts == [None, "low", None, None, "high"]


def test_an_effort_with_an_empty_name_is_not_sent() -> None:
    target = model(
        ANTHROPIC,
        reasoning=True,
        thinking_level_map={"low": ""},
        compat={"forceAdaptiveThinking": True},
    )
    body = build([user()], target, thinking_level="low").body
    assert body["thinking"]["type"] == "adaptive"
    assert "output_config" not in body


# Responses


def test_ids_of_texts() -> None:
    signed = text("b", textSignature="msg_x")
    sent = responses([system("p"), user(), reply("a", signed, "c")])
    assert [value["id"] for value in sent[2:]] == ["msg_pi_1", "msg_x", "msg_pi_1_2"]


@pytest.mark.parametrize(
    ("signature", "own_id", "phase"),
    [
        ('{"v":1,"id":"m","phase":"commentary"}', "m", "commentary"),
        ('{"v":1,"id":"m","phase":"odd"}', "m", None),
        ('{"v":2,"id":"m"}', '{"v":2,"id":"m"}', None),
        ('{"v":1,"id":""}', "msg_pi_0", None),
        ("m" * 64, "m" * 64, None),
        ("msg_" + "q" * 80, "msg_1z10i9443ukq8", None),
    ],
)
def test_text_signatures(signature: str, own_id: str, phase: str | None) -> None:
    sent = responses([reply(text("a", textSignature=signature))])[0]
    assert (sent["id"], sent.get("phase")) == (own_id, phase)


@pytest.mark.parametrize(
    ("of", "provider", "call_id", "sent"),
    [
        ("p/m", "p", "c1|fc_1", ("c1", "fc_1")),
        ("p/m", "p", "c|xx", ("c", None)),
        ("p/m", "p", "c|ctc_1", ("c", None)),
        ("p/other", "p", "c1|fc_1", ("c1_fc_1", None)),
        ("p/other", "p", "___", ("", None)),
        ("x/y", "openai", "c1|fc_1", ("c1", "fc_lxmq3j1alksqn")),
        ("x/y", "openai", "c+2|x/_", ("c_2", "fc_1a7tkaq1s1ecs4")),
        ("x/y", "openai", "plain+__", ("plain", None)),
        ("openai/y", "openai", "c1|fc_1", ("c1", None)),
    ],
)
def test_call_ids(of: str, provider: str, call_id: str, sent: tuple[str, str | None]) -> None:
    item = responses([reply(call(call_id), of=of)], model(RESPONSES, provider=provider))[0]
    assert (item["call_id"], item.get("id")) == sent


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ([" ", IMAGE], ["input_image"]),
        (["x", IMAGE], ["input_text", "input_image"]),
        ([], "(no tool output)"),
    ],
)
def test_responses_results(content: list[Any], output: Any) -> None:
    sent = responses([result("a", *content)])[0]["output"]
    kinds = [block["type"] for block in sent] if isinstance(sent, list) else sent
    assert kinds == output


def test_a_signature_that_is_no_json_makes_no_request() -> None:
    built = build([reply(thought("t", "SIG"), "x")], model(RESPONSES))
    assert built.unknown[0].pointer == ""
    assert built.outcomes[1].leading == "trimmed"


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
        own_message_ids=False,
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

"""Facts about bodies, each measured with the reference's own functions."""

from __future__ import annotations

import math

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
    system,
    text,
    thought,
    told,
    tools,
    user,
)
from pi_sessions.context.message import ContextMessage, Staged
from pi_sessions.context.outcome import outcomes_of, projected_outcomes
from pi_sessions.context.payload import build as build_payload
from pi_sessions.context.payload.draft import Options
from pi_sessions.context.payload.limits import estimate_context, output_limit
from pi_sessions.context.payload.thinking import clamp_level
from pi_sessions.context.prompt import replay_prompt
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


@pytest.mark.parametrize("api", [CHAT, ANTHROPIC, RESPONSES])
def test_a_reply_may_report_any_number(api: str) -> None:
    used = reply("x", usage={"totalTokens": math.inf})
    built = build([user(), used], model(api, reasoning=True), thinking_level="high")
    assert built.estimated_tokens == math.inf
    limits = [value for key, value in built.body.items() if key.startswith("max_")]
    assert limits == [16 if api == RESPONSES else 1]


# Thinking levels


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


def test_a_prompt_without_time_and_tools_is_not_sent() -> None:
    value = {"role": "system", "content": "p", "sections": {"a": "A"}}
    for api in (CHAT, ANTHROPIC, RESPONSES):
        assert build([value], model(api)).outcomes[1].leading.value == "empty"
    message = ContextMessage(value, 1)
    prompt = replay_prompt([message])
    assert not prompt.lines
    # Another API tells the same; Pi's own context has it as it is stored.
    assert outcomes_of(Staged((message,)), prompt)[1].leading.value == "empty"
    assert projected_outcomes([message])[1].leading.value == "as-stored"


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

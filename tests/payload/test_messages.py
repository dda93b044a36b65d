"""What each API makes of the messages, each fact measured with the reference's own functions."""

from __future__ import annotations

from typing import Any

import pytest

from payload.conversation import (
    ANTHROPIC,
    IMAGE,
    MID,
    RESPONSES,
    Value,
    anthropic,
    build,
    call,
    chat,
    model,
    reply,
    responses,
    result,
    system,
    text,
    thought,
    told,
    user,
)

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

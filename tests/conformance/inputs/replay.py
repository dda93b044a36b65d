"""Replay for the model of the request: thinking, ids of calls, images, calls without results."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import (
    MISSING,
    SessionBuilder,
    image_block,
    text_block,
    thinking_block,
    tool,
    tool_call,
)

Vector = tuple[str, bytes]

CHAT = {"api": "openai-completions", "provider": "mockchat", "model": "chat-1"}
ANTHROPIC = {"api": "anthropic-messages", "provider": "mockanth", "model": "anth-1"}
RESPONSES = {"api": "openai-responses", "provider": "mockresp", "model": "resp-1"}
OPENAI = {"api": "openai-responses", "provider": "openai", "model": "gpt-y"}
ALL = (CHAT, ANTHROPIC, RESPONSES, OPENAI)
OTHER = {"api": "openai-completions", "provider": "birch", "model": "birch-1"}


def replies(sentence: str, content: Any, **keywords: Any) -> Vector:
    """Let each of four models give the same reply, so that each is once the own one."""
    session = SessionBuilder()
    for model in ALL:
        session.user("Name an apple.")
        session.assistant(content, **model, **keywords)
    session.user("And now?")
    return sentence, session.data


def called(sentence: str, *ids: str, model: dict[str, str] | None = None, **keys: Any) -> Vector:
    """Let a model call a tool with each id, one reply each, all answered."""
    session = SessionBuilder()
    session.user("Read the list.")
    for call_id in ids:
        session.assistant(calls=[tool_call("read", id=call_id, **keys)], **(model or OTHER))
        session.tool_result(call_id, "Cox")
    session.user("And now?")
    return sentence, session.data


def steps(sentence: str, *parts: str | tuple[str, ...]) -> Vector:
    """Write a talk in short.

    `"u"` a user, `"s"` a system message, `"a"` a reply, `"ra"` the result of call a;
    `("call", "a", "b")` a reply with calls, `("error", "a")` and `("aborted", "a")` failed ones.
    """
    session = SessionBuilder()
    session.user("Begin.")
    for number, part in enumerate(parts, 1):
        if part == "u":
            session.user(f"Question {number}.")
        elif part == "s":
            session.system(f"Note {number}.", tools_added=[tool(f"tool_{number}")])
        elif part == "a":
            session.assistant(f"Answer {number}.")
        elif part == "b":
            session.bash("ls", f"out {number}")
        elif part == "n":
            session.custom_message(f"Note {number}.")
        elif isinstance(part, str):
            session.tool_result(part[1:], f"Result {number}.")
        else:
            reason = part[0] if part[0] != "call" else "toolUse"
            calls = [tool_call("read", id=call_id) for call_id in part[1:]]
            session.assistant("", calls=calls, stop_reason=reason)
    return sentence, session.data


def renamed(sentence: str, *, own_first: bool) -> Vector:
    """Let another model and the own one use one id."""
    session = SessionBuilder()
    session.user("Read the list.")
    models = (ANTHROPIC, OTHER) if own_first else (OTHER, ANTHROPIC)
    for model in models:
        session.assistant(calls=[tool_call("read", id="call+1")], **model)
        session.tool_result("call+1", "Cox")
    session.user("And now?")
    return sentence, session.data


def pictures(sentence: str, *blocks: Any) -> Vector:
    """Show pictures as the user, as a tool and as an extension."""
    session = SessionBuilder()
    session.user(list(blocks))
    session.assistant(calls=[tool_call("read")], **OTHER)
    session.tool_result("call-1", list(blocks))
    session.custom_message(list(blocks))
    return sentence, session.data


def stopped(sentence: str, reason: str, **keywords: Any) -> Vector:
    """Let a reply stop for some reason, then go on."""
    session = SessionBuilder()
    session.user("Name an apple.")
    session.assistant("Co", stop_reason=reason, **keywords)
    session.user("And now?")
    session.assistant("Cox.")
    return sentence, session.data


PLACE_USER = text_block("(image omitted: model does not support images)")
PLACE_TOOL = text_block("(tool image omitted: model does not support images)")
IMAGE = image_block()
LONG = "c" * 70

VECTORS = {
    "thinking-unsigned": replies(
        "Unsigned thinking is kept for its own model.", "Cox.", thinking="Hm."
    ),
    "thinking-signed": replies(
        "Signed thinking too.", "Cox.", thinking=thinking_block("Hm.", "{}")
    ),
    "thinking-redacted": replies(
        "And redacted thinking.", "Cox.", thinking=thinking_block("", "sig", redacted=True)
    ),
    "thinking-redacted-unsigned": replies(
        "Redacted thinking may be unsigned.", "Cox.", thinking=thinking_block("", redacted=True)
    ),
    "thinking-blank": replies(
        "Blank unsigned thinking is dropped.", "Cox.", thinking=thinking_block(" \n")
    ),
    "thinking-blank-signed": replies(
        "Blank thinking with a signature is kept.", "Cox.", thinking=thinking_block("", "{}")
    ),
    "thinking-empty-signature": replies(
        "An empty signature is none.", "Cox.", thinking=thinking_block("", "")
    ),
    "thinking-blank-nbsp": replies(
        "Blank is what JavaScript trims.", "Cox.", thinking=thinking_block("\u00a0\ufeff")
    ),
    "thinking-only": replies("A reply may be thinking alone.", "", thinking="Hm."),
    "thinking-between": replies(
        "Thinking may stand between texts.",
        [text_block("a"), thinking_block("b"), text_block("c"), thinking_block("d", "{}")],
    ),
    "thinking-missing-text": replies(
        "Thinking without its text.", [{"type": "thinking", "thinkingSignature": "{}"}]
    ),
    "text-signature": replies(
        "Texts lose the signature of another model.",
        [text_block("Cox.", textSignature='{"v":1,"id":"msg_1"}')],
    ),
    "text-empty": replies("Empty and blank texts stay.", [text_block(""), text_block(" ")]),
    "text-extra-keys": replies(
        "Of a text of another model only the text stays.", [text_block("a", x=1)]
    ),
    "thought-signature": called(
        "Calls lose the signature of another model.", "c", thoughtSignature="sig"
    ),
    "thought-signature-own": called(
        "The own model's call keeps it.", "c", model=CHAT, thoughtSignature="sig"
    ),
    "call-extra-keys": called("Other keys of a call stay.", "c", namespace="n", x=1),
    "block-unknown": replies("A block of unknown type stays.", [{"type": "video", "data": "x"}]),
    "block-image": replies("A reply may hold a picture.", [IMAGE, text_block("Cox.")]),
    "same-provider": replies(
        "Only provider, api and model together are the same.",
        "Cox.",
        thinking="Hm.",
        message={"model": "x"},
    ),
    "same-model-other-api": replies(
        "Another api is another model.",
        "Cox.",
        thinking="Hm.",
        message={"api": "openai-completions"},
    ),
    "model-missing": replies(
        "A reply without its model is another's.",
        "Cox.",
        thinking="Hm.",
        message={"model": MISSING},
    ),
    "id-plain": called("A plain id is fine everywhere.", "call_1", "call-2"),
    "id-odd": called(
        "Odd characters.", "call.1", "call+/=2", "käll", "a b", "\U0001f34e", "\ud83d"
    ),
    "id-odd-only": called("Nothing but odd characters.", "++", "_", "___"),
    "id-trailing": called("Underscores at the end.", "plain+__", "c_", "_c"),
    "id-empty": called("An empty id.", ""),
    "id-lengths": called("Ids around the limits.", "c" * 40, "d" * 41, "e" * 64, "f" * 65),
    "id-item": called("A call and an item.", "c1|fc_1", "c+2|x/_", "c3|notfc"),
    "id-item-empty": called("Call or item is empty.", "c1|", "|fc_1", "|"),
    "id-item-many": called("More than two parts.", "c1|fc_1|x", "c2||fc_2"),
    "id-item-long": called("Long parts.", LONG + "|fc_1", "c1|fc_" + LONG, LONG + "|" + LONG),
    "id-item-lengths": called(
        "Parts that make 40 and 41 characters.",
        "c" * 20 + "|" + "f" * 19,
        "c" * 20 + "|" + "f" * 20,
    ),
    "id-item-odd": called(
        "Odd characters in both parts.", "cä|fc_ö", "\U0001f34e|\U0001f350", "c_|fc__"
    ),
    "id-item-own": called(
        "The own model's ids are left alone.", "c+1|fc_1", LONG + "|x", model=RESPONSES
    ),
    "id-item-openai": called("The ids of OpenAI itself.", "c1|fc_1", "c+2|x", model=OPENAI),
    "id-item-openai-other-model": called(
        "Another model of the same provider and api.",
        "c1|fc_1",
        "c2|x",
        "c3",
        model={**OPENAI, "model": "gpt-z"},
    ),
    "id-anthropic": called("Ids of Anthropic.", "toolu_01", "toolu_" + LONG, model=ANTHROPIC),
    "id-clash": called("Two ids become one.", "c+1", "c/1"),
    "rename-own-after": renamed("A renamed id is used by the own model later.", own_first=False),
    "rename-own-before": renamed("An own id is renamed later.", own_first=True),
    "image-one": pictures("One picture.", IMAGE),
    "image-run": pictures(
        "A run of pictures makes one text.", IMAGE, IMAGE, text_block("Two."), IMAGE
    ),
    "image-placeholder": pictures(
        "The text stands there already.", PLACE_USER, IMAGE, PLACE_TOOL, IMAGE
    ),
    "image-empty-text": pictures("An empty text parts two runs.", IMAGE, text_block(""), IMAGE),
    "image-unknown-block": pictures(
        "A block of unknown type parts two runs.", IMAGE, {"type": "video"}, IMAGE
    ),
    "stop-error": stopped("A failed reply is dropped.", "error"),
    "stop-aborted": stopped("An aborted reply is dropped.", "aborted"),
    "stop-length": stopped("A reply that was cut off is kept.", "length"),
    "stop-unknown": stopped("Any other reason is kept.", "weather"),
    "stop-missing": stopped("A missing reason is kept.", "stop", message={"stopReason": MISSING}),
    "stop-error-message": stopped(
        "A message of failure alone drops nothing.", "stop", message={"errorMessage": "x"}
    ),
    "content-null": stopped("A reply of null has no blocks.", "stop", message={"content": None}),
    "content-text": stopped(
        "A reply whose content is a text makes Pi fail.", "stop", message={"content": "Cox."}
    ),
    "orphan-call": steps("An open call is closed before the next user.", ("call", "a"), "u"),
    "orphan-call-reply": steps("An open call is closed before the next reply.", ("call", "a"), "a"),
    "orphan-call-end": steps("An open call is closed at the end.", ("call", "a")),
    "orphan-calls": steps("Open calls are closed in order.", ("call", "a", "b", "c"), "rb", "u"),
    "orphan-call-bash": steps("A command of the user's closes a call.", ("call", "a"), "b", "ra"),
    "orphan-call-note": steps("A note of an extension closes a call.", ("call", "a"), "n", "ra"),
    "orphan-call-error": steps(
        "A failed reply closes a call.", ("call", "a"), ("error", "b"), "ra"
    ),
    "orphan-result": steps("A result without a call stays.", "rz", "u"),
    "orphan-result-first": steps(
        "A result before its call is none of it.", "ra", ("call", "a"), "u"
    ),
    "orphan-result-twice": steps("A second result stays.", ("call", "a"), "ra", "ra", "u"),
    "orphan-result-late": steps("A result after a user comes too late.", ("call", "a"), "u", "ra"),
    "results-swapped": steps("Results keep their order.", ("call", "a", "b"), "rb", "ra", "u"),
    "aborted-call": steps(
        "The calls of an aborted reply do not count.", ("aborted", "a"), "ra", "u"
    ),
    "aborted-call-open": steps("They get no result.", ("aborted", "a"), "u"),
    "error-then-retry": steps(
        "A failed call is tried again.", ("error", "a"), ("call", "a"), "ra", "u"
    ),
    "duplicate-calls": steps(
        "One result serves two calls of one id.", ("call", "a", "a"), "ra", "u"
    ),
    "duplicate-calls-open": steps("Two calls of one id get two results.", ("call", "a", "a"), "u"),
    "duplicate-ids-later": steps(
        "An id is used in two replies.", ("call", "a"), "ra", ("call", "a"), "u"
    ),
    "held-before-result": steps(
        "A system message waits for the result.", ("call", "a"), "s", "ra", "u"
    ),
    "held-orphan": steps(
        "It waits behind the result of nobody.", ("call", "a"), "s", "ra", "rz", "u"
    ),
    "held-open": steps("It comes after the results made up.", ("call", "a", "b"), "s", "rb", "u"),
    "held-after-results": steps(
        "It waits even when all are answered.", ("call", "a"), "ra", "s", "rb", "u"
    ),
    "held-two": steps("Two keep their order.", ("call", "a"), "s", "s", "ra", "a"),
    "held-end": steps("It is let go at the end.", ("call", "a"), "s"),
    "held-error": steps(
        "It is let go before a failed reply.", ("call", "a"), "s", ("error", "b"), "u"
    ),
    "held-after-aborted": steps(
        "Behind an aborted call it does not wait.", ("aborted", "a"), "s", "ra", "u"
    ),
    "system-late": steps("Without open calls it stays where it is.", "a", "s", "u"),
}

"""What a request would be like under other rules, where the file leaves open which were in force.

A rule is told only where it matters: the request is built again with the other value, and where
nothing differs nothing is said. Rules that cannot touch a request are not tried.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context.payload.trace import Unknown
from pi_sessions.context.replay import block_type, reply_blocks
from pi_sessions.context.rules import Change, Rules, between, telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_sessions.context.message import ContextMessage
    from pi_sessions.context.target import Target
    from pi_sessions.context.writers import Writer

MANY = 6
"""Places that are named one by one."""
PROMPT = "not recorded: releases before 0.86.0 kept the prompt and the tools out of the file"
LEVEL = "not recorded: no entry before the reply names the thinking level; taken as off"
IDS = "made at random by the first releases"

_NEEDED: dict[str, frozenset[str]] = {
    name: frozenset(facts.split())
    for name, facts in {
        "foreign_thinking": "foreign thinking",
        "model_id_counts": "near",
        "drops_aborted": "aborted",
        "drops_failed": "failed",
        "answers_failed_calls": "failed calls",
        "unanswered": "calls",
        "unsigned_thinking": "anthropic-messages thinking",
        "keeps_empty_signed_thinking": "anthropic-messages thinking",
        "image_placeholders": "images blind",
        "attachments_again": "attachments",
        "empty_result": "results",
        "keeps_all_without_boundary": "summary",
        "drops_cut_replies": "summary",
        "strict_by_default": "openai-completions system",
        "developer_by_default": "openai-completions system",
        "chat_call_ids": "openai-completions foreign calls",
        "anthropic_call_ids": "anthropic-messages foreign calls",
        "responses_call_ids": "openai-responses foreign calls",
        "message_ids": "openai-responses replies",
        "responses_images_in_result": "openai-responses images",
        "chat_images_after_each_result": "openai-completions images",
        "chat_replies_as_blocks": "openai-completions replies",
        "summary_as_text": "summary",
        "tells_thinking_display": "anthropic-messages",
        "budgets_within_limit": "anthropic-messages",
        "responses_store": "openai-responses",
        "responses_cache_key": "openai-responses",
        "records_prompt": "never",
        "loads_named_session": "never",
        "counts_attempts": "never",
        "forks_have_their_turns": "never",
    }.items()
}
"""What a request must have for a rule to matter; other rules are always tried."""


class Alternative(msgspec.Struct, frozen=True):
    """Rules that may have been in force as well."""

    rules: Rules
    why: str
    """Which rule that is, and what it did, as a sentence."""


def alternatives(
    writer: Writer, rules: Rules, messages: Sequence[ContextMessage], target: Target
) -> Iterator[Alternative]:
    """Give the other values that each rule may have had for a request it can matter to.

    Args:
        writer: the releases that can have made the request.
        rules: those it was built by.
        messages: its LLM messages.
        target: its model.
    """
    changes = between(writer.oldest, writer.newest)
    if not changes:
        return
    facts = _facts(messages, target)
    seen: set[tuple[str, Any]] = set()
    for change in changes:
        if not _NEEDED.get(change.rule, frozenset()) <= facts:
            continue
        current = getattr(rules, change.rule)
        for (value, told), when in (
            (change.old, f"before {change.release}"),
            (change.new, f"from {change.release} on"),
        ):
            if value != current and (change.rule, value) not in seen:
                seen.add((change.rule, value))
                variant = msgspec.structs.replace(rules, **{change.rule: value})
                yield Alternative(variant, _why(change, told, when, rules))


def _why(change: Change, told: str, when: str, rules: Rules) -> str:
    taken = telling(change.rule, getattr(rules, change.rule))
    return f"rule {change.rule} ({change.what}): {when} {told}; taken here: {taken}"


def _facts(messages: Sequence[ContextMessage], target: Target) -> frozenset[str]:
    """Say what there is in a request that rules act on."""
    found = {target.api}
    if not target.takes_images:
        found.add("blind")
    for message in messages:
        role, value = message.role, message.value
        if role == "assistant":
            found.update(_reply_facts(value, target))
        elif role == "system":
            found.add("system")
        elif role == "toolResult":
            found.add("results")
        elif "attachments" in value:
            found.add("attachments")
        elif role == "user" and "summary" not in found and _is_summary(value):
            found.add("summary")
        if role in ("user", "toolResult") and "images" not in found:
            blocks = value.get("content")
            if isinstance(blocks, list) and any(block_type(block) == "image" for block in blocks):
                found.add("images")
    return frozenset(found)


def _reply_facts(value: dict[str, Any], target: Target) -> Iterator[str]:
    yield "replies"
    if not target.wrote(value):
        yield "foreign"
        if target.served(value):
            yield "near"
    stop = value.get("stopReason")
    if stop in ("error", "aborted"):
        yield "failed" if stop == "error" else "aborted"
    for block in reply_blocks(value):
        kind = block_type(block)
        if kind == "toolCall":
            yield "calls"
        elif kind == "thinking":
            yield "thinking"


def _is_summary(value: dict[str, Any]) -> bool:
    content = value.get("content")
    text = content[0].get("text") if isinstance(content, list) and content else content
    return isinstance(text, str) and "<summary>" in text


def differing(ours: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Give the pointers of the parts of a body that another does not have, or has otherwise."""
    found: list[str] = []
    for key in {**ours, **other}:
        mine, theirs = ours.get(key), other.get(key)
        if mine == theirs and (key in ours) == (key in other):
            continue
        if isinstance(mine, list) and isinstance(theirs, list):
            found += _differing_parts(f"/{key}", mine, theirs)
        else:
            found.append(f"/{key}")
    return found


def _differing_parts(pointer: str, ours: list[Any], other: list[Any]) -> list[str]:
    start = 0
    while start < min(len(ours), len(other)) and ours[start] == other[start]:
        start += 1
    end, end_of_other = len(ours), len(other)
    while min(end, end_of_other) > start and ours[end - 1] == other[end_of_other - 1]:
        end, end_of_other = end - 1, end_of_other - 1
    if end == start:
        # The other has something more, here.
        return [f"{pointer}/{start}"]
    if end != end_of_other:
        lacking = [n for n in range(start, end) if ours[n] not in other[start:end_of_other]]
        return [f"{pointer}/{n}" for n in lacking or range(start, end)]
    found: list[str] = []
    for place in range(start, end):
        mine, theirs = ours[place], other[place]
        if mine == theirs:
            continue
        content, others = (_content(part) for part in (mine, theirs))
        if content and others and len(content) == len(others):
            found += _differing_parts(f"{pointer}/{place}/content", content, others)
        else:
            found.append(f"{pointer}/{place}")
    return found


def _content(part: Any) -> list[Any]:
    content = part.get("content") if isinstance(part, dict) else None
    return content if isinstance(content, list) else []


def listed(places: Sequence[Any]) -> str:
    """Name places, the first few one by one."""
    named = ", ".join(map(str, places[:MANY]))
    return named if len(places) <= MANY else f"{named} and {len(places) - MANY} more"


def unrecorded(
    body: Mapping[str, Any], messages: Sequence[ContextMessage], rules: Rules, *, has_level: bool
) -> Iterator[Unknown]:
    """Tell what a request of old had that no release of its day put into the file."""
    conversation = "/input" if "input" in body else "/messages"
    if not rules.records_prompt and not any(message.role == "system" for message in messages):
        is_chat = "stream_options" in body or "input" in body
        yield Unknown(f"{conversation}/0" if is_chat else "/system", PROMPT)
        yield Unknown("/tools", PROMPT)
    if not has_level:
        yield Unknown("/thinking" if "max_tokens" in body else "/reasoning", LEVEL)
    if rules.message_ids == "random":
        for place, item in enumerate(body.get("input", ())):
            if item.get("type") == "message" and re.fullmatch(r"msg_\d+", str(item.get("id"))):
                yield Unknown(f"/input/{place}/id", IDS)


def common(pointers: Sequence[str]) -> str:
    """Give the pointer of what holds all of some places: the place itself where it is one."""
    if len(pointers) == 1:
        return pointers[0]
    shared: list[str] = []
    for parts in zip(*(pointer.split("/") for pointer in pointers), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared)

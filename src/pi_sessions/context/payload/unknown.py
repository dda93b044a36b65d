"""The fields of a body that the session does not decide, and what they hang on instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.model import Found
from pi_sessions.context.payload.draft import blocks_of
from pi_sessions.context.payload.failures import failures
from pi_sessions.context.payload.thinking import OFF
from pi_sessions.context.payload.trace import FAILS, Unknown
from pi_sessions.context.prompt import added_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.payload.draft import Draft

CODEMODE = "codemode"
"""The tool that runs scripts, which call the other tools."""
_SURE = frozenset({"model", "messages", "input", "stream", "thread"})
"""Fields of a body that do not hang on the model's configuration as a whole."""
_MODEL_FIELDS = frozenset(
    {
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "thinking",
        "output_config",
        "reasoning",
        "reasoning_effort",
    }
)
"""Fields that change when a catalogue does."""
_THINKING = {
    "openai-completions": "reasoning_effort",
    "anthropic-messages": "thinking",
    "openai-responses": "reasoning",
}
_SPELT = frozenset(
    {
        "read",
        "write",
        "edit",
        "bash",
        "grep",
        "glob",
        "askuserquestion",
        "enterplanmode",
        "exitplanmode",
        "killshell",
        "notebookedit",
        "skill",
        "task",
        "taskoutput",
        "todowrite",
        "webfetch",
        "websearch",
    }
)
"""Tools that have a spelling of their own with a sign-in to Anthropic."""
_NOT_SIGNED_IN = ("prompt_cache_retention", "prompt_cache_options", "max_output_tokens")
"""Fields that a request with a ChatGPT sign-in does not have."""
_BUDGETS = ("thinking_token_budget", "thinking_budget", "thinking_budget_tokens")


def unknown_fields(draft: Draft, body: dict[str, Any]) -> list[Unknown]:
    """Tell what a body hangs on besides the session: the model, settings, a process' memory."""
    found = [Unknown("", f"{FAILS}: {why}") for why in failures(draft)]
    found += [*_on_model(draft, body), *_on_settings(draft, body), *_on_login(draft, body)]
    if "thread" in body:
        why = (
            "the request may have continued a thread with only the new messages, without prompt "
            "and tools; only the process knew, and the model has the whole before it either way"
        )
        found.append(Unknown("/thread", why))
    return found


def _on_model(draft: Draft, body: dict[str, Any]) -> Iterator[Unknown]:
    model = draft.model
    if model.found is Found.NOWHERE:
        why = f"{model.provider}/{model.id} is configured nowhere: defaults of a custom model"
        for key in body:
            if key not in _SURE:
                yield Unknown(f"/{key}", why)
        thinking = _THINKING[model.api]
        if draft.options.thinking_level != OFF and thinking not in body:
            yield Unknown(f"/{thinking}", why)
        if _has_images(draft):
            yield Unknown(_conversation(body), f"{why}, which take no pictures")
    elif model.found in (Found.CATALOGUE, Found.STORE):
        for key in body:
            if key in _MODEL_FIELDS:
                yield Unknown(f"/{key}", "by today's catalogue, perhaps newer than the session")
    if model.configured_api:
        yield Unknown("", f"the model is configured for {model.configured_api} by now")


def _on_settings(draft: Draft, body: dict[str, Any]) -> Iterator[Unknown]:
    options = draft.options
    if options.cache_retention is None:
        why = "hangs on PI_CACHE_RETENTION of the process; taken as short"
        if draft.model.api != "anthropic-messages":
            yield Unknown("/prompt_cache_retention", why)
        elif "system" in body:
            yield Unknown("/system/0/cache_control", why)
        if draft.model.api == "openai-completions" and "prompt_cache_key" not in body:
            yield Unknown("/prompt_cache_key", why)
    if options.thinking_budgets is None:
        why = "hangs on the setting thinkingBudgets; taken as the defaults"
        thinking = body.get("thinking")
        if isinstance(thinking, dict) and "budget_tokens" in thinking:
            yield Unknown("/thinking/budget_tokens", why)
            yield Unknown("/max_tokens", why)
        for key in _BUDGETS:
            if key in body:
                yield Unknown(f"/{key}", why)
    if options.block_images is None and _has_images(draft):
        yield Unknown(_conversation(body), "hangs on the setting images.blockImages; taken as off")
    if options.codemode_only is None and _has_codemode(draft):
        yield Unknown("/tools", "hangs on the setting codemode.mode; taken as on")
    elif options.codemode_only and _has_codemode(draft):
        yield Unknown("/tools", "codemode.mode hides tools; which, extensions have a say in")


def _on_login(draft: Draft, body: dict[str, Any]) -> Iterator[Unknown]:
    """Tell what another kind of credential changes; bodies are those of an API key."""
    model = draft.model
    if model.api == "anthropic-messages" and model.provider == "anthropic":
        why = "with a sign-in (OAuth) a block of its own leads the prompt; taken as an API key"
        yield Unknown("/system", why)
        if any(tool["name"].lower() in _SPELT for tool in _tools(draft)):
            why = "with a sign-in (OAuth) Pi says Read for read; taken as an API key"
            yield Unknown("/tools", why)
    if model.api == "anthropic-messages" and _prefers_strict(draft, body):
        why = "without strict once a process was told that they are too large; taken as not told"
        yield Unknown("/tools", why)
    if (
        model.api == "openai-responses"
        and model.provider == "openai"
        and model.base_url == "https://api.openai.com/v1"
    ):
        why = "not sent with a ChatGPT sign-in; taken as an API key"
        for key in _NOT_SIGNED_IN:
            if key in body:
                yield Unknown(f"/{key}", why)
        if body["input"] and body["input"][-1].get("type") == "configuration_update":
            why = "with a ChatGPT sign-in the effort is told here alone; taken as an API key"
            yield Unknown("/reasoning", why)


def _conversation(body: dict[str, Any]) -> str:
    return "/input" if "input" in body else "/messages"


def _has_images(draft: Draft) -> bool:
    return any(
        message.value["role"] in ("user", "toolResult")
        and any(block.get("type") == "image" for block in blocks_of(message))
        for message in draft.messages
    )


def _has_codemode(draft: Draft) -> bool:
    return any(tool["name"] == CODEMODE for tool in _tools(draft))


def _prefers_strict(draft: Draft, body: dict[str, Any]) -> bool:
    """Say whether tools are sent strict that need not be."""
    strict = {tool["name"] for tool in body.get("tools", ()) if tool.get("strict")}
    return any(
        tool["name"] in strict and tool["constrainedSampling"].get("strict") == "prefer"
        for tool in _tools(draft)
        if isinstance(tool.get("constrainedSampling"), dict)
    )


def _tools(draft: Draft) -> Iterator[dict[str, Any]]:
    """Give every tool that is declared somewhere."""
    for message in draft.messages:
        if message.value["role"] == "system":
            yield from added_tools(message.value)

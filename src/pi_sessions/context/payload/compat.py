"""The compatibility flags of one API, every one resolved: configured, else by host, else default.

Flags that change only headers are not kept. Rules: docs/requests.md,
"What the file does not decide".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pi_sessions.context.rules import CURRENT, Rules

if TYPE_CHECKING:
    from pi_sessions.context.model import Model


class CompletionsCompat(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Flags of the chat completions API."""

    supports_store: bool = True
    supports_developer_role: bool = False
    supports_reasoning_effort: bool = True
    supports_usage_in_streaming: bool = True
    max_tokens_field: str = "max_completion_tokens"
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    requires_non_null_assistant_content: bool = False
    requires_tools_with_tool_history: bool = False
    requires_thinking_as_text: bool = False
    requires_reasoning_content_on_assistant_messages: bool = False
    thinking_format: str = "openai"
    open_router_routing: Any = None
    vercel_gateway_routing: Any = None
    chat_template_kwargs: Mapping[str, Any] = msgspec.field(default_factory=dict)
    chat_template_args: Mapping[str, Any] = msgspec.field(default_factory=dict)
    zai_tool_stream: bool = False
    supports_thinking_token_budget: bool = False
    thinking_token_budget_field: str = ""
    supports_strict_mode: bool = False
    supports_grammar_tools: bool = msgspec.field(default=False, name="supportsOpenAIGrammarTools")
    supports_mid_convo_system_messages: bool = False
    supports_mid_convo_tool_additions: bool = False
    cache_control_format: str = ""
    supports_long_cache_retention: bool = True
    prompt_cache_key_mode: str = "auto"
    vllm_priority: float | None = None


class AnthropicCompat(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Flags of Anthropic's messages API."""

    supports_eager_tool_input_streaming: bool = True
    supports_cache_control_on_tools: bool = True
    supports_long_cache_retention: bool = True
    force_adaptive_thinking: bool = False
    supports_mid_convo_effort: bool = False
    allow_empty_signature: bool = False
    supports_strict_tools: bool = False
    supports_mid_convo_system_messages: bool = False
    supports_mid_convo_tool_changes: bool = False
    supports_message_threads: bool = False
    allowed_fallback_models: list[Any] = msgspec.field(default_factory=list)


class ResponsesCompat(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Flags of OpenAI's responses API."""

    supports_developer_role: bool = True
    supports_mid_convo_system_messages: bool = False
    supports_additional_tools: bool = False
    supports_tool_search: bool = False
    supports_strict_mode: bool = False
    supports_grammar_tools: bool = msgspec.field(default=False, name="supportsOpenAIGrammarTools")
    prompt_cache_key_mode: str = "auto"
    supports_long_cache_retention: bool = True
    supports_explicit_prompt_cache_mode: bool = False
    supports_max_output_tokens: bool = True
    supports_mid_convo_effort: bool = False


_REFUSALS = (msgspec.ValidationError, UnicodeEncodeError)
"""What a wrong value is refused with; the second where it is an unpaired surrogate."""
_Compat = TypeVar("_Compat", CompletionsCompat, AnthropicCompat, ResponsesCompat)


def completions_compat(model: Model, rules: Rules = CURRENT) -> CompletionsCompat:
    """Resolve the flags of a chat model."""
    return _resolved(CompletionsCompat, model, _chat_host(model, rules))


def anthropic_compat(model: Model) -> AnthropicCompat:
    """Resolve the flags of an Anthropic model; its own host has message threads."""
    host = {"supportsMessageThreads": "api.anthropic.com" in model.base_url}
    return _resolved(AnthropicCompat, model, host)


def responses_compat(model: Model) -> ResponsesCompat:
    """Resolve the flags of a responses model; no host is special here."""
    return _resolved(ResponsesCompat, model, {})


def _resolved(kind: type[_Compat], model: Model, host: dict[str, Any]) -> _Compat:
    flags = {key: value for key, value in model.compat.items() if value is not None}
    try:
        return msgspec.convert({**host, **flags}, kind)
    except _REFUSALS:
        # A flag of a wrong type can only come from a caller's own mapping: take what fits.
        return msgspec.convert({**host, **_fitting(kind, flags)}, kind)


def _fitting(kind: type[Any], flags: dict[str, Any]) -> dict[str, Any]:
    fitting = {}
    for key, value in flags.items():
        try:
            msgspec.convert({key: value}, kind)
        except _REFUSALS:
            continue
        fitting[key] = value
    return fitting


_HOSTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("openai", ("openai",), ("api.openai.com",)),
    ("zai", ("zai", "zai-coding-cn"), ("api.z.ai", "open.bigmodel.cn")),
    ("together", ("together",), ("api.together.ai", "api.together.xyz")),
    ("moonshot", ("moonshotai", "moonshotai-cn"), ("api.moonshot.",)),
    ("openrouter", ("openrouter",), ("openrouter.ai",)),
    ("workers-ai", ("cloudflare-workers-ai",), ("api.cloudflare.com",)),
    ("ai-gateway", ("cloudflare-ai-gateway",), ("gateway.ai.cloudflare.com",)),
    ("nvidia", ("nvidia",), ("integrate.api.nvidia.com",)),
    ("ant-ling", ("ant-ling",), ("api.ant-ling.com",)),
    ("cerebras", ("cerebras",), ("cerebras.ai",)),
    ("xai", ("xai",), ("api.x.ai",)),
    ("chutes", (), ("chutes.ai",)),
    ("opencode", ("opencode",), ("opencode.ai",)),
)
"""Hosts by name: the provider ids and the parts of a URL that mean them."""

_STANDARD = frozenset({"openai", "openrouter"})
"""Hosts that take `store`."""
_OLD_LIMIT = frozenset(
    {"chutes", "deepseek", "moonshot", "ai-gateway", "together", "nvidia", "ant-ling", "zai"}
)
_NO_EFFORT = frozenset({"xai", "zai", "moonshot", "together", "ai-gateway", "nvidia", "ant-ling"})
_SHORT_CACHE = frozenset({"together", "workers-ai", "ai-gateway", "nvidia", "ant-ling"})
_FORMATS = ("deepseek", "zai", "together", "ant-ling", "openrouter")
"""Hosts with a form of thinking parameters of their own; the first that matches counts."""


def _chat_host(model: Model, rules: Rules) -> dict[str, Any]:
    """Give the flags that hang on the host; several hosts may match, each refusal counts."""
    provider, url = model.provider, model.base_url
    hosts = {
        name
        for name, providers, parts in _HOSTS
        if provider in providers or any(part in url for part in parts)
    }
    if provider == "deepseek" or "deepseek.com" in url.lower():
        hosts.add("deepseek")
    through_openrouter = provider == "openrouter" and model.id.startswith("anthropic/")
    return {
        "supportsStore": hosts <= _STANDARD,
        "supportsDeveloperRole": "openai" in hosts or (rules.developer_by_default and not hosts),
        "supportsStrictMode": rules.strict_by_default and not hosts,
        "supportsReasoningEffort": hosts.isdisjoint(_NO_EFFORT),
        "maxTokensField": "max_completion_tokens" if hosts.isdisjoint(_OLD_LIMIT) else "max_tokens",
        "requiresReasoningContentOnAssistantMessages": "deepseek" in hosts,
        "thinkingFormat": next((name for name in _FORMATS if name in hosts), "openai"),
        "cacheControlFormat": "anthropic" if through_openrouter else "",
        "supportsLongCacheRetention": hosts.isdisjoint(_SHORT_CACHE),
    }

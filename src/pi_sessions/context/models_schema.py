"""The types a models.json must have: one wrong type and the reference ignores the whole file.

Only types are told here, unknown keys are fine; what the values mean is in `models`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from pi_sessions._javascript import has_lone_surrogates, without_lone_surrogates

Name = Annotated[str, Meta(min_length=1)]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
Fields = dict[str, Any]
Level = str | None | UnsetType
Flag = bool | UnsetType


class _Levels(Struct):
    off: Level = UNSET
    minimal: Level = UNSET
    low: Level = UNSET
    medium: Level = UNSET
    high: Level = UNSET
    xhigh: Level = UNSET
    max: Level = UNSET


class _LevelFields(Struct):
    off: Fields | UnsetType = UNSET
    minimal: Fields | UnsetType = UNSET
    low: Fields | UnsetType = UNSET
    medium: Fields | UnsetType = UNSET
    high: Fields | UnsetType = UNSET
    xhigh: Fields | UnsetType = UNSET
    max: Fields | UnsetType = UNSET


class _Rates(Struct, rename="camel"):
    input: float
    output: float
    cache_read: float
    cache_write: float


class _Tier(_Rates, rename="camel", kw_only=True):
    input_tokens_above: float


class _Cost(_Rates):
    tiers: list[_Tier] | UnsetType = UNSET


class _PartialCost(Struct, rename="camel"):
    input: float | UnsetType = UNSET
    output: float | UnsetType = UNSET
    cache_read: float | UnsetType = UNSET
    cache_write: float | UnsetType = UNSET
    tiers: list[_Tier] | UnsetType = UNSET


class _Resize(Struct, rename="camel"):
    max_width: Count | UnsetType = UNSET
    max_height: Count | UnsetType = UNSET
    max_bytes: Count | UnsetType = UNSET
    jpeg_quality: Annotated[int, Meta(ge=1, le=100)] | UnsetType = UNSET


class _Images(Struct, rename="camel"):
    resize: _Resize | UnsetType = UNSET
    max_per_message: Count | UnsetType = UNSET
    max_per_request: Count | UnsetType = UNSET


class _InputLimits(Struct, rename="camel"):
    max_request_bytes: Count | UnsetType = UNSET
    images: _Images | UnsetType = UNSET


class _PromptCache(Struct):
    short: Positive | UnsetType = UNSET
    long: Positive | UnsetType = UNSET


class _Percentiles(Struct):
    p50: float | UnsetType = UNSET
    p75: float | UnsetType = UNSET
    p90: float | UnsetType = UNSET
    p99: float | UnsetType = UNSET


class _Sort(Struct):
    by: str | UnsetType = UNSET
    partition: str | UnsetType | None = UNSET


class _Price(Struct):
    prompt: float | str | UnsetType = UNSET
    completion: float | str | UnsetType = UNSET
    image: float | str | UnsetType = UNSET
    audio: float | str | UnsetType = UNSET
    request: float | str | UnsetType = UNSET


class _OpenRouter(Struct):
    allow_fallbacks: Flag = UNSET
    require_parameters: Flag = UNSET
    data_collection: Literal["deny", "allow"] | UnsetType = UNSET
    zdr: Flag = UNSET
    enforce_distillable_text: Flag = UNSET
    order: list[str] | UnsetType = UNSET
    only: list[str] | UnsetType = UNSET
    ignore: list[str] | UnsetType = UNSET
    quantizations: list[str] | UnsetType = UNSET
    sort: str | _Sort | UnsetType = UNSET
    max_price: _Price | UnsetType = UNSET
    preferred_min_throughput: float | _Percentiles | UnsetType = UNSET
    preferred_max_latency: float | _Percentiles | UnsetType = UNSET


class _Vercel(Struct):
    only: list[str] | UnsetType = UNSET
    order: list[str] | UnsetType = UNSET


class _Variable(Struct, rename="camel"):
    variable: Literal["thinking.enabled", "thinking.effort", "thinking.budget"] = msgspec.field(
        name="$var"
    )
    omit_when_off: Flag = UNSET


class _Fallback(Struct):
    provider: Name
    model: Name
    cost: _Cost


Template = dict[str, str | float | bool | _Variable | None]


class _Compat(Struct, rename="camel"):
    """Flags of all APIs in one: a provider's flags are not bound to one API."""

    supports_store: Flag = UNSET
    supports_developer_role: Flag = UNSET
    supports_reasoning_effort: Flag = UNSET
    supports_usage_in_streaming: Flag = UNSET
    supports_finish_reason: Flag = UNSET
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | UnsetType = UNSET
    requires_tool_result_name: Flag = UNSET
    requires_assistant_after_tool_result: Flag = UNSET
    requires_non_null_assistant_content: Flag = UNSET
    requires_tools_with_tool_history: Flag = UNSET
    requires_thinking_as_text: Flag = UNSET
    requires_reasoning_content_on_assistant_messages: Flag = UNSET
    thinking_format: (
        Literal[
            "openai",
            "openrouter",
            "deepseek",
            "together",
            "baseten",
            "zai",
            "qwen",
            "chat-template",
            "qwen-chat-template",
            "string-thinking",
            "ant-ling",
        ]
        | UnsetType
    ) = UNSET
    chat_template_kwargs: Template | UnsetType = UNSET
    chat_template_args: Template | UnsetType = UNSET
    open_router_routing: _OpenRouter | UnsetType = UNSET
    vercel_gateway_routing: _Vercel | UnsetType = UNSET
    zai_tool_stream: Flag = UNSET
    supports_thinking_token_budget: Flag = UNSET
    thinking_token_budget_field: (
        Literal["thinking_token_budget", "thinking_budget", "thinking_budget_tokens"] | UnsetType
    ) = UNSET
    supports_strict_mode: Flag = UNSET
    supports_grammar_tools: Flag = msgspec.field(default=UNSET, name="supportsOpenAIGrammarTools")
    supports_mid_convo_system_messages: Flag = UNSET
    supports_mid_convo_tool_additions: Flag = UNSET
    cache_control_format: Literal["anthropic"] | UnsetType = UNSET
    send_session_affinity_headers: Flag = UNSET
    session_affinity_format: Literal["openai", "openai-nosession", "openrouter"] | UnsetType = UNSET
    prompt_cache_key_mode: Literal["auto", "enabled", "disabled"] | UnsetType = UNSET
    supports_long_cache_retention: Flag = UNSET
    vllm_priority: float | UnsetType = UNSET
    supports_additional_tools: Flag = UNSET
    supports_tool_search: Flag = UNSET
    supports_explicit_prompt_cache_mode: Flag = UNSET
    supports_mid_convo_effort: Flag = UNSET
    supports_max_output_tokens: Flag = UNSET
    supports_eager_tool_input_streaming: Flag = UNSET
    supports_cache_control_on_tools: Flag = UNSET
    supports_temperature: Flag = UNSET
    force_adaptive_thinking: Flag = UNSET
    allow_empty_signature: Flag = UNSET
    supports_strict_tools: Flag = UNSET
    supports_mid_convo_tool_changes: Flag = UNSET
    supports_message_threads: Flag = UNSET
    allowed_fallback_models: Annotated[list[_Fallback], Meta(max_length=3)] | UnsetType = UNSET
    image_input: Literal["assets", "images", "state-image-urls"] | UnsetType = UNSET
    send_image_opt_in_header: Flag = UNSET


class _Common(Struct, rename="camel", kw_only=True):
    """Keys that a model and an override share."""

    name: Name | UnsetType = UNSET
    reasoning: Flag = UNSET
    thinking_level_map: _Levels | UnsetType = UNSET
    input: list[Literal["text", "image"]] | UnsetType = UNSET
    input_limits: _InputLimits | UnsetType = UNSET
    prompt_cache: _PromptCache | UnsetType = UNSET
    context_window: Positive | UnsetType = UNSET
    max_tokens: Positive | UnsetType = UNSET
    sampling_params: Fields | UnsetType = UNSET
    sampling_params_by_thinking_level: _LevelFields | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    compat: _Compat | UnsetType = UNSET


class _Definition(_Common, rename="camel", kw_only=True):
    id: Name
    api: Name | UnsetType = UNSET
    base_url: Name | UnsetType = UNSET
    cost: _Cost | UnsetType = UNSET


class _Override(_Common, rename="camel", kw_only=True):
    cost: _PartialCost | UnsetType = UNSET


class _Provider(Struct, rename="camel"):
    name: Name | UnsetType = UNSET
    base_url: Name | UnsetType = UNSET
    api_key: Name | UnsetType = UNSET
    api: Name | UnsetType = UNSET
    oauth: Literal["radius"] | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    compat: _Compat | UnsetType = UNSET
    auth_header: Flag = UNSET
    models: list[_Definition] | UnsetType = UNSET
    model_overrides: dict[str, _Override] | UnsetType = UNSET


class _File(Struct):
    providers: dict[str, _Provider]
    schema: str | UnsetType = msgspec.field(default=UNSET, name="$schema")


def schema_error(value: Any) -> str:
    """Say what is wrong with a parsed models.json, "" if nothing is."""
    try:
        msgspec.convert(_plain(value), _File)
    except msgspec.ValidationError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deep"
    return ""


_NO_NUMBER = object()
"""Stands for what is beyond all doubles; the reference does not take it for a number."""


def _plain(value: Any) -> Any:
    """Copy a value for the check: our own kind of floats, and unpaired surrogates, stop it."""
    if isinstance(value, dict):
        return {without_lone_surrogates(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _NO_NUMBER
    if isinstance(value, str) and has_lone_surrogates(value):
        # Something must be left: names may not be empty.
        return without_lone_surrogates(value) or "?"
    return value

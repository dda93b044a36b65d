"""How a model's configuration is found, as measured with the reference's own functions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_sessions.context.model import Found, Model
from pi_sessions.context.models import (
    Catalogue,
    ModelsFile,
    chat_models,
    parse_models,
    parse_settings,
    resolve,
)
from pi_sessions.context.payload.compat import (
    anthropic_compat,
    completions_compat,
    responses_compat,
)

SHIPPED = {
    "id": "m1",
    "api": "anthropic-messages",
    "provider": "p",
    "baseUrl": "http://shipped",
    "reasoning": True,
    "input": ["text", "image"],
    "contextWindow": 9,
    "maxTokens": 3,
    "compat": {"supportsStore": False, "chatTemplateKwargs": {"a": 1}},
    "thinkingLevelMap": {"low": "L"},
}
CATALOGUE = Catalogue(shipped={"p": [SHIPPED]}, generated=100)


def configured(**provider: Any) -> ModelsFile:
    parsed = parse_models(json.dumps({"providers": {"p": provider}}))
    assert not parsed.error
    return parsed


def test_found_nowhere() -> None:
    found = resolve("p", "m", "openai-completions")
    assert found == Model(api="openai-completions", provider="p", id="m")
    assert (found.found, found.input, found.context_window, found.max_tokens, found.reasoning) == (
        Found.NOWHERE,
        ("text",),
        128_000,
        16_384,
        False,
    )


def custom(**fields: Any) -> str:
    return json.dumps({"providers": {"p": {"baseUrl": "u", "api": "a", "models": [fields]}}})


@pytest.mark.parametrize("price", ["1e-7", "0.0000005", "1e21", "1.5", "2"])
def test_prices_may_be_any_number(price: str) -> None:
    rates = {"input": "PRICE", "output": 1, "cacheRead": 0, "cacheWrite": 0}
    parsed = parse_models(custom(id="m", cost=rates).replace('"PRICE"', price))
    assert not parsed.error
    assert resolve("p", "m", config=parsed).found is Found.MODELS_JSON


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        (custom(id="m", name="\ud800"), False),
        (custom(id="\ud800", compat={"chatTemplateKwargs": {"\ud800": "\ud800"}}), False),
        (custom(id="m", input=["\ud800"]), True),
        (custom(id="m", compat={"supportsStore": "\ud800"}), True),
        (custom(id="m", contextWindow=5).replace("5", "1e999"), True),
        (custom(id="m", samplingParams={"x": 5}).replace("5", "1e999"), False),
        ('{"providers": {"p": {"\\ud800": 1}}}', False),
        ('{"providers": {}} // \ud800', False),
        ('{"providers": \ud800}', True),
        ('{"providers": {"p": {"odd": ' + "[" * 9000 + "]" * 9000 + "}}}", True),
    ],
)
def test_odd_texts_are_told_in_a_sentence(text: str, ignored: bool) -> None:
    parsed = parse_models(text)
    assert parsed.error.startswith("models.json is ignored") is ignored
    assert bool(parsed.providers) is not ignored or text.endswith("\ud800")


def test_odd_settings_are_told_in_a_sentence() -> None:
    assert parse_settings("\ud800").error.startswith("settings.json is ignored")


def test_a_provider_changes_its_shipped_models() -> None:
    config = configured(
        baseUrl="http://mine", api="openai-responses", compat={"supportsStore": True}
    )
    found = resolve("p", "m1", config=config, catalogue=CATALOGUE)
    assert (found.api, found.base_url, found.found) == (
        "anthropic-messages",
        "http://mine",
        Found.CATALOGUE,
    )
    assert found.compat == {"supportsStore": True, "chatTemplateKwargs": {"a": 1}}


def test_a_custom_model_takes_the_place_of_a_shipped_one() -> None:
    found = resolve("p", "m1", config=configured(models=[{"id": "m1"}]), catalogue=CATALOGUE)
    assert (found.api, found.base_url) == ("anthropic-messages", "http://shipped")
    assert (found.reasoning, found.input, found.compat) == (False, ("text",), {})


def test_overrides_come_last_and_merge() -> None:
    override = {
        "maxTokens": 5,
        "thinkingLevelMap": {"high": None},
        "compat": {"chatTemplateKwargs": {"b": 2}},
        "samplingParamsByThinkingLevel": {"low": {"t": 1}},
    }
    config = configured(modelOverrides={"m1": override, "other": {}})
    found = resolve("p", "m1", config=config, catalogue=CATALOGUE)
    assert found.max_tokens == 5
    assert found.thinking_level_map == {"low": "L", "high": None}
    assert found.compat["chatTemplateKwargs"] == {"a": 1, "b": 2}
    assert found.sampling_params_by_level == {"low": {"t": 1}}


@pytest.mark.parametrize(
    "provider",
    [
        {"models": [{"id": "m1"}, {"id": "n"}]},
        {"oauth": "radius", "compat": {"supportsStore": True}},
    ],
)
def test_a_provider_that_cannot_be_used_changes_nothing(provider: dict[str, Any]) -> None:
    config = configured(**provider)
    # Without a shipped model there is no API or URL to inherit.
    assert resolve("p", "n", config=config).found is Found.NOWHERE
    if "oauth" in provider:
        found = resolve("p", "m1", config=config, catalogue=CATALOGUE)
        assert found.compat == SHIPPED["compat"]


@pytest.mark.parametrize(
    ("modified", "reasoning"), [(None, True), (100, True), (101, False), ("x", True)]
)
def test_a_stored_catalogue_counts_if_it_is_newer(modified: Any, reasoning: bool) -> None:
    stored = {"models": [{**SHIPPED, "reasoning": False}], "lastModified": modified}
    catalogue = Catalogue(CATALOGUE.shipped, {"p": stored}, 100)
    assert resolve("p", "m1", catalogue=catalogue).reasoning is reasoning


def test_stored_models_of_others_and_other_kinds_are_ignored() -> None:
    models = [{**SHIPPED, "provider": "q", "id": "a"}, {**SHIPPED, "type": "image", "id": "b"}, 5]
    catalogue = Catalogue({}, {"p": {"models": models, "lastModified": 101}}, 100)
    assert resolve("p", "a", catalogue=catalogue).found is Found.NOWHERE
    assert resolve("p", "b", catalogue=catalogue).found is Found.NOWHERE


def test_the_stored_list_of_openrouter_replaces_the_shipped_one() -> None:
    shipped = {"openrouter": [{**SHIPPED, "provider": "openrouter"}]}
    stored = {"models": [{**SHIPPED, "provider": "openrouter", "id": "new"}]}
    catalogue = Catalogue(shipped, {"openrouter": stored}, 100)
    assert resolve("openrouter", "m1", catalogue=catalogue).found is Found.NOWHERE
    assert resolve("openrouter", "new", catalogue=catalogue).found is Found.STORE
    empty = Catalogue(shipped, {"openrouter": {"models": []}}, 100)
    assert resolve("openrouter", "m1", catalogue=empty).found is Found.CATALOGUE


def test_odd_catalogue_values_are_taken_for_missing() -> None:
    odd = {"id": "m1", "api": 5, "input": 3, "contextWindow": "x", "compat": [], "reasoning": 1}
    found = resolve("p", "m1", "a", catalogue=Catalogue({"p": [odd, {"id": 4}]}))
    assert (found.api, found.context_window, found.reasoning) == ("a", 128_000, False)


def test_another_api_than_the_configured_is_noted() -> None:
    found = resolve("p", "m1", "openai-responses", catalogue=CATALOGUE)
    assert (found.api, found.configured_api) == ("openai-responses", "anthropic-messages")


def test_chat_models_of_a_catalogue_file() -> None:
    file = {"anthropic-messages": {"chat:m1": SHIPPED, "image:m2": {}}, "odd": 5}
    assert chat_models(file) == [SHIPPED]


@pytest.mark.parametrize(
    "text",
    [
        '{"providers": {}, }',
        '\ufeff{"providers": {}}',
        '{"providers": {} // all of "them"\n}',
        '{"providers": {"a": {"name": "// no comment,}"}}}',
    ],
)
def test_models_files_that_are_read(text: str) -> None:
    assert parse_models(text).error == ""


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"providers": {} /* no */}',
        '{"providers": {"p": {"baseUrl": ""}}}',
        '{"providers": {"p": {"models": [{"id": "a", "reasoning": null}]}}}',
        '{"providers": {"p": {"models": [{"id": "a", "maxTokens": 0}]}}}',
        '{"providers": {"p": {"models": [{"id": "a", "cost": {"input": 1}}]}}}',
        '{"providers": {"p": {"compat": {"supportsStore": "yes"}}}}',
        '{"providers": {"p": {"compat": {"thinkingFormat": "odd"}}}}',
    ],
)
def test_models_files_that_are_ignored_as_a_whole(text: str) -> None:
    parsed = parse_models(text)
    assert parsed.error.startswith("models.json is ignored")
    assert not parsed.providers


def test_settings() -> None:
    user = '{"images": {"blockImages": true}, "thinkingBudgets": {"low": 1, "high": 2}}'
    project = '\ufeff{"thinkingBudgets": {"low": 3}, "codemode": {"mode": "only"}}'
    found = parse_settings(user, project)
    assert (found.block_images, found.codemode_only) == (True, True)
    assert found.thinking_budgets == {"low": 3, "high": 2}
    assert parse_settings("{").error
    assert parse_settings("[]") == parse_settings("{}")


@pytest.mark.parametrize(
    ("provider", "url", "store", "field", "effort", "form", "long"),
    [
        ("p", "http://h", True, "max_completion_tokens", True, "openai", True),
        ("openai", "http://h", True, "max_completion_tokens", True, "openai", True),
        ("zai", "http://h", False, "max_tokens", False, "zai", True),
        ("p", "https://api.together.xyz", False, "max_tokens", False, "together", False),
        ("p", "https://api.moonshot.cn", False, "max_tokens", False, "openai", True),
        ("p", "https://openrouter.ai/api", True, "max_completion_tokens", True, "openrouter", True),
        ("p", "https://api.cloudflare.com", False, "max_completion_tokens", True, "openai", False),
        ("cloudflare-ai-gateway", "http://h", False, "max_tokens", False, "openai", False),
        ("nvidia", "http://h", False, "max_tokens", False, "openai", False),
        ("ant-ling", "http://h", False, "max_tokens", False, "ant-ling", False),
        ("cerebras", "http://h", False, "max_completion_tokens", True, "openai", True),
        ("p", "https://API.DeepSeek.com", False, "max_tokens", True, "deepseek", True),
        ("xai", "http://h", False, "max_completion_tokens", False, "openai", True),
        ("p", "https://llm.chutes.ai", False, "max_tokens", True, "openai", True),
        ("p", "https://opencode.ai", False, "max_completion_tokens", True, "openai", True),
        ("opencode-go", "http://h", True, "max_completion_tokens", True, "openai", True),
        ("deepseek", "https://api.z.ai", False, "max_tokens", False, "deepseek", True),
    ],
)
def test_chat_hosts(
    provider: str, url: str, store: bool, field: str, effort: bool, form: str, long: bool
) -> None:
    compat = completions_compat(Model(api="c", provider=provider, id="m", base_url=url))
    assert (
        compat.supports_store,
        compat.max_tokens_field,
        compat.supports_reasoning_effort,
        compat.thinking_format,
        compat.supports_long_cache_retention,
    ) == (store, field, effort, form, long)
    assert compat.supports_developer_role is (provider == "openai")


def test_flags_win_over_hosts_and_null_does_not() -> None:
    flags = {"supportsStore": None, "thinkingFormat": "qwen", "odd": 1}
    model = Model(api="c", provider="zai", id="m", compat=flags)
    compat = completions_compat(model)
    assert (compat.supports_store, compat.thinking_format) == (False, "qwen")
    odd = Model(api="c", provider="p", id="m", compat={"supportsStore": "no", "vllmPriority": 1})
    assert completions_compat(odd).supports_store
    assert completions_compat(odd).vllm_priority == 1
    lone = Model(api="c", provider="p", id="m", compat={"supportsStore": "\ud800"})
    assert completions_compat(lone).supports_store


def test_the_other_apis() -> None:
    own = Model(api="a", provider="p", id="m", base_url="https://api.anthropic.com/v1")
    assert anthropic_compat(own).supports_message_threads
    assert responses_compat(own).supports_developer_role

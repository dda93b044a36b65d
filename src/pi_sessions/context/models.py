"""Find a model's configuration in what Pi keeps of models: models.json, its store, its catalogue.

Reads texts and objects that the caller has read; no file is opened here. Rules: docs/requests.md,
"Models".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any

import msgspec

from pi_sessions import _json
from pi_sessions.context.model import Found, Model
from pi_sessions.context.models_schema import schema_error

Entry = Mapping[str, Any]
"""A model as Pi stores it."""

_NESTED = ("openRouterRouting", "vercelGatewayRouting", "chatTemplateKwargs", "chatTemplateArgs")
"""Flags whose values are merged key by key."""
_LIVE = frozenset({"openrouter", "radius", "llama.cpp"})
"""Providers whose stored list takes the place of the catalogue."""
_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*')
_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(\s*[}\]])')


class ModelsFile(msgspec.Struct, frozen=True):
    """What a models.json configures."""

    providers: Mapping[str, Any] = msgspec.field(default_factory=dict)
    error: str = ""
    """Why the whole file is ignored, "" if it is not."""


class Catalogue(msgspec.Struct, frozen=True):
    """The models that come with Pi, and the newer ones it has stored."""

    shipped: Mapping[str, Sequence[Entry]] = msgspec.field(default_factory=dict)
    """Chat models by provider."""
    stored: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The content of models-store.json: `{models, lastModified, …}` by provider."""
    generated: float | None = None
    """When the shipped models were put together, in milliseconds; None if that is not known."""


class Preferences(msgspec.Struct, frozen=True):
    """The settings that a request hangs on."""

    block_images: bool = False
    thinking_budgets: Mapping[str, Any] = msgspec.field(default_factory=dict)
    codemode_only: bool = False
    error: str = ""
    """Why a file was ignored, "" if none was."""


def parse_models(text: str) -> ModelsFile:
    """Read a models.json: JSON that may have `//` comments, trailing commas and a BOM.

    As the reference does it, the whole file is ignored if anything in it is of a wrong type.
    """
    bare = _COMMENT.sub(_kept_string, text.removeprefix("\ufeff"))
    bare = _COMMA.sub(lambda match: match[1] or _kept_string(match), bare)
    try:
        value = _json.loads(_bytes(bare))
    except _json.JSONError as error:
        return ModelsFile(error=f"models.json is ignored, it is not JSON: {error}")
    if why := schema_error(value):
        return ModelsFile(error=f"models.json is ignored: {why}")
    return ModelsFile(value["providers"])


def _bytes(text: str) -> bytes:
    return text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")


def _kept_string(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else ""


def parse_settings(text: str, project_text: str | None = None) -> Preferences:
    """Read a settings.json, with the project's laid over it where that is trusted."""
    merged: dict[str, Any] = {}
    errors = []
    for source in (text, project_text):
        try:
            value = {} if source is None else _json.loads(_bytes(source))
        except _json.JSONError as error:
            errors.append(f"settings.json is ignored, it is not JSON: {error}")
        else:
            merged = _deep(merged, value) if isinstance(value, dict) else merged
    images, budgets, codemode = (
        value if isinstance(value := merged.get(key), dict) else {}
        for key in ("images", "thinkingBudgets", "codemode")
    )
    return Preferences(
        block_images=images.get("blockImages") is True,
        thinking_budgets=budgets,
        codemode_only=codemode.get("mode") == "only",
        error="; ".join(errors),
    )


def _deep(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[key] = _deep(before, value)
        else:
            merged[key] = value
    return merged


def chat_models(provider_file: Mapping[str, Any]) -> list[Entry]:
    """Give the chat models of one provider's file of the catalogue, by API and `chat:ID`."""
    return [
        model
        for by_key in provider_file.values()
        if isinstance(by_key, dict)
        for key, model in by_key.items()
        if key.startswith("chat:") and isinstance(model, dict)
    ]


def resolve(
    provider: str,
    model_id: str,
    api: str = "",
    *,
    config: ModelsFile | None = None,
    catalogue: Catalogue | None = None,
) -> Model:
    """Find a model; one that is configured nowhere has the defaults of a custom model.

    Args:
        provider: the provider's id.
        model_id: the model's id.
        api: the API it was asked through, where that is known; else the configured one counts.
        config: a models.json.
        catalogue: the models that Pi knows without it.
    """
    entries = _base(provider, catalogue or Catalogue())
    config = config or ModelsFile()
    if (settings := config.providers.get(provider)) is not None:
        entries = _configured(settings, entries)
    entry, found = entries.get(model_id, ({}, Found.NOWHERE))
    return _model(entry, provider, model_id, api, found)


_Entries = dict[str, tuple[Entry, Found]]


def _base(provider: str, catalogue: Catalogue) -> _Entries:
    """Give the models of a provider that need no configuration."""
    shipped: _Entries = {
        model["id"]: (model, Found.CATALOGUE)
        for model in catalogue.shipped.get(provider, ())
        if isinstance(model.get("id"), str)
    }
    saved = catalogue.stored.get(provider)
    if not isinstance(saved, dict) or not isinstance(saved.get("models"), list):
        return shipped
    stored: _Entries = {
        model["id"]: (model, Found.STORE)
        for model in saved["models"]
        if isinstance(model, dict)
        and isinstance(model.get("id"), str)
        and model.get("provider") == provider
        and model.get("type", "chat") == "chat"
    }
    if provider in _LIVE:
        return stored or shipped
    modified = saved.get("lastModified")
    is_newer = isinstance(modified, int | float) and (
        catalogue.generated is None or modified > catalogue.generated
    )
    return {**shipped, **stored} if is_newer else shipped


def _configured(settings: Entry, base: _Entries) -> _Entries:
    """Lay a provider's configuration over its models; one that cannot be used changes nothing."""
    has_login = "oauth" in settings
    if has_login and "baseUrl" not in settings:
        return base
    entries: _Entries = {}
    moved = None if has_login else settings.get("baseUrl")
    for model_id, (model, found) in base.items():
        changed = {**model, "compat": _merged(model.get("compat"), settings.get("compat"))}
        entries[model_id] = ({**changed, "baseUrl": moved} if moved else changed, found)
    for definition in settings.get("models", ()):
        defined = _defined(definition, settings, entries)
        if defined is None:
            return base
        entries[definition["id"]] = (defined, Found.MODELS_JSON)
    for model_id, override in settings.get("modelOverrides", {}).items():
        if model_id in entries:
            entries[model_id] = (_overridden(entries[model_id][0], override), Found.MODELS_JSON)
    return entries


def _defined(definition: Entry, settings: Entry, entries: _Entries) -> Entry | None:
    """Complete the definition of a custom model, None if it has no API or no URL."""
    api = definition.get("api") or settings.get("api")
    base = _like(definition["id"], api, [entry for entry, _ in entries.values()])
    api = api or base.get("api")
    url = definition.get("baseUrl") or settings.get("baseUrl") or base.get("baseUrl")
    if not api or not url:
        return None
    compat = _merged(settings.get("compat"), definition.get("compat"))
    return {**definition, "api": api, "baseUrl": url, "compat": compat}


def _like(model_id: str, api: Any, entries: Sequence[Entry]) -> Entry:
    """Find the model that a definition takes its API and URL from."""
    tests = (
        lambda entry: entry.get("id") == model_id,
        lambda entry: bool(api) and entry.get("api") == api,
        lambda entry: entry.get("api") == "openai-completions",
        lambda _: True,
    )
    return next((entry for test in tests for entry in entries if test(entry)), {})


def _overridden(model: Entry, override: Entry) -> Entry:
    result = dict(model)
    for key in ("reasoning", "input", "contextWindow", "maxTokens"):
        if key in override:
            result[key] = override[key]
    for key in ("thinkingLevelMap", "samplingParams"):
        if key in override:
            result[key] = {**(model.get(key) or {}), **override[key]}
    levels = dict(model.get("samplingParamsByThinkingLevel") or {})
    for level, params in override.get("samplingParamsByThinkingLevel", {}).items():
        levels[level] = {**levels.get(level, {}), **params}
    result["samplingParamsByThinkingLevel"] = levels
    result["compat"] = _merged(model.get("compat"), override.get("compat"))
    return result


def _merged(base: Any, over: Any) -> dict[str, Any]:
    """Merge flags, later ones winning; a few whose values are objects are merged one level down."""
    base, over = base or {}, over or {}
    merged = {**base, **over}
    for key in _NESTED:
        values = [flags.get(key) for flags in (base, over)]
        if over and any(isinstance(value, dict) for value in values):
            merged[key] = {
                inner: item
                for value in values
                if isinstance(value, dict)
                for inner, item in value.items()
            }
    return merged


_KEYS: dict[str, tuple[str, type | UnionType]] = {
    "reasoning": ("reasoning", bool),
    "context_window": ("contextWindow", int | float),
    "max_tokens": ("maxTokens", int | float),
    "thinking_level_map": ("thinkingLevelMap", dict),
    "sampling_params": ("samplingParams", dict),
    "sampling_params_by_level": ("samplingParamsByThinkingLevel", dict),
    "compat": ("compat", dict),
    "base_url": ("baseUrl", str),
}
"""The key of each field, and the type it must have: catalogues are not checked as a whole."""


def _model(entry: Entry, provider: str, model_id: str, api: str, found: Found) -> Model:
    given: dict[str, Any] = {
        name: entry[key] for name, (key, kind) in _KEYS.items() if isinstance(entry.get(key), kind)
    }
    accepted = entry.get("input")
    if isinstance(accepted, list | tuple):
        given["input"] = tuple(accepted)
    configured = entry.get("api")
    configured = configured if isinstance(configured, str) else ""
    return Model(
        api=api or configured,
        provider=provider,
        id=model_id,
        found=found,
        configured_api=configured if api and configured != api else "",
        **given,
    )

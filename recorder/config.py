"""The made-up providers and the settings of the recordings.

Three providers, one for each API, each with a plain model and some whose compat flags change the
form of a request. Names are trees; costs are dollars for a million tokens.
"""

from __future__ import annotations

from typing import Any

FIXED_PORT = 48080
"""Stands for the real port in a written models.json."""


def _model(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
        "contextWindow": 200000,
        "maxTokens": 8192,
    } | fields


PROVIDERS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "birch": (
        "openai-completions",
        "/v1",
        [
            _model("birch-1"),
            _model("birch-plain", reasoning=False),
            _model("birch-text", input=["text"]),
            _model("birch-small", reasoning=False, contextWindow=9000, maxTokens=1024),
            _model(
                "birch-mid",
                compat={
                    "supportsMidConvoSystemMessages": True,
                    "supportsMidConvoToolAdditions": True,
                },
            ),
            _model("birch-strict", compat={"supportsStrictMode": True}),
            _model(
                "birch-grammar",
                compat={"supportsStrictMode": True, "supportsOpenAIGrammarTools": True},
            ),
        ],
    ),
    "larch": (
        "anthropic-messages",
        "",
        [
            _model("larch-1"),
            _model("larch-text", input=["text"]),
            _model(
                "larch-mid",
                compat={
                    "supportsMidConvoSystemMessages": True,
                    "supportsMidConvoToolChanges": True,
                },
            ),
            _model("larch-strict", compat={"supportsStrictTools": True}),
        ],
    ),
    "cedar": (
        "openai-responses",
        "/v1",
        [
            _model("cedar-1"),
            _model("cedar-2"),
            _model("cedar-text", input=["text"]),
            _model(
                "cedar-mid",
                compat={
                    "supportsMidConvoSystemMessages": True,
                    "supportsAdditionalTools": True,
                },
            ),
            _model(
                "cedar-search",
                compat={"supportsMidConvoSystemMessages": True, "supportsToolSearch": True},
            ),
            _model(
                "cedar-grammar",
                compat={"supportsStrictMode": True, "supportsOpenAIGrammarTools": True},
            ),
        ],
    ),
}


def models(port: int, wanted: frozenset[str] | None = None) -> dict[str, Any]:
    """The models.json for a server on this port; ``wanted`` limits it to models by name."""
    providers = {}
    for provider, (api, path, offered) in PROVIDERS.items():
        chosen = [model for model in offered if wanted is None or model["id"] in wanted]
        if chosen:
            providers[provider] = {
                "baseUrl": f"http://127.0.0.1:{port}{path}",
                "apiKey": f"{provider}-key",
                "api": api,
                "models": chosen,
            }
    return {"providers": providers}


def settings(**changes: Any) -> dict[str, Any]:
    """The settings.json: quiet, no cache warming, quick retries."""
    return {
        "enableInstallTelemetry": False,
        "cacheWarming": "off",
        "retry": {"baseDelayMs": 20},
    } | changes

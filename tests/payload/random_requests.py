"""Random requests, as the oracle takes them, and the bodies we build for them."""

from __future__ import annotations

from typing import Any

from payload.generated import Generator
from pi_sessions import _json
from pi_sessions.context import payload
from pi_sessions.context.message import ContextMessage
from pi_sessions.context.model import Found, Model


def cases(api: str, seed: int, count: int) -> list[dict[str, Any]]:
    """Make cases, read as a session is; "off" is told by leaving the level out, as Pi does it."""
    generator = Generator(seed)
    found = [_json.loads(_json.dumps(generator.case(api)).encode()) for _ in range(count)]
    for case in found:
        if case["options"]["reasoning"] == "off":
            del case["options"]["reasoning"]
    return found


def messages(case: dict[str, Any]) -> list[ContextMessage]:
    """Give the messages of a case; the first stands in line 1."""
    return [ContextMessage(value, line) for line, value in enumerate(case["messages"], 1)]


def build(case: dict[str, Any]) -> payload.Payload:
    stored, options = case["model"], case["options"]
    model = Model(
        api=stored["api"],
        provider=stored["provider"],
        id=stored["id"],
        base_url=stored["baseUrl"],
        reasoning=stored["reasoning"],
        input=tuple(stored["input"]),
        context_window=stored["contextWindow"],
        max_tokens=stored["maxTokens"],
        thinking_level_map=stored.get("thinkingLevelMap", {}),
        sampling_params=stored.get("samplingParams"),
        sampling_params_by_level=stored.get("samplingParamsByThinkingLevel", {}),
        compat=stored["compat"],
        found=Found.MODELS_JSON,
    )
    return payload.build(
        messages(case),
        model,
        payload.Options(
            thinking_level=options.get("reasoning", "off"),
            thinking_budgets=options["thinkingBudgets"],
            block_images=False,
            codemode_only=False,
            cache_retention=options["cacheRetention"],
            session_id=options["sessionId"],
        ),
    )

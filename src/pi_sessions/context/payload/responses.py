"""Request bodies of OpenAI's responses API.

Rules: docs/requests.md, "Responses".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.payload.compat import ResponsesCompat, responses_compat
from pi_sessions.context.payload.draft import (
    Built,
)
from pi_sessions.context.payload.responses_input import ResponsesInput
from pi_sessions.context.payload.telling import tell
from pi_sessions.context.payload.thinking import OFF, asked_level, effort, sampling_params
from pi_sessions.context.payload.tools import (
    Sampling,
    Support,
    declared,
    place_tools,
)
from pi_sessions.context.payload.trace import Part
from pi_sessions.context.payload.transcript import origin, resolve

if TYPE_CHECKING:
    from pi_sessions.context.payload.draft import Draft

_LEAST_OUTPUT = 16
"""Output limit below which the API refuses a request."""


def build_responses(draft: Draft) -> Built:
    """Build a body."""
    model, trace = draft.model, draft.trace
    compat = responses_compat(model)
    transcript = resolve(draft.messages, trace, in_place=compat.supports_mid_convo_system_messages)
    support = _support(compat)
    placement = place_tools(transcript, support, trace)
    sampling = Sampling(trace, compat.supports_strict_mode, compat.supports_grammar_tools)
    grammars = sampling.arguments(transcript.messages)
    prompt, level = transcript.prompt, draft.options.thinking_level
    replayed, input_ = tell(
        draft.course,
        (model, level, draft.options.rules, placement.folded, support, grammars, origin(prompt)),
        transcript.messages,
        model.target,
        lambda: ResponsesInput(
            draft, compat, sampling, grammars, (placement.folded, support, prompt)
        ),
        draft.options.rules,
    )
    input_.hand_over(trace)
    tools = declared(placement.listed, input_.declaration)
    body = _body(draft, compat, input_, tools)
    return Built(body, {"/input": input_.parts, "/tools": tools}, replayed)


def _support(compat: ResponsesCompat) -> Support:
    if compat.supports_mid_convo_system_messages and compat.supports_additional_tools:
        return Support.CHANGES
    return Support.ADDITIONS if compat.supports_tool_search else Support.NONE


def _body(
    draft: Draft, compat: ResponsesCompat, input_: ResponsesInput, tools: list[Part]
) -> dict[str, Any]:
    model, retention = draft.model, draft.options.retention
    level = asked_level(model, draft.options.thinking_level)
    body: dict[str, Any] = {
        "model": model.id,
        "input": [part.value for part in input_.parts],
        "stream": True,
    }
    rules = draft.options.rules
    cached = retention != "none" and compat.prompt_cache_key_mode != "disabled"
    cached = cached and rules.responses_cache_key
    if cached and draft.cache_key is not None:
        body["prompt_cache_key"] = draft.cache_key
    long = retention == "long" and compat.supports_long_cache_retention
    if compat.supports_explicit_prompt_cache_mode:
        if retention == "none":
            body["prompt_cache_options"] = {"mode": "explicit"}
        elif long:
            body["prompt_cache_options"] = {"ttl": "30m"}
    elif long:
        body["prompt_cache_retention"] = "24h"
    if rules.responses_store:
        body["store"] = False
    if compat.supports_max_output_tokens and rules.tells_output_limit:
        body["max_output_tokens"] = max(draft.limit, _LEAST_OUTPUT)
    if tools:
        body["tools"] = [tool.value for tool in tools]
    if model.reasoning:
        body |= _reasoning(draft, level, managed=input_.effort is not None)
    return body | sampling_params(model, level)


def _reasoning(draft: Draft, level: str, *, managed: bool) -> dict[str, Any]:
    """Give the fields of thinking.

    Args:
        draft: the request.
        level: the level, one that the model has.
        managed: whether the effort is told among the messages, so that it is fixed up here.
    """
    model = draft.model
    fields: dict[str, Any] = {}
    if level != OFF:
        asked = "medium" if managed else effort(model, level)
        fields["reasoning"] = {"effort": asked, "summary": "auto"}
    elif (
        draft.options.rules.tells_thinking_off
        and model.provider != "github-copilot"
        and model.thinking_level_map.get(OFF, "") is not None
    ):
        fields["reasoning"] = {"effort": model.thinking_level_map.get(OFF, "none")}
    if level != OFF or model.provider == "xai":
        fields["include"] = ["reasoning.encrypted_content"]
    return fields

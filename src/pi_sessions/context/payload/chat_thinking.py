"""The fields by which chat hosts are asked to think; every host has its own.

Rules: docs/requests.md, "Thinking".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.payload.thinking import OFF, effort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_sessions.context.model import Model
    from pi_sessions.context.payload.compat import CompletionsCompat

Fields = dict[str, Any]


def thinking_fields(
    model: Model, compat: CompletionsCompat, level: str, budget: float | None
) -> Fields:
    """Give the fields that ask a model for a thinking level, in the order they are sent.

    Args:
        model: the model.
        compat: its flags.
        level: the level, already one that the model has.
        budget: tokens for thinking, None if off or none are left.
    """
    if not model.reasoning:
        return {}
    asking = _Asking(model, compat, level, budget)
    fields = asking.fields()
    field = compat.thinking_token_budget_field
    if not field and compat.supports_thinking_token_budget:
        field = "thinking_token_budget"
    return {**fields, field: budget} if field and budget is not None else fields


class _Asking:
    """One level asked of one model."""

    def __init__(
        self, model: Model, compat: CompletionsCompat, level: str, budget: float | None
    ) -> None:
        self.names = model.thinking_level_map
        self.compat = compat
        self.level = level
        self.budget = budget
        self.on = level != OFF
        self.effort = effort(model, level)
        self.off_name = self.names.get(OFF)
        self.can_be_off = self.names.get(OFF, "") is not None

    def fields(self) -> Fields:
        """Give the fields of the model's format."""
        toggles = {"enable_thinking": self.on}
        match self.compat.thinking_format:
            case "openrouter":
                return self.nested({"reasoning": {"effort": self.name}})
            case "string-thinking":
                return self.nested({"thinking": self.name})
            case "deepseek":
                return self.nested({"thinking": {"type": "enabled" if self.on else "disabled"}}) | (
                    self.asked_effort()
                )
            case "zai":
                enabled = {"type": "enabled", "clear_thinking": False}
                thinking = enabled if self.on else {"type": "disabled"}
                return {"thinking": thinking, **self.asked_effort()}
            case "qwen":
                return {**toggles, **self.asked_effort()}
            case "together":
                return {"reasoning": {"enabled": self.on}, **self.asked_effort()}
            case "qwen-chat-template":
                return {"chat_template_kwargs": {**toggles, "preserve_thinking": True}}
            case "chat-template":
                return self.template("chat_template_kwargs", self.compat.chat_template_kwargs)
            case "baseten":
                arguments = self.template("chat_template_args", self.compat.chat_template_args)
                return {**arguments, **self.plain()}
            case "ant-ling" if self.on:
                name = self.names.get(self.level)
                return {} if name is None else {"reasoning": {"effort": name}}
            case _:
                return self.plain()

    @property
    def name(self) -> str:
        """The name of the level, where one is sent for off as well."""
        return self.effort if self.on or self.off_name is not None else "none"

    def nested(self, fields: Fields) -> Fields:
        """Give fields that are left out when thinking is off and cannot be."""
        return fields if self.on or self.can_be_off else {}

    def asked_effort(self) -> Fields:
        """Give the effort of a level that is on, where the host takes one."""
        if not self.on or not self.compat.supports_reasoning_effort:
            return {}
        return {"reasoning_effort": self.effort}

    def plain(self) -> Fields:
        """Give the effort; also of off, if the model has a name for it."""
        if self.on or self.off_name is None or not self.compat.supports_reasoning_effort:
            return self.asked_effort()
        return {"reasoning_effort": self.off_name}

    def template(self, key: str, values: Mapping[str, Any]) -> Fields:
        """Fill in the configured values; the key is left out if none is left."""
        filled = {name: self.filled(value) for name, value in values.items()}
        filled = {name: value for name, value in filled.items() if value is not _LEFT_OUT}
        return {key: filled} if filled else {}

    def filled(self, value: Any) -> Any:
        """Give one configured value: itself, or what a variable stands for."""
        if not isinstance(value, dict):
            return value
        if not self.on and value.get("omitWhenOff"):
            return _LEFT_OUT
        match value.get("$var"):
            case "thinking.enabled":
                return self.on
            case "thinking.budget":
                return _LEFT_OUT if self.budget is None else self.budget
            case _:
                if self.level in self.names:
                    name = self.names[self.level]
                    return _LEFT_OUT if name is None else name
                return self.level if self.on else _LEFT_OUT


_LEFT_OUT = object()

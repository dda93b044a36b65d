"""Strict forms of tool schemas: every property required, nothing else allowed.

Providers take only part of JSON Schema in strict mode; a schema beyond it stays as it is. Rules:
docs/requests.md, "Tools".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Refusal = Callable[[str, Any], bool]
"""Says whether a provider refuses a keyword with this value."""

_UNSUPPORTED = (
    "$ref",
    "$defs",
    "definitions",
    "allOf",
    "oneOf",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "prefixItems",
    "not",
    "if",
    "then",
    "else",
)
_ANTHROPIC_UNSUPPORTED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
    }
)
_ANTHROPIC_FORMATS = frozenset(
    {
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    }
)


class NotStrictError(ValueError):
    """A schema has no strict form."""


def refused_by_anthropic(keyword: str, value: Any) -> bool:
    """Say whether Anthropic refuses a keyword that others accept."""
    if keyword == "minItems":
        return isinstance(value, bool) or value not in (0, 1)
    if keyword == "format":
        return not isinstance(value, str) or value not in _ANTHROPIC_FORMATS
    return keyword in _ANTHROPIC_UNSUPPORTED


def strict_schema(schema: Any, refuses: Refusal | None = None) -> dict[str, Any]:
    """Give the strict form of a tool's schema; keys keep their places.

    Raises:
        NotStrictError: there is none.
    """
    strict = _strict(schema, refuses)
    if strict.get("type") != "object":
        raise NotStrictError("its schema is not of type object")
    return strict


def _strict(schema: Any, refuses: Refusal | None) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise NotStrictError("its schema holds one that is no object")
    for keyword in _UNSUPPORTED:
        if keyword in schema:
            raise NotStrictError(f"its schema has {keyword}")
    if refuses is not None:
        for keyword, value in schema.items():
            if refuses(keyword, value):
                raise NotStrictError(f"its schema has {keyword}")
    if not any(keyword in schema for keyword in ("type", "anyOf", "enum")):
        raise NotStrictError("its schema holds one without a type")
    strict = dict(schema)
    if "anyOf" in schema:
        strict["anyOf"] = _variants(schema["anyOf"], refuses)
    if "items" in schema:
        if isinstance(schema["items"], list):
            raise NotStrictError("its schema has a tuple of items")
        strict["items"] = _strict(schema["items"], refuses)
    if schema.get("type") == "object":
        _close(strict, refuses)
    elif "properties" in schema:
        raise NotStrictError("its schema has properties without the type object")
    return strict


def _variants(variants: Any, refuses: Refusal | None) -> list[Any]:
    if not isinstance(variants, list) or not variants:
        raise NotStrictError("its schema has an empty anyOf")
    if any(_is_structured(variant) for variant in variants):
        raise NotStrictError("its schema has a choice of objects or lists")
    return [_strict(variant, refuses) for variant in variants]


def _close(strict: dict[str, Any], refuses: Refusal | None) -> None:
    """Require all properties of an object and allow no others."""
    if strict.get("additionalProperties", False) is not False:
        raise NotStrictError("its schema allows additional properties")
    properties = strict.get("properties", {})
    if not isinstance(properties, dict):
        raise NotStrictError("its schema has properties that are no object")
    required = strict.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise NotStrictError("its schema has an odd list of required properties")
    if any(name not in properties for name in required):
        raise NotStrictError("its schema requires a property it does not have")
    if "properties" in strict:
        strict["properties"] = {
            name: _required(_strict(schema, refuses), asked=name in required)
            for name, schema in properties.items()
        }
    strict["required"] = list(properties)
    strict["additionalProperties"] = False


def _required(schema: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    if asked or _allows_null(schema):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _allows_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    kind, choices = schema.get("type"), schema.get("enum")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    if ("const" in schema and schema["const"] is None) or (
        isinstance(choices, list) and None in choices
    ):
        return True
    variants = schema.get("anyOf")
    return isinstance(variants, list) and any(_allows_null(variant) for variant in variants)


def _is_structured(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return "object" in kinds or "array" in kinds or "properties" in schema or "items" in schema

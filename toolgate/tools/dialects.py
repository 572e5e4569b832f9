"""Declarations as each model's API wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolgate.tools.definition import FunctionDefinitionError, one_of
from toolgate.tools.function import Function

_NAMES = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "mcp": r"[a-zA-Z0-9_./-]{1,128}",
}


def declarations(functions: Iterable[Function], dialect: str) -> list[dict[str, Any]]:
    """One declaration a function, ready to hand to that API. Raises ValueError for an unknown dialect and
    FunctionDefinitionError for a name that the API does not take."""
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}: use {one_of(DIALECTS)}")
    return [_declared(function, dialect) for function in functions]


def _declared(function: Function, dialect: str) -> dict[str, Any]:
    if not re.fullmatch(_NAMES[dialect], function.name):
        reason = f"{function.name!r} is not a name that {dialect} takes: it must match {_NAMES[dialect]}"
        raise FunctionDefinitionError({"name": [reason]})
    return DIALECTS[dialect](function)


def _schema(function: Function) -> dict[str, Any]:
    return {"type": "object", "properties": {}, **function.json_schema()}


def _openai_responses(function: Function) -> dict[str, Any]:
    return {
        "type": "function",
        "name": function.name,
        "description": function.description or "",
        "parameters": _schema(function),
        "strict": function.strict,
    }


def _openai(function: Function) -> dict[str, Any]:
    declared = _openai_responses(function)
    return {"type": declared.pop("type"), "function": declared}


def _anthropic(function: Function) -> dict[str, Any]:
    declared = {
        "name": function.name,
        "description": function.description or "",
        "input_schema": _schema(function),
    }
    options = [dict(option) if isinstance(option, Mapping) else dict([option]) for option in function.options]
    cached = [option["cache_control"] for option in options if "cache_control" in option]
    return declared | ({"cache_control": cached[0]} if cached else {}) | ({"strict": True} if function.strict else {})


def _gemini(function: Function) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": function.name, "description": function.description or ""}
    schema = _for_gemini(_schema(function))
    return declared | ({"parameters": schema} if schema.get("properties") else {})


_GEMINI_KEYWORDS = frozenset(
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties "
    "minLength maxLength pattern anyOf propertyOrdering default items minimum maximum".split()
)


def _for_gemini(schema: Any) -> Any:
    """Gemini takes a part of OpenAPI 3.0's schema: types in capitals, `nullable`, no `additionalProperties`."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: _gemini_value(key, value) for key, value in schema.items() if key in _GEMINI_KEYWORDS}
    kinds = schema.get("type")
    if isinstance(kinds, list):
        kept["type"] = next((kind.upper() for kind in kinds if kind != "null"), "STRING")
        kept |= {"nullable": True} if "null" in kinds else {}
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if options != schema.get("anyOf", []):
        kept.pop("anyOf")
        kept |= {"nullable": True} | (_for_gemini(options[0]) if len(options) == 1 else {"anyOf": [*map(_for_gemini, options)]})
    return kept


def _gemini_value(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _for_gemini(one) for name, one in value.items()}
    if key == "anyOf":
        return [_for_gemini(one) for one in value]
    if key == "enum":
        return [str(one) for one in value if one is not None]
    return value.upper() if key == "type" and isinstance(value, str) else _for_gemini(value) if key == "items" else value


def _mcp(function: Function) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": function.name, "inputSchema": _schema(function)}
    declared |= {"title": function.display_text} if function.display_text else {}
    return declared | ({"description": function.description} if function.description else {})


DIALECTS: dict[str, Callable[[Function], dict[str, Any]]] = {
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}

"""Declarations as each model's API wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolgate.tools.canonical import canonical
from toolgate.tools.definition import FunctionDefinitionError, one_of
from toolgate.tools.function import Function
from toolgate.tools.references import inlined

_NAMES = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}",
    "mcp": r"[a-zA-Z0-9_.-]{1,128}",
}


def declarations(functions: Iterable[Function], dialect: str = "plain") -> list[dict[str, Any]]:
    """One declaration a function, ready to hand to that API: openai (chat), openai-responses, anthropic, gemini, mcp, or
    plain, which is the function as it was declared.

    Raises ValueError for an unknown dialect and FunctionDefinitionError for a name that the API does not take.
    """
    if dialect != "plain" and dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}: use {one_of(['plain', *DIALECTS])}")
    return [_declared(function, dialect) for function in functions]


def _declared(function: Function, dialect: str) -> dict[str, Any]:
    if dialect in _NAMES and not re.fullmatch(_NAMES[dialect], function.name):
        reason = f"{function.name!r} is not a name that {dialect} takes: it must match {_NAMES[dialect]}"
        raise FunctionDefinitionError({"name": [reason]})
    return DIALECTS.get(dialect, _plain)(function)


def _schema(function: Function) -> dict[str, Any]:
    return {"type": "object", "properties": {}, **function.json_schema()}


def _described(function: Function) -> dict[str, Any]:
    return {"name": function.name} | ({"description": function.description} if function.description else {})


def _plain(function: Function) -> dict[str, Any]:
    declared = _described(function) | {"parameters": _schema(function), "strict": function.strict, "async": function.async_}
    return declared | ({"display_text": function.display_text} if function.display_text else {})


def _openai_responses(function: Function) -> dict[str, Any]:
    return {"type": "function", **_described(function), "parameters": _schema(function), "strict": function.strict}


def _openai(function: Function) -> dict[str, Any]:
    declared = _openai_responses(function)
    return {"type": declared.pop("type"), "function": declared}


def _anthropic(function: Function) -> dict[str, Any]:
    cached = _option(function, "cache_control")
    declared = _described(function) | {"input_schema": _schema(function)}
    return declared | ({"cache_control": cached} if cached else {}) | ({"strict": True} if function.strict else {})


def _option(function: Function, name: str) -> Any:
    """An option from a mapping, a list of mappings, or a list of pairs."""
    given = [function.options] if isinstance(function.options, Mapping) else function.options
    pairs = [pair for one in given for pair in (one.items() if isinstance(one, Mapping) else [one])]
    return next((pair[1] for pair in pairs if isinstance(pair, tuple | list) and len(pair) == 2 and pair[0] == name), None)


def _mcp(function: Function) -> dict[str, Any]:
    title = {"title": function.display_text} if function.display_text else {}
    return _described(function) | title | {"inputSchema": _schema(function)}


# --- Gemini takes a part of OpenAPI 3.0's schema: types in capitals, `nullable`, no references, few formats -------------


def _gemini(function: Function) -> dict[str, Any]:
    schema = _for_gemini(inlined(_schema(function)))
    return _described(function) | ({"parameters": schema} if schema.get("properties") else {})


_KEPT = """title description nullable properties required items minItems maxItems minLength maxLength pattern
minProperties maxProperties minimum maximum propertyOrdering default""".split()  # noqa: SIM905 - a list of 16 lines says no more
_FORMATS = {"STRING": ("date-time", "enum"), "INTEGER": ("int32", "int64"), "NUMBER": ("float", "double")}


def _for_gemini(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        return {}
    kept = {key: _gemini_value(key, schema[key]) for key in _KEPT if key in schema}
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else list(kinds or [])
    kept |= _gemini_kinds([str(kind).upper() for kind in named]) | _gemini_choice(schema)
    if schema.get("format") in _FORMATS.get(kept.get("type", ""), ()):
        kept["format"] = schema["format"]
    return (
        kept
        if "type" in kept or "anyOf" in kept
        else {"type": "OBJECT" if "properties" in kept or "$ref" in schema else "STRING"} | kept
    )


def _gemini_value(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _for_gemini(one) for name, one in value.items()}
    return _for_gemini(value) if key == "items" else value


def _gemini_kinds(kinds: list[str]) -> dict[str, Any]:
    """Several types become `anyOf`; null becomes `nullable`."""
    real = [kind for kind in kinds if kind != "NULL"]
    nullable = {"nullable": True} if "NULL" in kinds else {}
    if len(real) > 1:
        return nullable | {"anyOf": [{"type": kind} for kind in real]}
    return nullable | ({"type": real[0]} if real else {})


def _gemini_choice(schema: Mapping[str, Any]) -> dict[str, Any]:
    if values := [schema["const"]] if "const" in schema else [one for one in schema.get("enum", []) if one is not None]:
        if all(isinstance(one, str) for one in values):
            return {"type": "STRING", "enum": values}
        told = f"One of: {', '.join(canonical(one) for one in values)}."  # Gemini's enum takes text only
        return {"description": " ".join(filter(None, [schema.get("description"), told]))}
    branches = [one for fork in ("anyOf", "oneOf", "allOf") for one in schema.get(fork, [])]
    real = [_for_gemini(one) for one in branches if one != {"type": "null"}]
    nullable = {"nullable": True} if len(real) < len(branches) else {}
    if len(real) == 1:
        return nullable | real[0] | {key: schema[key] for key in ("description", "default") if key in schema}
    return nullable | ({"anyOf": real} if real else {})


DIALECTS: dict[str, Callable[[Function], dict[str, Any]]] = {
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}

"""Declarations in the shapes that the models' APIs document."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from toolgate import Function, FunctionDefinitionError, FunctionParam, declarations, tool

PARAMETERS = [FunctionParam("city", "string", required=True, description="Where"), FunctionParam("days", "integer")]
SCHEMA = FunctionParam.to_parameters_schema(PARAMETERS)
WEATHER = Function(
    name="get_weather", description="Tells the weather.", display_text="Weather", parameters=PARAMETERS, strict=True
)
BARE = Function(name="ping")
NO_PARAMETERS = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def declared(function: Function, dialect: str) -> dict[str, Any]:
    (declaration,) = declarations([function], dialect)
    return declaration


def test_openai_chat() -> None:
    function = {"name": "get_weather", "description": "Tells the weather.", "parameters": SCHEMA, "strict": True}
    assert declared(WEATHER, "openai") == {"type": "function", "function": function}


def test_openai_responses() -> None:
    assert declared(WEATHER, "openai-responses") == {
        "type": "function",
        "name": "get_weather",
        "description": "Tells the weather.",
        "parameters": SCHEMA,
        "strict": True,
    }
    assert declared(BARE, "openai-responses") == {
        "type": "function",
        "name": "ping",
        "parameters": NO_PARAMETERS,
        "strict": False,
    }


CACHE = {"type": "ephemeral"}
CACHED: list[Any] = [{"cache_control": CACHE}, [{"cache_control": CACHE}], [("other", 1), ("cache_control", CACHE)]]


@pytest.mark.parametrize("options", CACHED)
def test_anthropic(options: Any) -> None:
    cached = Function(name="f", description="d", options=options)
    assert declared(cached, "anthropic") == {
        "name": "f",
        "description": "d",
        "input_schema": NO_PARAMETERS,
        "cache_control": CACHE,
    }
    assert declared(BARE, "anthropic") == {"name": "ping", "input_schema": NO_PARAMETERS}
    assert declared(WEATHER, "anthropic")["strict"] is True


def test_mcp() -> None:
    assert declared(WEATHER, "mcp") == {
        "name": "get_weather",
        "title": "Weather",
        "description": "Tells the weather.",
        "inputSchema": SCHEMA,
    }
    assert declared(BARE, "mcp") == {"name": "ping", "inputSchema": NO_PARAMETERS}


def test_plain() -> None:
    assert declared(WEATHER, "plain") == {
        "name": "get_weather",
        "description": "Tells the weather.",
        "display_text": "Weather",
        "parameters": SCHEMA,
        "strict": True,
        "async": False,
    }


def test_gemini() -> None:
    assert declared(WEATHER, "gemini") == {
        "name": "get_weather",
        "description": "Tells the weather.",
        "parameters": {
            "type": "OBJECT",
            "properties": {"city": {"type": "STRING", "description": "Where"}, "days": {"type": "INTEGER"}},
            "required": ["city"],
        },
    }
    assert declared(BARE, "gemini") == {"name": "ping"}


class Node(BaseModel):
    label: str
    children: list[Node] = []


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
            {"type": "INTEGER", "nullable": True, "description": "d"},
        ),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]}),
        ({"type": "string", "enum": ["a", None]}, {"type": "STRING", "enum": ["a"]}),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2], "description": "d"}, {"type": "INTEGER", "description": "d One of: 1, 2."}),
        ({"type": "string", "format": "email"}, {"type": "STRING"}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 3}, {"type": "NUMBER", "maximum": 3}),
        ({"type": "array", "items": {"type": "boolean"}}, {"type": "ARRAY", "items": {"type": "BOOLEAN"}}),
        ({"$ref": "#/$defs/unit"}, {"type": "STRING", "enum": ["c", "f"]}),
        ({}, {"type": "STRING"}),
    ],
)
def test_gemini_takes_a_part_of_json_schema(schema: dict[str, Any], shown: dict[str, Any]) -> None:
    whole = {"type": "object", "properties": {"v": schema}, "$defs": {"unit": {"type": "string", "enum": ["c", "f"]}}}
    function = Function(name="f", parameters_schema=whole)
    assert declared(function, "gemini")["parameters"]["properties"]["v"] == shown


def test_gemini_gets_no_keyword_that_it_does_not_know() -> None:
    @tool
    def plant(tree: Node, level: Literal["lo", "hi"] | None = None, more: dict[str, int] | None = None) -> None: ...

    text = str(declared(plant.function, "gemini"))
    for keyword in ("$ref", "$defs", "additionalProperties", "const", "'null'", "object'"):
        assert keyword not in text


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "gemini", "mcp"])
def test_a_name_that_the_api_does_not_take_is_refused(dialect: str) -> None:
    with pytest.raises(FunctionDefinitionError, match=r"'get weather' is not a name that .* it must match"):
        declarations([WEATHER, Function(name="get weather")], dialect)
    assert declarations([Function(name="get weather")], "plain")


@pytest.mark.parametrize("dialect", ["gemini", "mcp"])
def test_dots_are_taken_by_some(dialect: str) -> None:
    assert declared(Function(name="shop.refund"), dialect)["name"] == "shop.refund"
    with pytest.raises(FunctionDefinitionError):
        declarations([Function(name="shop.refund")], "openai")


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown dialect 'cobol'"):
        declarations([WEATHER], "cobol")

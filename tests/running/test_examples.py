"""The call that a server prints for somebody's own tool: made up, and it fits what the tool declares."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from toolgate import Function, FunctionParam, tool
from toolgate.demonstration.examples import example_of
from toolgate.tools.parsers import schema_problems


class Color(Enum):
    RED = "red"


class Line(BaseModel):
    article: str = Field(min_length=8)
    count: int = Field(gt=3, multiple_of=5)
    color: Color


class Sent(BaseModel):
    to: str
    share: float


@tool()
def order(
    lines: list[Line],
    price: Decimal,
    day: date,
    at: datetime,
    number: UUID,
    way: Literal["air", "sea"],
    note: str | None = None,
) -> str:
    """Orders."""
    return ""


SCHEMAS: dict[str, Any] = {
    "a function of hints": order.function.json_schema(),
    "parameters": Function(
        name="f",
        parameters=[
            FunctionParam("a", "string", required=True, enum=["x"]),
            FunctionParam("b", "array", item_type="integer", required=True),
            FunctionParam("c", "object", required=True, object_properties=[FunctionParam("d", "boolean", required=True)]),
        ],
    ).json_schema(),
    "a model": Sent.model_json_schema(),
    "bounds": {
        "type": "object",
        "required": ["a", "b", "c", "d"],
        "properties": {
            "a": {"type": "number", "exclusiveMaximum": 0},
            "b": {"type": "integer", "minimum": 7, "maximum": 7},
            "c": {"type": "array", "minItems": 2, "items": {"type": "string", "format": "date-time"}},
            "d": {"type": ["null", "string"]},
        },
    },
    "nothing": {},
}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_fits_its_schema(name: str) -> None:
    assert schema_problems(SCHEMAS[name], example_of(SCHEMAS[name])) == ""


def test_ends_for_a_schema_that_holds_itself() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/$defs/a"}}}},
    }
    assert example_of(schema)["b"]["b"]

"""@tool: a Function from a typed and documented Python function, which stays callable as it was."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from toolgate import (
    ContentPart,
    Context,
    Error,
    Function,
    FunctionDefinitionError,
    Interrupt,
    Ok,
    ToolResult,
    declarations,
    tool,
)


class Line(BaseModel):
    sku: str
    quantity: int = 1


class Node(BaseModel):
    label: str
    children: list[Node] = []


class Place(TypedDict):
    city: str


@dataclasses.dataclass
class Point:
    x: float


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@tool
def refund(order: int, amount: Decimal, context: Context, reason: str | None = None, notify: bool = True) -> str:
    """Pays money back.

    To the card that was charged.

    Args:
        order: The order's number.
        amount: How much, in the order's currency.
    """
    return f"{order} {amount} {reason} {notify} {context.get('user')}"


def schema_of(hint: Any) -> dict[str, Any]:
    def plain(value: Any) -> None: ...

    plain.__annotations__["value"] = hint
    schema = tool(plain).function.parameters_schema
    assert schema is not None
    found: dict[str, Any] = schema["properties"]["value"]
    return found


def test_the_name_stays_callable_as_the_plain_function() -> None:
    assert refund(7, Decimal(3), Context(user="ann")) == "7 3 None True ann"
    assert refund.__name__ == "refund"
    assert refund.__doc__ is not None


def test_a_function_is_made_of_hints_and_docstring() -> None:
    function = refund.function
    assert isinstance(function, Function)
    assert function.name == "refund"
    assert function.description == "Pays money back.\n\nTo the card that was charged."
    assert function.parameters_schema is not None
    amount = function.parameters_schema["properties"]["amount"]
    assert [one["type"] for one in amount["anyOf"]] == ["number", "string"]  # some releases add a pattern
    assert function.parameters_schema == {
        "type": "object",
        "properties": {
            "order": {"type": "integer", "description": "The order's number."},
            "amount": {"anyOf": amount["anyOf"], "description": "How much, in the order's currency."},
            "reason": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "notify": {"type": "boolean", "default": True},
        },
        "required": ["order", "amount"],
        "additionalProperties": False,
    }
    assert function.required_param_names() == ["order", "amount"]
    assert function.accepted_param_names() == ["order", "amount", "reason", "notify"]


def test_options_go_to_the_function() -> None:
    @tool(name="pay_out", description="Pays.", display_text="Paying", async_=True, strict=True, options=[("a", 1)])
    def plain() -> str:
        """Something else."""
        return "done"

    function = plain.function
    assert (function.name, function.description, function.display_text) == ("pay_out", "Pays.", "Paying")
    assert (function.async_, function.strict, function.options) == (True, True, [("a", 1)])


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"] | None, {"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Annotated[int, Field(ge=1, description="own")], {"type": "integer", "minimum": 1, "description": "own"}),
        (Any, {}),
    ],
)
def test_each_hint_has_its_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize("hint", [Line, Place, Point, list[Line], Line | None])
def test_references_are_put_in_place(hint: Any) -> None:
    assert "$ref" not in str(schema_of(hint))


def test_a_schema_that_leads_back_to_itself_keeps_its_reference() -> None:
    @tool
    def plant(tree: Node, line: Line) -> str:
        return tree.label

    schema = plant.function.parameters_schema
    assert schema is not None
    assert list(schema["$defs"]) == ["Node"]
    assert schema["properties"]["tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert plant.function.execute({"tree": {"label": "a", "children": [{"label": "b"}]}, "line": {"sku": "x"}}) == Ok("a")


def test_arguments_are_coerced_and_defaults_applied_before_anybody_looks() -> None:
    parsed = refund.function.parse_arguments({"order": "7", "amount": "3.50"})
    assert parsed == Ok({"order": 7, "amount": Decimal("3.50"), "reason": None, "notify": True})
    assert refund.function.execute({"order": 7, "amount": 3}, {"user": "ann"}) == Ok("7 3 None True ann")


def test_a_null_is_accepted_where_the_hint_allows_it_and_nowhere_else() -> None:
    assert isinstance(refund.function.parse_arguments({"order": 7, "amount": 3, "reason": None}), Ok)
    assert isinstance(refund.function.parse_arguments({"order": 7, "amount": 3, "notify": None}), Error)


def test_all_problems_are_told_at_once() -> None:
    outcome = refund.function.execute({"order": True, "amont": 3, "notify": 1})
    assert isinstance(outcome, Error)
    assert outcome.message == (
        "The arguments were refused:\n"
        "- order should be a valid integer; true was sent\n"
        "- amount is missing\n"
        "- notify should be a valid boolean; 1 was sent\n"
        '- unknown field "amont" (did you mean "amount"?)'
    )


def test_a_default_list_is_never_shared() -> None:
    @tool
    def collect(items: list[int] = []) -> str:  # noqa: B006 - what people write
        items.append(1)
        return str(items)

    assert collect.function.execute({}) == collect.function.execute({}) == Ok("[1]")


@pytest.mark.parametrize("name", ["copy", "schema", "json", "dict", "model_config", "_hidden", "self", "arguments", "validate"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def plain({name}: int) -> str: return str({name})", scope)  # noqa: S102 - names as people write them
    assert tool(scope["plain"]).function.execute({name: 3}) == Ok("3")


def star(*items: int) -> None: ...
def stars(**items: int) -> None: ...
def positional(item: int, /) -> None: ...


@pytest.mark.parametrize("plain", [star, stars, positional])
def test_parameters_that_have_no_name_are_refused(plain: Callable[..., Any]) -> None:
    with pytest.raises(FunctionDefinitionError, match="item"):
        tool(plain)


def test_a_hint_that_has_no_schema_is_refused() -> None:
    def plain(value: Callable[[], int]) -> None: ...

    with pytest.raises(FunctionDefinitionError):
        tool(plain)


def test_the_context_is_the_very_one_that_was_passed() -> None:
    seen: list[Any] = []

    @tool
    def look(where: Context | None) -> str:
        seen.append(where)
        return "done"

    context = {"user": 1}
    look.function.execute({}, context)
    look.function.execute({})
    assert seen[0] is context
    assert seen[1] == {}
    assert look.function.accepted_param_names() == []


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("done", Ok("done")),
        (None, Ok("OK")),
        ({"a": Decimal("1.5")}, Ok('{"a":"1.5"}', {"a": Decimal("1.5")})),
        ([1, 2], Ok("[1,2]", [1, 2])),
        (Line(sku="a"), Ok('{"sku":"a","quantity":1}', Line(sku="a"))),
        ([ContentPart.text("a")], Ok([ContentPart.text("a")])),
        (ContentPart.text("a"), Ok([ContentPart.text("a")])),
        (Interrupt("Sure?", 1), Interrupt("Sure?", 1)),
        (Error("no"), Error("no")),
        (Ok("a", 0), Ok("a", 0)),
        (ToolResult("a"), Ok(ToolResult("a"))),
    ],
)
def test_what_it_returns_becomes_an_outcome(answer: Any, outcome: Any) -> None:
    @tool
    def plain() -> Any:
        return answer

    assert plain.function.execute({}) == outcome


def test_an_exception_is_told_with_its_place() -> None:
    @tool
    def fail() -> str:
        raise ValueError("no")

    outcome = fail.function.execute({})
    assert isinstance(outcome, Error)
    assert outcome.message.startswith("ERROR: (ValueError) no at test_tool_decorator.py:")
    assert isinstance(outcome.exception, ValueError)


async def sunny(city: str) -> str:
    return f"sunny in {city}"


def test_a_coroutine_function_works_too() -> None:
    weather = tool(name="weather")(sunny)
    assert weather.function.execute({"city": "Bonn"}) == Ok("sunny in Bonn")


def test_every_dialect_takes_it() -> None:
    for dialect in ("openai", "openai-responses", "anthropic", "gemini", "mcp"):
        assert declarations([refund.function], dialect)


@pytest.mark.parametrize(("option", "told"), [("parse_args", "belongs to Function"), ("risk", "goes to register")])
def test_option_of_elsewhere_is_sent_there(option: str, told: str) -> None:
    def plain(amount: int) -> str:
        return ""

    options: dict[str, Any] = {option: None}
    with pytest.raises(FunctionDefinitionError) as refused:
        tool(**options)(plain)
    assert told in refused.value.errors[option][0]

"""pydantic_parser: arguments read into a type, all problems in one message, nothing converted that a person would not."""

from __future__ import annotations

import dataclasses
import enum
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, SecretStr, field_validator
from typing_extensions import TypedDict

from toolgate import Error, Function, FunctionDefinitionError, Ok, pydantic_parser


class Line(BaseModel):
    sku: str
    quantity: int = Field(default=1, ge=1)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Order(BaseModel):
    number: int
    amount: Decimal
    at: datetime
    day: date | None = None
    mode: Literal["fast", "slow"] = "fast"
    colour: Colour = Colour.RED
    urgent: bool = False
    lines: list[Line] = []
    token: SecretStr | None = None
    either: int | str = 0


GOOD = {"number": 7, "amount": 12.5, "at": "2031-03-14T09:30:00Z"}


def parsed(kind: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    value = pydantic_parser(kind)(arguments)
    assert isinstance(value, dict)
    return value


def refusal(kind: Any, arguments: dict[str, Any]) -> list[str]:
    outcome = pydantic_parser(kind)(arguments)
    assert isinstance(outcome, Error), outcome
    lines = str(outcome.message).removeprefix("The arguments were refused:").strip().split("\n")
    return [line.removeprefix("- ").rstrip(".") for line in lines]


def test_a_model_becomes_a_dict_of_its_fields() -> None:
    value = parsed(Order, {**GOOD, "lines": [{"sku": "a"}]})
    assert value["lines"] == [Line(sku="a", quantity=1)]
    assert (value["number"], value["amount"]) == (7, Decimal("12.5"))
    assert value["at"] == datetime(2031, 3, 14, 9, 30, tzinfo=UTC)
    assert (value["mode"], value["colour"], value["day"]) == ("fast", Colour.RED, None)


class Place(TypedDict):
    city: str
    zip: NotRequired[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 0.0


def test_a_typed_dict_a_dataclass_and_a_root_become_dicts_too() -> None:
    assert parsed(Place, {"city": "Bonn"}) == {"city": "Bonn"}
    assert parsed(Point, {"x": 1}) == {"x": 1.0, "y": 0.0}
    assert parsed(RootModel[dict[str, int]], {"a": 1}) == {"a": 1}
    assert parsed(dict[str, int], {"a": 1}) == {"a": 1}


@pytest.mark.parametrize("kind", [list[int], int, str, RootModel[list[int]]])
def test_a_type_that_is_no_object_is_a_definition_error(kind: Any) -> None:
    with pytest.raises(FunctionDefinitionError):
        pydantic_parser(kind)


def test_a_type_that_pydantic_cannot_read_is_a_definition_error() -> None:
    with pytest.raises(FunctionDefinitionError):
        pydantic_parser(dict[str, object()])  # type: ignore[misc] # that is what is refused


@pytest.mark.parametrize(
    ("field", "sent", "value"),
    [
        ("number", "7", 7),
        ("number", 7.0, 7),
        ("number", 2**70, 2**70),
        ("amount", "12.50", Decimal("12.50")),
        ("amount", Decimal("0.1234567890123456789012"), Decimal("0.1234567890123456789012")),
        ("urgent", "true", True),
        ("urgent", "false", False),
        ("either", "7", "7"),
        ("colour", "blue", Colour.BLUE),
        ("day", "2031-03-14", date(2031, 3, 14)),
        ("day", None, None),
    ],
)
def test_values_are_coerced_to_the_type(field: str, sent: Any, value: Any) -> None:
    read = parsed(Order, {**GOOD, field: sent})[field]
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("number", True),
        ("number", 7.5),
        ("number", "7e1"),
        ("number", "٤"),
        ("number", " 7"),
        ("number", None),
        ("amount", True),
        ("amount", "NaN"),
        ("urgent", 1),
        ("urgent", "yes"),
        ("urgent", 0),
        ("at", 1_900_000_000),
        ("day", 3),
        ("mode", 1),
        ("lines", {"0": {"sku": "a"}}),
        ("lines", '[{"sku": "a"}]'),
        ("either", True),
    ],
)
def test_what_a_person_would_not_convert_is_refused(field: str, sent: Any) -> None:
    assert refusal(Order, {**GOOD, field: sent})[0].startswith(field)


def test_all_problems_are_told_with_their_places() -> None:
    sent = {"number": "x", "at": "tomorrow", "lines": [{"sku": 1, "quantity": 0}, {}], "mode": "quick", "day": None}
    assert refusal(Order, sent) == [
        'number should be a valid integer; text was sent: "x"',
        "amount is missing",
        'at should be a valid datetime, input is too short; text was sent: "tomorrow"',
        "mode should be 'fast' or 'slow'; text was sent: \"quick\"",
        "lines[0].sku should be a valid string; 1 was sent",
        "lines[0].quantity should be greater than or equal to 1; 0 was sent",
        "lines[1].sku is missing",
    ]


def test_fields_that_the_type_does_not_know_are_refused_at_any_depth() -> None:
    found = refusal(Order, {**GOOD, "urgnt": True, "lines": [{"sku": "a", "quantiti": 2}]})
    assert sorted(found) == [
        'unknown field "quantiti" in lines[0] (did you mean "quantity"?)',
        'unknown field "urgnt" (did you mean "urgent"?)',
    ]
    assert refusal(Point, {"x": 1, "z": 1}) == ['unknown field "z"']


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Holder(BaseModel):
    open: Open
    line: Line | None = None


def test_a_model_that_takes_any_field_takes_it() -> None:
    assert parsed(Open, {"name": "a", "more": 1}) == {"name": "a", "more": 1}
    assert parsed(Holder, {"open": {"name": "a", "more": 1}})["open"].model_extra == {"more": 1}
    assert refusal(Holder, {"open": {"name": "a", "more": 1}, "line": {"sku": "a", "more": 1}}) == [
        'unknown field "more" in line'
    ]


class Aliased(BaseModel):
    sender: str = Field(alias="from")


def test_arguments_go_by_alias_and_the_body_by_field() -> None:
    assert parsed(Aliased, {"from": "a"}) == {"sender": "a"}
    assert refusal(Aliased, {"sender": "a"}) == ["from is missing", 'unknown field "sender"']


class Dog(BaseModel):
    kind: Literal["dog"]
    barks: int


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Owner(BaseModel):
    pet: Dog | Cat = Field(discriminator="kind")


def test_the_names_of_branches_stay_out_of_places() -> None:
    assert refusal(Owner, {"pet": {"kind": "dog", "barks": "x"}}) == ['pet.barks should be a valid integer; text was sent: "x"']


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("only even numbers are in stock")
        return value


def test_a_validators_own_words_are_told() -> None:
    assert refusal(Even, {"number": 7}) == ["number: only even numbers are in stock; 7 was sent"]
    assert parsed(Even, {"number": "8"}) == {"number": 8}


def test_a_secret_is_never_quoted() -> None:
    assert "hunter" not in refusal(Order, {**GOOD, "token": ["hunter2"]})[0]

    class Short(BaseModel):
        token: SecretStr = Field(max_length=3)

    assert "hunter" not in refusal(Short, {"token": "hunter2"})[0]


def test_pythons_own_values_are_read_too() -> None:
    at = datetime(2031, 1, 1, tzinfo=UTC)
    assert parsed(Order, {**GOOD, "at": at})["at"] is at


def test_it_is_a_parser_of_a_function() -> None:
    function = Function(name="f", parse_args=pydantic_parser(Even), function=lambda a, c: str(a["number"]))
    assert function.execute({"number": 8}) == Ok("8")
    assert isinstance(function.execute({"number": UUID(int=1)}), Error)


def test_a_flood_of_problems_is_told_quickly() -> None:
    started = time.monotonic()
    found = refusal(Order, {**GOOD, "lines": [{"sku": 1, "quantiti": 1}] * 20_000})
    assert len(found) == 51
    assert time.monotonic() - started < 20


def test_identity_is_the_schema() -> None:
    assert pydantic_parser(Even).identity == pydantic_parser(Even).identity != pydantic_parser(Order).identity

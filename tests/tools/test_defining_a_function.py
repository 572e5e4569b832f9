"""Defining a function: what is accepted, what is refused, and under which field the refusal stands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from toolgate import Error, Function, FunctionDefinitionError, FunctionParam


def body(arguments: dict[str, Any], context: Any) -> str:
    return "done"


def define(**fields: Any) -> Function:
    return Function(**{"name": "tool", "function": body, **fields})


def errors_of(**fields: Any) -> dict[str, list[str]]:
    with pytest.raises(FunctionDefinitionError) as caught:
        define(**fields)
    return caught.value.errors


@pytest.mark.parametrize("name", [None, "", " ", "\n\t "])
def test_a_blank_name_counts_as_none(name: Any) -> None:  # F001, F002, F036
    assert errors_of(name=name) == {"name": ["can't be blank"]}


def test_a_name_that_is_left_out_is_a_definition_error() -> None:  # F001, F027
    with pytest.raises(FunctionDefinitionError) as caught:
        Function(function=body)
    assert caught.value.errors == {"name": ["can't be blank"]}
    with pytest.raises(FunctionDefinitionError):
        Function.new({})


@pytest.mark.parametrize("name", ["n" * 64, "é" * 64, "漢" * 64])
def test_sixty_four_characters_are_accepted(name: str) -> None:  # F003, F005
    assert define(name=name).name == name


def test_sixty_five_characters_are_too_many() -> None:  # F004, F037
    assert errors_of(name="n" * 65) == {"name": ["should be at most 64 character(s)"]}


@pytest.mark.parametrize("name", ["Get Weather", "a.b-c", "größe", " padded "])
def test_a_name_is_kept_as_given_whatever_its_letters(name: str) -> None:  # F006, F007
    assert define(name=name).name == name


@pytest.mark.parametrize("name", [7, b"tool", ["tool"], True])
def test_a_name_that_is_not_text_is_refused(name: Any) -> None:  # F008
    assert list(errors_of(name=name)) == ["name"]


def test_a_function_without_a_body_is_a_declaration() -> None:  # F009
    outcome = Function(name="open_door").execute({})
    assert isinstance(outcome, Error)
    assert "declaration" in outcome.message
    assert outcome.exception is None


@pytest.mark.parametrize("target", ["text", 1, {}])
def test_a_body_that_cannot_be_called_is_refused(target: Any) -> None:  # F010
    assert list(errors_of(function=target)) == ["function"]


def needs_keyword(arguments: Any, context: Any, *, unit: str) -> str:
    return unit


BAD_BODIES: list[tuple[Callable[..., Any], int]] = [
    (lambda: "", 0),
    (lambda arguments: "", 1),
    (lambda a, b, c: "", 3),
    (needs_keyword, 2),
]


@pytest.mark.parametrize(("target", "arity"), BAD_BODIES)
def test_a_body_must_take_exactly_two_positional_values(target: Any, arity: int) -> None:  # F011, F013, F039
    assert errors_of(function=target) == {"function": [f"expected arity of 2 but has arity {arity}"]}


class Callee:
    def method(self, arguments: Any, context: Any) -> str:
        return "method"

    def __call__(self, arguments: Any, context: Any) -> str:
        return "object"


def three(unit: str, arguments: Any, context: Any) -> str:
    return unit


GOOD_BODIES: list[Callable[..., Any]] = [
    body,
    lambda arguments, context: "lambda",
    Callee().method,
    Callee(),
    functools.partial(three, "partial"),
    lambda *values: "star",
    lambda arguments, context, more=1: "default",
]


@pytest.mark.parametrize("target", GOOD_BODIES)
def test_whatever_binds_two_values_is_a_body(target: Any) -> None:  # F012
    assert define(function=target).function is target


def test_a_parser_may_be_left_out_or_none() -> None:  # F014
    assert define().parse_args is None
    assert define(parse_args=None).parse_args is None


@pytest.mark.parametrize("parser", [lambda arguments: None, lambda arguments, context: None, lambda a, b=1: None])
def test_a_parser_takes_one_or_two_values(parser: Any) -> None:  # F015, F016
    assert define(parse_args=parser).parse_args is parser


@pytest.mark.parametrize(("parser", "arity"), [(lambda: None, 0), (lambda a, b, c: None, 3)])
def test_a_parser_of_another_arity_is_refused(parser: Any, arity: int) -> None:  # F017, F039
    assert errors_of(parse_args=parser) == {"parse_args": [f"expected arity of 1 or 2 but has arity {arity}"]}


def test_a_parser_that_cannot_be_called_is_refused() -> None:  # F018
    assert list(errors_of(parse_args="text")) == ["parse_args"]


PARAMETER = FunctionParam("order", "string")


@pytest.mark.parametrize("schema", [{"type": "object"}, {}])
def test_parameters_and_a_schema_exclude_each_other(schema: Any) -> None:  # F019, F020, F021, F038
    found = errors_of(parameters=[PARAMETER], parameters_schema=schema)
    assert found == {"parameters": ["Cannot use both parameters and parameters_schema"]}


def test_an_empty_list_beside_a_schema_or_neither_is_fine() -> None:  # F022, F023
    assert define(parameters=[], parameters_schema={"type": "object"}).parameters == []
    assert define().parameters_schema is None


@pytest.mark.parametrize("schema", ["text", [], 1, True])
def test_a_schema_must_be_a_mapping(schema: Any) -> None:  # F024
    assert list(errors_of(parameters_schema=schema)) == ["parameters_schema"]
    assert define(parameters_schema=MappingProxyType({})).parameters_schema == {}


@pytest.mark.parametrize("parameters", ["text", {"a": 1}, 1, ["order"]])
def test_parameters_must_be_a_list_of_them(parameters: Any) -> None:  # F025
    assert list(errors_of(parameters=parameters)) == ["parameters"]


def test_a_parameter_is_not_declared_twice() -> None:
    assert "order" in errors_of(parameters=[PARAMETER, PARAMETER])["parameters"][0]


def test_all_problems_are_told_at_once() -> None:  # F026, F027
    found = errors_of(name="", function=1, parse_args=2, parameters=3, parameters_schema=4, description=5, display_text=6)
    fields = ["name", "parameters", "parameters_schema", "description", "display_text", "function", "parse_args"]
    assert list(found) == fields
    assert all(isinstance(message, str) for messages in found.values() for message in messages)


def test_what_is_not_set_has_its_default() -> None:  # F028, F029, F030, F031, F032
    function = Function(name="tool")
    assert (function.async_, function.strict) == (False, False)
    assert (function.options, function.parameters) == ([], [])
    unset = (function.description, function.display_text, function.parameters_schema, function.parse_args)
    assert unset == (None, None, None, None)


def test_two_functions_share_no_default_list() -> None:  # F033
    one, other = Function(name="one"), Function(name="other")
    one.options.append(("cache", True))
    assert other.options == []


def test_what_is_given_is_kept() -> None:  # F034
    given = {"description": "d", "display_text": "t", "strict": True, "async_": True, "options": [("a", 1)]}
    function = define(parameters=[PARAMETER], parse_args=len, **given)
    assert {name: getattr(function, name) for name in given} == given
    assert (function.parameters, function.function, function.parse_args) == ([PARAMETER], body, len)
    assert define(options={"cache_control": 1}).options == {"cache_control": 1}
    assert define(parameters_schema={"type": "object"}).parameters_schema == {"type": "object"}


def test_the_seeds_own_keys_are_taken_from_a_mapping() -> None:
    function = Function.new({"name": "tool", "async": True, "strict": True, "function": body})
    assert (function.name, function.async_, function.strict) == ("tool", True, True)
    with pytest.raises(FunctionDefinitionError) as caught:
        Function.new({"name": "tool", "colour": "red"})
    assert list(caught.value.errors) == ["colour"]


def test_strict_changes_nothing_here() -> None:  # F035
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    strict, loose = define(strict=True, parameters_schema=schema), define(parameters_schema=schema)
    for arguments in ({}, {"a": "text"}, {"a": 1, "b": 2}):
        assert strict.execute(arguments) == loose.execute(arguments)


def test_a_function_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        define().name = "other"  # type: ignore[misc] # that is what is shown

"""Which names a function requires and accepts, and the text it is shown by."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate import Function, FunctionParam, get_display_text

LISTED = Function(
    name="listed",
    parameters=[
        FunctionParam("z", "string", required=True),
        FunctionParam("a", "string"),
        FunctionParam("m", "object", required=True, object_properties=[FunctionParam("inner", "string", required=True)]),
    ],
)


def with_schema(**schema: Any) -> Function:
    return Function(name="schema", parameters_schema=schema)


def test_required_names_come_in_the_order_declared() -> None:  # F080, F081, F090
    assert LISTED.required_param_names() == ["z", "m"]
    assert with_schema(required=["z", "a"]).required_param_names() == ["z", "a"]


def test_nothing_required_is_an_empty_list() -> None:  # F082
    assert Function(name="f").required_param_names() == []
    assert Function(name="f", parameters=[FunctionParam("a", "string")]).required_param_names() == []
    assert with_schema().required_param_names() == []


@pytest.mark.parametrize("required", [None, "a", {"a": 1}, 3, True])
def test_a_required_that_is_no_list_is_none(required: Any) -> None:  # F083
    assert with_schema(required=required).required_param_names() == []


def test_entries_that_are_no_text_are_dropped() -> None:  # F084, F088
    assert with_schema(required=["b", 1, None, True, ["c"], "a"]).required_param_names() == ["b", "a"]
    assert with_schema(properties={"a": {}, 3: {}}).accepted_param_names() == ["a"]


def test_accepted_names_are_all_declared_ones() -> None:  # F085, F086, F090
    assert LISTED.accepted_param_names() == ["z", "a", "m"]
    assert with_schema(properties={"z": {}, "a": {}}).accepted_param_names() == ["z", "a"]


@pytest.mark.parametrize("schema", [{}, {"properties": None}, {"properties": ["a"]}, {"type": "object"}])
def test_accepted_names_that_are_unknown_are_an_empty_list(schema: Any) -> None:  # F087
    assert with_schema(**schema).accepted_param_names() == []
    assert Function(name="f").accepted_param_names() == []


def test_a_schema_may_require_what_it_does_not_list() -> None:  # F089
    function = with_schema(properties={"a": {}}, required=["b"])
    assert (function.required_param_names(), function.accepted_param_names()) == (["b"], ["a"])


def test_a_parser_changes_neither_list() -> None:  # F091
    function = Function(name="f", parse_args=lambda arguments: None, parameters=LISTED.parameters)
    assert function.required_param_names() == ["z", "m"]
    assert function.accepted_param_names() == ["z", "a", "m"]


FUNCTIONS = [
    Function(name="pay", display_text="Paying"),
    Function(name="pay", display_text="second"),
    Function(name="quiet"),
]


def test_the_display_text_of_the_first_of_that_name_is_found() -> None:  # F092, F096
    assert get_display_text(FUNCTIONS, "pay") == "Paying"


@pytest.mark.parametrize("name", ["unknown", "Pay", "pay "])
def test_an_unknown_name_gets_the_fallback(name: str) -> None:  # F093, F094, F097
    assert get_display_text(FUNCTIONS, name) == "Perform action"
    assert get_display_text(FUNCTIONS, name, "Work") == "Work"


def test_a_function_without_a_display_text_answers_none() -> None:  # F095
    assert get_display_text(FUNCTIONS, "quiet", "Work") is None


def test_no_functions_give_the_fallback() -> None:  # F098
    assert get_display_text([], "pay") == "Perform action"

"""One declared parameter and the JSON Schema it becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolgate import FunctionDefinitionError, FunctionParam

CITY = FunctionParam("city", "string", required=True)
TYPES = ["string", "integer", "number", "boolean", "array", "object"]


def errors_of(*values: Any, **fields: Any) -> dict[str, list[str]]:
    with pytest.raises(FunctionDefinitionError) as caught:
        FunctionParam(*values, **fields)
    return caught.value.errors


def schema_of(*values: Any, **fields: Any) -> Any:
    parameter = FunctionParam(*values, **fields)
    return parameter.to_json_schema()[parameter.name]


@pytest.mark.parametrize("name", ["", " ", None])
def test_a_name_is_needed(name: Any) -> None:  # F040
    assert errors_of(name, "string") == {"name": ["can't be blank"]}
    assert list(errors_of(type="string")) == ["name"]


@pytest.mark.parametrize("kind", ["", None])
def test_a_type_is_needed(kind: Any) -> None:  # F041
    assert list(errors_of("city", kind)) == ["type"]
    assert list(errors_of("city")) == ["type"]


@pytest.mark.parametrize("kind", TYPES)
def test_the_six_types_are_accepted(kind: str) -> None:  # F042
    properties = [CITY] if kind == "object" else []
    assert FunctionParam("value", kind, object_properties=properties).type == kind


@pytest.mark.parametrize("kind", ["str", "int", "list", "dict", "float", "String", "null", "date"])
def test_any_other_type_is_refused(kind: str) -> None:  # F043
    assert list(errors_of("city", kind)) == ["type"]


def test_what_is_not_set_has_its_default() -> None:  # F044
    parameter = FunctionParam("city", "string")
    assert (parameter.description, parameter.required, parameter.item_type) == (None, False, None)
    assert (parameter.enum, parameter.object_properties) == ([], [])


@pytest.mark.parametrize(("kind", "enum"), [("string", ["a"]), ("integer", [1]), ("number", [0.5]), ("integer", ["one", None])])
def test_an_enum_goes_with_scalars_and_its_values_are_not_compared(kind: str, enum: list[Any]) -> None:  # F045, F047
    assert FunctionParam("value", kind, enum=enum).enum == enum


@pytest.mark.parametrize("kind", ["boolean", "array", "object"])
def test_an_enum_goes_with_nothing_else(kind: str) -> None:  # F046, F058
    properties = [CITY] if kind == "object" else []
    found = errors_of("value", kind, enum=["a"], object_properties=properties)
    assert found == {"enum": [f"not allowed for type {kind}"]}


@pytest.mark.parametrize("kind", TYPES)
def test_an_empty_enum_is_none(kind: str) -> None:  # F048
    properties = [CITY] if kind == "object" else []
    assert "enum" not in schema_of("value", kind, enum=[], object_properties=properties)


def test_an_array_may_have_an_item_type() -> None:  # F049, F051, F063, F064
    assert schema_of("tags", "array") == {"type": "array"}
    assert schema_of("tags", "array", item_type="string") == {"type": "array", "items": {"type": "string"}}
    assert FunctionParam("tags", "array", item_type="money").item_type == "money"


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "object"])
def test_an_item_type_goes_with_arrays_only(kind: str) -> None:  # F050, F058
    properties = [CITY] if kind == "object" else []
    found = errors_of("value", kind, item_type="string", object_properties=properties)
    assert found == {"item_type": [f"not allowed for type {kind}"]}


def test_objects_need_properties() -> None:  # F052, F053, F059
    assert errors_of("value", "object") == {"object_properties": ["is required for object type"]}
    found = errors_of("value", "array", item_type="object")
    assert found == {"object_properties": ["required when array type of object is used"]}


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "array"])
def test_properties_go_with_objects_only(kind: str) -> None:  # F054, F055, F058
    assert errors_of("value", kind, object_properties=[CITY]) == {"object_properties": [f"not allowed for type {kind}"]}


def test_properties_do_not_go_with_an_array_of_texts() -> None:  # F055
    assert list(errors_of("value", "array", item_type="string", object_properties=[CITY])) == ["object_properties"]


def test_several_problems_are_told_together() -> None:  # F056
    assert list(errors_of("", "boolean", enum=[1], item_type="string")) == ["name", "enum", "item_type"]
    assert list(errors_of("a", "string", enum="abc")) == ["enum"]
    assert list(errors_of("a", "object", object_properties=["city"])) == ["object_properties"] * 1


def test_objects_nest_freely() -> None:  # F057, F067, F075, F076
    line = FunctionParam("lines", "array", item_type="object", object_properties=[CITY])
    order = FunctionParam("order", "object", object_properties=[line])
    item = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    assert order.to_json_schema()["order"] == {
        "type": "object",
        "properties": {"lines": {"type": "array", "items": item}},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean"])
def test_a_scalar_becomes_its_type_and_nothing_else(kind: str) -> None:  # F060, F061
    assert FunctionParam("value", kind).to_json_schema() == {"value": {"type": kind}}


def test_a_description_and_an_enum_appear_when_given() -> None:  # F061, F062
    schema = schema_of("unit", "integer", description="which", enum=[3, 1, 2])
    assert schema == {"type": "integer", "enum": [3, 1, 2], "description": "which"}


def test_the_description_of_an_array_stands_beside_its_items() -> None:  # F065
    schema = schema_of("tags", "array", item_type="string", description="labels")
    assert schema == {"type": "array", "items": {"type": "string"}, "description": "labels"}
    nested = schema_of("lines", "array", item_type="object", object_properties=[CITY], description="all")
    assert nested["description"] == "all"
    assert "description" not in nested["items"]


def test_an_object_becomes_a_full_schema() -> None:  # F066
    schema = schema_of("place", "object", object_properties=[CITY], description="where")
    assert set(schema) == {"type", "properties", "required", "additionalProperties", "description"}


def test_required_shows_in_the_enclosing_object_only() -> None:  # F068
    assert CITY.to_json_schema() == {"city": {"type": "string"}}


def test_a_parameter_is_added_to_a_copy_of_a_mapping() -> None:  # F069, F070
    before = {"city": {"type": "integer"}, "unit": {"type": "string"}}
    after = CITY.to_json_schema(before)
    assert after == {"city": {"type": "string"}, "unit": {"type": "string"}}
    assert before["city"] == {"type": "integer"}


def test_a_list_becomes_an_object_schema_in_the_order_declared() -> None:  # F071, F073, F077
    listed = [FunctionParam("z", "string", required=True), FunctionParam("a", "integer"), CITY]
    schema = FunctionParam.to_parameters_schema(listed)
    assert list(schema) == ["type", "properties", "required", "additionalProperties"]
    assert list(schema["properties"]) == ["z", "a", "city"]
    assert schema["required"] == ["z", "city"]


def test_an_empty_list_becomes_a_schema_without_properties() -> None:  # F072, F074
    schema = FunctionParam.to_parameters_schema([])
    assert schema == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_the_schema_is_plain_json() -> None:  # F078
    listed = [CITY, FunctionParam("lines", "array", item_type="object", object_properties=[CITY]), FunctionParam("n", "number")]
    schema = FunctionParam.to_parameters_schema(listed)
    assert json.loads(json.dumps(schema)) == schema


def test_the_required_names_can_be_listed() -> None:  # F079
    assert FunctionParam.required_properties([FunctionParam("a", "string"), CITY]) == ["city"]
    assert FunctionParam.required_properties([]) == []


def test_a_parameter_is_made_from_a_mapping() -> None:
    assert FunctionParam.new({"name": "city", "type": "string", "required": True}) == CITY
    with pytest.raises(FunctionDefinitionError) as caught:
        FunctionParam.new({"name": "city", "type": "string", "items": "x"})
    assert list(caught.value.errors) == ["items"]

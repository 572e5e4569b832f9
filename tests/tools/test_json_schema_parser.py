"""json_schema_parser: all problems in one message, each with its place, in words a model can act on."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from toolgate import Error, FunctionDefinitionError, json_schema_parser
from toolgate.tools.parsers import schema_problems


def refusal(schema: dict[str, Any], arguments: Any, **options: Any) -> str:
    outcome = json_schema_parser(schema, **options)(arguments)
    return str(outcome.message) if isinstance(outcome, Error) else ""


def value_refusal(declared: dict[str, Any], value: Any) -> str:
    message = refusal({"type": "object", "properties": {"v": declared}}, {"v": value})
    return message.removeprefix("The arguments were refused: ").rstrip(".")


@pytest.mark.parametrize(
    ("declared", "value", "words"),
    [
        ({"type": "string"}, 7, "v must be text; 7 was sent"),
        ({"type": ["integer", "null"]}, "7", 'v must be an integer or null; text was sent: "7"'),
        ({"type": "string"}, None, "v must be text; null was sent: leave it out instead"),
        ({"enum": ["a", 1, None]}, "b", 'v must be a, 1 or null; text was sent: "b"'),
        ({"const": "a"}, "b", 'v must be a; text was sent: "b"'),
        ({"minimum": 2.5}, 1, "v must be at least 2.5; 1 was sent"),
        ({"maximum": 3}, 4, "v must be at most 3; 4 was sent"),
        ({"exclusiveMaximum": 3}, 3, "v must be below 3; 3 was sent"),
        ({"minLength": 1}, "", "v must not be empty; empty text was sent"),
        ({"minLength": 2}, "a", 'v must have at least 2 characters; text was sent: "a"'),
        ({"maxLength": 1}, "ab", 'v must have at most 1 characters; text was sent: "ab"'),
        ({"minItems": 1}, [], "v must not be empty; a list was sent"),
        ({"maxItems": 1}, [1, 2], "v must have at most 1 items; a list was sent"),
        ({"minProperties": 2}, {}, "v must have at least 2 fields; an object was sent"),
        ({"multipleOf": 0.1}, 0.25, "v must be a multiple of 0.1; 0.25 was sent"),
        ({"pattern": "^a+$"}, "b", 'v must match the pattern ^a+$; text was sent: "b"'),
        ({"uniqueItems": True}, [1, 1], "v must not hold the same item twice; a list was sent"),
        ({"not": {"type": "string"}}, "a", 'v is of a form that the schema excludes; text was sent: "a"'),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
            5,
            "v fits more than one of the forms that exclude each other; 5 was sent",
        ),
        ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, 'v has a field name that is not accepted, "b"; an object was sent'),
        ({"contains": {"type": "string"}}, [1], "v lacks an item that the schema asks for; a list was sent"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "v.b is missing"),
        ({"items": False}, [1], "v item 1 is not accepted by the schema; 1 was sent"),
        ({"items": {"items": {"type": "string"}}}, [[], [1]], "v[1] item 1 must be text; 1 was sent"),
        ({"format": "uuid"}, "x", 'v must be a UUID; text was sent: "x"'),
        ({"additionalProperties": {"type": "string"}}, {"a b": 1}, 'v["a b"] must be text; 1 was sent'),
        ({"additionalProperties": False}, {"b": 1}, 'unknown field "b" in v'),
        ({"unevaluatedProperties": False}, {"b": 1}, 'unknown field "b" in v'),
        ({"type": "number"}, 10**60, ""),
    ],
)
def test_each_keyword_has_its_words(declared: dict[str, Any], value: Any, words: str) -> None:
    assert value_refusal(declared, value) == words


def test_all_problems_stand_in_one_message() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"minimum": 1}}, "required": ["c"], "additionalProperties": False}
    message = refusal(schema, {"a": 1, "b": 0, "d": 1})
    assert message.splitlines()[0] == "The arguments were refused:"
    assert sorted(message.splitlines()[1:]) == [
        "- a must be text; 1 was sent",
        "- b must be at least 1; 0 was sent",
        "- c is missing",
        '- unknown field "d"',
    ]


ITEM = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"], "additionalProperties": False}


def test_of_several_forms_the_one_that_was_meant_is_told() -> None:
    declared = {"anyOf": [ITEM, {"type": "null"}]}
    assert value_refusal(declared, {"skus": "a"}).splitlines()[1:] == [
        '- unknown field "skus" in v (did you mean "sku"?)',
        "- v.sku is missing",
    ]
    assert value_refusal(declared, {"sku": 7}) == "v.sku must be text; 7 was sent"
    assert value_refusal(declared, 7) == "v must be an object or null; 7 was sent"
    email = {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]}
    assert value_refusal(email, "x") == 'v must be an e-mail address or null; text was sent: "x"'


def test_a_name_is_suggested_at_any_depth_and_through_references() -> None:
    schema = {"properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/item"}}}, "$defs": {"item": ITEM}}
    assert 'unknown field "Sku" in all[0] (did you mean "sku"?)' in refusal(schema, {"all": [{"Sku": 1}]})


def test_numbers_of_any_size_are_compared_exactly() -> None:
    assert value_refusal({"type": "integer", "maximum": 2**70}, 2**70) == ""
    assert value_refusal({"type": "integer", "maximum": 2**70}, 2**70 + 1).startswith("v must be at most")
    assert value_refusal({"enum": [2**64 + 1]}, 2**64 + 2).startswith("v must be 18446744073709551617")
    assert value_refusal({"maximum": 100}, Decimal("100.00000000000000000001")) != ""
    assert value_refusal({"type": "integer"}, Decimal("41.5")) != ""
    assert value_refusal({"type": "integer"}, True) == "v must be an integer; true was sent"


def test_nothing_is_converted_but_whole_fractions_for_integers() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer"},
            "x": {"type": "number"},
            "list": {"items": {"$ref": "#/$defs/count"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "late": {"type": "integer", "default": 3},
        },
        "$defs": {"count": {"type": ["integer", "null"]}},
    }
    sent = {"n": 41.0, "x": 41.0, "list": [1.0, None, Decimal("9007199254740993.0")], "either": 1e300, "other": 2.0}
    parsed = json_schema_parser(schema)(sent)
    assert parsed == {"n": 41, "x": 41.0, "list": [1, None, 9007199254740993], "either": 10**300, "other": 2.0}
    assert isinstance(parsed, dict)
    assert [type(parsed[name]) for name in ("n", "x", "either", "other")] == [int, float, int, float]
    assert sent["n"] == 41.0
    assert json_schema_parser(schema)({"n": 41}) is None


@pytest.mark.parametrize("reference", ["https://example.org/x.json", "file:///etc/hostname", "other.json", "#/$defs/absent"])
def test_a_reference_never_leads_outside(reference: str) -> None:
    with pytest.raises(FunctionDefinitionError) as caught:
        json_schema_parser({"properties": {"a": {"$ref": reference}}})
    assert reference.removeprefix("#") in caught.value.errors["schema"][0]


def test_a_reference_in_the_data_is_data() -> None:
    assert refusal({"type": "object"}, {"$ref": "https://example.org/x.json", "$schema": "x"}) == ""


@pytest.mark.parametrize("schema", [{"type": "text"}, {"required": "a"}, {"pattern": "("}, {"pattern": "(?=a)b"}])
def test_what_is_no_schema_is_a_definition_error(schema: Any) -> None:
    with pytest.raises(FunctionDefinitionError):
        json_schema_parser(schema)


def test_a_pattern_never_takes_long() -> None:
    parser = json_schema_parser({"properties": {"v": {"pattern": "^(a+)+$"}}})
    started = time.monotonic()
    assert isinstance(parser({"v": "a" * 100_000 + "b"}), Error)
    assert time.monotonic() - started < 2


SCRIPTS = ["javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x"]


@pytest.mark.parametrize("text", [*SCRIPTS, "x y", "/only/a/path"])
def test_a_uri_is_no_script_and_no_part(text: str) -> None:
    nested = {"type": "array", "items": {"type": "string", "format": "uri"}}
    assert "must start with http or https" in value_refusal(nested, [text])
    assert refusal({"properties": {"v": {"format": "uri"}}}, {"v": text}, formats=False) == ""


@pytest.mark.parametrize("text", ["2031-03-14T09:30:00+05:45", "2031-03-14T09:30:00Z", "2031-03-14T09:30:00.123456789Z"])
def test_an_instant_has_an_offset(text: str) -> None:
    assert value_refusal({"format": "date-time"}, text) == ""
    assert value_refusal({"format": "date-time"}, text[:19]) != ""


@pytest.mark.parametrize("marked", [{"writeOnly": True}, {"format": "password"}])
def test_a_secret_is_never_quoted(marked: dict[str, Any]) -> None:
    declared = {"anyOf": [{"type": "string", "maxLength": 3, **marked}, {"type": "null"}]}
    message = value_refusal(declared, "hunter2-hunter2")
    assert "hunter" not in message
    assert "text was sent" in message


def test_a_flood_of_problems_is_cut() -> None:
    message = refusal({"additionalProperties": False}, {f"field{number}": 1 for number in range(50_000)})
    assert len(message.splitlines()) == 52
    assert message.endswith("- and more that are not listed here")


def test_a_long_list_of_options_is_cut() -> None:
    message = value_refusal({"enum": [f"option{number}" for number in range(1000)]}, "x")
    assert message.endswith('option29 or one of 970 more; text was sent: "x"')


def test_identity_tells_schemas_apart_and_nothing_else() -> None:
    one, same = json_schema_parser({"a": 1, "b": 2}), json_schema_parser({"b": 2, "a": 1})
    assert one.identity == same.identity
    assert one.identity != json_schema_parser({"a": 2}).identity
    assert one.identity != json_schema_parser({"a": 1, "b": 2}, formats=False).identity


def test_an_answer_is_told_by_its_own_name() -> None:
    schema = {"type": "object", "properties": {"delete": {"enum": ["all", "none"]}}, "required": ["delete"]}
    assert schema_problems(schema, {"delete": "none"}) == ""
    assert schema_problems(schema, {"delete": "x"}, name="answer") == 'answer.delete must be all or none; text was sent: "x".'
    assert schema_problems(schema, 7, name="answer") == "answer must be an object; 7 was sent."
    assert schema_problems(schema, {}, name="") == "delete is missing."

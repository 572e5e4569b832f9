"""Strict reading of JSON: what is not beyond doubt is refused, with its place."""

from __future__ import annotations

import contextlib
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.tools.canonical import canonical, exact
from toolgate.tools.json_text import JSONTextError, item_texts, member_texts, read_json

REFUSED = [
    ('{"amount": 1, "amount": 2}', 'The field "amount" appears twice, at amount.'),
    ('{"lines": [{"qty": 1, "q\\u0074y": 2}]}', 'The field "qty" appears twice, at lines[0].qty.'),
    ('{"a b": {"c": 1, "c": 1}}', 'The field "c" appears twice, at "a b".c.'),
    ('{"a": NaN}', "a: NaN is not allowed: JSON has no such number."),
    ('{"a": [-Infinity]}', "a[0]: -Infinity is not allowed: JSON has no such number."),
    ("NaN", "Not valid: NaN is not allowed: JSON has no such number."),
    ('{"a": {"b": 1e400}}', 'a.b: number out of range: "1e400".'),
    ("-1e400", 'Not valid: number out of range: "-1e400".'),
    ("1e-400", 'Not valid: number out of range: "1e-400".'),
    ("1e99999999999999999999", 'Not valid: number out of range: "1e99999999999999999999".'),
    ('{"n": ' + "9" * 4301 + "}", "n: number out of range: more than 4300 digits."),
    ('{"n": 0.' + "9" * 4301 + "}", "n: number out of range: more than 4300 digits."),
    ('{"a": "\\ud800"}', "a contains an incomplete character (half of a surrogate pair)."),
    ('{"a": ["x", "\\ude00\\ud83d"]}', "a[1] contains an incomplete character (half of a surrogate pair)."),
    ('"\udc00"', "The text contains an incomplete character (half of a surrogate pair)."),
    ('{"a": "x\\u0000y"}', "a contains a NUL character, which cannot be stored."),
    ('{"a": {"k\\u0000": 1}}', 'A field name in a contains a NUL character, which cannot be stored: "k<U+0000>".'),
    ('{"a": 1} {', "Not valid JSON: there is text after the end of the JSON value, at line 1 column 10 (character 9)."),
    ('{"a":\n"\t"}', "Not valid JSON: a control character stands inside a string; write it as an escape, at line 2 column 2"),
    ('"\\q"', "Not valid JSON: unknown escape in a string, at line 1 column 2"),
    ('"\\u12"', "Not valid JSON: incomplete \\u escape in a string"),
    ('{"a": "b', "Not valid JSON: a string is not closed, at line 1 column 7 (character 6)."),
    ("", "Not valid JSON: a value was expected, at line 1 column 1 (character 0)."),
    ("[01]", "Not valid JSON: a comma or the end was expected, at line 1 column 3"),
    ('{"a" 1}', "Not valid JSON: a colon was expected"),
    ("{a: 1}", "Not valid JSON: a field name in double quotes was expected, at line 1 column 2 (character 1)."),
    ('```json\n{"a": 1}\n```', "Send JSON only, without a code fence."),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_in_doubt_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(JSONTextError) as caught:
        read_json(text)
    assert words in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', b'"\xc0\xaf"', b'"\xed\xa0\x80"'])
def test_bytes_must_be_utf8(raw: bytes) -> None:
    with pytest.raises(JSONTextError, match="not valid UTF-8, at byte"):
        read_json(raw)


def test_bytes_are_read_as_utf8() -> None:
    assert read_json('{"größe": "✓"}'.encode()) == {"größe": "✓"}


def nested(depth: int, left: str = "[", right: str = "]") -> str:
    return left * depth + "1" + right * depth


def test_the_depth_has_its_own_limit() -> None:
    read_json(nested(100))
    read_json(nested(99, '{"a":', "}").join(["[", "]"]))
    for text in (nested(101), nested(101, '{"a":', "}"), nested(100_000), "[" * 100_000, '[{"a":' * 50_000):
        with pytest.raises(JSONTextError, match="nested too deeply: at most 100 levels"):
            read_json(text)
    assert read_json(nested(3), max_depth=3) == [[[1]]]


def test_a_limit_beyond_the_machine_is_no_recursion_error() -> None:
    with pytest.raises(JSONTextError, match="nested too deeply"):
        read_json(nested(500_000), max_depth=1_000_000)


def test_brackets_within_texts_do_not_count() -> None:
    text = json.dumps(["[" * 500, '\\"[' * 500])
    assert read_json(text) == json.loads(text)


@pytest.mark.parametrize("digits", ["9007199254740993", "18446744073709551629", "-9223372036854775808", "9" * 4300])
def test_integers_stay_exact(digits: str) -> None:
    assert read_json(digits) == int(digits)


@pytest.mark.parametrize(("text", "value"), [("0.1", 0.1), ("12.50", 12.5), ("1e2", 100.0), ("41.0", 41.0), ("5e-324", 5e-324)])
def test_a_fraction_that_a_float_keeps_is_a_float(text: str, value: float) -> None:
    read = read_json(text)
    assert (type(read), read) == (float, value)


@pytest.mark.parametrize("text", ["0.1234567890123456789012", "9007199254740993.0", "1.00000000000000000001"])
def test_a_fraction_that_it_does_not_keep_is_a_decimal(text: str) -> None:
    read = read_json(text)
    assert (type(read), read) == (Decimal, Decimal(text))


def test_negative_zero_is_kept() -> None:
    assert math.copysign(1, read_json("-0.0")) == -1


def test_the_visible_text_of_an_escape_is_kept() -> None:
    assert read_json(r'"write \\u0000 and \\ud800 in code"') == r"write \u0000 and \ud800 in code"
    assert read_json(r'"\ud83d\ude80"') == "🚀"


letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
json_data: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | letters,
    lambda inner: st.lists(inner) | st.dictionaries(letters, inner),
    max_leaves=20,
)


@given(json_data)
def test_whatever_is_json_is_read_as_it_was_written(value: Any) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False)) == value
    assert read_json(canonical(value)) == read_json(exact(value)) == value


@given(st.text() | letters.map(json.dumps) | json_data.map(lambda value: json.dumps(value)[:-1]))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(JSONTextError):
        json.dumps(read_json(text), default=str)


@given(st.dictionaries(letters, json_data), st.sampled_from([None, 1]))
def test_the_text_of_members_is_what_was_sent(value: dict[str, Any], indent: int | None) -> None:
    texts = member_texts(json.dumps(value, indent=indent))
    assert {name: json.loads(text) for name, text in texts.items()} == value
    assert all(text == text.strip() for text in texts.values())


@given(st.lists(json_data), st.sampled_from([None, 1]))
def test_the_text_of_items_is_what_was_sent(value: list[Any], indent: int | None) -> None:
    assert [json.loads(text) for text in item_texts(json.dumps(value, indent=indent))] == value


def test_member_texts_keep_every_letter() -> None:
    text = ' { "a" : 1.50 , "b\\u0041":[ 1,\n {"x" : "}]\\"" } ] ,"c": "\\u0041" } '
    assert member_texts(text) == {"a": "1.50", "bA": '[ 1,\n {"x" : "}]\\"" } ]', "c": '"\\u0041"'}
    assert item_texts('[ 1.0 , {"a":[2]}, "x" ]') == ["1.0", '{"a":[2]}', '"x"']
    assert (member_texts(" {} "), item_texts("[ ]")) == ({}, [])


def test_long_objects_are_read_quickly() -> None:
    names = [f"name{number}" for number in range(200_000)]
    text = "{" + ",".join(f'"{name}": 1' for name in [*names, names[-1]]) + "}"
    with pytest.raises(JSONTextError, match="name199999"):
        read_json(text)

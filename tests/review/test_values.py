"""How values become a table that leaves nothing out."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rendering import read, render
from approvals.review import reading
from approvals.review.differences import Difference, differences
from approvals.review.values import Node, nodes_of, pretty
from toolgate.tools.canonical import canonical


def nodes(arguments: dict[Any, Any], schema: Any = None, secrets: tuple[str, ...] = ()) -> dict[str, Node]:
    rendered = render(arguments)
    return {node.name: node for node in nodes_of(rendered.text, canonical(rendered.types), schema or {}, secrets)}


def test_stand_in_the_order_declared() -> None:
    schema = {"properties": {"z": {"description": "last letter"}, "a": {}}}
    made = nodes({"m": 1, "a": 2, "z": 3}, schema)
    assert list(made) == ["z", "a", "m"]
    assert made["z"].description == "last letter"


@pytest.mark.parametrize(
    ("value", "text", "note"),
    [
        (Decimal("1234567.890"), "1234567.890", "1,234,567.890"),
        (10**30, str(10**30), ""),
        (1234, "1234", ""),
        (True, "yes", "true"),
        (None, "nothing", "null"),
        ("", "", "empty text"),
        (" x ", " x ", "begins or ends with blanks"),
        (
            "https://example.org@collector.example.net/x",
            "https://example.org@collector.example.net/x",
            "leads to collector.example.net",
        ),
        ("https://xn--exmple-cua.org/", "https://xn--exmple-cua.org/", "leads to xn--exmple-cua.org (exämple.org)"),
        (dt.date(2026, 12, 1), "2026-12-01", "Tuesday, 1 December 2026"),
        (
            dt.datetime.fromisoformat("2026-12-01T09:05:00"),
            "2026-12-01T09:05:00",
            "Tuesday, 1 December 2026, 09:05:00, no time zone",
        ),
        (dt.datetime(2026, 12, 1, tzinfo=dt.UTC), "2026-12-01T00:00:00+00:00", "Tuesday, 1 December 2026, 00:00:00, UTC"),
        (dt.time(9, 5), "09:05:00", "no time zone"),
        (dt.timedelta(days=1, seconds=61, microseconds=500000), "P1DT00H01M01.500000S", "1 day 1 minute 1.5 seconds"),
        (dt.timedelta(seconds=-90), "-P0DT00H01M30S", "minus 1 minute 30 seconds"),
        (b"abc", "YWJj", "3 bytes, written as base64"),
    ],
)
def test_are_read_as_people_read_them(value: Any, text: str, note: str) -> None:
    made = nodes({"value": value})["value"]
    assert (made.text, made.note) == (text, note)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({}, "empty"),
        ([], "empty"),
        ({"a": 1}, "fields"),
        ([1, 2], "items"),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], "rows"),
        ([{"a": 1, "b": 2}, {"a": 3}], "items"),
        ({"before": {"a": 1}, "after": {"a": 2}}, "pair"),
        ({"before": 1, "after": 2}, "fields"),
        ("two\nlines", "block"),
        (list(range(300)), "whole"),
        ({1: "a", "1": "b"}, "fields"),
    ],
)
def test_are_drawn_as_what_they_are(value: Any, shape: str) -> None:
    assert nodes({"value": value})["value"].shape == shape


def test_code_is_a_block() -> None:
    made = nodes({"sql": "SELECT 1", "user_query": "SELECT 1", "sequel": "SELECT 1"})
    assert [made[name].shape for name in ("sql", "user_query", "sequel")] == ["block", "block", "value"]


def test_keys_that_are_no_text_stay_apart_from_those_that_are() -> None:
    assert [child.name for child in nodes({"value": {1: "a", "1": "b"}})["value"].children] == ['"1"', "1"]


@pytest.mark.parametrize("secrets", [("key",), ("key.inner",), ("*",), ("key.*",)])
def test_secrets_are_masked_at_every_depth(secrets: tuple[str, ...]) -> None:
    made = nodes({"key": {"inner": "demo-token"}}, secrets=secrets)["key"]
    assert not [node for node in made.walk() if "demo-token" in node.text]
    assert [node for node in made.walk() if node.is_secret]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=30)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_nothing_is_left_out(arguments: dict[str, Any]) -> None:
    """Every name and every single value of the arguments stands somewhere in what is drawn."""
    drawn = "\n".join(f"{node.name}\n{node.text}" for outer in nodes(arguments).values() for node in outer.walk())

    def check(value: Any) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                assert name in drawn or pretty(name)[1:-1] in drawn
                check(inner)
        elif isinstance(value, list):
            for inner in value:
                check(inner)
        else:
            shown = reading.scalar(value)
            assert shown in drawn or pretty(value).strip('"') in drawn

    check(arguments)


@given(JSON)
def test_pretty_json_keeps_every_digit(value: Any) -> None:
    assert canonical(read(pretty(value))) == canonical(value)


@given(JSON, JSON)
def test_differences_are_there_exactly_when_two_values_differ(one: Any, other: Any) -> None:
    assert bool(list(differences(one, other))) == (canonical(one) != canonical(other))
    assert not list(differences(one, one))


@given(st.text(), st.text())
def test_a_difference_shows_both_texts_in_full(before: str, after: str) -> None:
    one = Difference("place", before, after)
    assert "".join(text for text, _ in one.before_parts) == before
    assert "".join(text for text, _ in one.after_parts) == after


def test_a_difference_marks_the_words_that_changed() -> None:
    one = Difference("place", "pay 20.00 to Mary", "pay 7.50 to Mary")
    assert [text for text, differs in one.before_parts if differs] == ["20.00"]
    assert [text for text, differs in one.after_parts if differs] == ["7.50"]

"""How values of every kind are shown and told apart."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import ipaddress
import pathlib
import uuid
from collections import OrderedDict, namedtuple
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from approvals.rendering import Rendered, Unrenderable, digest, masked, read, render
from toolgate.tools.canonical import canonical


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Refund:
    order: int
    amount: Decimal


class Model(BaseModel):
    at: dt.date


Point = namedtuple("Point", "x y")
BERLIN = dt.datetime(2031, 3, 14, 9, 30, tzinfo=ZoneInfo("Europe/Berlin"))

SHOWN: list[tuple[Any, str, dict[str, str]]] = [
    (9007199254740993, "9007199254740993", {}),
    (-(10**40), "-1" + "0" * 40, {}),
    (0.1, "0.1", {}),
    (1e21, "1e+21", {}),
    (5.0, "5", {}),
    (Decimal("12.50"), "12.50", {"": "decimal"}),
    (Decimal("1E+3"), "1000", {"": "decimal"}),
    (b"hi", '{"$bytes":"aGk="}', {"": "bytes"}),
    (BERLIN, '"2031-03-14T09:30:00+01:00"', {"": "datetime"}),
    (dt.datetime(2031, 3, 14, 9, 30), '"2031-03-14T09:30:00"', {"": "datetime without zone"}),  # noqa: DTZ001 - meant
    (dt.date(2031, 3, 14), '"2031-03-14"', {"": "date"}),
    (dt.timedelta(hours=1, seconds=1), '"P0DT01H00M01S"', {"": "duration"}),
    (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"', {"": "uuid"}),
    (pathlib.PurePosixPath("/etc/x"), '"/etc/x"', {"": "path"}),
    (ipaddress.ip_address("10.0.0.1"), '"10.0.0.1"', {"": "ip address"}),
    (Colour.RED, '"red"', {"": "enum Colour.RED"}),
    (Level.HIGH, "3", {"": "enum Level.HIGH"}),
    ({3, 1, 2}, "[1,2,3]", {"": "set"}),
    ((1, "a"), '[1,"a"]', {}),
    (Point(1, 2), '{"x":1,"y":2}', {"": "object Point"}),
    (Refund(7, Decimal("5")), '{"amount":5,"order":7}', {"": "object Refund", "/amount": "decimal"}),
    (Model(at=dt.date(2031, 1, 1)), '{"at":"2031-01-01"}', {"": "object Model", "/at": "date"}),
    (OrderedDict(b=1, a=2), '{"a":2,"b":1}', {}),
    ({1: "a", "1": "b"}, '[["1","b"],[1,"a"]]', {"": "map"}),
    ({"a/b": {"c~d": b""}}, '{"a/b":{"c~d":{"$bytes":""}}}', {"/a~1b/c~0d": "bytes"}),
    ("\ud83d", '"\\ud83d"', {}),
    ("a\x00b", '"a\\u0000b"', {}),
]


@pytest.mark.parametrize(("value", "text", "types"), SHOWN, ids=[repr(row[0])[:40] for row in SHOWN])
def test_value_is_shown_exactly(value: Any, text: str, types: dict[str, str]) -> None:
    rendered = render(value)
    assert (rendered.text, rendered.types) == (text, types)


@pytest.mark.django_db
def test_record_is_its_label_key_text_and_fields() -> None:
    group = Group.objects.create(name="finance")
    rendered = render({"group": group})
    assert rendered.tree["group"] == {
        "label": "auth.group",
        "pk": group.pk,
        "text": "finance",
        "fields": {"id": group.pk, "name": "finance"},
    }
    before = digest("f", "", rendered)
    group.name = "legal"
    assert digest("f", "", render({"group": group})) != before


STRANGE: dict[str, Any] = {
    "object": object(),
    "generator": iter(()),
    "nan": float("nan"),
    "infinity": float("inf"),
    "decimal nan": Decimal("NaN"),
    "huge integer": 10**5000,
    "function": len,
}


@pytest.mark.parametrize("name", list(STRANGE))
def test_what_cannot_be_shown_without_loss_is_refused(name: str) -> None:
    value = STRANGE[name]
    with pytest.raises(Unrenderable) as refused:
        render({"deep": [value]})
    assert refused.value.place == "/deep/0"
    assert " at 0x" not in str(refused.value)


def test_value_that_contains_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(Unrenderable):
        render(ring)


def test_volatile_paths_do_not_count() -> None:
    def bound(price: int, at: int, volatile: tuple[str, ...]) -> str:
        return digest("f", "d", render({"lines": [{"price": price, "at": dt.timedelta(at)}]}), volatile)

    assert bound(1, 1, ("lines.*.at",)) == bound(1, 2, ("lines.*.at",))
    assert bound(1, 1, ("lines.*.at",)) != bound(2, 1, ("lines.*.at",))
    assert bound(1, 1, ()) != bound(1, 2, ())


def test_masks_at_every_depth_named() -> None:
    tree = {"a": [{"token": "x", "kept": 1}, {"token": "y"}], "token": "z"}
    assert masked(tree, ["a.*.token"]) == {"a": [{"token": "••••••", "kept": 1}, {"token": "••••••"}], "token": "z"}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.dates()
    | st.binary()
    | st.sampled_from([Colour.RED, Level.HIGH, Refund(1, Decimal("2"))]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


def bound(value: Any) -> str:
    return digest("tool", "declaration", render(value))


def _shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shuffled(item) for key, item in reversed(value.items())}
    return [_shuffled(item) for item in value] if isinstance(value, list) else value


@given(json_values)
def test_same_meaning_has_the_same_digest(value: Any) -> None:
    assert bound(_shuffled(value)) == bound(value)


def _meaning(value: Any) -> Any:
    """A value that is equal exactly when two values mean the same."""
    if isinstance(value, dict):
        return ("dict", frozenset((key, _meaning(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(_meaning(item) for item in value))
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, enum.Enum | Refund):
        return ("python", repr(value))
    if isinstance(value, int | float):
        return ("number", canonical(value))
    return (type(value).__name__, str(value), getattr(value, "utcoffset", lambda: None)())


@given(json_values, json_values)
def test_different_meaning_has_a_different_digest(one: Any, other: Any) -> None:
    assert (bound(one) == bound(other)) == (_meaning(one) == _meaning(other))


@given(json_values)
def test_shown_text_reads_back_to_the_same_text(value: Any) -> None:
    rendered = render(value)
    assert Rendered(read(rendered.text), rendered.types).text.count("{") == rendered.text.count("{")


LOOK_ALIKES = [
    (b"hi", {"$bytes": "aGk="}),
    (dt.date(2031, 1, 1), "2031-01-01"),
    (Decimal("12.50"), Decimal("12.5")),
    (1, "1"),
    (1, True),
    (0, False),
    (None, "null"),
    ({1}, [1]),
    (Colour.RED, "red"),
    (Refund(1, Decimal(2)), {"order": 1, "amount": Decimal(2)}),
    ({1: "a"}, [[1, "a"]]),
    ({"a.b": 1}, {"a": {"b": 1}}),
    ("\u00e9", "e\u0301"),
]


@pytest.mark.parametrize(("one", "other"), LOOK_ALIKES)
def test_what_only_looks_alike_has_different_digests(one: Any, other: Any) -> None:
    assert bound({"x": one}) != bound({"x": other})

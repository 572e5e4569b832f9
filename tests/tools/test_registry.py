"""Registry: name to function, and what the gate needs to know about each."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from toolgate import (
    Function,
    FunctionDefinitionError,
    FunctionParam,
    Registration,
    Registry,
    json_schema_parser,
    pydantic_parser,
    tool,
)

PAY = Function(name="pay", parameters=[FunctionParam("amount", "number", required=True)])


def registered(function: Any = PAY, **facts: Any) -> Registration:
    registry = Registry()
    registry.register(function, **facts)
    return next(iter(registry))


def errors_of(function: Any = PAY, **facts: Any) -> dict[str, list[str]]:
    with pytest.raises(FunctionDefinitionError) as caught:
        registered(function, **facts)
    return caught.value.errors


def test_what_is_not_said_has_its_default() -> None:
    facts = registered()
    assert (facts.risk, facts.require_approval, facts.deny, facts.approvals) == ("medium", True, False, 1)
    assert facts.allowed_decisions == ("approve", "edit", "reject", "respond", "request_changes")
    assert (facts.expires_after, facts.approval_valid_for) == (timedelta(days=1), timedelta(days=1))
    assert (facts.time_limit, facts.soft_limit) == (timedelta(seconds=60), timedelta(seconds=54))
    assert (facts.self_approval, facts.editor_may_approve, facts.idempotent) == (False, True, False)
    assert (facts.groups, facts.secrets, facts.volatile, facts.drift) == ((), (), (), "ask")
    assert (facts.headline, facts.version) == (None, "1")


def test_register_is_a_call_and_a_decorator_that_answers_what_it_was_given() -> None:
    registry = Registry()
    assert registry.register(PAY, risk="high") is PAY

    @registry.register(risk="low")
    @tool
    def look_up(order: int) -> str:
        """Looks an order up."""
        return str(order)

    @registry.register
    def plain(order: int) -> str:
        return str(order)

    assert look_up(7) == plain(7) == "7"
    assert registry.names == ["pay", "look_up", "plain"]
    assert [one.risk for one in registry] == ["high", "low", "medium"]
    assert [function.name for function in registry.functions] == registry.names
    assert (len(registry), "pay" in registry, "Pay" in registry) == (3, True, False)
    plain_schema = registry.functions[2].json_schema()
    assert plain_schema["properties"] == {"order": {"type": "integer"}}


def test_names_are_found_exactly() -> None:
    registry = Registry()
    registry.register(PAY)
    found = registry.get("pay")
    assert found is not None
    assert found.function is PAY
    assert [registry.get(name) for name in ("Pay", "pay ", "functions.pay", "__class__", "")] == [None] * 5


@pytest.mark.parametrize(("name", "words"), [("pay", "is registered already"), ("Pay", "differs only by case from 'pay'")])
def test_names_that_clash_are_refused(name: str, words: str) -> None:
    registry = Registry()
    registry.register(PAY)
    with pytest.raises(FunctionDefinitionError) as caught:
        registry.register(Function(name=name), risk="enormous")
    assert words in caught.value.errors["name"][0]
    assert list(caught.value.errors) == ["name", "risk"]
    assert len(registry) == 1


def test_a_union_holds_all_and_refuses_clashes() -> None:
    one, other = Registry(), Registry()
    one.register(PAY)
    other.register(Function(name="look"))
    assert Registry.union([one, other]).names == ["pay", "look"]
    other.register(Function(name="PAY"))
    with pytest.raises(FunctionDefinitionError):
        Registry.union([one, other])
    assert (one.names, other.names) == (["pay"], ["look", "PAY"])


@pytest.mark.parametrize("function", [None.__class__, "pay", 7, object(), print])
def test_only_functions_can_be_registered(function: Any) -> None:
    assert list(errors_of(function)) == ["function"]


BAD: list[tuple[str, Any]] = [
    ("risk", "enormous"),
    ("require_approval", "yes"),
    ("require_approval", lambda: True),
    ("require_approval", lambda a, b, c: True),
    ("deny", None),
    ("approvals", 0),
    ("approvals", True),
    ("approvals", 1.5),
    ("groups", [1]),
    ("groups", None),
    ("allowed_decisions", ["approve", "maybe"]),
    ("allowed_decisions", []),
    ("expires_after", timedelta(0)),
    ("expires_after", 60),
    ("approval_valid_for", -timedelta(1)),
    ("time_limit", "60"),
    ("soft_time_limit", timedelta(seconds=-1)),
    ("soft_time_limit", timedelta(seconds=60)),
    ("self_approval", 1),
    ("idempotent", "no"),
    ("drift", "ignore"),
    ("headline", 7),
    ("headline", "Pay {amount"),
    ("headline", "Pay {}"),
    ("version", 2),
    ("colour", "red"),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_what_is_wrong_is_told_under_its_own_name(name: str, value: Any) -> None:
    assert list(errors_of(**{name: value})) == [name]


def test_all_problems_are_told_at_once() -> None:
    assert list(errors_of(risk="x", approvals=0, colour="red", time_limit=1)) == ["colour", "risk", "approvals", "time_limit"]


def test_a_coroutine_is_no_predicate() -> None:
    async def later(arguments: Any) -> bool:
        return True

    assert list(errors_of(require_approval=later)) == ["require_approval"]


@pytest.mark.parametrize("rule", [lambda a: True, lambda a, c: True, lambda a, c=None: True])
def test_a_predicate_takes_arguments_and_perhaps_the_context(rule: Any) -> None:
    assert registered(require_approval=rule, deny=rule).require_approval is rule


# --- secrets ---


class Credentials(BaseModel):
    user: str
    password: SecretStr


class Chain(BaseModel):
    key: SecretStr
    below: Chain | None = None


def test_what_the_schema_marks_is_a_secret_at_any_depth() -> None:
    @tool
    def log_in(token: SecretStr, main: Credentials, spare: list[Credentials], named: dict[str, Credentials]) -> None: ...

    facts = registered(log_in, secrets=["main.user"])
    assert facts.secrets == ("main.user", "token", "main.password", "spare.*.password", "named.*.password")


def test_a_schema_of_ones_own_is_searched_through_references_and_forms() -> None:
    schema = {
        "properties": {
            "a.b": {"writeOnly": True},
            "either": {"anyOf": [{"$ref": "#/$defs/secret"}, {"type": "null"}]},
            "pair": {"prefixItems": [{"format": "password"}]},
            "open": {"format": "email"},
        },
        "patternProperties": {"^x": {"properties": {"key": {"$ref": "#/$defs/secret"}}}},
        "$defs": {"secret": {"type": "string", "writeOnly": True}},
    }
    assert registered(Function(name="f", parameters_schema=schema)).secrets == ("*", "either", "pair.*", "*.key")


def test_beyond_a_schema_that_leads_back_to_itself_all_is_secret() -> None:
    @tool
    def store(chain: Chain) -> None: ...

    assert registered(store).secrets == ("chain.key", "chain.below.key", "chain.below.below.key", "chain.below.below.below")


# --- the headline ---

ORDER = SimpleNamespace(customer="Ann", lines=[SimpleNamespace(sku="a")], _hidden="h", total=lambda: 7)


@pytest.mark.parametrize(
    ("headline", "made"),
    [
        ("Refund {amount} to {order.customer}", "Refund 12.5 to Ann"),
        ("{place[city]}, {place.zip:05d}", "Bonn, 00007"),
        ("{order.lines[0].sku}{tags[1]}", "ab"),
        ("{{literal}} {amount!r:>6}", "{literal}   12.5"),
        (lambda arguments: f"{len(arguments)} things", "4 things"),
        ("{absent}", None),
        ("{order.absent}", None),
        ("{order._hidden}", None),
        ("{order.__class__}", None),
        ("{order.total}", None),
        ("{tags[9]}", None),
        (lambda arguments: 1 / 0, None),
        (None, None),
    ],
)
def test_a_headline_is_made_of_resolved_values(headline: Any, made: str | None) -> None:
    arguments = {"amount": 12.5, "order": ORDER, "place": {"city": "Bonn", "zip": 7}, "tags": ["a", "b"]}
    assert registered(headline=headline).headline_for(arguments) == made


def test_a_headline_is_one_line_and_hides_nothing() -> None:
    made = registered(headline="Pay {name}").headline_for({"name": "李\nApproved\u202e\u2028é"})
    assert made == "Pay 李<U+000A>Approved<U+202E><U+2028>é"


LEAKING = ["Use {token}", "{main}", "{main.password}", "{spare[0][password]}", "{spare}", "{name:{token}}"]


@pytest.mark.parametrize("headline", LEAKING)
def test_a_headline_that_shows_a_secret_is_refused(headline: str) -> None:
    @tool
    def log_in(token: SecretStr, main: Credentials, spare: list[Credentials], name: str) -> None: ...

    assert list(errors_of(log_in, headline=headline)) == ["headline"]
    assert registered(log_in, headline="{name} {main.user}").headline is not None


# --- the declaration ---


def parse(arguments: dict[str, Any], limit: int = 3) -> None: ...


def limited(limit: int) -> Any:
    def parser(arguments: dict[str, Any]) -> None:
        if limit < 0:
            raise ValueError

    return parser


class Parsing:
    def __call__(self, arguments: dict[str, Any]) -> None: ...

    def method(self, arguments: dict[str, Any]) -> None: ...


def identity_of(parser: Any) -> Any:
    return registered(Function(name="f", parse_args=parser)).declaration()["parser"]


def test_a_declaration_is_json_data() -> None:
    declared = registered(Function(name="f", description="d", parameters=PAY.parameters, strict=True), version="2")
    data = declared.declaration()
    assert json.loads(json.dumps(data)) == data
    assert (data["name"], data["description"], data["strict"], data["async"], data["version"]) == ("f", "d", True, False, "2")
    assert data["schema"] == FunctionParam.to_parameters_schema(PAY.parameters)
    assert data["parser"] is None


def test_a_schema_that_is_no_json_cannot_be_registered() -> None:
    for schema in ({"default": object()}, {"default": float("nan")}):
        assert list(errors_of(Function(name="f", parameters_schema=schema))) == ["function"]


def test_a_parser_is_told_by_where_it_stands_and_what_it_is_bound_to() -> None:
    here = "tests.tools.test_registry"
    assert identity_of(parse) == f"{here}:parse"
    assert identity_of(functools.partial(parse, limit=5)) == f"{here}:parse(limit=5)"
    assert identity_of(limited(3)) == f"{here}:limited.<locals>.parser(limit=3)"
    assert identity_of(limited(3)) != identity_of(limited(4))
    assert identity_of(lambda arguments: None).endswith("<lambda>")
    assert identity_of(Parsing()) == f"{here}:Parsing"
    assert identity_of(Parsing().method) == f"{here}:Parsing.method"


def test_a_schemas_parser_is_told_by_its_schema() -> None:
    assert identity_of(json_schema_parser({"type": "object"})) == 'json_schema_parser:True:{"type":"object"}'
    assert identity_of(pydantic_parser(Credentials)) != identity_of(pydantic_parser(Chain))


DECLARE = """
import functools, json, random
from toolgate import Function, Registry, tool
registry = Registry()
def make(limit, other, it):
    def parse(arguments): return (limit, other, it) and None
    return parse
class Thing: pass
registry.register(Function(name="a", parse_args=make({"b": 1, "a": 2}, Thing(), make)))
registry.register(Function(name="b", parse_args=functools.partial(lambda arguments, other: None, other=Thing())))
@registry.register
@tool
def c(order: int, names: set[str] | None = None) -> str:
    return ""
print(json.dumps([one.declaration() for one in registry]))
"""


def test_a_declaration_is_the_same_in_every_process() -> None:
    root = Path(__file__).parent.parent.parent
    told = [
        subprocess.run(
            [sys.executable, "-c", DECLARE], check=True, capture_output=True, cwd=root, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert b"0x" not in told[0]

"""What a model sends is read one way by policy, reviewer and body, or refused in words that it can act on; never a 500."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from approvals.models import Execution, Status, ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, answer, register
from tests.review.browser import visit
from toolgate import Function, FunctionParam
from toolgate.tools.parsers import json_schema_parser, pydantic_parser

pytestmark = pytest.mark.django_db

STRICT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tags"],
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "level": {"type": ["string", "null"], "enum": ["low", "high"]},
        "memo": {"anyOf": [{"$ref": "#/$defs/memo"}, {"type": "null"}]},
    },
    "$defs": {"memo": {"type": "string"}},
}


class Levelled(BaseModel):
    level: Literal["low", "high"] | None = None


@pytest.fixture(autouse=True)
def _tools(tools: Any) -> None:
    tools.register(Function(name="bare", function=answer))
    tools.register(Function(name="pay", parameters=[FunctionParam("amount", "number", required=True)], function=answer))
    tools.register(Function(name="strict", parameters_schema=STRICT, parse_args=json_schema_parser(STRICT), function=answer))
    schema = Levelled.model_json_schema()
    tools.register(Function(name="levelled", parameters_schema=schema, parse_args=pydantic_parser(Levelled), function=answer))


def submit(caller: Caller, tool: str, arguments: str | None, **headers: str) -> Answer:
    """`arguments` is the member's JSON text, None to leave it out."""
    member = "" if arguments is None else f', "arguments": {arguments}'
    return caller.post("tool-calls", f'{{"tool": {json.dumps(tool)}, "tool_call_id": "1"{member}}}', **headers)


def told(answered: Answer) -> str:
    result = answered.body.get("result")
    return str(result["content"][0]["content"] if result else answered.body.get("detail", ""))


REFUSED: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "whole object as a key": ("pay", json.dumps({'{"amount": 5}': ""}), ("Missing parameters: amount", "Unrecognized")),  # B055
    "whole object as a key, strictly": ("strict", json.dumps({'{"tags": []}': None}), ("unknown field", "tags is missing")),
    "list as text": ("strict", '{"tags": "[\\"a\\"]"}', ("tags must be a list", "text was sent")),  # B056
    "empty text where something is needed": ("pay", '""', ("Missing parameters: amount",)),  # B058
    "null where something is needed": ("pay", "null", ("Missing parameters: amount",)),  # B059
    "nothing where something is needed": ("pay", None, ("Missing parameters: amount",)),
    "the text null where something is needed": ("pay", '"null"', ("Missing parameters: amount",)),
    "a word that is no JSON": ("bare", '"None"', ("Not valid JSON", "line 1 column 1")),
    "name with a blank": ("pay ", '{"amount": 1}', ('"pay "', "tool not found")),  # B062
    "name with quotes": ('"pay"', '{"amount": 1}', ("tool not found",)),
    "name with a hidden letter": ("pay\u200b", '{"amount": 1}', ("<U+200B>", "tool not found")),
    "required field missing": ("strict", '{"level": "low"}', ("tags is missing",)),
    "null outside the options": (
        "strict",
        '{"tags": [], "level": null}',
        ("level must be low or high", "null was sent"),
    ),  # B064
    "the word null outside the options": ("levelled", '{"level": "null"}', ("level", "'low' or 'high'", '"null"')),  # B065
    "duplicate key in text": ("pay", json.dumps('{"amount": 5, "am\\u006funt": 5000}'), ('"amount" appears twice',)),  # B071
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_does_not_fit_is_told_and_its_key_is_free_for_the_correction(name: str, as_agent: Caller) -> None:
    tool, arguments, words = REFUSED[name]
    refused = submit(as_agent, tool, arguments, Idempotency_Key="one")
    assert (refused.status, refused.body["status"]) == (201, "invalid")
    assert all(word in told(refused) for word in words), told(refused)
    assert not ToolCall.objects.exclude(status=Status.INVALID).exists()
    assert not Execution.objects.exists()
    corrected = submit(as_agent, "strict", '{"tags": []}', Idempotency_Key="one")
    assert (corrected.status, corrected.body["status"]) == (201, "pending")


ACCEPTED: dict[str, tuple[str, str | None, Any]] = {
    "empty text": ("bare", '""', {}),  # B058
    "null": ("bare", "null", {}),  # B059
    "left out": ("bare", None, {}),
    "the text null": ("bare", '"null"', {}),
    "null that our own schema allows": ("levelled", '{"level": null}', {"level": None}),  # B064
    "null of a union": ("strict", '{"tags": [], "memo": null}', {"tags": [], "memo": None}),  # B065
    "the word null": ("strict", '{"tags": [], "memo": "null"}', {"tags": [], "memo": "null"}),
    "the word None": ("strict", '{"tags": [], "memo": "None"}', {"tags": [], "memo": "None"}),
}


@pytest.mark.parametrize("name", list(ACCEPTED))
def test_what_fits_is_taken_as_it_was_sent(name: str, as_agent: Caller) -> None:
    tool, arguments, value = ACCEPTED[name]
    taken = submit(as_agent, tool, arguments)
    assert (taken.status, taken.body["status"], taken.body["arguments"]["resolved"]) == (201, "pending", value)


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_empty_name_is_named_as_the_field_at_fault(name: str, as_agent: Caller) -> None:  # B062
    refused = submit(as_agent, name, "{}")
    assert (refused.status, refused.body["field"]) == (422, "tool")
    assert not ToolCall.objects.exists()


def test_cut_off_json_sent_fifty_times_is_told_the_same_each_time_and_piles_nothing_up(as_agent: Caller) -> None:  # B061
    as_text = [submit(as_agent, "pay", json.dumps('{"amount": 5'), Idempotency_Key="one") for _ in range(50)]
    assert len({answered.body["id"] for answered in as_text}) == 1
    assert {told(answered) for answered in as_text} == {told(as_text[0])}
    assert "line 1 column 13" in told(as_text[0])
    as_body = [submit(as_agent, "pay", '{"amount": 5', Idempotency_Key="two") for _ in range(50)]
    assert {(answered.status, answered.problem) for answered in as_body} == {(400, "malformed")}
    assert len({told(answered) for answered in as_body}) == 1
    assert list(ToolCall.objects.values_list("status", flat=True)) == [Status.INVALID]


@pytest.mark.parametrize(("depth", "fits"), [(50, True), (100, True), (101, False), (5000, False), (20_000, False)])
def test_depth_has_one_limit_whatever_the_form(depth: int, fits: bool, as_agent: Caller) -> None:  # B068 B070
    nested = '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
    for arguments in (nested, json.dumps(nested)):
        answered = submit(as_agent, "bare", arguments, Idempotency_Key=arguments[:2])
        if fits:
            assert answered.body["status"] == "pending"
        else:
            assert answered.status in (201, 400, 422)
            assert "nested too deeply" in told(answered)
    assert ToolCall.objects.filter(status=Status.PENDING).count() == (2 if fits else 0)
    assert as_agent.get("tool-calls").status == 200


@pytest.mark.parametrize("twin", ['"amount"', '"am\\u006funt"'])
def test_member_that_appears_twice_is_refused_in_either_form(twin: str, as_agent: Caller) -> None:  # B071
    arguments = f'{{"amount": 5, {twin}: 5000}}'
    raw, as_text = submit(as_agent, "pay", arguments), submit(as_agent, "pay", json.dumps(arguments))
    assert (raw.status, raw.problem, as_text.body["status"]) == (400, "malformed", "invalid")
    for answered in (raw, as_text):
        assert '"amount" appears twice' in told(answered)


def test_schema_that_became_stricter_leaves_waiting_calls_readable_and_says_why_they_cannot_be_approved(
    as_person: Caller, ada: Any, make_call: CallMaker, tools: Any
) -> None:  # B067
    def released(schema: dict[str, Any]) -> None:
        tools._registrations.pop("checked", None)
        register(tools, "checked", parse_args=json_schema_parser(schema), parameters_schema=schema)

    released({"type": "object", "properties": {"memo": {"type": ["string", "null"]}}})
    call = make_call.submit("checked", {"memo": None})
    released({"type": "object", "properties": {"memo": {"type": "string"}}})
    assert visit(ada, f"/calls/{call.pk}").status == 200
    digest = call.resolution.digest if call.resolution else ""
    refused = as_person.post(f"tool-calls/{call.pk}/decisions", {"kind": "approve", "digest": digest})
    assert (refused.status, refused.problem) == (409, "not_resolvable")
    assert "memo must be text; null was sent" in refused.body["detail"]
    assert "memo must be text; null was sent" in visit(ada, f"/calls/{call.pk}").text
    fixed = {"kind": "edit", "digest": "", "edited_arguments": {}}
    assert as_person.post(f"tool-calls/{call.pk}/decisions", fixed).body["arguments"]["resolved"] == {}

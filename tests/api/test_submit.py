"""`POST /tool-calls`: one call, answered 201 whatever becomes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from approvals.models import Agent, AuditEvent, ToolCall
from tests.api.conftest import Caller
from tests.calls import Deployment, register
from toolgate import Error

pytestmark = pytest.mark.django_db


def sent(**members: Any) -> dict[str, Any]:
    return {"tool": "tool", "tool_call_id": "call_1", "arguments": {"a": 1}, **members}


@pytest.fixture(autouse=True)
def _tool(tools: Deployment) -> None:
    register(tools)


def test_stores_a_call_that_waits_for_people(as_agent: Caller, agent: Agent) -> None:
    answered = as_agent.post("tool-calls", sent())
    assert answered.status == 201
    assert (answered.body["status"], answered.body["settled"]) == ("pending", False)
    assert answered.body["arguments"] == {"submitted": {"a": 1}, "resolved": {"a": 1}, "effective": None}
    assert answered.body["policy"]["outcome"] == "require_approval"
    assert answered.body["agent"] == agent.name
    assert ToolCall.objects.get(pk=answered.body["id"]).agent == agent


def test_keeps_everything_that_may_be_sent(as_agent: Caller) -> None:
    first = as_agent.post("tool-calls", sent(tool="nothing like it")).body
    members = {
        "run_id": "a run/with a slash", "context": {"z": 1, "a": [2.50]}, "metadata": {"trace": "x"},
        "agent_reasoning": "because", "on_behalf_of": "ada", "timeout_seconds": 60, "revises": first["id"],
    }  # fmt: skip
    answered = as_agent.post("tool-calls", sent(tool_call_id="call_2", **members))
    assert answered.status == 201, answered.body
    for name in ("run_id", "context", "metadata", "agent_reasoning", "on_behalf_of", "revises"):
        assert answered.body[name] == members[name]
    assert answered.body["position"] == 0
    revised = as_agent.get(f"tool-calls/{first['id']}").body
    assert revised["revised_by"] == [answered.body["id"]]


def test_null_is_the_same_as_leaving_out(as_agent: Caller) -> None:
    names = ("run_id", "context", "metadata", "agent_reasoning", "on_behalf_of", "timeout_seconds", "revises")
    members = dict.fromkeys((*names, "idempotency_key"))
    assert as_agent.post("tool-calls", sent(**members)).status == 201
    assert as_agent.post("tool-calls", sent()).status == 200


@pytest.mark.parametrize("arguments", [b"null", b'""', b'" "', b"{}", None])
def test_no_arguments_are_an_empty_object(arguments: bytes | None, as_agent: Caller) -> None:
    member = b', "arguments": ' + arguments if arguments is not None else b""
    answered = as_agent.post("tool-calls", b'{"tool": "tool", "tool_call_id": "1"' + member + b"}")
    assert answered.status == 201
    assert answered.body["arguments"]["resolved"] == {}


@pytest.mark.parametrize(
    ("arguments", "status"), [("[" * 99 + "]" * 99, "pending"), ("[" * 100 + "]" * 100, "invalid")], ids=["100", "101"]
)
@pytest.mark.parametrize("form", ["raw", "text"])
def test_the_limit_of_depth_is_the_same_in_both_forms(form: str, arguments: str, status: str, as_agent: Caller) -> None:
    text = f'{{"a": {arguments}}}'
    member = text if form == "raw" else json.dumps(text)
    answered = as_agent.post("tool-calls", f'{{"tool": "tool", "tool_call_id": "1", "arguments": {member}}}')
    assert (answered.status, answered.body["status"]) == (201, status)


def test_arguments_come_back_in_the_order_and_with_the_digits_sent(as_agent: Caller) -> None:
    raw = '{"z": 12.50, "a": 9007199254740993, "m": 0.1234567890123456789, "e": "\\u2028é"}'
    body = f'{{"tool": "tool", "tool_call_id": "1", "arguments": {raw}}}'
    answered = as_agent.post("tool-calls", body)
    assert f'"submitted":{raw}' in answered.text
    assert "9007199254740993" in answered.text.partition('"resolved"')[2]
    assert "0.1234567890123456789" in answered.text.partition('"resolved"')[2]


def test_an_unknown_tool_is_an_answer_for_the_model(as_agent: Caller) -> None:
    answered = as_agent.post("tool-calls", sent(tool="tооl"))
    assert (answered.status, answered.body["status"], answered.body["settled"]) == (201, "invalid", True)
    result = answered.body["result"]
    assert "<U+043E>" in result["content"][0]["content"]
    assert (result["tool_call_id"], result["is_error"]) == ("call_1", True)


def test_a_tool_that_is_not_for_this_agent_is_as_unknown_as_one_that_is_not_there(
    as_agent: Caller, agent: Agent, tools: Deployment
) -> None:
    register(tools, "other", risk="high")
    agent.tools = "tool\nabsent"
    agent.save()
    forbidden, absent = (as_agent.post("tool-calls", sent(tool=name, tool_call_id=name)) for name in ("other", "absent"))
    sentences = [one.body["result"]["content"][0]["content"] for one in (forbidden, absent)]
    assert sentences[0].replace("other", "absent") == sentences[1]
    different = {name for name in forbidden.body if forbidden.body[name] != absent.body[name]}
    assert different <= {"id", "tool", "tool_call_id", "headline", "result", "submitted_at", "settled_at"}
    assert as_agent.post("tool-calls", sent()).body["status"] == "pending"


def test_a_denied_call_is_an_answer_for_the_model(as_agent: Caller, tools: Deployment) -> None:
    register(tools, "denied", deny=True)
    answered = as_agent.post("tool-calls", sent(tool="denied"))
    assert (answered.status, answered.body["status"]) == (201, "denied")
    assert "denied by policy" in answered.body["result"]["content"][0]["content"]


def test_a_parser_that_refuses_is_an_answer_for_the_model(as_agent: Caller, tools: Deployment) -> None:
    register(tools, "picky", parse_args=lambda arguments: Error("a must be even"))
    answered = as_agent.post("tool-calls", sent(tool="picky"))
    assert (answered.status, answered.body["status"]) == (201, "invalid")
    assert answered.body["result"]["content"][0]["content"] == "a must be even"


class TestARepeat:
    def test_answers_the_first_call(self, as_agent: Caller) -> None:
        first, again = as_agent.post("tool-calls", sent()), as_agent.post("tool-calls", sent(arguments='{"a": 1.0}'))
        assert (first.status, again.status) == (201, 200)
        assert "idempotent-replayed" not in first.headers
        assert again.headers["idempotent-replayed"] == "true"
        assert again.body == first.body
        assert AuditEvent.objects.filter(chain=first.body["id"]).count() == 1

    def test_with_other_content_is_a_conflict(self, as_agent: Caller) -> None:
        first = as_agent.post("tool-calls", sent())
        answered = as_agent.post("tool-calls", sent(arguments={"a": 2}))
        assert (answered.status, answered.problem) == (409, "submission_conflict")
        assert (answered.body["tool_call"], answered.body["current_status"]) == (first.body["id"], "pending")
        assert ToolCall.objects.count() == 1

    def test_goes_by_the_key_where_there_is_one(self, as_agent: Caller) -> None:
        ids = [as_agent.post("tool-calls", sent(), Idempotency_Key=key).body["id"] for key in ("k1", "k2", "k1", "K1")]
        assert len(set(ids)) == 3
        assert ids[0] == ids[2]

    def test_may_carry_its_key_in_the_body(self, as_agent: Caller) -> None:
        first = as_agent.post("tool-calls", sent(idempotency_key="k1"))
        again = as_agent.post("tool-calls", sent(), Idempotency_Key="k1")
        assert (again.status, again.body["id"]) == (200, first.body["id"])
        both = as_agent.post("tool-calls", sent(idempotency_key="k1"), Idempotency_Key="k2")
        assert (both.problem, both.body["field"]) == ("invalid_request", "idempotency_key")

    def test_of_another_agent_is_no_repeat(self, as_agent: Caller, as_other_agent: Caller) -> None:
        answers = [one.post("tool-calls", sent(), Idempotency_Key="k") for one in (as_agent, as_other_agent)]
        assert [one.status for one in answers] == [201, 201]

    def test_of_a_refused_attempt_may_be_corrected_under_the_same_id(self, as_agent: Caller) -> None:
        assert as_agent.post("tool-calls", sent(arguments="{")).body["status"] == "invalid"
        assert as_agent.post("tool-calls", sent()).body["status"] == "pending"


BAD = [
    ({"tool": 7}, "tool", "must be text"),
    ({"tool": ""}, "tool", "must not be blank"),
    ({"tool": None}, "tool", "must not be null"),
    ({"tool": "x" * 257}, "tool", "at most 256"),
    ({"tool_call_id": " \n"}, "tool_call_id", "must not be blank"),
    ({"tool_call_id": 12}, "tool_call_id", "must be text"),
    ({"tool_call_id": "x" * 257}, "tool_call_id", "at most 256"),
    ({"run_id": ["r"]}, "run_id", "must be text"),
    ({"run_id": "x" * 257}, "run_id", "at most 256"),
    ({"context": "text"}, "context", "must be an object"),
    ({"metadata": []}, "metadata", "must be an object"),
    ({"agent_reasoning": {}}, "agent_reasoning", "must be text"),
    ({"on_behalf_of": "x" * 255}, "on_behalf_of", "at most 254"),
    ({"timeout_seconds": "60"}, "timeout_seconds", "must be a number"),
    ({"timeout_seconds": True}, "timeout_seconds", "must be a number"),
    ({"timeout_seconds": 0}, "timeout_seconds", "above 0"),
    ({"timeout_seconds": -1.5}, "timeout_seconds", "above 0"),
    ({"timeout_seconds": 10**400}, "timeout_seconds", "above 0"),
    ({"timeout_seconds": 2592001}, "timeout_seconds", "above 0"),
    ({"revises": "not one"}, "revises", "must be a UUID"),
    ({"revises": 5}, "revises", "must be a UUID"),
    ({"idempotency_key": "  "}, "idempotency_key", "must not be blank"),
    ({"idempotency_key": 201}, "idempotency_key", "must be text"),
    ({"idempotency_key": "x" * 256}, "idempotency_key", "at most 255"),
]


@pytest.mark.parametrize(("members", "field", "words"), BAD, ids=lambda value: str(value)[:40])
def test_wrong_members_are_named(members: dict[str, Any], field: str, words: str, as_agent: Caller) -> None:
    answered = as_agent.post("tool-calls", sent(**members))
    assert (answered.status, answered.problem, answered.body["field"]) == (422, "invalid_request", field)
    assert words in answered.body["errors"][0]["message"]
    assert ToolCall.objects.count() == 0


def test_all_wrong_members_are_named_at_once(as_agent: Caller) -> None:
    body = {"arguments": {}, "approved": True, "status": "approved", "decided_by": "admin", "run_id": 5}
    answered = as_agent.post("tool-calls", body)
    named = {error["field"]: error["message"] for error in answered.body["errors"]}
    assert named.keys() == {"tool", "tool_call_id", "approved", "status", "decided_by", "run_id"}
    assert named["tool"] == "is missing"
    assert named["approved"] == 'is an unknown field: "approved"'


@pytest.mark.parametrize(
    ("key", "words"), [("   ", "blank"), ("x" * 256, "255"), ("a\x00b", "printable"), ("a\x1bb", "printable")]
)
def test_a_key_that_cannot_be_one_is_refused(key: str, words: str, as_agent: Caller) -> None:
    answered = as_agent.post("tool-calls", sent(), Idempotency_Key=key)
    assert (answered.status, answered.problem, answered.body["field"]) == (422, "invalid_request", "Idempotency-Key")
    assert words in answered.body["detail"]
    assert ToolCall.objects.count() == 0


@pytest.mark.parametrize("revised", ["pending", "unknown", "foreign"])
def test_only_a_settled_call_of_its_own_can_be_revised(revised: str, as_agent: Caller, as_other_agent: Caller) -> None:
    foreign = as_other_agent.post("tool-calls", sent(tool="nothing like it")).body["id"]
    ids = {"pending": as_agent.post("tool-calls", sent()).body["id"], "foreign": foreign}
    named = ids.get(revised, "00000000-0000-7000-8000-000000000000")
    answered = as_agent.post("tool-calls", sent(tool_call_id="call_2", revises=named))
    assert (answered.status, answered.problem) == (422, "unknown_revision")


def test_a_timeout_shortens_the_time_that_people_have(as_agent: Caller) -> None:
    short, usual = (
        as_agent.post("tool-calls", sent(tool_call_id=str(timeout), timeout_seconds=timeout)).body for timeout in (5, None)
    )
    assert short["expires_at"] < usual["expires_at"]


def test_the_answer_says_when_to_look_again(as_agent: Caller) -> None:
    waiting = as_agent.post("tool-calls", sent())
    assert int(waiting.headers["retry-after"]) >= 1
    settled = as_agent.post("tool-calls", sent(tool="nothing", tool_call_id="2"))
    assert "retry-after" not in settled.headers
    assert {waiting.headers["etag"], settled.headers["etag"]} != {waiting.headers["etag"]}

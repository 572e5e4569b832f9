"""Reading, waiting, batches, runs, cancelling, tools: what an agent does beside submitting."""

from __future__ import annotations

import json
from typing import Any

import pytest

from approvals.models import DecisionKind, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from toolgate import Function, FunctionParam

pytestmark = pytest.mark.django_db


def test_etag_answers_304_until_something_changes(as_agent: Caller, make_call: CallMaker) -> None:
    call = make_call()
    first = as_agent.get(f"tool-calls/{call.pk}")
    tag = first.headers["etag"]
    assert "retry-after" in first.headers
    assert as_agent.get(f"tool-calls/{call.pk}", If_None_Match=tag).status == 304
    make_call.decide(call, DecisionKind.REJECT)
    changed = as_agent.get(f"tool-calls/{call.pk}", If_None_Match=tag)
    assert (changed.status, changed.body["settled"]) == (200, True)
    assert "retry-after" not in changed.headers


@pytest.mark.parametrize(("query", "field"), [({"wait": "61"}, "wait"), ({"wait": "x"}, "wait"), ({"until": "ever"}, "until")])
def test_wait_that_cannot_be_is_refused(query: dict[str, str], field: str, as_agent: Caller, make_call: CallMaker) -> None:
    refused = as_agent.get(f"tool-calls/{make_call().pk}", query)
    assert (refused.status, refused.body["field"]) == (422, field)


def test_wait_for_a_settled_call_answers_at_once(as_agent: Caller, make_call: CallMaker) -> None:
    call = make_call(Status.REJECTED)
    assert as_agent.get(f"tool-calls/{call.pk}", {"wait": "60"}).body["status"] == "rejected"


def test_list_pages_through_all_newest_first(as_agent: Caller, make_call: CallMaker) -> None:
    wanted = [str(make_call().pk) for _ in range(7)][::-1]
    page, seen = as_agent.get("tool-calls", {"limit": "3"}), []
    while True:
        seen += [call["id"] for call in page.body["results"]]
        if page.body["next"] is None:
            break
        page = as_agent.get(page.body["next"])
    assert seen == wanted


def test_list_filters(as_agent: Caller, make_call: CallMaker) -> None:
    pending, rejected = make_call(run_id="r"), make_call(Status.REJECTED)
    for query, found in (({"status": "pending"}, pending), ({"status": "rejected"}, rejected), ({"run_id": "r"}, pending)):
        assert [call["id"] for call in as_agent.get("tool-calls", query).body["results"]] == [str(found.pk)]
    assert as_agent.get("tool-calls", {"status": "nonsense"}).status == 422
    assert as_agent.get("tool-calls", {"submitted_after": "soon"}).status == 422


def test_batch_gives_each_its_own_outcome(as_agent: Caller, make_call: CallMaker) -> None:
    tool = register(make_call.tools)
    calls: list[dict[str, Any]] = [
        {"tool": tool, "tool_call_id": "1", "arguments": {"a": 1}},
        {"tool": tool, "tool_call_id": "1", "arguments": {"a": 2}},
        {"tool": "nowhere", "tool_call_id": "2"},
        {"tool": tool},
        {"tool": tool, "tool_call_id": "3", "arguments": "{"},
    ]
    answered = as_agent.post("tool-calls/batch", {"calls": calls})
    results = answered.body["results"]
    assert [one["status"] for one in results] == [201, 409, 201, 422, 201]
    assert [one["tool_call"]["status"] for one in results if "tool_call" in one] == ["pending", "invalid", "invalid"]
    run = as_agent.get(f"runs/{answered.body['run_id']}").body
    assert [call["position"] for call in run["tool_calls"]] == [0, 1, 2]
    assert (run["settled"], run["tool_results"]) == (False, None)


def test_run_gives_its_results_in_the_order_submitted(as_agent: Caller, make_call: CallMaker) -> None:
    calls = [make_call(run_id="a run/with a slash") for _ in range(3)]
    for call in reversed(calls):
        make_call.decide(call, DecisionKind.REJECT)
    run = as_agent.get("runs/a%20run%2Fwith%20a%20slash").body
    assert run["settled"]
    assert [result["tool_call_id"] for result in run["tool_results"]] == [call.tool_call_id for call in calls]


def test_cancel_withdraws_and_says_when_it_is_too_late(as_agent: Caller, make_call: CallMaker) -> None:
    call = make_call()
    for _ in range(2):
        assert as_agent.post(f"tool-calls/{call.pk}/cancel").body["status"] == "cancelled"
    late = as_agent.post(f"tool-calls/{make_call(Status.SUCCEEDED).pk}/cancel")
    assert (late.status, late.problem, late.body["current_status"]) == (409, "already_settled", "succeeded")


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "gemini", "mcp"])
def test_tools_speak_each_dialect(dialect: str, as_agent: Caller, make_call: CallMaker) -> None:
    parameters = [FunctionParam("number", "integer", required=True)]
    make_call.tools.register(Function(name="look_up", description="Looks up.", parameters=parameters))
    (declared,) = as_agent.get("tools", {"dialect": dialect}).body["tools"]
    assert "look_up" in json.dumps(declared)
    assert as_agent.get("tools", {"dialect": "klingon"}).status == 422


def test_parse_tells_the_outcome_and_stores_nothing(as_agent: Caller, make_call: CallMaker) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {}}}
    register(make_call.tools, "strict", parameters_schema=schema)
    fine = as_agent.post("tools/strict/parse", {"arguments": {"a": 9007199254740993}})
    assert (fine.body["ok"], fine.body["arguments"]) == (True, {"a": 9007199254740993})
    refused = as_agent.post("tools/strict/parse", {"arguments": {}})
    assert (refused.status, refused.body["ok"]) == (200, False)
    assert "Missing parameters: a" in refused.body["error"]
    assert not ToolCall.objects.exists()

"""`POST /tool-calls/batch`: the calls of one model turn under one run, each with its own outcome."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.models import ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import Deployment, register

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _tool(tools: Deployment) -> None:
    register(tools)


def item(tool_call_id: str, **members: Any) -> dict[str, Any]:
    return {"tool": "tool", "tool_call_id": tool_call_id, "arguments": {"id": tool_call_id}, **members}


def statuses(answered: Answer) -> list[int]:
    return [one["status"] for one in answered.body["results"]]


def ids(answered: Answer) -> list[str]:
    return [one["tool_call"]["id"] for one in answered.body["results"]]


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "turn 7"}])
def test_the_same_batch_again_is_a_repeat_of_every_item(key: dict[str, str], as_agent: Caller) -> None:
    body = {"calls": [item("1"), item("2")]}
    first, again = as_agent.post("tool-calls/batch", body, **key), as_agent.post("tool-calls/batch", body, **key)
    assert (statuses(first), statuses(again)) == ([201, 201], [200, 200])
    assert first.body["run_id"] == again.body["run_id"]
    assert ids(first) == ids(again)
    assert ToolCall.objects.count() == 2


def test_the_made_run_is_the_agents_own(as_agent: Caller, as_other_agent: Caller) -> None:
    body = {"calls": [item("1")]}
    runs = {caller.post("tool-calls/batch", body).body["run_id"] for caller in (as_agent, as_other_agent)}
    assert len(runs) == 2
    assert sum(as_agent.get(f"runs/{run_id}").status == 200 for run_id in runs) == 1


def test_a_run_may_be_named_by_the_batch_and_not_otherwise_by_an_item(as_agent: Caller) -> None:
    body = {"run_id": "r", "calls": [item("1"), item("2", run_id="r"), item("3", run_id="another")]}
    answered = as_agent.post("tool-calls/batch", body)
    assert (answered.body["run_id"], statuses(answered)) == ("r", [201, 201, 422])
    assert answered.body["results"][2]["problem"]["field"] == "run_id"
    assert [call["position"] for call in as_agent.get("runs/r").body["tool_calls"]] == [0, 1]


def test_calls_that_share_the_models_id_are_refused_or_both_kept_never_lost(as_agent: Caller) -> None:
    twins = [item("call_0"), item("call_0", arguments={"other": 1})]
    refused = as_agent.post("tool-calls/batch", {"calls": twins})
    assert statuses(refused) == [201, 409]
    assert refused.body["results"][1]["problem"]["code"] == "submission_conflict"
    kept = as_agent.post("tool-calls/batch", {"calls": twins}, Idempotency_Key="turn 1")
    assert statuses(kept) == [201, 201]
    own = [one | {"idempotency_key": f"own {number}"} for number, one in enumerate(twins)]
    assert statuses(as_agent.post("tool-calls/batch", {"calls": own})) == [201, 201]
    assert ToolCall.objects.filter(tool_call_id="call_0").count() == 5


def test_an_item_keeps_its_digits_and_its_order(as_agent: Caller) -> None:
    raw = '{"z": 12.50, "a": 9007199254740993}'
    call = f'{{"tool": "tool", "tool_call_id": "1", "arguments": {raw}}}'
    assert f'"submitted":{raw}' in as_agent.post("tool-calls/batch", f'{{"calls": [{call}]}}').text


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (None, "must not be null"),
        ({}, "must be a list"),
        ([], "at least 1"),
        ([item("1")] * 101, "at most 100"),
        ([1], "object"),
    ],
    ids=["null", "object", "empty", "101", "number"],
)
def test_what_is_no_list_of_calls_is_refused_as_a_whole(calls: Any, words: str, as_agent: Caller) -> None:
    refused = as_agent.post("tool-calls/batch", {"calls": calls})
    assert (refused.status, refused.problem) == (422, "invalid_request")
    assert words in refused.body["detail"]
    assert not ToolCall.objects.exists()

"""What people said is what happens: the edited value everywhere, the rejected call nowhere, each call by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from approvals.models import Resolution, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.execution.test_execute import Body
from tests.execution.working import Counting, Working, deliver, is_idle, settled, until
from tests.review.browser import visit

pytestmark = pytest.mark.usefixtures("real_db")


def test_edited_value_is_the_same_everywhere_and_the_original_stands_beside_it(
    as_agent: Caller, as_person: Caller, ada: Client, tools: Any, worker: Working
) -> None:  # B052
    body = Body(lambda arguments, context: f"paid {arguments['amount']}")
    tool = register(tools, "pay", function=body, headline="Pay {amount}")
    call = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1", "arguments": {"amount": 2500}}).body
    edited = {"amount": 4999}
    shown = as_person.post(f"tool-calls/{call['id']}/preview", {"edited_arguments": edited}).body
    decision = {"kind": "edit", "digest": call["digest"], "edited_arguments": edited, "resolved_digest": shown["digest"]}
    assert as_person.post(f"tool-calls/{call['id']}/decisions", decision).status == 200
    assert settled(ToolCall.objects.get(pk=call["id"])) == [Status.SUCCEEDED]
    assert [arguments for arguments, _ in body.received] == [edited]
    for reader in (as_agent, as_person):
        read = reader.get(f"tool-calls/{call['id']}").body
        assert read["arguments"] == {"submitted": {"amount": 2500}, "resolved": edited, "effective": edited}
        assert read["decisions"][0]["edited_arguments"] == edited
        assert (read["headline"], read["result"]["content"][0]["content"]) == ("Pay 4999", "paid 4999")
    page = visit(ada, f"/calls/{call['id']}")
    for told in ("Pay 4999", "paid 4999", "2500"):
        assert told in page.text
    kept = Resolution.objects.filter(call=call["id"]).order_by("id").values_list("when", "resolved")
    assert [(when, json.loads(text)["amount"]) for when, text in kept] == [("submit", 2500), ("edit", 4999), ("execute", 4999)]


@pytest.mark.parametrize("tool", ["careless", "sequential"])
def test_approved_edited_and_rejected_calls_of_one_batch_each_get_their_own_end(
    tool: str, as_agent: Caller, as_person: Caller, tools: Any, worker: Working
) -> None:  # B050 B053
    body = Body(lambda arguments, context: f"ran {arguments['number']}")
    register(tools, tool, function=body, async_=tool == "careless")
    items = [{"tool": tool, "tool_call_id": str(number), "arguments": {"number": number}} for number in range(3)]
    sent = as_agent.post("tool-calls/batch", {"calls": items}).body
    calls = [one["tool_call"] for one in sent["results"]]
    answers: list[dict[str, Any]] = [
        {"kind": "approve"},
        {"kind": "edit", "edited_arguments": {"number": 10}},
        {"kind": "reject", "reason": "Not this one."},
    ]
    preview = as_person.post(f"tool-calls/{calls[1]['id']}/preview", {"edited_arguments": {"number": 10}}).body
    answers[1]["resolved_digest"] = preview["digest"]
    decisions = [
        {"tool_call": call["id"], "digest": call["digest"], **answer} for call, answer in zip(calls, answers, strict=True)
    ]
    decided = as_person.post("decisions/batch", {"decisions": decisions[::-1]}).body["results"]
    assert [one["status"] for one in decided] == [200] * 3
    run = as_agent.get(f"runs/{sent['run_id']}", {"wait": "30"}).body
    assert [call["status"] for call in run["tool_calls"]] == ["succeeded", "succeeded", "rejected"]
    texts = [result["content"][0]["content"] for result in run["tool_results"]]
    assert texts[:2] == ["ran 0", "ran 10"]
    assert "Not this one." in texts[2]
    assert sorted(arguments["number"] for arguments, _ in body.received) == [0, 10]


def test_message_for_a_rejected_call_is_refused_by_the_worker_itself(
    make_call: CallMaker, tools: Any, worker: Working
) -> None:  # B049
    body = Counting()
    tool = register(tools, "counted", function=body)
    rejected = [make_call(Status.REJECTED, tool=tool) for _ in range(3)]
    deliver(*[call.pk for call in rejected] * 2)
    until(lambda: is_idle(worker))
    assert not body.ran
    assert {call.status for call in ToolCall.objects.all()} == {Status.REJECTED}

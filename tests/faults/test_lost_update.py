"""Whoever comes second never overwrites, and is never told that it worked."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.test import Client

from approvals.audit import verify_chain
from approvals.models import AuditEvent, Decision, Person, Resolution, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.lifecycle.test_races import together
from tests.review.browser import page_of, press, visit
from toolgate import Error

pytestmark = pytest.mark.usefixtures("real_db")


def test_approval_by_a_program_and_rejection_on_the_page_at_once_have_one_winner(
    as_person: Caller, grace: Client, make_call: CallMaker, second_reviewer: Person
) -> None:  # B017 B020
    for _ in range(8):
        call = make_call()
        page = visit(grace, f"/calls/{call.pk}")
        approve = {"kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
        told, shown = together(
            partial(as_person.post, f"tool-calls/{call.pk}/decisions", approve),
            partial(press, grace, page, "/decide", "reject"),
        )
        call.refresh_from_db()
        if told.status == 200:
            assert (call.status, shown.status_code) == (Status.APPROVED, 409)
            assert "Nothing was done." in page_of(shown).text
        else:
            assert (call.status, shown.status_code) == (Status.REJECTED, 302)
            assert (told.status, told.body["current_status"]) == (409, "rejected")
        assert Decision.objects.filter(call=call).count() == 1
        assert verify_chain(str(call.pk)).is_whole


def everything(call: ToolCall) -> list[Any]:
    rows = (ToolCall.objects.filter(pk=call.pk), Resolution.objects.filter(call=call), Decision.objects.filter(call=call))
    return [list(found.values()) for found in (*rows, AuditEvent.objects.filter(chain=str(call.pk)))]


@pytest.mark.parametrize(
    "edited",
    [
        {"amount": 5000, "token": "••••••"},
        {"amount": None, "token": "••••••"},
        {"token": "••••••"},
        "{",
        {"amount": 666, "token": "••••••"},
    ],
    ids=["refused after masking", "null", "missing", "no object", "denied"],
)
def test_edit_that_is_refused_leaves_the_call_as_it_was_submitted(
    edited: Any, as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B022
    def parse(arguments: dict[str, Any]) -> Any:
        arguments["token"] = "changed in place"
        amount = arguments.pop("amount")
        return {"amount": amount} if amount <= 1000 else Error("Too much.")

    schema = {"type": "object", "required": ["amount"], "properties": {"amount": {}, "token": {}}}
    facts: dict[str, Any] = {"secrets": ["token"], "deny": lambda arguments: arguments["amount"] == 666}
    tool = register(tools, "careless", parse_args=parse, parameters_schema=schema, **facts)
    call = make_call.submit(tool, '{ "token": "s3cr3t",  "amount": 12.50 }')
    before = everything(call)
    body = {"kind": "edit", "digest": call.resolution.digest if call.resolution else "", "edited_arguments": edited}
    refused = as_person.post(f"tool-calls/{call.pk}/decisions", body)
    assert (refused.status, refused.problem in ("edit_refused", "edit_denied")) == (422, True)
    assert everything(call) == before
    assert ToolCall.objects.get(pk=call.pk).submitted == '{ "token": "s3cr3t",  "amount": 12.50 }'


def test_one_decision_of_a_batch_leaves_the_others_to_be_decided(
    as_agent: Caller, as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B023
    tool = register(tools)
    items = [{"tool": tool, "tool_call_id": str(number)} for number in range(3)]
    first, *others = (one["tool_call"] for one in as_agent.post("tool-calls/batch", {"calls": items}).body["results"])

    def decide(call: dict[str, Any]) -> Any:
        return as_person.post(f"tool-calls/{call['id']}/decisions", {"kind": "approve", "digest": call["digest"]})

    assert decide(first).body["status"] == "approved"
    waiting = as_person.get("inbox").body["results"]
    assert {call["id"] for call in waiting} == {call["id"] for call in others}
    assert [decide(call).body["status"] for call in others] == ["approved"] * 2

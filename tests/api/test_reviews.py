"""Inbox, decisions, previews, answers, settlement and the trail, over HTTP as a reviewer's program does it."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.models import Decision, EventKind, Status, ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db


def decide(caller: Caller, call: ToolCall, kind: str, **answer: Any) -> Answer:
    shown = ToolCall.objects.select_related("resolution").get(pk=call.pk).resolution
    body = {"kind": kind, "digest": shown.digest if shown else "", **answer}
    return caller.post(f"tool-calls/{call.pk}/decisions", body)


ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "approve": ({}, "approved"),
    "reject": ({"reason": "no"}, "rejected"),
    "respond": ({"response": "use the other one"}, "succeeded"),
    "request_changes": ({"reason": "smaller"}, "changes_requested"),
    "edit": ({"edited_arguments": {"b": 2}}, "pending"),
}


@pytest.mark.parametrize("kind", list(ENDS))
def test_each_kind_leads_where_it_should(kind: str, as_person: Caller, make_call: CallMaker) -> None:
    answer, status = ENDS[kind]
    call = make_call()
    decided = decide(as_person, call, kind, **answer)
    assert (decided.status, decided.body["status"]) == (200, status)
    assert decided.body["decisions"][0]["kind"] == kind
    if kind == "edit":
        assert decided.body["arguments"]["resolved"] == {"b": 2}


def test_repeat_is_harmless_and_a_later_one_conflicts(
    as_person: Caller, as_second_person: Caller, make_call: CallMaker
) -> None:
    call = make_call()
    for _ in range(3):
        assert decide(as_person, call, "approve").status == 200
    late = decide(as_second_person, call, "reject")
    assert (late.status, late.problem, late.body["current_status"]) == (409, "wrong_status", "approved")
    assert Decision.objects.filter(call=call).count() == 1


def test_copy_of_the_call_in_an_answer_is_refused(as_person: Caller, make_call: CallMaker) -> None:
    forged = decide(as_person, make_call(), "approve", tool="another", arguments={"amount": 5000})
    assert (forged.status, forged.problem) == (422, "invalid_request")
    unknown = as_person.post("tool-calls/01900000-0000-7000-8000-000000000000/decisions", {"kind": "approve", "digest": ""})
    assert unknown.problem == "unknown_call"


def test_stale_digest_is_a_conflict_that_tells_the_new_one(as_person: Caller, make_call: CallMaker) -> None:
    call = make_call()
    stale = as_person.post(f"tool-calls/{call.pk}/decisions", {"kind": "approve", "digest": "0" * 64})
    assert call.resolution is not None
    assert (stale.status, stale.problem, stale.body["digest"]) == (409, "stale_digest", call.resolution.digest)


def test_batch_decides_each_on_its_own(as_person: Caller, make_call: CallMaker) -> None:
    fine, stale = make_call(), make_call()
    assert fine.resolution is not None
    decisions = [
        {"tool_call": str(fine.pk), "kind": "approve", "digest": fine.resolution.digest},
        {"tool_call": str(stale.pk), "kind": "approve", "digest": "x"},
        {"tool_call": "nonsense", "kind": "approve", "digest": "x"},
    ]
    results = as_person.post("decisions/batch", {"decisions": decisions}).body["results"]
    assert [one["status"] for one in results] == [200, 409, 422]


def test_preview_tells_what_an_edit_means_and_lets_it_be_approved(as_person: Caller, make_call: CallMaker) -> None:
    call = make_call()
    shown = as_person.post(f"tool-calls/{call.pk}/preview", {"edited_arguments": {"n": 12.50}}).body
    assert (shown["ok"], shown["arguments"], shown["policy"]["outcome"]) == (True, {"n": 12.5}, "require_approval")
    edit = {"edited_arguments": {"n": 12.50}, "resolved_digest": shown["digest"]}
    assert decide(as_person, call, "edit", **edit).body["status"] == "approved"


def test_inbox_is_what_waits_most_urgent_first(as_person: Caller, make_call: CallMaker) -> None:
    make_call(Status.REJECTED)
    low, high = (make_call.submit(register(make_call.tools, risk, risk=risk)) for risk in ("low", "high"))
    ToolCall.objects.filter(pk__in=[low.pk, high.pk]).update(expires_at=high.expires_at)
    inbox = as_person.get("inbox").body
    assert [call["id"] for call in inbox["results"]] == [str(high.pk), str(low.pk)]
    assert (inbox["count"], inbox["counts"]["risk"]) == (2, {"low": 1, "high": 1})


def test_question_is_answered_once_and_by_its_schema(as_person: Caller, make_call: CallMaker) -> None:
    call = make_call(Status.INTERRUPTED, data={"response_schema": {"type": "boolean"}})
    asked = as_person.get(f"tool-calls/{call.pk}").body["interrupt"]
    path = f"tool-calls/{call.pk}/interrupts/{asked['id']}/answer"
    assert as_person.post(path, {"answer": "yes"}).problem == "answer_refused"
    assert as_person.post(path, {}).status == 422
    assert as_person.post(path, {"answer": True}).body["status"] == "approved"
    assert as_person.post(path, {"answer": False}).problem == "interrupt_closed"


def test_question_can_be_rejected(as_person: Caller, make_call: CallMaker) -> None:
    call = make_call(Status.INTERRUPTED)
    asked = as_person.get(f"tool-calls/{call.pk}").body["interrupt"]
    ended = as_person.post(f"tool-calls/{call.pk}/interrupts/{asked['id']}/answer", {"reject": True, "reason": "no"})
    assert ended.body["status"] == "rejected"


@pytest.mark.parametrize(("outcome", "status"), [("succeeded", "succeeded"), ("failed", "failed"), ("run_again", "approved")])
def test_lost_call_is_settled_by_what_a_person_found(
    outcome: str, status: str, as_person: Caller, make_call: CallMaker
) -> None:
    call = make_call(Status.OUTCOME_UNKNOWN)
    settled = as_person.post(f"tool-calls/{call.pk}/settlement", {"outcome": outcome, "reason": "I looked"})
    assert settled.body["status"] == status


@pytest.mark.parametrize("outcome", ["succeeded", "run_again"])
def test_settlement_said_again_is_harmless_and_another_is_refused(
    outcome: str, as_person: Caller, as_second_person: Caller, make_call: CallMaker
) -> None:
    path, said = f"tool-calls/{make_call(Status.OUTCOME_UNKNOWN).pk}/settlement", {"outcome": outcome, "reason": "I looked"}
    first, again = as_person.post(path, said), as_person.post(path, said)
    assert (again.status, again.body) == (200, first.body)
    assert as_second_person.post(path, said).status == 409
    assert as_person.post(path, {**said, "reason": "I looked twice"}).status == 409


def test_trail_of_a_call_and_a_look_at_all_of_it(as_person: Caller, as_auditor: Caller, make_call: CallMaker) -> None:
    call = make_call(Status.SUCCEEDED)
    events = as_person.get("audit-events", {"tool_call": str(call.pk)}).body["results"]
    assert [event["sequence"] for event in events] == [4, 3, 2, 1]
    assert as_auditor.get("audit-events/verification", {"tool_call": str(call.pk)}).body["is_whole"]
    assert as_auditor.get("audit-events", {"kind": "approved"}).status == 200
    look = as_auditor.get("audit-events", {"kind": EventKind.TRAIL_READ}).body["results"]
    assert look[0]["actor"]["name"] == "anna"
    assert as_auditor.get("audit-events/verification").body["is_whole"]

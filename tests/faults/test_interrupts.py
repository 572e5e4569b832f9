"""A question is open until it is answered, once; an answer adds to the call and changes nothing in it; nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import yaml
from django.test import Client

from approvals import execution, lifecycle, sweeps
from approvals.clock import now
from approvals.models import AuditEvent, Interrupt, Status, ToolCall, uuid7
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, register
from tests.execution.test_execute import Body
from tests.execution.working import Working, approved, settled, text, until
from tests.review.browser import page_of, press, visit
from tests.test_docs import DOCS
from toolgate import Interrupt as Asks

pytestmark = pytest.mark.usefixtures("real_db")


def asks(times: int, schema: dict[str, Any] | None = None) -> Body:
    """A body that asks so many questions, one after another, and then tells the answers."""

    def body(arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        answers = [one["answer"] for one in context["interrupts"]]
        more = {"response_schema": schema} if schema else None
        return Asks(f"question {len(answers) + 1}", more) if len(answers) < times else f"answers {answers}"

    return Body(body)


def open_question(call: ToolCall) -> Interrupt:
    return Interrupt.objects.get(call=call, answered_at=None, closed_at=None)


def answer(caller: Caller, call: ToolCall, given: Any, asked: Interrupt | None = None) -> Answer:
    asked = asked or open_question(call)
    return caller.post(f"tool-calls/{call.pk}/interrupts/{asked.pk}/answer", {"answer": given})


def test_nothing_runs_before_every_question_so_far_is_answered(
    as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B187 B188
    body = asks(2)
    call = approved(make_call, register(tools, "asking", function=body), {"amount": 5})
    for number in (1, 2):
        assert execution.execute(call.pk) == Status.INTERRUPTED
        assert len(body.received) == number
        assert execution.execute(call.pk) == "not_approved"  # however often a message comes
        assert Interrupt.objects.filter(call=call, answered_at=None).count() == 1
        assert answer(as_person, call, f"yes {number}").status == 200
    assert execution.execute(call.pk) == Status.SUCCEEDED
    arguments, context = body.received[-1]
    assert arguments == {"amount": 5}
    assert [one["answer"] for one in context["interrupts"]] == ["yes 1", "yes 2"]
    done = ToolCall.objects.get(pk=call.pk)
    digests = {json.loads(event.data).get("digest") for event in AuditEvent.objects.filter(chain=str(call.pk))} - {None}
    assert digests == {done.approved_digest}
    assert done.submitted == '{"amount": 5}'


def test_answer_that_does_not_fit_is_refused_and_the_question_stays_open(
    as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B194
    schema = {"type": "object", "required": ["go"], "properties": {"go": {"type": "boolean"}}}
    call = approved(make_call, register(tools, "asking", function=asks(1, schema)))
    execution.execute(call.pk)
    for wrong in ("yes", {"go": "true"}, {}, None, [True]):
        refused = answer(as_person, call, wrong)
        assert (refused.status, refused.problem) == (422, "answer_refused")
        assert ToolCall.objects.get(pk=call.pk).status == Status.INTERRUPTED
    assert answer(as_person, call, {"go": True}).body["status"] == "approved"
    assert execution.execute(call.pk) == Status.SUCCEEDED


def test_answer_to_what_is_not_open_says_why_and_runs_nothing(
    as_person: Caller, as_stranger: Caller, make_call: CallMaker, tools: Any
) -> None:  # B206
    body = asks(1)
    tool = register(tools, "asking", function=body)
    register(tools, "theirs", function=body, groups=["finance"])
    answered, overdue, never, other = (approved(make_call, tool) for _ in range(4))
    for call in (answered, overdue, other):
        execution.execute(call.pk)
    ran = len(body.received)
    questions = {call.pk: open_question(call) for call in (answered, overdue, other)}
    assert answer(as_person, answered, "yes").status == 200
    ToolCall.objects.filter(pk=overdue.pk).update(expires_at=now() - timedelta(seconds=1))
    lifecycle.cancel(call_id=other.pk, agent=make_call.agent, at=now())
    unknown = Interrupt(pk=uuid7())
    told = {
        "unknown": answer(as_person, answered, "x", unknown),
        "never asked": answer(as_person, never, "x", questions[answered.pk]),
        "answered": answer(as_person, answered, "no", questions[answered.pk]),
        "expired": answer(as_person, overdue, "x", questions[overdue.pk]),
        "cancelled": answer(as_person, other, "x", questions[other.pk]),
        "no such call": as_person.post(f"tool-calls/{uuid7()}/interrupts/{unknown.pk}/answer", {"answer": 1}),
        "not theirs": answer(as_stranger, make_call.submit("theirs"), "x", unknown),
    }
    assert {name: (one.status, one.problem) for name, one in told.items()} == {
        "unknown": (404, "unknown_interrupt"),
        "never asked": (404, "unknown_interrupt"),
        "answered": (409, "interrupt_closed"),
        "expired": (409, "interrupt_closed"),
        "cancelled": (409, "interrupt_closed"),
        "no such call": (404, "unknown_call"),
        "not theirs": (404, "unknown_call"),
    }
    assert len(body.received) == ran


def test_every_press_on_a_page_that_was_opened_before_the_last_answer_has_an_effect_or_a_reason(
    ada: Client, grace: Client, make_call: CallMaker, tools: Any
) -> None:  # B205
    call = approved(make_call, register(tools, "asking", function=asks(5)))
    execution.execute(call.pk)
    for number in range(1, 6):
        page, old = visit(ada, f"/calls/{call.pk}"), visit(grace, f"/calls/{call.pk}")
        assert press(ada, page, "/answer", "answer", **{"answer-whole": f'"{number}"'}).status_code == 302
        late = page_of(press(grace, old, "/answer", "answer", **{"answer-whole": '"too late"'}))
        assert late.status == 409
        assert "That question is no longer open: it was answered by Ada Lovelace." in late.text
        assert execution.execute(call.pk) == (Status.INTERRUPTED if number < 5 else Status.SUCCEEDED)
        late = page_of(press(grace, old, "/answer", "answer", **{"answer-whole": '"later still"'}))
        assert "That question is no longer open" in late.text
    assert text(call) == "answers ['1', '2', '3', '4', '5']"


def test_calls_that_ask_twice_end_whatever_worker_is_stopped_in_between(
    make_call: CallMaker, tools: Any, start_worker: Callable[[], Working], settings: Any
) -> None:  # B197
    settings.DISPATCH_AFTER = timedelta(0)
    body = asks(2)
    tool = register(tools, "asking", function=body, require_approval=False)
    calls = [make_call.submit(tool) for _ in range(6)]
    for number in (1, 2):
        worker = start_worker()
        until(lambda: sweeps.sweep() and Interrupt.objects.filter(number=number, answered_at=None).exists())  # noqa: B023
        worker.end()
        worker = start_worker()
        until(lambda: sweeps.sweep() and Interrupt.objects.filter(number=number).count() == len(calls))  # noqa: B023
        for call in calls:
            asked = open_question(call)
            lifecycle.answer_interrupt(
                call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer=number, at=now()
            )
        worker.end()
    start_worker()
    sweeps.sweep()
    assert set(settled(*calls)) == {Status.SUCCEEDED}
    assert {text(call) for call in calls} == {"answers [1, 2]"}
    assert len(body.received) == 3 * len(calls)


def test_three_approvals_one_after_another_each_give_their_own_result(
    as_agent: Caller, as_person: Caller, tools: Any, worker: Working
) -> None:  # B191
    tool = register(tools, "step", function=lambda arguments, context: f"step {arguments['step']} done")
    told: list[str] = []
    for step in range(3):
        sent = {"tool": tool, "tool_call_id": f"call_{step}", "arguments": {"step": step}}
        call = as_agent.post("tool-calls", sent).body
        as_person.post(f"tool-calls/{call['id']}/decisions", {"kind": "approve", "digest": call["digest"]})
        waited = as_agent.get(f"tool-calls/{call['id']}", {"wait": "30"})
        told.append(waited.body["result"]["content"][0]["content"])
        assert waited.text.count(" done") == 1
    assert told == [f"step {step} done" for step in range(3)]
    again = [call["result"]["content"][0]["content"] for call in as_agent.get("tool-calls").body["results"]]
    assert again == told[::-1]


def test_cancelled_before_its_start_never_starts(as_agent: Caller, make_call: CallMaker, tools: Any) -> None:  # B193
    body = Body()
    call = approved(make_call, register(tools, "noted", function=body))
    assert as_agent.post(f"tool-calls/{call.pk}/cancel").body["status"] == "cancelled"
    assert execution.execute(call.pk) == "not_approved"
    sweeps.sweep()
    assert not body.received


@pytest.mark.parametrize("rule", ["slow", "failing", "no rule at all"])
def test_policy_that_is_slow_or_fails_lets_nothing_run_before_people_agree(
    rule: str, as_agent: Caller, make_call: CallMaker, tools: Any
) -> None:  # B196
    body, seen = Body(), list[int]()

    def judge(arguments: dict[str, Any]) -> bool:
        seen.append(execution_count())
        if rule == "failing":
            raise OSError("the rules are away")
        return True

    def execution_count() -> int:
        return len(body.received) + ToolCall.objects.filter(status=Status.APPROVED).count()

    facts: dict[str, Any] = {} if rule == "no rule at all" else {"require_approval": judge}
    call = as_agent.post("tool-calls", {"tool": register(tools, "ruled", function=body, **facts), "tool_call_id": "1"}).body
    assert call["status"] == "pending"
    assert execution.execute(call["id"]) == "not_approved"
    assert (set(seen) <= {0}, body.received) == (True, [])


def test_parser_that_raises_is_a_refusal_and_leaves_its_siblings_alone(
    as_agent: Caller, tools: Any, worker: Working
) -> None:  # B203
    def parse(arguments: dict[str, Any]) -> Any:
        if arguments["number"] == 1:
            raise LookupError("no such order")
        return Asks("May I?") if arguments["number"] == 2 else None

    tool = register(tools, "parsed", parse_args=parse, require_approval=False, async_=True)
    items = [{"tool": tool, "tool_call_id": str(number), "arguments": {"number": number}} for number in range(4)]
    sent = as_agent.post("tool-calls/batch", {"calls": items}).body
    run = as_agent.get(f"runs/{sent['run_id']}", {"wait": "30"}).body
    assert [call["status"] for call in run["tool_calls"]] == ["succeeded", "invalid", "invalid", "succeeded"]
    assert "(LookupError) no such order" in run["tool_results"][1]["content"][0]["content"]


def minimal(schema: dict[str, Any], components: dict[str, Any]) -> Any:
    """The least that a schema of the OpenAPI file allows: its required members only."""
    if "$ref" in schema:
        return minimal(components[schema["$ref"].rsplit("/", 1)[1]], components)
    if "enum" in schema:
        return schema["enum"][0]
    kinds = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], None: {}}
    if schema.get("type") == "object":
        return {name: minimal(schema["properties"][name], components) for name in schema.get("required", ())}
    return kinds[schema.get("type")]


def test_bodies_made_of_the_published_schema_alone_are_understood(
    as_agent: Caller, as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B202
    published = yaml.safe_load((DOCS / "openapi.yaml").read_text())
    schemas = published["components"]["schemas"]

    def body(name: str, **known: Any) -> dict[str, Any]:
        return {**minimal(schemas[name], schemas), **known}

    sent = as_agent.post("tool-calls", body("SubmitRequest", tool=register(tools)))
    assert sent.body["status"] == "pending"
    for kind, more in (("approve", {}), ("reject", {}), ("respond", {"response": "x"}), ("edit", {"edited_arguments": {}})):
        call = make_call()
        digest = call.resolution.digest if call.resolution else ""
        decided = as_person.post(f"tool-calls/{call.pk}/decisions", body("DecisionRequest", kind=kind, digest=digest, **more))
        assert decided.status == 200, decided.body
    asking = make_call(Status.INTERRUPTED)
    path = f"tool-calls/{asking.pk}/interrupts/{open_question(asking).pk}/answer"
    assert as_person.post(path, body("AnswerRequest")).status == 422  # neither an answer nor a rejection
    assert as_person.post(path, body("AnswerRequest", answer="yes")).status == 200
    lost = make_call(Status.OUTCOME_UNKNOWN)
    settled_so = as_person.post(f"tool-calls/{lost.pk}/settlement", body("SettlementRequest"))
    assert settled_so.status == 200
    for odd in ({"decision": "approve"}, {"kind": "yes", "digest": ""}, {"approved": True}):
        refused = as_person.post(f"tool-calls/{make_call().pk}/decisions", odd)
        assert (refused.status, refused.problem) == (422, "invalid_request")

"""Executing an approved call: exactly what was approved, once, or nothing."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import execution, lifecycle, sweeps
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible
from approvals.models import AuditEvent, DecisionKind, EventKind, Execution, Status, ToolCall, uuid7
from tests.calls import CallMaker, register
from toolgate import Error, Interrupt

pytestmark = pytest.mark.usefixtures("real_db")


class Body:
    """A body that notes what it received."""

    def __init__(self, answer: Callable[[dict[str, Any], dict[str, Any]], Any] = lambda arguments, context: "done") -> None:
        self.received: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.answer = answer

    def __call__(self, arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        self.received.append((dict(arguments), context))
        return self.answer(arguments, context)


def approved(make: CallMaker, tool: str, arguments: Any = None, **fields: Any) -> ToolCall:
    return make.decide(make.submit(tool, arguments, **fields), DecisionKind.APPROVE)


def fresh(call: ToolCall) -> ToolCall:
    return ToolCall.objects.with_everything().get(pk=call.pk)


def text(call: ToolCall) -> str:
    return "\n".join(part["content"] for part in json.loads(fresh(call).result)["content"])


def test_runs_what_was_approved_and_keeps_what_was_effective(make_call: CallMaker, tools: Any) -> None:
    body = Body()
    call = approved(make_call, register(tools, "one", function=body), {"amount": 5})
    assert execution.execute(call.pk) == Status.SUCCEEDED
    (arguments, context), *others = body.received
    assert not others
    assert arguments == {"amount": 5}
    assert (context["tool_call_id"], context["idempotency_key"]) == (call.tool_call_id, str(call.pk))
    done = fresh(call)
    assert done.effective is not None
    assert done.effective.digest == done.approved_digest
    run = Execution.objects.get(call=call)
    assert (run.outcome, run.attempt) == ("succeeded", 1)
    assert "host" in json.loads(run.worker)


def test_parser_that_answers_differently_each_time_never_reaches_the_body(make_call: CallMaker, tools: Any) -> None:
    body, numbers = Body(), itertools.count()
    tool = register(tools, "fickle", function=body, parse_args=lambda arguments: {"n": next(numbers) // 2})
    call = make_call.submit(tool)
    for _ in range(10):
        make_call.decide(call, DecisionKind.APPROVE)
        assert execution.execute(call.pk) == Status.PENDING
    assert not body.received
    assert fresh(call).status == Status.PENDING


def test_record_that_changed_after_approval_asks_again(make_call: CallMaker, tools: Any) -> None:
    record, body = {"price": 5}, Body()
    tool = register(tools, "reader", function=body, parse_args=lambda arguments: {"price": record["price"]})
    call = approved(make_call, tool)
    record["price"] = 500
    assert execution.execute(call.pk) == Status.PENDING
    assert not body.received
    again = fresh(call)
    assert again.resolution is not None
    assert (again.resolution.resolved, again.votes(), again.approved_digest) == ('{"price":500}', [], "")
    drifted = AuditEvent.objects.get(chain=str(call.pk), kind=EventKind.DRIFTED)
    assert json.loads(drifted.data)["approved"] == call.approved_digest
    make_call.decide(again, DecisionKind.APPROVE)
    assert execution.execute(call.pk) == Status.SUCCEEDED
    assert body.received[0][0] == {"price": 500}
    assert verify_chain(str(call.pk)).is_whole


def test_drift_fails_where_the_registration_says_so(make_call: CallMaker, tools: Any) -> None:
    record, body = {"price": 5}, Body()
    tool = register(tools, "strict", function=body, parse_args=lambda arguments: dict(record), drift="fail")
    call = approved(make_call, tool)
    record["price"] = 500
    assert execution.execute(call.pk) == Status.FAILED
    assert "was not run: the arguments resolve differently" in text(call)
    assert (body.received, fresh(call).effective) == ([], None)


@pytest.mark.parametrize("changed", ["version", "parser", "description", "gone"])
def test_declaration_that_changed_after_approval_asks_again(changed: str, make_call: CallMaker, tools: Any) -> None:
    body = Body()
    call = approved(make_call, register(tools, "declared", function=body))
    del tools._registrations["declared"]
    if changed != "gone":
        facts: dict[str, dict[str, Any]] = {
            "version": {"version": "2"},
            "parser": {"parse_args": lambda arguments: arguments},
            "description": {"parameters_schema": {"type": "object", "description": "another"}},
        }
        register(tools, "declared", function=body, **facts[changed])
    else:
        register(tools, "another")
    assert execution.execute(call.pk) == Status.PENDING
    assert not body.received


def test_refusal_at_execution_fails_without_the_body(make_call: CallMaker, tools: Any) -> None:
    gone, body = [False], Body()
    parse = lambda arguments: Error("There is no such order any more.") if gone[0] else arguments  # noqa: E731 - said once
    call = approved(make_call, register(tools, "vanishing", function=body, parse_args=parse))
    gone[0] = True
    assert execution.execute(call.pk) == Status.FAILED
    assert (text(call), body.received) == ("There is no such order any more.", [])


def test_exception_is_for_the_operator_and_a_sentence_for_the_model(make_call: CallMaker, tools: Any) -> None:
    def fail(arguments: Any, context: Any) -> str:
        raise RuntimeError("disk on fire")

    call = approved(make_call, register(tools, "failing", function=fail))
    assert execution.execute(call.pk) == Status.FAILED
    assert text(call).startswith("ERROR: (RuntimeError) disk on fire")
    assert "Traceback (most recent call last)" in Execution.objects.get(call=call).exception


def test_soft_limit_stops_the_body_and_says_so(make_call: CallMaker, tools: Any) -> None:
    def sleep(arguments: Any, context: Any) -> str:
        for _ in range(600):
            time.sleep(0.05)
        return "too late"

    limits = {"time_limit": timedelta(seconds=30), "soft_time_limit": timedelta(seconds=0.3)}
    call = approved(make_call, register(tools, "slow", function=sleep, **limits))
    assert execution.execute(call.pk) == Status.FAILED
    assert text(call) == "The tool did not finish within 0.3 seconds and was stopped."


def test_hard_limit_gives_up_and_what_the_body_says_later_changes_nothing(make_call: CallMaker, tools: Any) -> None:
    def stubborn(arguments: Any, context: Any) -> str:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            with contextlib.suppress(Exception):  # a body that will not be stopped
                time.sleep(0.05)
        return "late"

    limits = {"time_limit": timedelta(seconds=0.6), "soft_time_limit": timedelta(seconds=0.2)}
    call = approved(make_call, register(tools, "stubborn", function=stubborn, **limits))
    assert execution.execute(call.pk) == "lease_lost"
    lost = fresh(call)
    assert (lost.status, lost.result) == (Status.OUTCOME_UNKNOWN, "")
    assert "hard time limit" in Execution.objects.get(call=call).why


def test_lease_is_renewed_while_a_long_body_runs(make_call: CallMaker, tools: Any, settings: Any) -> None:
    settings.LEASE = timedelta(seconds=0.4)

    def long(arguments: Any, context: Any) -> str:
        for _ in range(8):
            time.sleep(0.2)
            sweeps.find_lost(now())
        return "done"

    call = approved(make_call, register(tools, "long", function=long))
    assert execution.execute(call.pk) == Status.SUCCEEDED


def test_answer_that_cannot_be_stored_is_told_as_such(make_call: CallMaker, tools: Any) -> None:
    tool = register(tools, "odd", function=lambda arguments, context: Interrupt("?", object()))
    call = approved(make_call, tool)
    assert execution.execute(call.pk) == Status.FAILED
    assert text(call).startswith("The tool ran, but its answer could not be stored.")


def test_several_questions_are_resumed_with_the_answers_so_far(make_call: CallMaker, tools: Any) -> None:
    def ask(arguments: Any, context: Any) -> Any:
        answers = [one["answer"] for one in context["interrupts"]]
        return Interrupt(f"question {len(answers) + 1}") if len(answers) < 3 else f"answers {answers}"

    body = Body(ask)
    call = approved(make_call, register(tools, "asking", function=body), {"kept": 1})
    for number in (1, 2, 3):
        assert execution.execute(call.pk) == Status.INTERRUPTED
        asked = fresh(call).open_interrupt
        assert asked is not None
        assert asked.message == f"question {number}"
        lifecycle.answer_interrupt(
            call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer=f"yes {number}", at=now()
        )
    assert execution.execute(call.pk) == Status.SUCCEEDED
    assert text(call) == "answers ['yes 1', 'yes 2', 'yes 3']"
    assert {context["idempotency_key"] for _, context in body.received} == {str(call.pk)}
    assert all(arguments == {"kept": 1} for arguments, _ in body.received)


def test_answer_that_breaks_its_schema_leaves_the_question_open(make_call: CallMaker) -> None:
    call = make_call(Status.INTERRUPTED, data={"response_schema": {"enum": ["all", "none"]}})
    asked = fresh(call).open_interrupt
    assert asked is not None
    answer: dict[str, Any] = {"call_id": call.pk, "interrupt_id": asked.pk, "reviewer": make_call.reviewer, "at": now()}
    with pytest.raises(NotPossible) as refused:
        lifecycle.answer_interrupt(**answer, answer="some")
    assert refused.value.code == "answer_refused"
    assert lifecycle.answer_interrupt(**answer, answer="all").status == Status.APPROVED


def test_question_whose_schema_is_none_can_only_be_rejected(make_call: CallMaker) -> None:
    call = make_call(Status.INTERRUPTED, data={"response_schema": {"type": "nonsense"}})
    asked = fresh(call).open_interrupt
    assert asked is not None
    with pytest.raises(NotPossible) as refused:
        lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer=1, at=now())
    assert refused.value.code == "answer_refused"
    assert make_call.decide(call, DecisionKind.REJECT).status == Status.REJECTED


@pytest.mark.parametrize("status", [status for status in Status if status != Status.APPROVED])
def test_message_for_a_call_that_is_not_approved_runs_nothing(status: Status, make_call: CallMaker) -> None:
    call = make_call(status)
    before = ToolCall.objects.values().get(pk=call.pk)
    assert execution.execute(call.pk) == "not_approved"
    assert ToolCall.objects.values().get(pk=call.pk) == before


def test_message_for_an_unknown_call_runs_nothing() -> None:
    assert execution.execute(uuid7()) == "not_approved"


def test_approval_that_is_too_old_does_not_run_without_any_sweep(make_call: CallMaker, tools: Any) -> None:
    body = Body()
    call = approved(make_call, register(tools, "old", function=body, approval_valid_for=timedelta(milliseconds=1)))
    time.sleep(0.01)
    assert execution.execute(call.pk) == "expired"
    assert not body.received
    sweeps.sweep()
    assert fresh(call).status == Status.EXPIRED


def test_lost_idempotent_call_runs_again_a_bounded_number_of_times(make_call: CallMaker, tools: Any, settings: Any) -> None:
    settings.MAX_ATTEMPTS = 2
    call = approved(make_call, register(tools, "again", idempotent=True))
    for status in (Status.APPROVED, Status.OUTCOME_UNKNOWN):
        lifecycle.claim(call_id=call.pk, worker=execution.this_worker(), at=now())
        sweeps.find_lost(now() + settings.LEASE * 2)
        assert fresh(call).status == status


def test_run_takes_turns_where_functions_are_sequential(make_call: CallMaker, tools: Any) -> None:
    tool, beside = register(tools, "in_turn"), register(tools, "beside", async_=True)
    first, second, third = (approved(make_call, name, run_id="a run") for name in (tool, tool, beside))
    elsewhere = approved(make_call, tool, run_id="another run")
    assert execution.execute(second.pk) == "not_its_turn"
    assert execution.execute(third.pk) == Status.SUCCEEDED
    assert execution.execute(elsewhere.pk) == Status.SUCCEEDED
    assert execution.execute(first.pk) == Status.SUCCEEDED
    assert execution.execute(second.pk) == Status.SUCCEEDED


def test_declared_only_function_is_left_to_the_agent(make_call: CallMaker, tools: Any) -> None:
    call = approved(make_call, register(tools, "declared_only", function=None))
    assert execution.execute(call.pk) == "declared_only"
    assert fresh(call).status == Status.APPROVED


def test_sweep_hands_out_what_no_worker_took(make_call: CallMaker) -> None:
    call = make_call(Status.APPROVED)
    later = now() + timedelta(minutes=1)
    assert sweeps.dispatch_again(later) == 1
    assert sweeps.dispatch_again(later) == 0
    again = fresh(call).dispatch_at
    assert again is not None
    assert again > later


def test_worker_that_lost_its_lease_cannot_overwrite(make_call: CallMaker) -> None:
    call = make_call(Status.EXECUTING)
    assert call.lease is not None
    lifecycle.lose(call_id=call.pk, lease=call.lease, why="a test", at=now(), is_certain=True)
    with pytest.raises(NotPossible) as refused:
        lifecycle.lose(call_id=call.pk, lease=call.lease, why="again", at=now(), is_certain=True)
    assert refused.value.code == "lease_lost"
    assert fresh(call).status == Status.OUTCOME_UNKNOWN

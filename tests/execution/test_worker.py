"""A real worker and its messages: whatever arrives, and however often, each approved call runs once and nothing else does."""

from __future__ import annotations

import asyncio
import json
import random
import time
from datetime import timedelta
from typing import Any

import pytest

from approvals import dispatch, lifecycle, sweeps
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.models import AuditEvent, DecisionKind, EventKind, Execution, Status, ToolCall, uuid7
from tests.calls import CallMaker, register
from tests.execution.working import Counting, Working, approved, deliver, gate, is_idle, settled, text, until
from toolgate import Error, Interrupt

pytestmark = pytest.mark.usefixtures("worker")


def test_call_runs_when_it_is_approved(make_call: CallMaker, tools: Any) -> None:
    body = Counting()
    call = approved(make_call, register(tools, "counted", function=body))
    assert settled(call) == [Status.SUCCEEDED]
    assert body.ran == {str(call.pk): 1}
    facts = json.loads(Execution.objects.get(call=call).worker)
    assert {"host", "process", "thread", "python"} <= set(facts)
    assert verify_chain(str(call.pk)).is_whole


def test_message_delivered_five_times_runs_the_body_once(make_call: CallMaker, tools: Any, worker: Working) -> None:
    body = Counting(seconds=0.3)
    call = approved(make_call, register(tools, "counted", function=body))
    deliver(*[call.pk] * 5)
    assert settled(call) == [Status.SUCCEEDED]
    deliver(*[call.pk] * 5)
    until(lambda: is_idle(worker))
    assert body.ran == {str(call.pk): 1}
    ran = AuditEvent.objects.filter(chain=str(call.pk), kind__in=(EventKind.CLAIMED, EventKind.SUCCEEDED))
    assert ran.count() == 2


def test_many_calls_with_every_message_several_times(make_call: CallMaker, tools: Any, worker: Working) -> None:
    body = Counting()
    tool = register(tools, "counted", function=body, require_approval=False)
    calls = [make_call.submit(tool) for _ in range(40)]
    messages = [call.pk for call in calls for _ in range(3)]
    random.shuffle(messages)
    deliver(*messages)
    assert set(settled(*calls)) == {Status.SUCCEEDED}
    until(lambda: is_idle(worker))
    assert body.ran == {str(call.pk): 1 for call in calls}


def test_message_for_what_is_not_approved_runs_nothing(make_call: CallMaker, tools: Any, worker: Working) -> None:
    body = Counting()
    tool = register(tools, "counted", function=body)
    calls = [make_call.submit(tool) for _ in range(4)]
    lifecycle.cancel(call_id=calls[0].pk, agent=make_call.agent, at=now())
    lifecycle.expire(call_id=calls[1].pk, at=now() + timedelta(days=400))
    make_call.decide(calls[2], DecisionKind.REJECT)
    deliver(*[call.pk for call in calls], uuid7(), "no id at all")
    after = approved(make_call, register(tools, "after"))
    assert settled(after) == [Status.SUCCEEDED]
    until(lambda: is_idle(worker))
    assert not body.ran
    assert ToolCall.objects.get(pk=calls[3].pk).status == Status.PENDING


@pytest.mark.parametrize("leaving", [SystemExit(0), KeyboardInterrupt()], ids=["SystemExit", "KeyboardInterrupt"])
def test_body_that_wants_to_end_the_process_only_fails(leaving: BaseException, make_call: CallMaker, tools: Any) -> None:
    def leave(arguments: Any, context: Any) -> str:
        raise leaving

    call = approved(make_call, register(tools, "leaving", function=leave))
    assert settled(call) == [Status.FAILED]
    assert text(call).startswith(f"ERROR: ({type(leaving).__name__})")
    others = [approved(make_call, register(tools, "after")) for _ in range(6)]
    assert set(settled(*others)) == {Status.SUCCEEDED}


def test_coroutine_that_awaits_too_long_is_stopped(make_call: CallMaker, tools: Any) -> None:
    cleaned = []

    async def slow(arguments: Any, context: Any) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            cleaned.append(True)
        return "never"

    limits = {"time_limit": timedelta(seconds=20), "soft_time_limit": timedelta(seconds=0.3)}
    call = approved(make_call, register(tools, "slow", function=slow, **limits))
    assert settled(call) == [Status.FAILED]
    assert text(call) == "The tool did not finish within 0.3 seconds and was stopped."
    assert cleaned == [True]


def test_run_takes_its_turns_beside_what_need_not_wait(make_call: CallMaker, tools: Any) -> None:
    opened, body = gate()
    order: list[int] = []

    def note(arguments: dict[str, Any], context: Any) -> str:
        order.append(arguments["number"])
        return "done"

    register(tools, "first", function=body)
    register(tools, "in_turn", function=note)
    register(tools, "beside", async_=True)
    first = make_call.submit("first", run_id="a run")
    following = [make_call.submit("in_turn", {"number": number}, run_id="a run") for number in range(4)]
    beside = [make_call.submit("beside", run_id="a run") for _ in range(2)]
    elsewhere = make_call.submit("in_turn", {"number": 9}, run_id="another run")
    for call in [*reversed(following), first, *beside, elsewhere]:
        make_call.decide(call, DecisionKind.APPROVE)
    assert set(settled(*beside, elsewhere)) == {Status.SUCCEEDED}
    assert not ToolCall.objects.filter(pk__in=[call.pk for call in following]).exclude(status=Status.APPROVED)
    opened.set()
    assert set(settled(first, *following)) == {Status.SUCCEEDED}
    assert order == [9, 0, 1, 2, 3]


def test_run_goes_on_behind_a_call_that_people_end(make_call: CallMaker, tools: Any) -> None:
    tool = register(tools, "in_turn")
    first, second = (make_call.submit(tool, run_id="a run") for _ in range(2))
    make_call.decide(second, DecisionKind.APPROVE)
    make_call.decide(first, DecisionKind.REJECT)
    assert settled(second) == [Status.SUCCEEDED]


def test_sequential_calls_of_a_run_never_run_side_by_side(make_call: CallMaker, tools: Any) -> None:
    running: list[int] = []
    at_once: list[int] = []

    def body(arguments: dict[str, Any], context: Any) -> str:
        running.append(1)
        at_once.append(len(running))
        time.sleep(0.02)
        running.pop()
        return "done"

    tool = register(tools, "in_turn", function=body, require_approval=False)
    calls = [make_call.submit(tool, run_id="a run") for _ in range(12)]
    deliver(*[call.pk for call in calls for _ in range(2)])
    assert set(settled(*calls)) == {Status.SUCCEEDED}
    assert set(at_once) == {1}


def test_two_questions_at_once_each_get_their_own_answer(make_call: CallMaker, tools: Any) -> None:
    def ask(arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        answers = [one["answer"] for one in context["interrupts"]]
        return Interrupt(f"{arguments['name']}?") if not answers else f"{arguments['name']}: {answers}"

    tool = register(tools, "asking", function=ask, require_approval=False, async_=True)
    calls = [make_call.submit(tool, {"name": name}, run_id="a run") for name in ("A", "B")]
    until(lambda: ToolCall.objects.filter(status=Status.INTERRUPTED).count() == 2)
    for call in reversed(calls):
        asked = ToolCall.objects.get(pk=call.pk).open_interrupt
        assert asked is not None
        answer = f"for {asked.message}"
        lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer=answer, at=now())
    assert settled(*calls) == [Status.SUCCEEDED] * 2
    assert [text(call) for call in calls] == ["A: ['for A?']", "B: ['for B?']"]


def test_call_that_no_message_told_of_is_found_by_the_sweep(make_call: CallMaker, tools: Any, settings: Any) -> None:
    settings.DISPATCH_AFTER = timedelta(0)
    body = Counting()
    tool = register(tools, "counted", function=body)
    dispatch.holds_the_queue.clear()  # as in any process but the serving one
    call = approved(make_call, tool)
    dispatch.holds_the_queue.set()
    assert ToolCall.objects.get(pk=call.pk).status == Status.APPROVED
    sweeps.sweep()
    assert settled(call) == [Status.SUCCEEDED]
    assert body.ran == {str(call.pk): 1}


def test_idempotent_call_of_a_lost_worker_runs_again_under_the_same_key(make_call: CallMaker, tools: Any) -> None:
    body = Counting()
    dispatch.holds_the_queue.clear()
    call = approved(make_call, register(tools, "again", function=body, idempotent=True))
    lifecycle.claim(call_id=call.pk, worker=lifecycle.Worker("a worker that is killed"), at=now())
    dispatch.holds_the_queue.set()
    sweeps.find_lost(now() + timedelta(days=1))
    assert settled(call) == [Status.SUCCEEDED]
    assert body.ran == {str(call.pk): 1}
    runs = Execution.objects.filter(call=call).order_by("attempt").values_list("attempt", "outcome")
    assert list(runs) == [(1, "lost"), (2, "succeeded")]


def test_call_that_is_not_idempotent_waits_for_people_when_its_worker_is_lost(make_call: CallMaker, tools: Any) -> None:
    body = Counting()
    dispatch.holds_the_queue.clear()
    call = approved(make_call, register(tools, "counted", function=body))
    lifecycle.claim(call_id=call.pk, worker=lifecycle.Worker("a worker that is killed"), at=now())
    dispatch.holds_the_queue.set()
    sweeps.find_lost(now() + timedelta(days=1))
    deliver(call.pk)
    lost = ToolCall.objects.get(pk=call.pk)
    assert (lost.status, body.ran) == (Status.OUTCOME_UNKNOWN, {})
    lifecycle.settle(call_id=call.pk, reviewer=make_call.reviewer, outcome="run_again", reason="It did not begin.", at=now())
    assert settled(call) == [Status.SUCCEEDED]
    assert body.ran == {str(call.pk): 1}


def test_approved_call_of_a_stopped_sweeper_does_not_run_when_it_is_too_old(
    make_call: CallMaker, tools: Any, worker: Working
) -> None:
    body = Counting()
    dispatch.holds_the_queue.clear()
    tool = register(tools, "old", function=body, approval_valid_for=timedelta(milliseconds=1))
    call = approved(make_call, tool)
    dispatch.holds_the_queue.set()
    time.sleep(0.01)
    deliver(call.pk)
    after = approved(make_call, register(tools, "after"))
    assert settled(after) == [Status.SUCCEEDED]
    until(lambda: is_idle(worker))
    assert not body.ran


def test_refusal_of_a_parser_at_execution_reaches_the_model(make_call: CallMaker, tools: Any) -> None:
    opened, wait = gate()
    is_gone: list[bool] = []

    def parse(arguments: dict[str, Any]) -> dict[str, Any] | Error:
        return Error("There is no such order any more.") if is_gone else arguments

    body = Counting()
    register(tools, "first", function=wait, require_approval=False)
    tool = register(tools, "vanishing", function=body, parse_args=parse)
    make_call.submit("first", run_id="a run")
    call = approved(make_call, tool, run_id="a run")
    is_gone.append(True)
    opened.set()
    assert settled(call) == [Status.FAILED]
    assert (text(call), body.ran) == ("There is no such order any more.", {})

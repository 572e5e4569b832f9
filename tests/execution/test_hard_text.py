"""Text that no database keeps, a NUL and half of a surrogate pair: exact in JSON, visible in plain text, never a lost call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from approvals import execution, lifecycle
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import Reviewer
from approvals.models import DecisionKind, Status, ToolCall
from tests.api.conftest import bearer, key_of
from tests.calls import CallMaker, register
from toolgate import Error, Interrupt, Ok

pytestmark = pytest.mark.usefixtures("real_db")
HARD = "a\x00b\ud83dc"
SEEN = r"a\u0000b\ud83dc"


def run(make: CallMaker, **tool: Any) -> ToolCall:
    call = make.decide(make.submit(register(make.tools, **tool), {}), DecisionKind.APPROVE)
    execution.execute(call.pk)
    return ToolCall.objects.get(pk=call.pk)


def test_result_is_kept_and_told_exactly(make_call: CallMaker) -> None:
    call = run(make_call, function=lambda arguments, context: Ok(HARD))
    assert call.status == Status.SUCCEEDED
    assert json.loads(call.result)["content"][0]["content"] == HARD
    told = bearer(key_of(make_call.agent)).get(f"tool-calls/{call.pk}")
    assert told.body["result"]["content"][0]["content"] == HARD
    assert verify_chain(str(call.pk)).is_whole


def test_resolved_arguments_are_kept_exactly(make_call: CallMaker) -> None:
    received: list[Any] = []

    def body(arguments: Any, context: Any) -> str:
        received.append(arguments)
        return "done"

    call = run(make_call, parse_args=lambda arguments: {"text": HARD, HARD: 1}, function=body)
    assert (call.status, received) == (Status.SUCCEEDED, [{"text": HARD, HARD: 1}])
    assert call.resolution is not None
    assert json.loads(call.resolution.resolved) == {"text": HARD, HARD: 1}


def test_error_and_its_traceback_are_kept(make_call: CallMaker) -> None:
    def body(arguments: Any, context: Any) -> None:
        raise ValueError(HARD)

    call = run(make_call, function=body)
    assert call.status == Status.FAILED
    assert HARD in json.loads(call.result)["content"][0]["content"]
    assert f"ValueError: {SEEN}" in call.executions.get().exception


def test_refusal_of_a_parser_is_kept(make_call: CallMaker) -> None:
    call = make_call.submit(register(make_call.tools, parse_args=lambda arguments: Error(HARD)))
    assert call.status == Status.INVALID
    call.refresh_from_db()
    assert HARD in json.loads(call.result)["content"][0]["content"]
    assert call.resolution is not None
    assert SEEN in call.resolution.refusal


def test_headline_is_kept(make_call: CallMaker) -> None:
    register(make_call.tools, headline="Say {text}", parse_args=lambda arguments: {"text": HARD})
    call = make_call.submit("tool")
    call.refresh_from_db()
    assert call.resolution is not None
    assert call.resolution.headline.startswith("Say a")


def test_question_is_asked_answered_and_handed_back_exactly(make_call: CallMaker, as_reviewer: Reviewer) -> None:
    handed: list[Any] = []

    def body(arguments: Any, context: Any) -> Any:
        handed.extend(context["interrupts"])
        return Ok("done") if context["interrupts"] else Interrupt(HARD, {"text": HARD, "amount": 1.5})

    call = run(make_call, function=body)
    assert call.status == Status.INTERRUPTED
    asked = call.interrupts.get()
    assert (asked.message, json.loads(asked.data)["text"]) == (SEEN, HARD)
    lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=asked.pk, reviewer=as_reviewer, answer="yes", at=now())
    assert execution.execute(call.pk) == Status.SUCCEEDED
    assert handed == [{"message": SEEN, "data": {"text": HARD, "amount": 1.5}, "answer": "yes"}]

"""People answer a tool's question, or say what happened when nobody knows."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.lifecycle.ending import end_if_overdue
from approvals.lifecycle.moving import deadlines, get, lock, move, require, require_agent, result_text, verb
from approvals.lifecycle.reviewers import Reviewer, is_own, require_reviewer
from approvals.lifecycle.transitions import NotPossible, S
from approvals.models import AuditEvent, EventKind, Execution, Interrupt, Status, ToolCall, Verb
from approvals.rendering import read, sha256
from toolgate.tools.canonical import canonical
from toolgate.tools.definition import FunctionDefinitionError
from toolgate.tools.parsers import schema_problems


def answer_interrupt(*, call_id: UUID, interrupt_id: UUID, reviewer: Reviewer, answer: Any, at: datetime) -> ToolCall:
    """interrupted → approved: the function runs again from the top with this answer (JSON data) and those before it.

    Raises NotPossible: `unknown_interrupt`, `interrupt_closed`, `answer_refused`, `self_approval`, `not_a_reviewer`, `expired`.
    """
    end_if_overdue(get(call_id), at)
    return _answer_interrupt(call_id, interrupt_id, reviewer, answer, at)


@verb
def _answer_interrupt(call_id: UUID, interrupt_id: UUID, reviewer: Reviewer, answer: Any, at: datetime) -> ToolCall:
    call, text = lock(call_id, "interrupts"), canonical(answer)
    asked = next((one for one in call.interrupts.all() if one.pk == interrupt_id), None)
    if asked is None:
        raise NotPossible("unknown_interrupt", "This call never asked that question.", call)
    if asked.answered_at and asked.answer == text and asked.answered_by_id == reviewer.person.pk:
        return call
    if asked.answered_at or asked.closed_at:
        ended = f"answered by {asked.answered_name}" if asked.answered_at else "closed without an answer"
        raise NotPossible("interrupt_closed", f"That question is no longer open: it was {ended}.", call)
    require(call, Verb.ANSWER, at)
    require_reviewer(call, reviewer.person)
    if not call.verdict["self_approval"] and is_own(call, reviewer.person):
        raise NotPossible("self_approval", "Nobody answers for their own: this call is made on your behalf.", call)
    if problems := _misfit(asked, answer):
        raise NotPossible("answer_refused", f"The question is still open. {problems}", call)
    Interrupt.objects.filter(pk=asked.pk).update(
        answer=text, answered_at=at, answered_by=reviewer.person, answered_name=reviewer.person.label
    )
    return move(
        call, S.APPROVED, verb=Verb.ANSWER, kind=EventKind.ANSWERED, actor=reviewer.actor, at=at,
        facts={"interrupt": str(asked.pk), "answer": sha256(text)}, **deadlines(S.APPROVED, call.verdict, at),
    )  # fmt: skip


def _misfit(asked: Interrupt, answer: Any) -> str:
    try:
        return schema_problems(asked.response_schema, answer, name="answer") if asked.response_schema else ""
    except FunctionDefinitionError as error:
        return f"The tool's response schema cannot be used ({error}), so the call can only be rejected."


@verb
def settle(*, call_id: UUID, reviewer: Reviewer, outcome: str, reason: str, at: datetime) -> ToolCall:
    """outcome_unknown → what a person found out: `succeeded`, `failed`, or `run_again`. A reason is compulsory.

    The same again by the same person is harmless. Raises NotPossible: `wrong_status`, `already_settled`, `not_a_reviewer`,
    `reason_missing`, `self_approval`.
    """
    call = lock(call_id)
    facts = {"attempt": call.attempt, "finding": sha256(reason.strip()), "outcome": outcome}
    if call.status != S.OUTCOME_UNKNOWN and _was_said(call, reviewer, facts):
        return call
    require(call, Verb.SETTLE, at)
    require_reviewer(call, reviewer.person)
    if not reason.strip():
        raise NotPossible("reason_missing", "Say how you know what happened: it goes into the trail.", call)
    if outcome == "run_again" and not call.verdict["self_approval"] and is_own(call, reviewer.person):
        raise NotPossible("self_approval", "Nobody sends their own to run again: this call is made on your behalf.", call)
    Execution.objects.filter(call=call, attempt=call.attempt).update(finding=reason.strip())
    if outcome == "run_again":
        require_agent(call)
        columns = deadlines(S.APPROVED, call.verdict, at)
        return move(
            call,
            S.APPROVED,
            verb=Verb.SETTLE,
            kind=EventKind.RUN_AGAIN,
            actor=reviewer.actor,
            at=at,
            facts=facts,
            **columns,
        )
    text = f"The worker was lost while it ran '{call.tool}'. A human looked and says that it {outcome}: {reason.strip()}"
    result = result_text(call, text, is_error=outcome == "failed")
    target = Status(outcome)
    return move(call, target, verb=Verb.SETTLE, kind=EventKind.SETTLED, actor=reviewer.actor, at=at, facts=facts, result=result)


def _was_said(call: ToolCall, reviewer: Reviewer, facts: dict[str, Any]) -> bool:
    said = AuditEvent.objects.filter(chain=str(call.pk), kind__in=(EventKind.SETTLED, EventKind.RUN_AGAIN))
    last = said.order_by("sequence").last()
    return last is not None and last.actor_id == str(reviewer.person.pk) and facts.items() <= read(last.data).items()

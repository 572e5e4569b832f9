"""The clock expires a call, the agent cancels it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from approvals.lifecycle.moving import close_interrupt, lock, move, require, result_text, verb
from approvals.lifecycle.reviewers import is_over
from approvals.lifecycle.transitions import NotPossible, S
from approvals.models import Agent, EventKind, Status, ToolCall, Verb
from approvals.models.actors import CLOCK, Actor


@verb
def expire(*, call_id: UUID, at: datetime) -> ToolCall:
    """Ends a pending, approved or interrupted call whose time is over. Raises NotPossible (`not_due`) when it is not."""
    call = lock(call_id)
    require(call, Verb.EXPIRE, at)
    if call.expires_at is None or call.expires_at > at:
        raise NotPossible("not_due", "Its time is not over yet.", call)
    missing = {
        S.PENDING: "nobody decided in time",
        S.APPROVED: "it was approved, but not started in time",
        S.INTERRUPTED: "nobody answered the tool's question in time",
    }[Status(call.status)]
    text = f"Tool call '{call.tool}' expired: {missing}. It was not run to its end. Submit it again if it is still wanted."
    close_interrupt(call, at)
    return move(call, S.EXPIRED, verb=Verb.EXPIRE, kind=EventKind.EXPIRED, actor=CLOCK, at=at, result=result_text(call, text))


@verb
def cancel(*, call_id: UUID, agent: Agent, at: datetime) -> ToolCall:
    """The agent withdraws its own pending, approved or interrupted call. A repeat is harmless."""
    call = lock(call_id)
    if call.agent_id != agent.pk:
        raise NotPossible("unknown_call", "There is no such tool call.")
    if call.status == S.CANCELLED:
        return call
    require(call, Verb.CANCEL, min(at, call.expires_at or at))
    close_interrupt(call, at)
    result = result_text(call, f"Tool call '{call.tool}' was cancelled by the agent before it ran.")
    actor = Actor.agent(agent)
    return move(call, S.CANCELLED, verb=Verb.CANCEL, kind=EventKind.CANCELLED, actor=actor, at=at, result=result)


def end_if_overdue(call: ToolCall, at: datetime) -> bool:
    """A stopped sweeper must not let somebody decide, or start, what is over. Whether the call is another now."""
    if not is_over(call, at):
        return False
    try:
        expire(call_id=call.pk, at=at)
    except NotPossible as error:
        if error.code not in ("not_due", "already_settled", "wrong_status"):
            raise
    return True


def ended_if_overdue(calls: Iterable[ToolCall], at: datetime) -> list[ToolCall]:
    """The same calls in the same order, those ended first whose time is over: no list says that they still wait."""
    calls = list(calls)
    late = [call.pk for call in calls if end_if_overdue(call, at)]
    ended = ToolCall.objects.with_everything().in_bulk(late) if late else {}
    return [ended.get(call.pk, call) for call in calls]

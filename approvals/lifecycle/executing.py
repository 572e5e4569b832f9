"""A worker holds a call: claim, renew, drift, finish; and what happens when it is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals import resolution
from approvals.lifecycle.moving import deadlines, lock, move, policy_columns, require, verb
from approvals.lifecycle.transitions import TRANSITIONS, NotPossible, S
from approvals.models import OPEN, EventKind, Execution, Interrupt, Status, ToolCall, Verb, When, uuid7
from approvals.models.actors import CLOCK, SYSTEM, Actor
from approvals.policies import Verdict
from approvals.rendering import sha256, storable
from approvals.resolution import Resolved
from toolgate.tools.canonical import canonical
from toolgate.tools.tool_result import ToolResult


@dataclass(frozen=True, slots=True)
class Worker:
    """What runs a call: host, process, thread and versions, kept for the operator."""

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def actor(self) -> Actor:
        return Actor.worker(self.name)


@verb
def claim(*, call_id: UUID, worker: Worker, at: datetime) -> ToolCall:
    """approved → executing: gives one worker the lease. Whatever is not exactly approved, in time and in turn is refused.

    Raises NotPossible: `wrong_status`, `already_settled`, `expired`, `not_its_turn`, `declared_only`.
    """
    call = lock(call_id)
    require(call, Verb.CLAIM, at)
    if call.runs_by_agent:
        raise NotPossible("declared_only", "This tool has no body here: the agent runs it itself.", call)
    _require_its_turn(call)
    lease = uuid7()
    Execution.objects.create(
        call=call, attempt=call.attempt + 1, lease=lease, worker=canonical(dict(worker.facts)), started_at=at
    )
    return move(
        call, S.EXECUTING, verb=Verb.CLAIM, kind=EventKind.CLAIMED, actor=worker.actor, at=at,
        facts={"attempt": call.attempt + 1, "digest": call.approved_digest},
        lease=lease, lease_expires_at=at + settings.LEASE, attempt=call.attempt + 1, dispatch_at=None, expires_at=None,
    )  # fmt: skip


def _require_its_turn(call: ToolCall) -> None:
    """Within a run, functions without `async` run one at a time in the order submitted; a run never waits for another."""
    if not call.run_id or not call.is_sequential:
        return
    earlier = ToolCall.objects.filter(agent=call.agent_id, run_id=call.run_id, is_sequential=True, status__in=OPEN)
    if (first := earlier.filter(position__lt=call.position).order_by("position").first()) is not None:
        raise NotPossible("not_its_turn", f"It waits for an earlier call of its run, which is {first.status}.", call)


def renew(*, call_id: UUID, lease: UUID, at: datetime) -> bool:
    """Keeps a lease while the body runs. False when it is no longer held."""
    held = ToolCall.objects.filter(pk=call_id, lease=lease, status=S.EXECUTING)
    return held.update(lease_expires_at=at + settings.LEASE) == 1


def _held(call_id: UUID, lease: UUID, verb: Verb) -> ToolCall:
    call = lock(call_id)
    if call.lease != lease or call.status not in TRANSITIONS[verb].sources:
        raise NotPossible("lease_lost", f"This worker no longer holds the call, which is {call.status}.", call)
    return call


_RELEASED = {"lease": None, "lease_expires_at": None}


def _close_execution(call: ToolCall, at: datetime, outcome: str, *, exception: str = "", why: str = "") -> None:
    Execution.objects.filter(call=call, attempt=call.attempt).update(
        ended_at=at, outcome=outcome, exception=storable(exception), why=storable(why)
    )


@verb
def drift(
    *, call_id: UUID, lease: UUID, worker: Worker, resolved: Resolved, verdict: Verdict | None, why: str, at: datetime
) -> ToolCall:
    """executing → pending, before the body: what would run is not what was approved. Earlier votes no longer count."""
    call = _held(call_id, lease, Verb.DRIFT)
    row = resolved.record(call, When.EXECUTE, at)
    _close_execution(call, at, "drifted", why=why)
    facts = {"approved": call.approved_digest, "digest": resolved.digest, "attempt": call.attempt, "why": sha256(storable(why))}
    columns = _RELEASED | (policy_columns(verdict.for_review()) if verdict else {})
    columns |= deadlines(S.PENDING, verdict.as_data() if verdict else call.verdict, at)
    columns |= {"resolution": row, "approved_digest": "", "decided_at": None}
    columns |= {"review_round": call.review_round + 1}
    return move(call, S.PENDING, verb=Verb.DRIFT, kind=EventKind.DRIFTED, actor=worker.actor, at=at, facts=facts, **columns)


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of one execution: `status` is succeeded, failed or interrupted; `exception` is for the operator."""

    status: Status
    result: ToolResult
    resolved: Resolved | None = None
    exception: str = ""


@verb
def finish(*, call_id: UUID, lease: UUID, worker: Worker, ending: Ending, at: datetime) -> ToolCall:
    """executing → succeeded, failed or interrupted. A worker that lost its lease cannot overwrite anything."""
    call = _held(call_id, lease, Verb.FINISH)
    columns: dict[str, Any] = dict(_RELEASED)
    facts: dict[str, Any] = {"attempt": call.attempt}
    if ending.resolved is not None:
        columns["effective"] = ending.resolved.record(call, When.EXECUTE, at)
        facts["digest"] = ending.resolved.digest
    _close_execution(call, at, str(ending.status), exception=ending.exception)
    if ending.status == S.INTERRUPTED:
        raised = _raise_interrupt(call, ending.result, at)
        facts |= {"interrupt": str(raised.pk), "message": sha256(raised.message)}
        columns |= deadlines(S.INTERRUPTED, call.verdict, at)
    else:
        columns["result"] = canonical(ending.result.to_dict())
    kind = EventKind(str(ending.status))
    return move(call, ending.status, verb=Verb.FINISH, kind=kind, actor=worker.actor, at=at, facts=facts, **columns)


def _raise_interrupt(call: ToolCall, result: ToolResult, at: datetime) -> Interrupt:
    from_tool = result.to_dict()
    text = "\n\n".join(part["content"] or "" for part in from_tool["content"])
    return Interrupt.objects.create(
        call=call,
        number=call.interrupts.count() + 1,
        message=storable(text),
        data=canonical(from_tool["interrupt_data"]),
        raised_at=at,
    )


@verb
def lose(*, call_id: UUID, lease: UUID, why: str, at: datetime, is_certain: bool = False) -> ToolCall:
    """executing → outcome_unknown, when the lease ran out (or the worker says so: `is_certain`).

    A function registered as idempotent goes back to approved instead, a bounded number of times.
    """
    call = _held(call_id, lease, Verb.LOSE)
    if not is_certain and (call.lease_expires_at is None or call.lease_expires_at > at):
        raise NotPossible("not_due", "Its worker still holds the lease.", call)
    registration = resolution.registry().get(call.tool)
    again = bool(registration and registration.idempotent) and call.attempt < settings.MAX_ATTEMPTS
    _close_execution(call, at, "lost", why=why)
    target = S.APPROVED if again else S.OUTCOME_UNKNOWN
    columns = _RELEASED | deadlines(target, call.verdict, at)
    return move(
        call, target, verb=Verb.LOSE, kind=EventKind.LOST, actor=CLOCK, at=at,
        facts={"attempt": call.attempt, "why": sha256(storable(why))}, **columns,
    )  # fmt: skip


@verb
def restore(*, call_id: UUID, at: datetime) -> ToolCall:
    """approved or executing → outcome_unknown: this database is a backup, and the call may have run since it was made.

    Raises NotPossible: `wrong_status`, `already_settled`.
    """
    call = lock(call_id)
    require(call, Verb.RESTORE, at)
    why = "The database was restored from a backup; whether the call ran after that was made is not known."
    if call.status == S.EXECUTING:
        _close_execution(call, at, "lost", why=why)
    else:
        Execution.objects.create(
            call=call, attempt=call.attempt + 1, lease=uuid7(), started_at=at, ended_at=at, outcome="lost", why=why
        )
        call.attempt += 1
    columns: dict[str, Any] = _RELEASED | {"attempt": call.attempt, "expires_at": None, "dispatch_at": None}
    return move(
        call, S.OUTCOME_UNKNOWN, verb=Verb.RESTORE, kind=EventKind.LOST, actor=SYSTEM, at=at,
        facts={"attempt": call.attempt, "why": sha256(why)}, **columns,
    )  # fmt: skip

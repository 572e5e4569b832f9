"""An agent submits: what was sent is resolved, judged and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError
from django.db.models import Max

from approvals import audit, dispatch, policies, resolution, tracing
from approvals.audit.verification import resolution_digest
from approvals.lifecycle.ending import ended_if_overdue
from approvals.lifecycle.moving import deadlines, lock, log_event, note, policy_columns, result_text, set_groups, verb
from approvals.lifecycle.transitions import NotPossible, S
from approvals.models import GENESIS, OPEN, SETTLED, Agent, EventKind, Outcome, Resolution, Status, ToolCall, When, uuid7
from approvals.models.actors import Actor
from approvals.policies import Verdict
from approvals.rendering import sha256
from approvals.resolution import Resolved
from toolgate.tools.canonical import canonical
from toolgate.tools.tool_call import ArgumentsError


@dataclass(frozen=True, slots=True)
class Submission:
    """What an agent sent. `arguments` is the JSON text of that member exactly as it stood in the request; empty if absent."""

    tool: str
    tool_call_id: str
    arguments: str = ""
    idempotency_key: str = ""
    run_id: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent_reasoning: str = ""
    on_behalf_of: str = ""
    timeout: timedelta | None = None
    revises: UUID | None = None

    @property
    def key(self) -> str:
        """What makes a repeat a repeat. An Idempotency-Key where there is one: some models repeat their call ids."""
        return f"key {self.idempotency_key}" if self.idempotency_key else f"id {self.tool_call_id}"

    def fingerprint(self) -> str:
        try:
            arguments: Any = resolution.arguments_of(self.arguments)
        except ArgumentsError:
            arguments = ["not an object", self.arguments]
        revises = str(self.revises) if self.revises else None
        timeout = self.timeout.total_seconds() if self.timeout else None
        return sha256(
            canonical(
                [
                    self.tool,
                    self.tool_call_id,
                    arguments,
                    self.run_id,
                    self.context,
                    self.metadata,
                    self.agent_reasoning,
                    self.on_behalf_of,
                    timeout,
                    revises,
                ]
            )
        )


def submit(*, agent: Agent, submission: Submission, at: datetime) -> tuple[ToolCall, bool]:
    """Resolves and judges what an agent sent, and stores it: `invalid`, `denied`, `pending` or `approved`.

    Answers the call and whether it is new: the same submission again gives the first call. Raises NotPossible
    (`submission_conflict`, `unknown_revision`).
    """
    fingerprint = submission.fingerprint()
    if (first := _first_submission(agent, submission, fingerprint, at)) is not None:
        return first, False
    call = _draft(agent, submission, fingerprint, at)
    with tracing.within(call_id=str(call.pk)):
        return _submit(call, submission, fingerprint, at)


def _submit(call: ToolCall, submission: Submission, fingerprint: str, at: datetime) -> tuple[ToolCall, bool]:
    context = resolution.context_for(call)
    resolved = _resolve(call.agent, call, context)
    verdict = None if resolved.refusal else policies.judge(resolved, context)
    for _ in range(50):
        try:
            return _store(call, submission, resolved, verdict, at), True
        except IntegrityError:  # another request took the key or the place in the run
            if (first := _first_submission(call.agent, submission, fingerprint, at)) is not None:
                return first, False
    raise OperationalError("the run kept growing while a call was being added to it")


def _first_submission(agent: Agent, submission: Submission, fingerprint: str, at: datetime) -> ToolCall | None:
    found = ToolCall.objects.filter(agent=agent, submission_key=submission.key)[:1]
    first = next(iter(ended_if_overdue(found, at)), None)
    if first is None or first.fingerprint == fingerprint:
        return first
    if first.status == S.INVALID:  # a refused attempt does not hold the key against its correction
        ToolCall.objects.filter(pk=first.pk, status=S.INVALID).update(submission_key=None)
        return None
    what = "Idempotency-Key" if submission.idempotency_key else "tool_call_id"
    detail = f"This {what} was already used with other content. The stored call is unchanged."
    raise NotPossible("submission_conflict", detail, first, tool_call=str(first.pk))


def _resolve(agent: Agent, call: ToolCall, context: dict[str, Any]) -> Resolved:
    """A tool that this agent may not call is, for it, a tool that does not exist."""
    if not agent.may_call(call.tool):
        return Resolved(call.tool, call.submitted, refusal=resolution.unknown_tool(call.tool))
    return resolution.resolve(call.tool, call.submitted, context)


def _draft(agent: Agent, submission: Submission, fingerprint: str, at: datetime) -> ToolCall:
    registration = resolution.registry().get(submission.tool) if agent.may_call(submission.tool) else None
    return ToolCall(
        id=uuid7(),
        agent=agent,
        agent_name=agent.name,
        tool=submission.tool,
        tool_call_id=submission.tool_call_id,
        submission_key=submission.key,
        fingerprint=fingerprint,
        run_id=submission.run_id,
        runs_by_agent=bool(registration and registration.function.function is None),
        is_sequential=not (registration and registration.function.async_),
        submitted=submission.arguments,
        context=canonical(submission.context),
        metadata=canonical(submission.metadata),
        agent_reasoning=submission.agent_reasoning,
        on_behalf_of=submission.on_behalf_of,
        risk=registration.risk if registration else "medium",
        display_text=((registration and registration.function.display_text) or "")[:500],
        submitted_at=at,
    )


@verb
def _store(call: ToolCall, submission: Submission, resolved: Resolved, verdict: Verdict | None, at: datetime) -> ToolCall:
    call.revises = _revised(call, submission)
    if call.run_id:
        run = ToolCall.objects.filter(agent=call.agent, run_id=call.run_id)
        last: int | None = run.aggregate(last=Max("position"))["last"]
        call.position = 0 if last is None else last + 1
    status, result = _first_status(call, resolved, verdict)
    call.status, call.result, call.settled_at = status, result, (at if status in SETTLED else None)
    call.version, call.chain_length, call.chain_head = 1, 0, GENESIS
    if verdict:
        _apply(call, verdict, status, at)
        if submission.timeout and call.expires_at and status == S.PENDING:
            call.expires_at = min(call.expires_at, at + submission.timeout)
    call.approved_digest = resolved.digest if status == S.APPROVED else ""
    # What was refused is nobody else's business either: it may hold what a reviewer of another group must not read.
    groups = verdict.groups if verdict else resolved.registration.groups if resolved.registration else ()
    call.is_restricted = bool(groups)
    row = resolved.draft(call, When.SUBMIT, at)
    call.resolution = row
    events = _first_events(call, row, verdict, at)
    call.save(force_insert=True)
    row.save(force_insert=True)  # the foreign keys between the two are checked at commit
    for event in events:
        event.save(force_insert=True)
        log_event(event)
    if groups:
        set_groups(call, groups)
    if call.revises:
        facts = {"revised_by": str(call.pk), "status": call.revises.status}
        note(lock(call.revises.pk), kind=EventKind.REVISED, actor=Actor.agent(call.agent), at=at, facts=facts)
    if status == S.APPROVED and not call.runs_by_agent:
        dispatch.execute_soon(call.pk)
    call.has_no_history()
    return call


def _revised(call: ToolCall, submission: Submission) -> ToolCall | None:
    if submission.revises is None:
        return None
    revised = ToolCall.objects.filter(pk=submission.revises, agent=call.agent).first()
    if revised is None or revised.status not in SETTLED:
        detail = "`revises` must name a settled call of the same agent, usually one in changes_requested."
        raise NotPossible("unknown_revision", detail)
    return revised


def _first_status(call: ToolCall, resolved: Resolved, verdict: Verdict | None) -> tuple[Status, str]:
    if verdict is None:
        return S.INVALID, result_text(call, resolved.refusal, is_error=True)
    if verdict.outcome == Outcome.DENY:
        return S.DENIED, result_text(call, f"Tool call '{call.tool}' was denied by policy. Reason: {verdict.reason}")
    return (S.APPROVED if verdict.outcome == Outcome.ALLOW else S.PENDING), ""


def _first_events(call: ToolCall, row: Resolution, verdict: Verdict | None, at: datetime) -> list[audit.AuditEvent]:
    """Submitted, by the agent; and, where nobody else has to say anything, what policy or parser made of it."""
    chain = str(call.pk)
    facts: dict[str, Any] = {"status": str(call.status)}
    sent = facts | {"submitted": sha256(call.submitted), "digest": row.digest, "tool_call_id": call.tool_call_id}
    sent |= {"resolution": resolution_digest(row), "approved_digest": call.approved_digest}
    sent |= {"policy": verdict.as_data()} if verdict else {}
    sent |= {"revises": str(call.revises.pk)} if call.revises else {}
    actor = Actor.agent(call.agent)
    events = [audit.link(chain, call, kind=EventKind.SUBMITTED, at=at, actor=actor, data=sent, tool=call.tool)]
    call.chain_length, call.chain_head = events[0].sequence, events[0].digest
    second = {S.INVALID: EventKind.REFUSED, S.DENIED: EventKind.DENIED, S.APPROVED: EventKind.ALLOWED}.get(Status(call.status))
    if second:
        facts |= {"result": sha256(call.result)} if call.result else {}
        policy = Actor("policy", "", verdict.rule if verdict else "parse_arguments")
        events.append(audit.link(chain, call, kind=second, at=at, actor=policy, data=facts, tool=call.tool))
        call.chain_length, call.chain_head = events[1].sequence, events[1].digest
    return events


def _apply(call: ToolCall, verdict: Verdict, status: Status, at: datetime) -> None:
    for name, value in policy_columns(verdict).items():
        setattr(call, name, value)
    if status in OPEN:
        for name, value in deadlines(status, verdict.as_data(), at).items():
            setattr(call, name, value)

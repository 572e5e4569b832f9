"""The one place that changes a tool call's status: a guarded update and its event, in one transaction."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import OperationalError, connection, transaction

from approvals import audit, dispatch, waking
from approvals.audit.verification import resolution_digest
from approvals.lifecycle.transitions import TRANSITIONS, NotPossible, S
from approvals.models import SETTLED, AuditEvent, EventKind, Interrupt, Status, ToolCall, Verb
from approvals.models.actors import Actor
from approvals.policies import Verdict
from approvals.rendering import read, sha256
from toolgate.tools.canonical import canonical
from toolgate.tools.tool_result import ToolResult

log = structlog.get_logger(__name__)
_BEGIN_ANEW = frozenset({"40001", "40P01"})  # what PostgreSQL calls a serialization failure and a deadlock


class _Stale(Exception):
    """Somebody changed the row between reading and moving it: read again."""


P = ParamSpec("P")
R = TypeVar("R")


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """One durable transaction, begun anew when another writer was faster: each round sees what that one did."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(50):
            try:
                with transaction.atomic(durable=True):
                    return function(*args, **kwargs)
            except _Stale:
                continue
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) not in _BEGIN_ANEW:
                    raise
        raise OperationalError("the call kept changing while it was being changed")

    return run


def get(call_id: UUID, *related: str) -> ToolCall:
    """The call with its agent and what it resolves to; `related` names what else is read at once."""
    try:
        return ToolCall.objects.select_related("agent", "resolution").prefetch_related(*related).get(pk=call_id)
    except ToolCall.DoesNotExist:
        raise NotPossible("unknown_call", "There is no such tool call.") from None


def lock(call_id: UUID, *related: str) -> ToolCall:
    """The call as it is, which no other verb changes until this one ends. SQLite has locked everything already."""
    # Locked alone and read afterwards. In one statement PostgreSQL would read the row anew, once it has waited for it, but
    # what is joined to it as it was before: a call without its new resolution.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM approvals_toolcall WHERE id = %s FOR NO KEY UPDATE", [call_id])
    return get(call_id, *related)


def move(
    call: ToolCall,
    target: Status,
    *,
    verb: Verb | None,
    kind: EventKind,
    actor: Actor,
    at: datetime,
    facts: Mapping[str, Any] | None = None,
    **columns: Any,
) -> ToolCall:
    """The guarded update and its event. The guard is the version that was read, so what was checked still holds."""
    if verb and target not in TRANSITIONS[verb].targets:
        raise ValueError(f"{verb} does not lead to {target}")
    if call.runs_by_agent:
        columns.pop("dispatch_at", None)
    if target in SETTLED and call.status not in SETTLED:
        columns = {"settled_at": at, "expires_at": None, "dispatch_at": None} | columns
    data = {"status": str(target), **(facts or {})}
    if "result" in columns:
        data["result"] = sha256(columns["result"])
    if "policy" in columns:
        data["policy"] = read(columns["policy"])
    if "approved_digest" in columns:
        data["approved_digest"] = columns["approved_digest"]
    data |= {name: resolution_digest(columns[name]) for name in ("resolution", "effective") if name in columns}
    event = audit.link(str(call.pk), call, kind=kind, at=at, actor=actor, data=data, tool=call.tool)
    columns |= {
        "status": target,
        "chain_length": event.sequence,
        "chain_head": event.digest,
        "version": call.version + 1,
    }
    guarded = ToolCall.objects.filter(pk=call.pk, status=call.status, version=call.version)
    if guarded.update(**columns) != 1:
        raise _Stale
    event.save(force_insert=True)
    log_event(event)
    waking.wake_soon(call)
    for name, value in columns.items():
        setattr(call, name, value)
    if target == S.APPROVED and not call.runs_by_agent:
        dispatch.execute_soon(call.pk)
    elif target in SETTLED:
        _wake_the_run(call)
    return call


def log_event(event: AuditEvent) -> None:
    """One line an event, once it is committed: what happened to which call, and nothing of what is in it."""
    facts = {"call_id": event.chain, "kind": str(event.kind), "sequence": event.sequence, "actor": event.actor_kind}
    transaction.on_commit(lambda: log.info("event", **facts), robust=True)


def note(call: ToolCall, *, kind: EventKind, actor: Actor, at: datetime, facts: Mapping[str, Any]) -> ToolCall:
    """An event that changes nothing but the trail."""
    return move(call, Status(call.status), verb=None, kind=kind, actor=actor, at=at, facts=facts)


def _wake_the_run(call: ToolCall) -> None:
    """What waited for its turn behind this call may start now."""
    if call.run_id and call.is_sequential:
        waiting = ToolCall.objects.filter(agent=call.agent_id, run_id=call.run_id, status=S.APPROVED, is_sequential=True)
        if (following := waiting.order_by("position").values_list("pk", flat=True).first()) is not None:
            dispatch.execute_soon(following)


BEGINS_IT = frozenset({Verb.APPROVE, Verb.EDIT, Verb.ANSWER, Verb.CLAIM})


def require(call: ToolCall, verb: Verb, at: datetime) -> None:
    """The call is where the verb starts from, its time is not over, and nothing begins for an agent that is switched off.

    Only what tells what is true already does not ask for the time: that it is over, that nobody knows.
    """
    if call.status not in TRANSITIONS[verb].sources:
        raise _wrong_status(call, verb)
    if verb not in (Verb.EXPIRE, Verb.RESTORE) and call.expires_at is not None and call.expires_at <= at:
        raise NotPossible("expired", f"Its time ended at {call.expires_at:%Y-%m-%d %H:%M:%S} UTC. Nothing runs.", call)
    if verb in BEGINS_IT:
        require_agent(call)


def require_agent(call: ToolCall) -> None:
    if not call.agent.is_active:
        detail = "Its agent is switched off, so nothing of it begins. It can be ended, or go on once the agent is switched on."
        raise NotPossible("agent_off", detail, call)


def _wrong_status(call: ToolCall, verb: Verb) -> NotPossible:
    code = "already_settled" if call.status in SETTLED else "wrong_status"
    words = {
        Verb.CANCEL: f"It can no longer be cancelled: it is {call.status}.",
        Verb.CLAIM: f"There is nothing to execute: it is {call.status}.",
    }
    who = _last_word(call)
    return NotPossible(code, words.get(verb, f"It cannot be decided like that any more: it is {call.status}{who}."), call)


def _last_word(call: ToolCall) -> str:
    last = max(call.decisions.all(), key=lambda decision: decision.pk, default=None)
    return f" ({last.kind.replace('_', ' ')} by {last.person_name})" if last else ""


def policy_columns(verdict: Verdict) -> dict[str, Any]:
    return {
        "policy": canonical(verdict.as_data()),
        "outcome": str(verdict.outcome),
        "approvals_required": verdict.approvals,
        "is_restricted": bool(verdict.groups),
    }


def deadlines(status: Status, verdict: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """By when somebody must have acted in this status, and when the sweep sends an approved call again."""
    if status == S.APPROVED:
        valid = timedelta(seconds=float(verdict["approval_valid_for"]))
        return {"expires_at": at + valid, "dispatch_at": at + settings.DISPATCH_AFTER}
    if status in (S.PENDING, S.INTERRUPTED):
        return {"expires_at": at + timedelta(seconds=float(verdict["expires_after"])), "dispatch_at": None}
    return {"expires_at": None, "dispatch_at": None}


def result_text(call: ToolCall, text: str, *, is_error: bool = False) -> str:
    result = ToolResult(
        tool_call_id=call.tool_call_id,
        name=call.tool,
        content=text,
        is_error=is_error,
        display_text=call.display_text or None,
    )
    return canonical(result.to_dict())


def set_groups(call: ToolCall, names: Iterable[str]) -> None:
    call.reviewer_groups.set([Group.objects.get_or_create(name=name)[0] for name in sorted(names)])


def close_interrupt(call: ToolCall, at: datetime) -> None:
    Interrupt.objects.filter(call=call, answered_at=None, closed_at=None).update(closed_at=at)

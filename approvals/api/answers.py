"""What callers read. The same in `shapes.py`, for the OpenAPI file; a test holds the two together."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from approvals.api.callers import Caller, caller_of
from approvals.api.renderers import StoredJSON
from approvals.clock import now
from approvals.lifecycle import may_decide
from approvals.masking import secrets_of, without_secrets
from approvals.models import AuditEvent, Decision, Interrupt, Person, Resolution, Status, ToolCall
from approvals.policies import Verdict
from approvals.rendering import MASK, masked, read, sha256
from approvals.resolution import Resolved
from toolgate.tools.canonical import exact
from toolgate.tools.tool_call import ArgumentsError


def call_answer(request: Request, call: ToolCall, status: int = 200) -> Response:
    """One call with its ETag; 304 for a reader who has it already, `Retry-After` while it is not settled."""
    caller = caller_of(request)
    data = call_data(call, caller)
    tag = _tag(call, caller, data["allowed_decisions"])
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", **retry_after([call])}
    known = [one.strip().removeprefix("W/") for one in request.headers.get("If-None-Match", "").split(",")]
    if request.method in ("GET", "HEAD") and (tag in known or "*" in known):
        return Response(None, 304, headers=headers)
    return Response(data, status, headers=headers)


def _tag(call: ToolCall, caller: Caller, allowed: list[str]) -> str:
    return f'"{sha256(f"{call.pk}:{call.version}:{type(caller).__name__}:{caller.pk}:{allowed}")[:32]}"'


def retry_after(calls: list[ToolCall]) -> dict[str, str]:
    """When to look again: people take minutes, workers seconds. Nothing when all is settled."""
    waiting = [call for call in calls if not call.is_settled]
    if not waiting:
        return {}
    busy = any(call.status in (Status.APPROVED, Status.EXECUTING) for call in waiting)
    return {"Retry-After": "1" if busy else "5"}


def call_data(call: ToolCall, caller: Caller) -> dict[str, Any]:
    """One call as this caller may read it. Declared secrets are masked, except in what the agent itself has sent."""
    asked, person = call.open_interrupt, caller if isinstance(caller, Person) else None
    sent = StoredJSON(call.submitted) if call.submitted else None
    return {
        "id": call.pk,
        "tool_call_id": call.tool_call_id,
        "run_id": call.run_id or None,
        "position": call.position,
        "agent": call.agent_name,
        "tool": call.tool,
        "display_text": call.display_text or None,
        "headline": call.headline,
        "status": str(call.status),
        "settled": call.is_settled,
        "risk": str(call.risk),
        "arguments": {
            "submitted": _sent(call, call.submitted) if person else sent,
            "resolved": _resolved(call, call.resolution),
            "effective": _resolved(call, call.effective),
        },
        "digest": call.resolution.digest if call.resolution else "",
        "allowed_decisions": [str(kind) for kind in (may_decide(call, person, now()) if person else call.allowed_decisions)],
        "approvals": {"given": len(call.votes()), "required": call.approvals_required},
        "decisions": [decision_data(decision, call, is_person=person is not None) for decision in call.decisions.all()],
        "interrupt": interrupt_data(asked) if asked else None,
        "result": StoredJSON(call.result) if call.result else None,
        "policy": {name: call.verdict[name] for name in ("outcome", "rule", "reason")} if call.verdict else None,
        "agent_reasoning": call.agent_reasoning,
        "on_behalf_of": call.on_behalf_of or None,
        "context": StoredJSON(call.context),
        "metadata": StoredJSON(call.metadata),
        "revises": call.revises_id,
        "revised_by": [revision.pk for revision in call.revisions.all()] if call.is_settled else [],  # no other can be
        "submitted_at": call.submitted_at,
        "decided_at": call.decided_at,
        "settled_at": call.settled_at,
        "expires_at": call.expires_at,
        "pruned_at": call.pruned_at,
    }


def _resolved(call: ToolCall, resolved: Resolution | None) -> Any:
    """What came out, exactly as it stands unless something in it is secret; None for nothing."""
    if resolved is None or not resolved.resolved:
        return None
    secrets = secrets_of(call)
    return masked(read(resolved.resolved), secrets) if secrets else StoredJSON(resolved.resolved)


def _sent(call: ToolCall, text: str) -> Any:
    """Arguments as they were sent, an object or the JSON text of one; what is secret is masked in either form."""
    if not text or not secrets_of(call):
        return StoredJSON(text) if text else None
    try:
        shown = without_secrets(call, text)
    except ArgumentsError:  # not readable, so nobody can tell what in it is secret
        return MASK
    return exact(shown) if isinstance(read(text), str) else shown


def decision_data(decision: Decision, call: ToolCall, *, is_person: bool) -> dict[str, Any]:
    """One person's answer; their e-mail and groups are for people."""
    who: dict[str, Any] = {"name": decision.person_name}
    if is_person:
        who |= {"email": decision.person_email, "groups": decision.groups}
    return {
        "id": decision.pk,
        "kind": str(decision.kind),
        "person": who,
        "reason": decision.reason,
        "response": decision.response or None,
        "edited_arguments": _sent(call, decision.edited_arguments),
        "digest": decision.digest,
        "counts": decision.counts,
        "round": decision.review_round,
        "decided_at": decision.decided_at,
    }


def interrupt_data(asked: Interrupt) -> dict[str, Any]:
    return {
        "id": asked.pk,
        "number": asked.number,
        "message": asked.message,
        "data": StoredJSON(asked.data),
        "response_schema": asked.response_schema,
        "raised_at": asked.raised_at,
    }


def run_data(run_id: str, calls: list[ToolCall], caller: Caller) -> dict[str, Any]:
    """A run in the order submitted; `tool_results` once all of it is settled."""
    settled = all(call.is_settled for call in calls)
    return {
        "run_id": run_id,
        "settled": settled,
        "tool_calls": [call_data(call, caller) for call in calls],
        "tool_results": [StoredJSON(call.result) if call.result else None for call in calls] if settled else None,
    }


def parsed_data(resolved: Resolved) -> dict[str, Any]:
    """What a parser made of arguments: of a refusal the sentence, else what came out and the digest that binds it."""
    secrets = resolved.registration.secrets if resolved.registration else ()
    return {
        "ok": not resolved.refusal,
        "arguments": masked(resolved.rendered.tree, secrets) if resolved.rendered else None,
        "error": resolved.refusal or None,
        "digest": resolved.digest,
        "headline": resolved.headline,
    }


def verdict_data(verdict: Verdict | None) -> dict[str, Any] | None:
    return {"outcome": str(verdict.outcome), "rule": verdict.rule, "reason": verdict.reason} if verdict else None


def event_data(event: AuditEvent) -> dict[str, Any]:
    return {
        "id": event.pk,
        "chain": event.chain,
        "sequence": event.sequence,
        "kind": str(event.kind),
        "at": event.at,
        "tool": event.tool,
        "actor": {"kind": event.actor_kind, "id": event.actor_id, "name": event.actor_name},
        "data": StoredJSON(event.data),
        "previous": event.previous,
        "digest": event.digest,
    }

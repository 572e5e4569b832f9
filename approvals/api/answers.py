"""What callers read, and the shapes of it for the OpenAPI file."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from approvals import resolution
from approvals.api.authentication import AgentCaller
from approvals.lifecycle import may_decide
from approvals.models import (
    AuditEvent,
    Decision,
    DecisionKind,
    EventKind,
    Interrupt,
    Outcome,
    Person,
    Resolution,
    Risk,
    Status,
    ToolCall,
)
from approvals.rendering import masked, read
from toolgate.tools.tool_call import ArgumentsError

Caller = AgentCaller | Person


def call_data(call: ToolCall, caller: Caller) -> dict[str, Any]:
    """One call as this caller may read it. Declared secrets are masked, except in what the agent itself has sent."""
    verdict = call.verdict
    is_person = isinstance(caller, Person)
    asked = call.open_interrupt
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
            "submitted": submitted_data(call, is_person=is_person),
            "resolved": resolved_data(call, call.resolution),
            "effective": resolved_data(call, call.effective),
        },
        "digest": call.resolution.digest if call.resolution else "",
        "allowed_decisions": may_decide(call, caller) if isinstance(caller, Person) else call.allowed_decisions,
        "approvals": {"given": len(call.votes()), "required": call.approvals_required},
        "decisions": [decision_data(decision) for decision in call.decisions.all()],
        "interrupt": interrupt_data(asked) if asked else None,
        "result": read(call.result) if call.result else None,
        "policy": {name: verdict.get(name) for name in ("outcome", "rule", "reason")} if verdict else None,
        "agent_reasoning": call.agent_reasoning,
        "on_behalf_of": call.on_behalf_of or None,
        "context": read(call.context),
        "metadata": read(call.metadata),
        "revises": call.revises.pk if call.revises else None,
        "revised_by": [revision.pk for revision in call.revisions.all()],
        "submitted_at": call.submitted_at,
        "decided_at": call.decided_at,
        "settled_at": call.settled_at,
        "expires_at": call.expires_at,
    }


def _secrets(call: ToolCall) -> tuple[str, ...]:
    registration = resolution.registry().get(call.tool)
    return registration.secrets if registration else ()


def submitted_data(call: ToolCall, *, is_person: bool) -> Any:
    """The JSON value exactly as sent; for people, secrets masked also within JSON text."""
    value = read(call.submitted) if call.submitted else None
    secrets = _secrets(call)
    if not is_person or not secrets:
        return value
    try:
        return masked(resolution.arguments_of(call.submitted), secrets)
    except ArgumentsError:
        return "••••••"


def resolved_data(call: ToolCall, resolved: Resolution | None) -> Any:
    if resolved is None or not resolved.resolved:
        return None
    return masked(read(resolved.resolved), _secrets(call))


def decision_data(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.pk,
        "kind": str(decision.kind),
        "person": decision.person_name,
        "groups": decision.groups,
        "reason": decision.reason,
        "digest": decision.digest,
        "round": decision.review_round,
        "decided_at": decision.decided_at,
    }


def interrupt_data(asked: Interrupt) -> dict[str, Any]:
    return {
        "id": asked.pk,
        "message": asked.message,
        "data": read(asked.data),
        "response_schema": asked.response_schema,
        "raised_at": asked.raised_at,
    }


def event_data(event: AuditEvent) -> dict[str, Any]:
    return {
        "id": event.pk,
        "chain": event.chain,
        "sequence": event.sequence,
        "kind": str(event.kind),
        "at": event.at,
        "tool": event.tool,
        "actor": {"kind": event.actor_kind, "id": event.actor_id, "name": event.actor_name},
        "data": read(event.data),
        "previous": event.previous,
        "digest": event.digest,
    }


def run_data(run_id: str, calls: list[ToolCall], caller: Caller) -> dict[str, Any]:
    """A run in the order submitted; `tool_results` once all of it is settled."""
    settled = all(call.is_settled for call in calls)
    return {
        "run_id": run_id,
        "settled": settled,
        "tool_calls": [call_data(call, caller) for call in calls],
        "tool_results": [read(call.result) for call in calls] if settled else None,
    }


# --- shapes for the OpenAPI file ---------------------------------------------------------------------------------------


@extend_schema_field({"description": "Any JSON value."})
class _Any(serializers.JSONField):
    pass


class ContentPartShape(serializers.Serializer[Any]):
    type = serializers.CharField()
    content = serializers.CharField(allow_null=True)
    options = _Any()


class ToolResultShape(serializers.Serializer[Any]):
    tool_call_id = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    content = ContentPartShape(many=True)
    is_error = serializers.BooleanField()
    is_interrupt = serializers.BooleanField()
    interrupt_data = _Any()
    display_text = serializers.CharField(allow_null=True)
    options = _Any()


class ArgumentsShape(serializers.Serializer[Any]):
    submitted = _Any()
    resolved = _Any()
    effective = _Any()


class ApprovalsShape(serializers.Serializer[Any]):
    given = serializers.IntegerField()
    required = serializers.IntegerField()


class DecisionShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=DecisionKind.choices)
    person = serializers.CharField()
    groups = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    digest = serializers.CharField()
    round = serializers.IntegerField()
    decided_at = serializers.DateTimeField()


class InterruptShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    message = serializers.CharField()
    data = _Any()
    response_schema = _Any()
    raised_at = serializers.DateTimeField()


class PolicyShape(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    rule = serializers.CharField()
    reason = serializers.CharField()


class ToolCallShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    tool_call_id = serializers.CharField()
    run_id = serializers.CharField(allow_null=True)
    position = serializers.IntegerField()
    agent = serializers.CharField()
    tool = serializers.CharField()
    display_text = serializers.CharField(allow_null=True)
    headline = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    settled = serializers.BooleanField()
    risk = serializers.ChoiceField(choices=Risk.choices)
    arguments = ArgumentsShape()
    digest = serializers.CharField()
    allowed_decisions = serializers.ListField(child=serializers.ChoiceField(choices=DecisionKind.choices))
    approvals = ApprovalsShape()
    decisions = DecisionShape(many=True)
    interrupt = InterruptShape(allow_null=True)
    result = ToolResultShape(allow_null=True)
    policy = PolicyShape(allow_null=True)
    agent_reasoning = serializers.CharField()
    on_behalf_of = serializers.CharField(allow_null=True)
    context = _Any()
    metadata = _Any()
    revises = serializers.UUIDField(allow_null=True)
    revised_by = serializers.ListField(child=serializers.UUIDField())
    submitted_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)


class ProblemShape(serializers.Serializer[Any]):
    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    current_status = serializers.CharField(required=False)
    errors = _Any(required=False)


class PageShape(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = ToolCallShape(many=True)


class BatchItemShape(serializers.Serializer[Any]):
    status = serializers.IntegerField()
    tool_call = ToolCallShape(required=False)
    problem = ProblemShape(required=False)


class BatchShape(serializers.Serializer[Any]):
    run_id = serializers.CharField(required=False)
    results = BatchItemShape(many=True)


class RunShape(serializers.Serializer[Any]):
    run_id = serializers.CharField()
    settled = serializers.BooleanField()
    tool_calls = ToolCallShape(many=True)
    tool_results = ToolResultShape(many=True, allow_null=True)


class ToolShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_null=True)
    display_text = serializers.CharField(allow_null=True)
    parameters = _Any()
    risk = serializers.ChoiceField(choices=Risk.choices)
    approval = serializers.ChoiceField(choices=["never", "depends", "always"])
    runs_by_agent = serializers.BooleanField()


class ToolsShape(serializers.Serializer[Any]):
    tools = _Any(help_text="The plain form, or declarations in the dialect asked for.")


class ParsedShape(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    arguments = _Any()
    error = serializers.CharField(allow_null=True)
    digest = serializers.CharField()
    headline = serializers.CharField()


class PreviewShape(ParsedShape):
    policy = PolicyShape(allow_null=True)


class InboxShape(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    counts = _Any(help_text="By tool, agent and risk.")
    has_more = serializers.BooleanField()
    results = ToolCallShape(many=True)


class EventShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    chain = serializers.CharField()
    sequence = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=EventKind.choices)
    at = serializers.DateTimeField()
    tool = serializers.CharField()
    actor = _Any()
    data = _Any()
    previous = serializers.CharField()
    digest = serializers.CharField()


class EventPageShape(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = EventShape(many=True)


class ChainShape(serializers.Serializer[Any]):
    chain = serializers.CharField()
    length = serializers.IntegerField()
    problem = serializers.CharField()
    broken_at = serializers.IntegerField(allow_null=True)


class VerificationShape(serializers.Serializer[Any]):
    is_whole = serializers.BooleanField()
    chains = serializers.IntegerField()
    broken = ChainShape(many=True)


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None

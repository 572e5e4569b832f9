"""The trail, for those who may read it. A look at it is an event itself."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, UUIDField, Value, When
from django.db.models.functions import Cast, Replace
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from approvals import audit
from approvals.api import answers, pages, queries, shapes
from approvals.api.callers import person_of, reviewer_of
from approvals.api.endpoint import Endpoint
from approvals.api.permissions import IsAuditor, IsPerson
from approvals.api.problems import invalid
from approvals.clock import now
from approvals.models import Administration, AuditEvent, EventKind, Person, ToolCall

MOST_TOLD = 100


class AuditEvents(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="listAuditEvents",
        parameters=queries.parameters(("tool_call", "actor", "tool", "after", "before"), kind=EventKind.values),
        responses={200: shapes.EventPageShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request) -> Response:
        """The trail, newest first: all of it for auditors, that of the calls they may see for reviewers."""
        events = queries.chosen(request, visible_events(person_of(request)), queries.EventFilter)
        page, following = pages.page_of(request, events, pages.NEWEST_FIRST)
        if "cursor" not in request.query_params:
            _record_look(request, "events")
        return Response({"next": following, "results": [answers.event_data(event) for event in page]})


def visible_events(person: Person) -> QuerySet[AuditEvent]:
    """All events for auditors and administrators; for others those of calls they may see."""
    if person.is_auditor or person.is_superuser:
        return AuditEvent.objects.all()
    # One look-up by primary key for each event read: the chain's name is the call's id, spelt as each database keeps it.
    spelt = Cast(Replace(F("chain"), Value("-"), Value("")), UUIDField())
    call = Case(When(~Q(chain=Administration.NAME), then=spelt), output_field=UUIDField())
    calls = ToolCall.objects.visible_to(person).filter(pk=OuterRef("call"))
    return AuditEvent.objects.alias(call=call).filter(Exists(calls))


def _record_look(request: Request, at_what: str) -> None:
    filters = {name: value[:200] for name, value in request.query_params.items()}
    data: dict[str, Any] = {"of": at_what, "filters": filters}
    audit.record_administration(EventKind.TRAIL_READ, at=now(), actor=reviewer_of(request).actor, data=data)


class TrailVerification(Endpoint):
    permission_classes = [IsAuditor]

    @extend_schema(
        operation_id="verifyTrail",
        parameters=[OpenApiParameter("tool_call", UUID, description="One call's chain; left out: all chains.")],
        responses={200: shapes.VerificationShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request) -> Response:
        """Walks the chains (all, or that of one call) and names the first broken link of each that is broken."""
        queries.require_known(request, {"tool_call"})
        found = self._verify(request)
        _record_look(request, "verification")
        broken = [_told(one) for one in found if not one.is_whole]
        return Response({"is_whole": not broken, "chains": len(found), "broken": broken[:MOST_TOLD]})

    def _verify(self, request: Request) -> list[audit.Verification]:
        if (text := request.query_params.get("tool_call")) is None:
            return list(audit.verify_all())
        try:
            chain = str(UUID(text))
        except ValueError:
            raise invalid("tool_call", "must be a UUID") from None
        return [audit.verify_chain(chain)]


def _told(one: audit.Verification) -> dict[str, Any]:
    return {
        "chain": one.chain,
        "length": one.length,
        "problem": one.problem,
        "broken_at": one.broken_at,
        "event": one.event_id or None,
    }

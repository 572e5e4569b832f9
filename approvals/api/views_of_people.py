"""What a reviewer's program does: read the inbox, decide, answer, settle; and the trail, for those who may read it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from approvals import audit, lifecycle
from approvals.api import answers, problems, requests
from approvals.api.permissions import IsPerson
from approvals.api.views_of_agents import ERRORS, NewestFirst, call_answer, find, parsed_data, verdict_data
from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.models import AuditEvent, DecisionKind, EventKind, Person, ToolCall
from approvals.models.actors import Actor

LARGEST_INBOX = 200


def person_of(request: Request) -> Person:
    if not isinstance(request.user, Person):
        raise problems.Problem(403, "forbidden", IsPerson.message)
    return request.user


def reviewer_of(request: Request) -> Reviewer:
    return Reviewer(person_of(request), str(request.auth))


def _valid(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class Inbox(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="readInbox",
        parameters=[OpenApiParameter(name, str) for name in ("tool", "agent", "risk", "limit")],
        responses={200: answers.InboxShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """The calls that wait for this person, most urgent first, with counts."""
        person, chosen = person_of(request), request.query_params
        waiting = ToolCall.objects.waiting_for(person)
        columns = {"tool": "tool", "agent": "agent_name", "risk": "risk"}
        counts = {name: _counts(waiting, column) for name, column in columns.items()}
        wanted = waiting.filter(**{columns[name]: chosen[name] for name in columns if name in chosen})
        limit = min(int(chosen["limit"]) if chosen.get("limit", "").isdecimal() else 50, LARGEST_INBOX)
        page = list(wanted.with_everything()[: limit + 1])
        return Response(
            {
                "count": wanted.count(),
                "counts": counts,
                "has_more": len(page) > limit,
                "results": [answers.call_data(call, person) for call in page[:limit]],
            }
        )


def _counts(calls: Any, column: str) -> dict[str, int]:
    return dict(calls.order_by().values_list(column).annotate(Count("pk")))


class Decisions(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="decide", request=requests.DecisionRequest, responses={200: answers.ToolCallShape, **ERRORS}
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """One decision, for the digest that was shown. The same again by the same person is harmless."""
        find(request, call_id)
        _decide(request, call_id, _valid(requests.DecisionRequest(data=request.data)))
        return call_answer(request, find(request, call_id))


def _decide(request: Request, call_id: UUID, sent: dict[str, Any]) -> ToolCall:
    kind = DecisionKind(sent.pop("kind"))
    return lifecycle.decide(call_id=call_id, reviewer=reviewer_of(request), kind=kind, at=now(), **sent)


class DecisionBatch(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="decideSeveral",
        request=requests.DecisionsRequestShape,
        responses={200: answers.BatchShape, **ERRORS},
    )
    def post(self, request: Request) -> Response:
        """Several decisions, each with its own outcome."""
        sent = _valid(requests.DecisionsRequest(data=request.data))
        return Response({"results": [self._one(request, item) for item in sent["decisions"]]})

    def _one(self, request: Request, item: Any) -> dict[str, Any]:
        try:
            decision = _valid(requests.OneOfManyDecisions(data=item))
            call_id = decision.pop("tool_call")
            find(request, call_id)
            _decide(request, call_id, decision)
        except (problems.exceptions.APIException, NotPossible) as error:
            told = problems.told(error)
            return {"status": told["status"], "problem": told}
        return {"status": 200, "tool_call": answers.call_data(find(request, call_id), person_of(request))}


class Preview(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="previewEdit", request=requests.PreviewRequest, responses={200: answers.PreviewShape, **ERRORS}
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """What edited arguments would resolve to, and what the policy says of it. Nothing is stored."""
        find(request, call_id)
        sent = _valid(requests.PreviewRequest(data=request.data))
        resolved, verdict = lifecycle.preview_edit(call_id=call_id, edited_arguments=sent["edited_arguments"])
        return Response(parsed_data(resolved) | {"policy": verdict_data(resolved, verdict)})


class InterruptAnswer(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="answerInterrupt", request=requests.AnswerRequest, responses={200: answers.ToolCallShape, **ERRORS}
    )
    def post(self, request: Request, call_id: UUID, interrupt_id: UUID) -> Response:
        """The answer to a tool's question, or a rejection that ends the call."""
        call = find(request, call_id)
        sent, reviewer = _valid(requests.AnswerRequest(data=request.data)), reviewer_of(request)
        if sent.get("reject"):
            _require_open(call, interrupt_id)
            digest = call.resolution.digest if call.resolution else ""
            lifecycle.decide(
                call_id=call_id,
                reviewer=reviewer,
                kind=DecisionKind.REJECT,
                digest=digest,
                reason=sent["reason"],
                at=now(),
            )
        else:
            lifecycle.answer_interrupt(
                call_id=call_id, interrupt_id=interrupt_id, reviewer=reviewer, answer=sent["answer"].value, at=now()
            )
        return call_answer(request, find(request, call_id))


def _require_open(call: ToolCall, interrupt_id: UUID) -> None:
    asked = next((one for one in call.interrupts.all() if one.pk == interrupt_id), None)
    if asked is None:
        raise NotPossible("unknown_interrupt", "This call never asked that question.", call)
    if asked.answered_at or asked.closed_at:
        raise NotPossible("interrupt_closed", "That question is no longer open.", call)


class Settlement(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="settle", request=requests.SettlementRequest, responses={200: answers.ToolCallShape, **ERRORS}
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """What a person found out about a call whose worker was lost."""
        find(request, call_id)
        sent = _valid(requests.SettlementRequest(data=request.data))
        lifecycle.settle(call_id=call_id, reviewer=reviewer_of(request), at=now(), **sent)
        return call_answer(request, find(request, call_id))


class EventFilter(filters.FilterSet):
    tool_call = filters.CharFilter(field_name="chain")
    actor = filters.CharFilter(field_name="actor_id")
    kind = filters.MultipleChoiceFilter(choices=EventKind.choices)
    tool = filters.CharFilter()
    after = filters.IsoDateTimeFilter(field_name="at", lookup_expr="gt")
    before = filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = AuditEvent
        fields = ("kind", "tool")


class AuditEvents(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="listAuditEvents",
        parameters=[
            OpenApiParameter(name, str)
            for name in ("tool_call", "actor", "kind", "tool", "after", "before", "cursor", "limit")
        ],
        responses={200: answers.EventPageShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """The trail, newest first: all of it for auditors, that of one visible call for reviewers."""
        require_trail(request)
        chosen = EventFilter(request.query_params, AuditEvent.objects.all())
        if not chosen.is_valid():
            errors = [{"field": name, "message": str(found[0])} for name, found in chosen.errors.items()]
            raise problems.Problem(422, "invalid_request", "A filter cannot be understood.", errors=errors)
        pages = NewestFirst()
        page = pages.paginate_queryset(chosen.qs, request, view=self) or []
        return pages.get_paginated_response([answers.event_data(event) for event in page])


def require_trail(request: Request) -> None:
    """Auditors and administrators read all; others the trail of a call that they may see. A look is an event itself."""
    person, chain = person_of(request), request.query_params.get("tool_call", "")
    if not (person.is_auditor or person.is_superuser):
        if not chain:
            raise problems.Problem(403, "forbidden", "Only auditors read the whole trail. Name a tool_call.")
        call_id = answers.as_uuid(chain)
        if call_id is None:
            raise problems.Problem(404, "unknown_call", "There is no such tool call that you may see.")
        find(request, call_id)
    elif not chain:
        actor = Actor.person(person, str(request.auth))
        data = {name: value[:200] for name, value in request.query_params.items() if name != "cursor"}
        audit.record_administration(EventKind.TRAIL_READ, at=now(), actor=actor, data={"filters": data})


class TrailVerification(APIView):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="verifyTrail",
        parameters=[OpenApiParameter("tool_call", str)],
        responses={200: answers.VerificationShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Walks the chains (all, or that of one call) and names the first broken link of each that is broken."""
        require_trail(request)
        chain = request.query_params.get("tool_call")
        found = [audit.verify_chain(chain)] if chain else list(audit.verify_all())
        broken = [
            {"chain": one.chain, "length": one.length, "problem": one.problem, "broken_at": one.broken_at}
            for one in found
            if not one.is_whole
        ]
        return Response({"is_whole": not broken, "chains": len(found), "broken": broken})

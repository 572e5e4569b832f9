"""What a reviewer's program does: read the inbox, decide, answer a tool's question, settle what nobody knows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from approvals import lifecycle
from approvals.api import answers, pages, queries, requests, shapes
from approvals.api.answers import call_answer
from approvals.api.callers import caller_of, find, person_of, require_visible, reviewer_of, with_groups
from approvals.api.endpoint import Endpoint, outcome
from approvals.api.permissions import IsPerson
from approvals.clock import now
from approvals.lifecycle import NotPossible
from approvals.lifecycle.reviewers import require_reviewer
from approvals.masking import with_secrets
from approvals.models import WAITS_FOR_PEOPLE, DecisionKind, Risk, Status, ToolCall, ToolCallQuerySet


class Inbox(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="readInbox",
        parameters=queries.parameters(("tool", "agent"), status=sorted(WAITS_FOR_PEOPLE), risk=Risk.values),
        responses={200: shapes.InboxShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request) -> Response:
        """The calls that wait for this person, most urgent first (outcome unknown, deadline, risk, age), with counts."""
        waiting = ToolCall.objects.waiting_for(person_of(request)).order_by()
        columns = {"tool": "tool", "agent": "agent_name", "risk": "risk"}
        counts = {name: _counts(waiting, column) for name, column in columns.items()}
        wanted = queries.chosen(request, waiting, queries.InboxFilter)
        page, following = pages.page_of(request, wanted.with_everything().by_urgency(), pages.MOST_URGENT_FIRST)
        caller = with_groups(caller_of(request))
        results = [answers.call_data(call, caller) for call in page]
        return Response({"count": wanted.count(), "counts": counts, "next": following, "results": results})


def _counts(calls: ToolCallQuerySet, column: str) -> dict[str, int]:
    return dict(calls.values_list(column).annotate(Count("pk")).order_by(column))


class Decisions(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="decide",
        request=requests.DecisionRequest,
        responses={200: shapes.ToolCallShape, **shapes.errors()},
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """One decision, for the digest that was shown. The same again by the same person is harmless."""
        queries.require_known(request, ())
        return call_answer(request, _decide(request, call_id, requests.read(requests.DecisionRequest, request.data)))


def _decide(request: Request, call_id: UUID, sent: dict[str, Any]) -> ToolCall:
    require_visible(request, call_id)
    kind = DecisionKind(sent.pop("kind"))
    if "edited_arguments" in sent:
        sent["edited_arguments"] = with_secrets(find(request, call_id), sent["edited_arguments"])
    lifecycle.decide(call_id=call_id, reviewer=reviewer_of(request), kind=kind, at=now(), **sent)
    return find(request, call_id)


class DecisionBatch(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="decideSeveral",
        request=requests.DecisionsRequestShape,
        responses={200: shapes.DecidedShape, **shapes.errors()},
    )
    def post(self, request: Request) -> Response:
        """Several decisions, each with its own outcome."""
        queries.require_known(request, ())
        sent = requests.read(requests.DecisionsRequest, request.data)
        return Response({"results": [self._one(request, item) for item in sent["decisions"]]})

    def _one(self, request: Request, item: object) -> dict[str, Any]:
        def decide() -> tuple[ToolCall, int]:
            decision = requests.read(requests.OneOfManyDecisions, item)
            return _decide(request, decision.pop("tool_call"), decision), 200

        return outcome(caller_of(request), decide)


class Preview(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="previewEdit",
        request=requests.PreviewRequest,
        responses={200: shapes.PreviewShape, **shapes.errors()},
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """What edited arguments would resolve to, and what the policy says of it. Nothing is stored."""
        queries.require_known(request, ())
        edited = requests.read(requests.PreviewRequest, request.data)["edited_arguments"]
        call = find(request, call_id)
        require_reviewer(call, person_of(request))
        if call.status != Status.PENDING:
            code = "already_settled" if call.is_settled else "wrong_status"
            raise NotPossible(code, f"Its arguments can no longer be edited: it is {call.status}.", call)
        resolved, verdict = lifecycle.preview_edit(call_id=call_id, edited_arguments=with_secrets(call, edited))
        return Response(answers.parsed_data(resolved) | {"policy": answers.verdict_data(verdict)})


class InterruptAnswer(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="answerInterrupt",
        request=requests.AnswerRequest,
        responses={200: shapes.ToolCallShape, **shapes.errors()},
    )
    def post(self, request: Request, call_id: UUID, interrupt_id: UUID) -> Response:
        """The answer to a tool's question, or a rejection that ends the call."""
        queries.require_known(request, ())
        sent, call, reviewer = (
            requests.read(requests.AnswerRequest, request.data),
            find(request, call_id),
            reviewer_of(request),
        )
        if sent.get("reject"):
            _require_open(call, interrupt_id)
            digest = call.resolution.digest if call.resolution else ""
            lifecycle.decide(
                call_id=call_id,
                reviewer=reviewer,
                kind=DecisionKind.REJECT,
                digest=digest,
                reason=sent.get("reason", ""),
                at=now(),
            )
        else:
            answer = sent["answer"].value
            lifecycle.answer_interrupt(call_id=call_id, interrupt_id=interrupt_id, reviewer=reviewer, answer=answer, at=now())
        return call_answer(request, find(request, call_id))


def _require_open(call: ToolCall, interrupt_id: UUID) -> None:
    asked = next((one for one in call.interrupts.all() if one.pk == interrupt_id), None)
    if asked is None:
        raise NotPossible("unknown_interrupt", "This call never asked that question.", call)
    if asked.answered_at or asked.closed_at:
        raise NotPossible("interrupt_closed", "That question is no longer open.", call)


class Settlement(Endpoint):
    permission_classes = [IsPerson]

    @extend_schema(
        operation_id="settle",
        request=requests.SettlementRequest,
        responses={200: shapes.ToolCallShape, **shapes.errors()},
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """What a person found out about a call whose worker was lost."""
        queries.require_known(request, ())
        sent = requests.read(requests.SettlementRequest, request.data)
        require_visible(request, call_id)
        lifecycle.settle(call_id=call_id, reviewer=reviewer_of(request), at=now(), **sent)
        return call_answer(request, find(request, call_id))

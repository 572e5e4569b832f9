"""What an agent does: read its tools, submit, look, wait, cancel."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from approvals import lifecycle, policies, resolution
from approvals.api import answers, problems, requests, waiting
from approvals.api.authentication import AgentCaller
from approvals.api.permissions import IsAgent, IsAgentOrPerson
from approvals.clock import now
from approvals.lifecycle import NotPossible, Submission
from approvals.models import Agent, Person, Status, ToolCall, uuid7
from toolgate.tools.definition import FunctionDefinitionError
from toolgate.tools.dialects import DIALECTS, declarations
from toolgate.tools.registry import Registration

ERRORS = {status: answers.ProblemShape for status in (400, 401, 403, 404, 409, 413, 415, 422)}
WAIT = [
    OpenApiParameter("wait", float, description="Hold the answer up to this many seconds (0 to 60) until it moves."),
    OpenApiParameter("until", str, enum=["decided", "settled"], description="What to wait for; `settled` if left out."),
]
RETRY_AFTER = "2"


def agent_of(request: Request) -> Agent:
    caller = request.user
    if not isinstance(caller, AgentCaller):
        raise problems.Problem(403, "forbidden", IsAgent.message)
    return caller.agent


def visible_calls(request: Request) -> QuerySet[ToolCall]:
    """An agent reads its own calls, a person those of their groups."""
    if isinstance(request.user, AgentCaller):
        return ToolCall.objects.filter(agent=request.user.agent).with_everything()
    if isinstance(request.user, Person):
        return ToolCall.objects.visible_to(request.user).with_everything()
    return ToolCall.objects.none()


def find(request: Request, call_id: UUID) -> ToolCall:
    call = visible_calls(request).filter(pk=call_id).first()
    if call is None:
        raise problems.Problem(404, "unknown_call", "There is no such tool call that you may see.")
    return call


def call_answer(request: Request, call: ToolCall, status: int = 200) -> Response:
    caller = request.user
    if not isinstance(caller, AgentCaller | Person):
        raise problems.Problem(401, "not_authenticated", "Say who you are.")
    tag = f'"{call.pk.hex}-{call.version}-{caller.pk}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if not call.is_settled:
        headers["Retry-After"] = RETRY_AFTER
    if request.method == "GET" and tag in request.headers.get("If-None-Match", ""):
        return Response(None, 304, headers=headers)
    return Response(answers.call_data(call, caller), status, headers=headers)


class Tools(APIView):
    permission_classes = [IsAgentOrPerson]

    @extend_schema(
        operation_id="listTools",
        parameters=[OpenApiParameter("dialect", str, enum=list(DIALECTS))],
        responses={200: answers.ToolsShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """The tools this agent may call: plain, or as declarations ready for a model's API."""
        known = [one for one in resolution.registry() if _may_call(request, one.function.name)]
        dialect = request.query_params.get("dialect")
        if dialect is None:
            return Response({"tools": [_tool_data(one) for one in known]})
        if dialect not in DIALECTS:
            detail = f"dialect must be one of {', '.join(DIALECTS)}"
            raise problems.Problem(422, "invalid_request", detail, field="dialect")
        try:
            return Response({"tools": declarations([one.function for one in known], dialect)})
        except FunctionDefinitionError as error:
            raise problems.Problem(422, "not_in_this_dialect", str(error)) from error


def _may_call(request: Request, tool: str) -> bool:
    return not isinstance(request.user, AgentCaller) or request.user.agent.may_call(tool)


def _tool_data(registration: Registration) -> dict[str, Any]:
    function, rule = registration.function, registration.require_approval
    return {
        "name": function.name,
        "description": function.description,
        "display_text": function.display_text,
        "parameters": function.json_schema(),
        "risk": registration.risk,
        "approval": "depends" if callable(rule) else "always" if rule else "never",
        "runs_by_agent": function.function is None,
    }


class Parse(APIView):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="parseArguments",
        request=requests.ParseRequest,
        responses={200: answers.ParsedShape, **ERRORS},
    )
    def post(self, request: Request, tool: str) -> Response:
        """Runs `parse_arguments` and tells what came of it. Nothing is stored."""
        sent = _valid(requests.ParseRequest(data=request.data))
        throwaway = str(uuid7())
        context = sent.validated_data.get("context", {})
        context = {**context, "tool_call_id": throwaway, "idempotency_key": throwaway, "interrupts": []}
        if not agent_of(request).may_call(tool) or resolution.registry().get(tool) is None:
            raise problems.Problem(404, "unknown_tool", resolution.unknown_tool(tool))
        return Response(parsed_data(resolution.resolve(tool, sent.validated_data.get("arguments", ""), context)))


def parsed_data(resolved: resolution.Resolved) -> dict[str, Any]:
    secrets = resolved.registration.secrets if resolved.registration else ()
    return {
        "ok": not resolved.refusal,
        "arguments": answers.masked(resolved.rendered.tree, secrets) if resolved.rendered else None,
        "error": resolved.refusal or None,
        "digest": resolved.digest,
        "headline": resolved.headline,
    }


def _valid(serializer: Any) -> Any:
    serializer.is_valid(raise_exception=True)
    return serializer


class CallFilter(filters.FilterSet):
    status = filters.MultipleChoiceFilter(choices=Status.choices)
    tool = filters.CharFilter()
    run_id = filters.CharFilter()
    tool_call_id = filters.CharFilter()
    submitted_after = filters.IsoDateTimeFilter(field_name="submitted_at", lookup_expr="gt")
    submitted_before = filters.IsoDateTimeFilter(field_name="submitted_at", lookup_expr="lt")

    class Meta:
        model = ToolCall
        fields = ("status", "tool", "run_id", "tool_call_id")


class NewestFirst(CursorPagination):
    ordering = "-id"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"


FILTERS = [
    OpenApiParameter("status", str, many=True, enum=Status.values),
    *[OpenApiParameter(name, str) for name in ("tool", "run_id", "tool_call_id", "cursor")],
    *[OpenApiParameter(name, str, description="ISO 8601") for name in ("submitted_after", "submitted_before")],
    OpenApiParameter("limit", int, description="At most 200."),
]


class ToolCalls(APIView):
    permission_classes = [IsAgentOrPerson]

    @extend_schema(operation_id="listToolCalls", parameters=FILTERS, responses={200: answers.PageShape, **ERRORS})
    def get(self, request: Request) -> Response:
        """Own calls (an agent) or those of one's groups (a person), newest first."""
        chosen = CallFilter(request.query_params, visible_calls(request))
        if not chosen.is_valid():
            errors = [{"field": name, "message": str(found[0])} for name, found in chosen.errors.items()]
            raise problems.Problem(422, "invalid_request", "A filter cannot be understood.", errors=errors)
        pages = NewestFirst()
        page = pages.paginate_queryset(chosen.qs, request, view=self) or []
        return pages.get_paginated_response([answers.call_data(call, request.user) for call in page])

    @extend_schema(
        operation_id="submitToolCall",
        request=requests.SubmitRequest,
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        responses={201: answers.ToolCallShape, 200: answers.ToolCallShape, **ERRORS},
    )
    def post(self, request: Request) -> Response:
        """Submits one call. 201 whatever its status: an `invalid` or `denied` call is an answer for the model."""
        sent = _valid(requests.SubmitRequest(data=request.data))
        call, is_new = _submit(agent_of(request), sent.submission(_idempotency_key(request)))
        response = call_answer(request, call, 201 if is_new else 200)
        if not is_new:
            response.headers["Idempotent-Replayed"] = "true"
        return response


def _idempotency_key(request: Request) -> str:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return ""
    if not key.strip():
        raise problems.Problem(422, "invalid_request", "Idempotency-Key must not be blank", field="Idempotency-Key")
    if len(key) > 255:
        raise problems.Problem(422, "invalid_request", "Idempotency-Key is longer than 255", field="Idempotency-Key")
    return key


def _submit(agent: Agent, submission: Submission) -> tuple[ToolCall, bool]:
    return lifecycle.submit(agent=agent, submission=submission, at=now())


class ToolCallBatch(APIView):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="submitToolCalls",
        request=requests.BatchRequestShape,
        responses={200: answers.BatchShape, **ERRORS},
    )
    def post(self, request: Request) -> Response:
        """Submits the calls of one model turn under one `run_id`. Each item has its own outcome."""
        sent = _valid(requests.BatchRequest(data=request.data)).validated_data
        run_id = sent.get("run_id") or str(uuid7())
        results = [self._one(request, item, run_id) for item in sent["calls"]]
        return Response({"run_id": run_id, "results": results})

    def _one(self, request: Request, item: Any, run_id: str) -> dict[str, Any]:
        try:
            submission = _valid(requests.SubmitRequest(data=item)).submission("", run_id)
            if submission.run_id != run_id:
                raise problems.Problem(422, "invalid_request", "run_id differs from the batch's", field="run_id")
            call, is_new = _submit(agent_of(request), submission)
        except (problems.exceptions.APIException, NotPossible) as error:
            told = problems.told(error)
            return {"status": told["status"], "problem": told}
        return {"status": 201 if is_new else 200, "tool_call": answers.call_data(call, request.user)}


class OneToolCall(APIView):
    permission_classes = [IsAgentOrPerson]

    @extend_schema(
        operation_id="readToolCall", parameters=WAIT, responses={200: answers.ToolCallShape, 304: None, **ERRORS}
    )
    def get(self, request: Request, call_id: UUID) -> Response:
        """One call; with `wait`, held until it moves."""
        seconds, until = waiting.asked_for(request.query_params)
        call = find(request, call_id)
        waiting.hold(seconds, lambda: has_moved(ToolCall.objects.only("status").get(pk=call.pk), until))
        return call_answer(request, find(request, call_id) if seconds else call)


def has_moved(call: ToolCall, until: str) -> bool:
    return call.is_settled if until == "settled" else call.is_decided


class Cancel(APIView):
    permission_classes = [IsAgent]

    @extend_schema(operation_id="cancelToolCall", request=None, responses={200: answers.ToolCallShape, **ERRORS})
    def post(self, request: Request, call_id: UUID) -> Response:
        """Withdraws a call while nothing has run."""
        find(request, call_id)
        lifecycle.cancel(call_id=call_id, agent=agent_of(request), at=now())
        return call_answer(request, find(request, call_id))


class Run(APIView):
    permission_classes = [IsAgentOrPerson]

    @extend_schema(operation_id="readRun", parameters=WAIT, responses={200: answers.RunShape, **ERRORS})
    def get(self, request: Request, run_id: str) -> Response:
        """All calls of a run in order; with `wait`, held until all of it has moved."""
        seconds, until = waiting.asked_for(request.query_params)
        run = visible_calls(request).filter(run_id=run_id).order_by("agent", "position")
        if not run.exists():
            raise problems.Problem(404, "unknown_run", "There is no such run that you may see.")
        waiting.hold(seconds, lambda: all(has_moved(call, until) for call in run.only("status").select_related(None)))
        return Response(answers.run_data(run_id, list(run), request.user))


def verdict_data(resolved: resolution.Resolved, verdict: policies.Verdict | None) -> dict[str, Any] | None:
    return {"outcome": str(verdict.outcome), "rule": verdict.rule, "reason": verdict.reason} if verdict else None

"""Tool calls: an agent submits, lists, waits for and cancels its own; people read those of their groups."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from approvals import lifecycle
from approvals.api import answers, pages, queries, requests, shapes, waiting
from approvals.api.answers import call_answer
from approvals.api.callers import agent_of, caller_of, find, find_in_time, reviewer_of, visible_calls, with_groups
from approvals.api.endpoint import Endpoint, outcome
from approvals.api.parsers import Body
from approvals.api.permissions import IsAgent, IsAgentToWrite
from approvals.api.problems import Problem, invalid
from approvals.clock import now
from approvals.models import Person, Status, ToolCall
from approvals.rendering import sha256
from approvals.waking import about_call, about_run

KEY_HEADER = "Idempotency-Key"


class ToolCalls(Endpoint):
    permission_classes = [IsAgentToWrite]

    @extend_schema(
        operation_id="listToolCalls",
        parameters=queries.parameters(
            ("tool", "run_id", "tool_call_id", "submitted_after", "submitted_before"), status=Status.values
        ),
        responses={200: shapes.PageShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request) -> Response:
        """Own calls (an agent) or those of one's groups (a person), newest first."""
        calls = queries.chosen(request, visible_calls(request).with_everything(), queries.CallFilter)
        page, following = pages.page_of(request, calls, pages.NEWEST_FIRST)
        caller, page = with_groups(caller_of(request)), lifecycle.ended_if_overdue(page, now())
        return Response({"next": following, "results": [answers.call_data(call, caller) for call in page]})

    @extend_schema(
        operation_id="submitToolCall",
        request=requests.SubmitRequest,
        parameters=[shapes.IDEMPOTENCY_KEY],
        responses={201: shapes.ToolCallShape, 200: shapes.ToolCallShape, **shapes.errors()},
    )
    def post(self, request: Request) -> Response:
        """Submits one call. 201 whatever its status: an `invalid` or `denied` call is an answer for the model."""
        queries.require_known(request, ())
        header, sent = _key_header(request), requests.read(requests.SubmitRequest, request.data)
        member = sent.get("idempotency_key", "")
        if header and member and header != member:
            raise invalid("idempotency_key", f"differs from the {KEY_HEADER} header")
        call, is_new = _submit(request, requests.submission(sent, idempotency_key=member or header))
        response = call_answer(request, call, 201 if is_new else 200)
        if not is_new:
            response.headers["Idempotent-Replayed"] = "true"
        return response


def _key_header(request: Request) -> str:
    key = str(request.headers.get(KEY_HEADER, ""))
    if key and not key.strip():
        raise invalid(KEY_HEADER, "must not be blank")
    if len(key) > requests.LONGEST_KEY:
        raise invalid(KEY_HEADER, f"must have at most {requests.LONGEST_KEY} characters")
    if not key.isprintable():
        raise invalid(KEY_HEADER, "must hold printable characters only")
    return key


def _submit(request: Request, submission: lifecycle.Submission) -> tuple[ToolCall, bool]:
    return lifecycle.submit(agent=agent_of(request), submission=submission, at=now())


class ToolCallBatch(Endpoint):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="submitToolCalls",
        request=requests.BatchRequestShape,
        parameters=[shapes.IDEMPOTENCY_KEY],
        responses={200: shapes.BatchShape, **shapes.errors()},
    )
    def post(self, request: Request) -> Response:
        """Submits the calls of one model turn under one `run_id`. Each item has its own outcome."""
        queries.require_known(request, ())
        key, sent = _key_header(request), requests.read(requests.BatchRequest, request.data)
        run_id = sent.get("run_id") or self._made_run_id(request, key)
        results = [self._one(request, item, run_id, f"{key} #{n}" if key else "") for n, item in enumerate(sent["calls"])]
        return Response({"run_id": run_id, "results": results})

    def _made_run_id(self, request: Request, key: str) -> str:
        """The same for the same batch sent again: its items must be repeats, not conflicts."""
        text = request.data.text if isinstance(request.data, Body) else ""
        return "run_" + sha256(f"{agent_of(request).pk} {key} {text}")[:32]

    def _one(self, request: Request, item: object, run_id: str, key: str) -> dict[str, object]:
        def submit() -> tuple[ToolCall, int]:
            sent = requests.read(requests.SubmitRequest, item)
            if sent.setdefault("run_id", run_id) != run_id:
                raise invalid("run_id", "differs from that of the batch")
            submission = requests.submission(sent, idempotency_key=sent.get("idempotency_key") or key)
            call, is_new = _submit(request, submission)
            return call, 201 if is_new else 200

        return outcome(caller_of(request), submit)


class OneToolCall(Endpoint):
    permission_classes = [IsAgentToWrite]

    @extend_schema(
        operation_id="readToolCall",
        parameters=[*shapes.WAIT, shapes.IF_NONE_MATCH],
        responses={200: shapes.ToolCallShape, 304: None, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request, call_id: UUID) -> Response:
        """One call; with `wait`, held until it moves. That a person was shown it is recorded once."""
        queries.require_known(request, {"wait", "until"})
        wait, call = waiting.asked_for(request), find_in_time(request, call_id)
        if wait.seconds and not wait.have_moved([call.status]):
            this = ToolCall.objects.filter(pk=call_id)
            waiting.hold(wait, about_call(call_id), lambda: wait.is_over(this))
            call = find_in_time(request, call_id)
        caller = with_groups(caller_of(request))
        if isinstance(caller, Person) and lifecycle.may_act(call, caller):
            call = lifecycle.see(call_id=call_id, reviewer=reviewer_of(request), at=now())
        return call_answer(request, call)


class Cancel(Endpoint):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="cancelToolCall",
        request=None,
        responses={200: shapes.ToolCallShape, **shapes.errors()},
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        """Withdraws a call while nothing has run."""
        queries.require_known(request, ())
        requests.read(requests.NothingRequest, request.data)
        find_in_time(request, call_id)
        lifecycle.cancel(call_id=call_id, agent=agent_of(request), at=now())
        return call_answer(request, find(request, call_id))


class Run(Endpoint):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="readRun",
        parameters=shapes.WAIT,
        responses={200: shapes.RunShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request, run_id: str) -> Response:
        """All calls of a run in order; with `wait`, held until all of it has moved."""
        queries.require_known(request, {"wait", "until"})
        wait = waiting.asked_for(request)
        run = visible_calls(request).filter(run_id=run_id)
        if "\0" in run_id or not run.exists():
            raise Problem("unknown_run", "There is no such run of yours.")
        waiting.end_overdue(run)
        waiting.hold(wait, about_run(agent_of(request).pk, run_id), lambda: wait.is_over(run))
        calls = list(run.with_everything().order_by("position"))
        data = answers.run_data(run_id, calls, caller_of(request))
        return Response(data, headers=answers.retry_after(calls))

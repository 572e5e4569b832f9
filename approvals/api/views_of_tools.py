"""Which tools an agent may call, and what a tool would make of its arguments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from approvals import resolution
from approvals.api import answers, requests, shapes
from approvals.api.callers import agent_of
from approvals.api.endpoint import Endpoint
from approvals.api.permissions import IsAgent
from approvals.api.problems import Problem, invalid
from approvals.api.queries import require_known
from approvals.models import uuid7
from toolgate.tools.definition import FunctionDefinitionError
from toolgate.tools.dialects import DIALECTS, declarations
from toolgate.tools.registry import Registration


class Tools(Endpoint):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="listTools",
        parameters=[OpenApiParameter("dialect", str, enum=list(DIALECTS), description="Left out: the plain form.")],
        responses={200: shapes.ToolsShape, **shapes.errors(of_read=True)},
    )
    def get(self, request: Request) -> Response:
        """The tools this agent may call: plain, or as declarations ready for a model's API."""
        require_known(request, {"dialect"})
        agent, dialect = agent_of(request), request.query_params.get("dialect")
        known = [one for one in resolution.registry() if agent.may_call(one.function.name)]
        if dialect is None:
            return Response({"tools": [_tool_data(one) for one in known]})
        if dialect not in DIALECTS:
            raise invalid("dialect", f"must be one of {', '.join(DIALECTS)}")
        try:
            return Response({"tools": declarations([one.function for one in known], dialect)})
        except FunctionDefinitionError as error:
            raise Problem("not_in_this_dialect", str(error)) from error


def _tool_data(registration: Registration) -> dict[str, Any]:
    function = registration.function
    return {
        "name": function.name,
        "description": function.description,
        "display_text": function.display_text,
        "parameters": function.json_schema(),
        "risk": registration.risk,
        "approval": _expected(registration),
        "runs_by_agent": function.function is None,
    }


def _expected(registration: Registration) -> str:
    """Whether people will be asked, as far as that is known before there are arguments."""
    if registration.deny is True:
        return "denied"
    if callable(registration.deny) or callable(registration.require_approval):
        return "depends"
    return "always" if registration.require_approval else "never"


class Parse(Endpoint):
    permission_classes = [IsAgent]

    @extend_schema(
        operation_id="parseArguments",
        request=requests.ParseRequest,
        responses={200: shapes.ParsedShape, **shapes.errors()},
    )
    def post(self, request: Request, tool: str) -> Response:
        """Runs `parse_arguments` and tells what came of it. Nothing is stored."""
        require_known(request, ())
        sent = requests.read(requests.ParseRequest, request.data)
        if not agent_of(request).may_call(tool) or resolution.registry().get(tool) is None:
            raise Problem("unknown_tool", resolution.unknown_tool(tool))
        throwaway = str(uuid7())
        own = {"tool_call_id": throwaway, "idempotency_key": throwaway, "interrupts": []}
        resolved = resolution.resolve(tool, sent.get("arguments", ""), {**sent.get("context", {}), **own})
        return Response(answers.parsed_data(resolved))

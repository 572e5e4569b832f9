"""What all endpoints share: nobody on the way keeps an answer, and a list item can fail alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.views import APIView

from approvals.api import answers, problems
from approvals.api.callers import Caller
from approvals.lifecycle import NotPossible
from approvals.models import ToolCall


class Endpoint(APIView):
    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["Vary"] = "Authorization, Cookie"
        return response


def outcome(caller: Caller, one: Callable[[], tuple[ToolCall, int]]) -> dict[str, Any]:
    """What came of one item of several: its status, and the call or the problem."""
    try:
        call, status = one()
    except (APIException, NotPossible) as error:
        told = problems.told(error)
        return {"status": told["status"], "problem": told}
    return {"status": status, "tool_call": answers.call_data(call, caller)}

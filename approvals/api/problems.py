"""How every error is told: application/problem+json (RFC 9457), with a stable code and nothing of the inside."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, connections
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

from approvals.lifecycle import NotPossible
from toolgate.tools.canonical import exact

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"

# What a verb could not do, and what HTTP calls that. The one place where the two meet.
STATUS_OF: Mapping[str, int] = {
    "unknown_call": 404,
    "unknown_interrupt": 404,
    "not_a_reviewer": 403,
    "self_approval": 403,
    "own_edit": 403,
    "expired": 409,
    "already_settled": 409,
    "wrong_status": 409,
    "stale_digest": 409,
    "not_resolvable": 409,
    "interrupt_closed": 409,
    "submission_conflict": 409,
    "not_allowed": 422,
    "edit_refused": 422,
    "edit_denied": 422,
    "reason_missing": 422,
    "response_missing": 422,
    "answer_refused": 422,
    "unknown_revision": 422,
}


class Problem(exceptions.APIException):
    """Raised by a view that knows what is wrong: status, stable code, a sentence, and data for a program."""

    def __init__(self, status: int, code: str, detail: str, **data: Any) -> None:
        super().__init__(detail, code)
        self.status_code, self.code, self.data = status, code, data


def problem(status: int, code: str, detail: str, **data: Any) -> dict[str, Any]:
    """The body of a problem."""
    told = {"type": f"/api/docs#{code}", "title": HTTPStatus(status).phrase, "status": status, "code": code}
    return told | {"detail": detail} | {name: value for name, value in data.items() if value is not None}


def of(error: NotPossible) -> dict[str, Any]:
    data = {**error.data, "current_status": str(error.status) or None}
    return problem(STATUS_OF.get(error.code, 409), error.code, error.detail, **data)


def answer(error: Exception, context: Mapping[str, Any]) -> Response:
    """The exception handler of every view."""
    body, headers = told(error), {}
    if isinstance(error, exceptions.APIException):
        if header := getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = header
        if wait := getattr(error, "wait", None):
            headers["Retry-After"] = f"{wait:.0f}"
    if body["status"] == 503:
        headers["Retry-After"] = "5"
    if body["status"] >= 500:
        log.error("%s while answering", type(error).__name__, exc_info=error)
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block:
            connection.set_rollback(True)
    return Response(body, body["status"], headers=headers, content_type=MEDIA_TYPE)


def told(error: Exception) -> dict[str, Any]:
    """The body of the problem that an exception is."""
    if isinstance(error, NotPossible):
        return of(error)
    if isinstance(error, Problem):
        return problem(error.status_code, error.code, str(error.detail), **error.data)
    if isinstance(error, exceptions.ValidationError):
        errors = list(_fields(error.detail, ""))
        detail = "; ".join(f"{one['field']}: {one['message']}" if one["field"] else one["message"] for one in errors)
        return problem(422, "invalid_request", detail, errors=errors)
    if isinstance(error, exceptions.APIException):
        code = _CODES.get(error.status_code, str(getattr(error.detail, "code", "error")))
        return problem(error.status_code, code, str(error.detail))
    if isinstance(error, Http404):
        return problem(404, "not_found", "There is nothing here that you may see.")
    if isinstance(error, PermissionDenied):
        return problem(403, "forbidden", "You may not do that.")
    if isinstance(error, DatabaseError | InterfaceError):
        return problem(503, "database_away", "The database does not answer. Nothing was changed; try again.")
    return problem(500, "internal_error", "Something went wrong here. It was logged; nothing more is known to you.")


_CODES = {
    400: "malformed",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}


def _fields(detail: Any, place: str) -> Iterator[dict[str, str]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _fields(inner, f"{place}.{own}" if place and own else place or own)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _fields(inner, place)
    else:
        yield {"field": place, "message": str(detail)}


def plain_answer(status: int, code: str, detail: str) -> HttpResponse:
    """A problem for what never reached a view."""
    return HttpResponse(exact(problem(status, code, detail)), status=status, content_type=MEDIA_TYPE)


def not_found(request: HttpRequest) -> HttpResponse:
    return plain_answer(404, "not_found", f"There is nothing at {request.path[:200]}.")

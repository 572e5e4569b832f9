"""How every error is told: application/problem+json (RFC 9457), with a stable code and nothing of the inside."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.template import loader
from django.views import defaults
from rest_framework import exceptions

from approvals.api.renderers import json_text
from approvals.lifecycle import NotPossible

log = logging.getLogger(__name__)
RETRY_AFTER = "5"  # seconds
MEDIA_TYPE = "application/problem+json"

# Every code with its HTTP status and title: the one place where what a verb could not do meets HTTP. docs/api.md explains
# each; a test compares.
CODES: Mapping[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "not_authenticated": (401, "Say who you are"),
    "forbidden": (403, "Not for this kind of caller"),
    "csrf_failed": (403, "The CSRF token is missing or wrong"),
    "not_a_reviewer": (403, "Not a reviewer of this call"),
    "self_approval": (403, "Nobody approves their own"),
    "own_edit": (403, "The editor may not approve the edit"),
    "not_found": (404, "There is nothing at this address"),
    "unknown_call": (404, "No such tool call"),
    "unknown_interrupt": (404, "No such question"),
    "unknown_run": (404, "No such run"),
    "unknown_tool": (404, "No such tool"),
    "method_not_allowed": (405, "This address does not take that method"),
    "already_settled": (409, "The call is settled"),
    "wrong_status": (409, "The call is elsewhere in its life"),
    "agent_off": (409, "The agent is switched off"),
    "expired": (409, "The time of the call is over"),
    "stale_digest": (409, "What was shown is not what would run"),
    "tool_not_served": (409, "The tool of the call is not served now"),
    "not_resolvable": (409, "The call cannot be approved as it stands"),
    "interrupt_closed": (409, "The question is closed"),
    "submission_conflict": (409, "Submitted before with other content"),
    "too_large": (413, "The body is too large"),
    "unsupported_media_type": (415, "The body must be application/json"),
    "invalid_request": (422, "The request does not fit"),
    "not_in_this_dialect": (422, "A tool's name does not fit that API"),
    "unknown_revision": (422, "What is revised is not there or not settled"),
    "not_allowed": (422, "The policy does not allow that decision"),
    "edit_refused": (422, "The edited arguments were refused"),
    "edit_denied": (422, "The policy denies the edited arguments"),
    "reason_missing": (422, "A reason is needed"),
    "response_missing": (422, "A response is needed"),
    "answer_refused": (422, "The answer does not fit the question"),
    "internal_error": (500, "Something went wrong here"),
    "database_away": (503, "The database does not answer"),
    "stopping": (503, "The server is being stopped"),
}


class Problem(exceptions.APIException):
    """Raised by a view that knows what is wrong: a code of the table, a sentence, and data for a program."""

    def __init__(self, code: str, detail: str, **data: Any) -> None:
        super().__init__(detail, code)
        self.status_code, self.code, self.data = CODES[code][0], code, data


def invalid(field: str, message: str) -> Problem:
    """One thing that does not fit: the field (or header, or query parameter) and what it must be."""
    return Problem("invalid_request", f"{field} {message}", field=field, errors=[{"field": field, "message": message}])


def problem(code: str, detail: str, **data: Any) -> dict[str, Any]:
    """The body of a problem. Data that is None is left out."""
    status, title = CODES[code]
    told = {"type": f"/api/docs#{code}", "title": title, "status": status, "code": code, "detail": detail}
    return told | {name: value for name, value in data.items() if value is not None}


def answer(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The exception handler of every view."""
    body = told(error)
    if body["status"] >= 500:
        log.error("%s while answering", type(error).__name__, exc_info=error)
    for connection in connections.all(initialized_only=True):
        if connection.settings_dict["ATOMIC_REQUESTS"] and connection.in_atomic_block:
            connection.set_rollback(True)
    response = as_response(body)
    if header := getattr(error, "auth_header", None):
        response.headers["WWW-Authenticate"] = header
    return response


def as_response(body: Mapping[str, Any]) -> HttpResponse:
    headers = {"Retry-After": RETRY_AFTER} if body["status"] == 503 else {}
    return HttpResponse(json_text(body), status=body["status"], content_type=MEDIA_TYPE, headers=headers)


def told(error: Exception) -> dict[str, Any]:
    """The body of the problem that an exception is."""
    if isinstance(error, NotPossible):
        return problem(error.code, error.detail, **error.data, current_status=str(error.status) or None)
    if isinstance(error, Problem):
        return problem(error.code, str(error.detail), **error.data)
    if isinstance(error, exceptions.ValidationError):
        return _told_fields(error)
    if isinstance(error, exceptions.APIException):
        code = _code_of(error)
        return problem(code, _SENTENCES.get(code) or str(error.detail))
    if is_database_away(error):
        return problem("database_away", "Nothing is known to have changed; try again.")
    for kind, code, detail in _OTHERS:
        if isinstance(error, kind):
            return problem(code, detail)
    return problem("internal_error", "It was logged; nothing was changed that was not acknowledged.")


# What PostgreSQL files as an error of ours: a transaction that it ended for doing nothing, a write to a standby.
_AWAY = frozenset({"25P03", "25006"})


def is_database_away(error: BaseException | None) -> bool:
    """Whether another try may succeed: no connection, a lost one, a lock or a statement that took too long."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", None) in _AWAY


def _told_fields(error: exceptions.ValidationError) -> dict[str, Any]:
    errors = list(_fields(error.detail, ""))
    detail = "; ".join(f"{one['field']} {one['message']}".strip() for one in errors)
    return problem("invalid_request", detail, field=errors[0]["field"] or None, errors=errors)


def _code_of(error: exceptions.APIException) -> str:
    own = str(getattr(error.detail, "code", ""))
    return own if own in CODES else _BY_STATUS.get(error.status_code, "malformed")


_BY_STATUS = {
    400: "malformed",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}
_SENTENCES = {
    "unsupported_media_type": "Send the body with Content-Type: application/json.",
    "not_found": "There is nothing here that you may see.",
}
_OTHERS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    (Http404, "not_found", "There is nothing here that you may see."),
    (PermissionDenied, "forbidden", "You may not do that."),
    (RequestDataTooBig, "too_large", "The body is too large."),
    ((BadRequest, SuspiciousOperation, UnreadablePostError), "malformed", "The request cannot be read."),
)


def _fields(detail: Any, place: str) -> Iterator[dict[str, str]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _fields(inner, _below(place, name))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _fields(inner, place)
    else:
        yield {"field": place, "message": str(detail)}


def _below(place: str, name: Any) -> str:
    if name == "non_field_errors":
        return place
    if isinstance(name, int):
        return f"{place}[{name}]"
    return f"{place}.{name}" if place else str(name)


# --- what never reaches a view of the API ------------------------------------------------------------------------------


def not_found(request: HttpRequest) -> HttpResponse:
    """Every address under /api that is nothing."""
    return as_response(problem("not_found", "There is nothing at this address."))


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return not_found(request) if _is_api(request) else defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not _is_api(request):
        return defaults.bad_request(request, exception)
    return as_response(told(exception))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not _is_api(request):
        return defaults.permission_denied(request, exception)
    return as_response(problem("forbidden", "You may not do that."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles the exception, which it does not hand over."""
    error = sys.exc_info()[1]
    if _is_api(request):
        return as_response(told(error if isinstance(error, Exception) else Exception()))
    if is_database_away(error):
        # Without the request: who asks, which the pages tell, is in the database.
        return HttpResponse(loader.render_to_string("503.html"), status=503, headers={"Retry-After": RETRY_AFTER})
    return defaults.server_error(request)

"""What stands before every view: an id for each request, the content security policy of pages, the token of monitoring."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from approvals import tracing
from approvals.api import problems
from approvals.api.views_of_metrics import metrics_answer

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
# The API's own documentation page is Swagger UI, which writes style attributes. It shows no agent's text.
DOCUMENTATION_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")


log = structlog.get_logger(__name__)


class RequestId:
    """Gives each request an id, or keeps the one it came with; it stands in every line logged meanwhile and in the answer.

    One line a request: the route and not the address, because an address may hold what somebody pasted into it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given, began = request.headers.get("X-Request-ID", ""), time.perf_counter()
        request_id = given if tracing.is_sane(given) else uuid.uuid4().hex
        with tracing.bound(request_id=request_id):
            response = self.get_response(request)
            if request.resolver_match is not None:
                _log_answer(request, request.resolver_match.route, response.status_code, began)
        response.headers["X-Request-ID"] = request_id
        return response

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: Mapping[str, object]) -> None:
        if "call_id" in kwargs:
            tracing.bind(call_id=str(kwargs["call_id"]))


def _log_answer(request: HttpRequest, route: str, status: int, began: float) -> None:
    milliseconds = round((time.perf_counter() - began) * 1000, 1)
    log.info("answered", method=request.method, route=f"/{route}", status=status, milliseconds=milliseconds)


class ContentSecurityPolicy:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        policy = DOCUMENTATION_POLICY if request.path == "/api/docs" else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response


class MetricsByToken:
    """Answers who shows TOOLGATE_METRICS_TOKEN, under any host name and without TLS, as monitoring inside a network asks.

    Everybody else goes on to the view, which is for auditors and administrators.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path != "/metrics" or request.method not in ("GET", "HEAD") or not _shows_the_token(request):
            return self.get_response(request)
        try:
            return metrics_answer()
        except DatabaseError as error:
            return problems.as_response(problems.told(error))


def _shows_the_token(request: HttpRequest) -> bool:
    scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
    token = settings.METRICS_TOKEN
    return bool(token) and scheme.lower() == "bearer" and constant_time_compare(shown.strip(), token)

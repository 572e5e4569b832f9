"""What stands before every view: the content security policy of pages, and the token of those who read metrics."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

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

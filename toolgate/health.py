"""Does this process live, and can it do its work? `/healthz` and `/readyz`, for whoever restarts and routes.

Answered before anything else looks at the request: a health checker knows no host name, no TLS and no session.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import redis
from django.conf import settings as django_settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from redis.backoff import NoBackoff
from redis.retry import Retry

from approvals import clock, dispatch
from approvals.models import Sweep
from toolgate.settings import IS_EMBEDDED, settings

PATIENCE = 1  # seconds; who asks gives up soon
SILENCE = timedelta(seconds=30)


class HealthChecks:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path not in ("/healthz", "/readyz"):
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
        return _alive() if request.path == "/healthz" else _ready()


def _alive() -> HttpResponse:
    return JsonResponse({"ok": True}, headers={"Cache-Control": "no-store"})


def _ready() -> HttpResponse:
    """503 while anything is missing; each check is told as `ok` or as what is wrong."""
    found = {"database": _database(), "broker": _broker()}
    if found["database"] == "ok":
        found |= {"migrations": _migrations(), "clock": _clock()}
    ok = set(found.values()) == {"ok"}
    return JsonResponse({"ok": ok, "checks": found}, status=200 if ok else 503, headers={"Cache-Control": "no-store"})


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"does not answer ({type(error).__name__})"
    return "ok"


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return "ok" if not missing else f"{len(missing)} not applied: run `toolgate migrate`"


def _clock() -> str:
    swept_at = Sweep.objects.values_list("at", flat=True).first()
    longest = max(SILENCE, django_settings.SWEEP_EVERY * 10)
    if swept_at is None:
        return "has not swept yet: `toolgate beat` does"
    age = clock.now() - swept_at
    return "ok" if age <= longest else f"last swept {age.total_seconds():.0f} seconds ago: is `toolgate beat` running?"


def _broker() -> str:
    if IS_EMBEDDED or settings.redis_url is None:
        return "ok" if dispatch.holds_the_queue.is_set() else "the worker has not started"
    try:
        with redis.Redis.from_url(
            settings.redis_url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
        ) as client:
            client.ping()
    except redis.RedisError as error:
        return f"does not answer ({type(error).__name__}); approved calls wait"
    return "ok"

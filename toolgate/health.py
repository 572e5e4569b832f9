"""Does this process live, and can it do its work? `/healthz` and `/readyz`, for whoever restarts and routes.

Answered before anything else looks at the request: a health checker knows no host name, no TLS and no session.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta

import redis
from django.conf import settings as django_settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from redis.backoff import NoBackoff
from redis.retry import Retry

from approvals import clock, dispatch
from approvals.models import Sweep
from toolgate.settings import IS_EMBEDDED, settings

PATHS = ("/healthz", "/readyz")
PATIENCE = 2  # seconds; who asks gives up soon
FORGOTTEN = 30  # seconds after which a question that nobody answered is asked anew
SILENCE = timedelta(seconds=30)


class HealthChecks:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path not in PATHS:
            return self.get_response(request)
        told = answer(request.path, request.method or "")
        return HttpResponse(told.body, status=told.status, headers=dict(told.headers))


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]


def answer(path: str, method: str) -> Answer:
    """What either address answers, within `PATIENCE` seconds whatever is frozen."""
    if method not in ("GET", "HEAD"):
        return Answer(405, b"", {"Allow": "GET, HEAD"})
    found = {"ok": True} if path == "/healthz" else _readiness()
    body = json.dumps(found).encode()
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": str(len(body))}
    return Answer(200 if found["ok"] else 503, b"" if method == "HEAD" else body, headers)


def _readiness() -> dict[str, object]:
    """Not ok while anything is missing; each check is told as `ok` or as what is wrong."""
    until = time.monotonic() + PATIENCE
    for question in _QUESTIONS:
        question.ask()
    found = {name: words for question in _QUESTIONS for name, words in question.answer(until).items()}
    return {"ok": set(found.values()) == {"ok"}, "checks": found}


Answers = dict[str, str]


@dataclass
class Question:
    """Asked in a thread of its own: what is frozen answers nobody, and a driver may wait for it without end.

    All who want to know at the same time share one thread.
    """

    about: str
    find: Callable[[], Answers]
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: Future[Answers] | None = None
    asked_at: float = 0

    def ask(self) -> None:
        with self.lock:
            if self.asked is None or self.asked.done() or time.monotonic() > self.asked_at + FORGOTTEN:
                self.asked, self.asked_at = Future(), time.monotonic()
                threading.Thread(target=self._find, args=(self.asked,), name=self.about, daemon=True).start()

    def _find(self, asked: Future[Answers]) -> None:
        try:
            asked.set_result(self.find())
        except Exception as error:  # noqa: BLE001 - whatever a driver raises; its words may hold an address with a password
            asked.set_result({self.about: f"does not answer ({type(error).__name__})"})

    def answer(self, until: float) -> Answers:
        if self.asked is None:
            raise AssertionError("a question is asked before it is answered")
        try:
            return self.asked.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            return {self.about: f"does not answer within {PATIENCE} seconds"}


def _database() -> Answers:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        found = {"database": "ok", "migrations": _migrations()}
        return found | ({"clock": _clock()} if found["migrations"] == "ok" else {})
    except (DatabaseError, InterfaceError) as error:
        return {"database": f"does not answer ({type(error).__name__})"}
    finally:
        connection.close()


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


def _broker() -> Answers:
    if IS_EMBEDDED or settings.redis_url is None:
        return {"worker": "ok" if dispatch.holds_the_queue.is_set() else "has not started, or was stopped"}
    try:
        with redis.Redis.from_url(
            settings.redis_url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        ) as client:
            client.ping()
    except redis.RedisError as error:
        return {"broker": f"does not answer ({type(error).__name__}); approved calls wait"}
    return {"broker": "ok"}


_QUESTIONS = (Question("database", _database), Question("broker", _broker))

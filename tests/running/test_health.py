"""What a health checker is told: /healthz and /readyz, by every kind of process, whatever is away or frozen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import psycopg
import pytest

from tests.running.production import Production
from tests.running.server import Serving
from tests.servers import Server, until

BOUND = 20  # seconds a health checker may be kept waiting here; far more than promised, on a busy machine
NAMES = {"database", "migrations", "clock", "broker"}
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def deployment() -> Iterator[Production]:
    production = Production()
    try:
        production.start("web", "waiting", "beat")
        yield production
    finally:
        production.end()


def ask(url: str, path: str = "/readyz", **request: Any) -> httpx2.Response:
    return httpx2.request(request.pop("method", "GET"), f"{url}{path}", timeout=BOUND, **request)


def both(deployment: Production) -> list[str]:
    return [deployment.url, f"http://127.0.0.1:{deployment.waiting_port}"]


def wrong(answer: httpx2.Response) -> dict[str, str]:
    return {name: words for name, words in answer.json()["checks"].items() if words != "ok"}


@contextmanager
def gone(server: Server, how: str) -> Iterator[None]:
    """Meanwhile it takes connections and answers nothing, or is not there at all."""
    if how == "frozen":
        server.freeze()
    else:
        server.kill()
    try:
        yield
    finally:
        if how == "frozen":
            server.go_on()
        else:
            server.start()


def until_ready(deployment: Production) -> None:
    until(lambda: all(ask(url).status_code == 200 for url in both(deployment)), lambda: deployment.log[-4000:])


def test_embedded_server_is_alive_and_ready_under_any_host_name(serve: Callable[..., Serving]) -> None:
    serving = serve()
    until(lambda: ask(serving.url).status_code == 200, lambda: ask(serving.url).text)
    for path, body in (("/healthz", {"ok": True}), ("/readyz", None)):
        for host in ("10.1.2.3", "gate.internal:8000", "-"):
            told = ask(serving.url, path, headers={"Host": host})
            assert told.status_code == 200
            assert told.json() == body or set(told.json()["checks"]) == {"database", "migrations", "clock", "worker"}
            empty = ask(serving.url, path, method="HEAD", headers={"Host": host})
            assert (empty.status_code, empty.content) == (200, b"")
            assert empty.headers["content-length"] == str(len(told.content))
        assert ask(serving.url, path, method="POST").status_code == 405
    assert "healthz" not in serving.log
    assert "readyz" not in serving.log


def test_every_process_that_answers_is_ready_with_all_it_needs(deployment: Production) -> None:
    until_ready(deployment)
    for url in both(deployment):
        assert set(ask(url, headers={"Host": "10.1.2.3"}).json()["checks"]) == NAMES
        assert ask(url, method="HEAD").status_code == 200


@pytest.mark.parametrize("away", ["frozen", "killed"])
def test_redis_that_is_away_is_told_and_nothing_hangs(away: str, deployment: Production) -> None:
    until_ready(deployment)
    with gone(deployment.redis, away):
        for url in both(deployment):
            told = ask(url)
            assert told.status_code == 503
            assert list(wrong(told)) == ["broker"]
            assert "does not answer" in wrong(told)["broker"]
            assert ask(url, "/healthz").status_code == 200
    until_ready(deployment)


@pytest.mark.parametrize("away", ["frozen", "killed"])
def test_database_that_is_away_is_told_and_nothing_hangs(away: str, deployment: Production) -> None:
    until_ready(deployment)
    with gone(deployment.postgres, away):
        for url in both(deployment):
            for _ in range(3):
                told = ask(url)
                assert told.status_code == 503
                assert "does not answer" in wrong(told)["database"]
                assert deployment.postgres.url not in told.text
            assert ask(url, "/healthz").status_code == 200
    until_ready(deployment)


def test_waiting_door_is_healthy_while_all_its_threads_wait_for_a_frozen_database(deployment: Production) -> None:
    until_ready(deployment)
    waiting = both(deployment)[1]
    headers = {"Authorization": f"Bearer {deployment.credentials['agent_key']}"}

    def hang() -> None:
        with suppress(httpx2.TransportError):
            httpx2.get(f"{waiting}/api/v1/tools", headers=headers, timeout=60)

    deployment.postgres.freeze()
    held = [threading.Thread(target=hang) for _ in range(20)]  # there are 16 threads
    try:
        for thread in held:
            thread.start()
        assert ask(waiting, "/healthz").status_code == 200
        assert ask(waiting).status_code == 503
    finally:
        deployment.postgres.go_on()
    for thread in held:
        thread.join()
    until_ready(deployment)


def test_migrations_that_are_missing_and_a_clock_that_stands_are_told(deployment: Production) -> None:
    until_ready(deployment)
    beat = deployment.processes["beat"]
    assert beat.end() == 0
    with psycopg.connect(deployment.postgres.url, autocommit=True) as database:
        database.execute("UPDATE approvals_sweep SET at = at - interval '1 hour'")
        assert "is `toolgate beat` running?" in wrong(ask(deployment.url))["clock"]
        database.execute("DELETE FROM approvals_sweep")
        assert "has not swept yet" in wrong(ask(deployment.url))["clock"]
        gone = database.execute("DELETE FROM django_migrations WHERE app = 'approvals' RETURNING app, name, applied").fetchall()
        assert "run `toolgate migrate`" in wrong(ask(deployment.url))["migrations"]
        with database.cursor() as cursor:
            cursor.executemany("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", gone)
    beat.start()
    until_ready(deployment)

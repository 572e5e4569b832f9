"""Each process of a deployment is told to end, by either signal: it finishes or hands back what it holds, and ends with 0."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.running.production import Production
from tests.running.test_production import agent, mail, status, submit
from tests.servers import until

SIGNALS = [signal.SIGTERM, signal.SIGINT]
GRACE = "3"
SETTINGS = {
    "TOOLGATE_GRACE_SECONDS": GRACE,
    "TOOLGATE_LEASE_SECONDS": "4",
    "TOOLGATE_WORKER_THREADS": "1",
    "TOOLGATE_DATABASE_PREPARED": "false",  # so that PostgreSQL tells which call a statement asks for
}


@pytest.fixture(scope="module")
def deployment() -> Iterator[Production]:
    production = Production(settings=dict(SETTINGS))
    try:
        production.start()
        yield production
    finally:
        production.end()


class Waiting(threading.Thread):
    """Somebody who asks for a call that does not move, held by a server for so many seconds."""

    def __init__(self, deployment: Production, port: int, seconds: float) -> None:
        super().__init__()
        self.deployment, self.port, self.seconds = deployment, port, seconds
        self.answer: httpx2.Response | None = None
        with agent(deployment) as http:
            self.call = submit(http, "send_mail", mail(0))
        with psycopg.connect(deployment.postgres.url, autocommit=True) as database:
            before = database.execute("SELECT clock_timestamp()").fetchone()
            self.start()
            until(lambda: self._is_looked_up(database, before), lambda: deployment.log)

    def _is_looked_up(self, database: psycopg.Connection[Any], before: Any) -> bool:
        """Somebody asks the database for this call: the request has arrived and is held."""
        asking = "SELECT 1 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query_start > %s AND query LIKE %s"
        return database.execute(asking, [*before, f"%{self.call['id'].replace('-', '')}%"]).fetchone() is not None

    def run(self) -> None:
        with agent(self.deployment, self.port) as http:
            self.answer = http.get(f"/tool-calls/{self.call['id']}", params={"wait": self.seconds})


@pytest.mark.parametrize("how", SIGNALS)
def test_web_finishes_the_request_that_it_holds(how: signal.Signals, deployment: Production) -> None:
    web = deployment.processes["web"]
    held = Waiting(deployment, deployment.port, 1.5)
    assert web.end(how) == 0, web.log
    held.join()
    assert held.answer is not None
    assert (held.answer.status_code, held.answer.json()["status"]) == (200, "pending")
    assert "Traceback" not in web.log
    web.start()
    deployment.until_web_answers()


def test_web_ends_when_a_terminal_interrupts_all_of_its_processes(deployment: Production) -> None:
    web = deployment.processes["web"]
    assert web.process is not None
    os.killpg(web.process.pid, signal.SIGINT)
    assert web.process.wait(60) == 0, web.log
    web.start()
    deployment.until_web_answers()


def test_web_ends_whoever_keeps_a_connection_open(deployment: Production) -> None:
    web = deployment.processes["web"]
    with agent(deployment) as idle:
        assert idle.get("/tools").status_code == 200
        killed_before = web.log.count("Killing")
        assert web.end() == 0, web.log
        assert web.log.count("Killing") == killed_before
    web.start()
    deployment.until_web_answers()


@pytest.mark.parametrize("how", SIGNALS)
def test_waiting_tells_those_who_wait_to_come_back(how: signal.Signals, deployment: Production) -> None:
    waiting = deployment.processes["waiting"]
    until(lambda: answers(deployment.waiting_port), lambda: waiting.log)
    held = Waiting(deployment, deployment.waiting_port, 50)
    assert waiting.end(how) == 0, waiting.log
    held.join()
    assert held.answer is not None
    assert (held.answer.status_code, held.answer.headers["Retry-After"]) == (503, "1")
    assert "Traceback" not in waiting.log
    waiting.start()


def children(pid: int) -> list[int]:
    stats = {int(path.name): path / "stat" for path in Path("/proc").glob("[0-9]*")}
    parents = {child: stat.read_text().rpartition(")")[2].split()[1] for child, stat in stats.items() if stat.exists()}
    return [child for child, parent in parents.items() if parent == str(pid)]


def answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
    except httpx2.TransportError:
        return False


def executing(deployment: Production, seconds: float) -> dict[str, Any]:
    with agent(deployment) as http:
        call = submit(http, "slow_report", {"seconds": seconds})
    until(lambda: status(deployment, call["id"]) == "executing", lambda: deployment.log)
    return call


@pytest.mark.parametrize("how", SIGNALS)
def test_worker_leaves_what_outlasts_the_grace_to_its_lease_and_the_rest_to_the_next(
    how: signal.Signals, deployment: Production
) -> None:
    worker = deployment.processes["worker"]
    slow = executing(deployment, 50)
    with agent(deployment) as http:
        behind = [submit(http, "slow_report", {"seconds": 0}) for _ in range(3)]
    assert worker.end(how) == 0, worker.log
    assert [status(deployment, call["id"]) for call in behind] == ["approved"] * 3
    until(lambda: status(deployment, slow["id"]) == "outcome_unknown", lambda: deployment.log)
    worker.start()
    for call in behind:
        until(lambda call=call: status(deployment, call["id"]) == "succeeded", lambda: deployment.log)  # type: ignore[misc]
    assert status(deployment, slow["id"]) == "outcome_unknown"


@pytest.mark.parametrize("how", SIGNALS)
def test_clock_ends(how: signal.Signals, deployment: Production) -> None:
    beat = deployment.processes["beat"]
    started = beat.log.count("toolgate clock runs")
    assert beat.end(how) == 0, beat.log
    assert "Traceback" not in beat.log
    beat.start()
    until(lambda: beat.log.count("toolgate clock runs") > started, lambda: beat.log)


def test_each_ends_while_redis_is_frozen(deployment: Production) -> None:
    with agent(deployment) as http:
        deployment.redis.freeze()
        try:
            submit(http, "slow_report", {"seconds": 0})
            for name in ("worker", "beat", "waiting", "web"):
                process = deployment.processes[name]
                assert process.end() == 0, process.log
        finally:
            deployment.redis.go_on()
    for process in deployment.processes.values():
        process.start()
    deployment.until_ready()


def test_web_refuses_a_port_that_another_serves(deployment: Production) -> None:
    refused = deployment.run("web", "--port", str(deployment.port))
    assert refused.returncode == 1
    assert f"Port {deployment.port} is taken" in refused.stderr


def test_web_process_that_dies_is_replaced_and_told_of(deployment: Production) -> None:
    web = deployment.processes["web"]
    assert web.process is not None
    os.kill(children(web.process.pid)[0], signal.SIGKILL)
    until(lambda: "Unexpected exit from worker" in web.log, lambda: web.log)
    deployment.until_web_answers()
    assert web.end() == 0, web.log
    web.start()
    deployment.until_web_answers()

"""Redis is away for longer than anybody's patience: the clock goes on, and workers come back by themselves."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import redis

from tests.running.production import Production
from tests.running.test_production import agent, mail, settled, status, submit
from tests.servers import until

# No sweep helps before the test is over: what runs was told of by Redis.
NO_SWEEP = {"TOOLGATE_DISPATCH_SECONDS": "10000"}
VISIBILITY = "15"  # more than a worker takes to start, for it looks when it starts, too
LONG = 22  # seconds; longer than two health checks and every time-out


@pytest.fixture(scope="module")
def deployment() -> Iterator[Production]:
    production = Production(settings={**NO_SWEEP, "TOOLGATE_VISIBILITY_SECONDS": VISIBILITY, "TOOLGATE_WORKER_THREADS": "1"})
    try:
        production.start()
        yield production
    finally:
        production.end()


def look_up(http: httpx2.Client) -> dict[str, Any]:
    return submit(http, "look_up_order", {"number": 17})


def has_ended(deployment: Production, call: dict[str, Any], wanted: str) -> None:
    until(lambda: status(deployment, call["id"]) == wanted, lambda: deployment.log)


def test_clock_ends_what_is_overdue_while_redis_is_frozen(deployment: Production) -> None:
    deployment.redis.freeze()
    try:
        with agent(deployment) as http:
            body = {"tool": "send_mail", "tool_call_id": "overdue", "arguments": mail(0), "timeout_seconds": 0.5}
            call = http.post("/tool-calls", json=body).json()
        has_ended(deployment, call, "expired")
    finally:
        deployment.redis.go_on()


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_worker_takes_hints_again_after_redis_was_away_for_long(how: str, deployment: Production) -> None:
    worker = deployment.processes["worker"].process
    if how == "frozen":
        deployment.redis.freeze()
        time.sleep(LONG)
        deployment.redis.go_on()
    else:
        deployment.redis.kill()
        time.sleep(LONG)
        deployment.redis.start()
    until(lambda: deployment.readiness()["ok"], lambda: str(deployment.readiness()))
    with agent(deployment) as http:
        assert settled(deployment, *[look_up(http) for _ in range(5)]) == ["succeeded"] * 5
    assert worker is not None
    assert worker.poll() is None


def test_what_a_killed_worker_had_taken_is_handed_out_by_one_that_lives(deployment: Production) -> None:
    with redis.Redis.from_url(deployment.redis.url) as broker, agent(deployment) as http:
        slow = submit(http, "slow_report", {"seconds": 50})
        has_ended(deployment, slow, "executing")
        other = deployment.start_one("worker", "other worker")
        until(lambda: "toolgate worker runs" in other.log, lambda: other.log)
        assert broker.hlen("unacked") == 1
        worker = deployment.processes["worker"]
        worker.end(signal.SIGKILL)
        try:
            until(lambda: broker.hlen("unacked") == 0, lambda: other.log)
            assert settled(deployment, look_up(http)) == ["succeeded"]
        finally:
            worker.start()
            deployment.processes.pop("other worker").end()

"""Worker processes on Redis and PostgreSQL: a broker that hands out again what still runs, and workers that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from kombu import Connection

from tests.servers import PostgreSQL, Redis

ENDS_WITHIN = 60  # seconds; a bound, not a promise
SUBMIT = """
from celery import current_app
from approvals import dispatch, lifecycle
from approvals.clock import now
from approvals.lifecycle import Submission
from approvals.models import Agent
agent = Agent.objects.create(name="an agent")
for number in range(4):
    call, _ = lifecycle.submit(agent=agent, submission=Submission("wait", f"call_{number}", "{}"), at=now())
    current_app.send_task(dispatch.EXECUTE, args=[str(call.pk)])  # at once: this process ends too soon for its own hints
"""
FIND_LOST = """
from datetime import timedelta
from django.conf import settings
from approvals import sweeps
from approvals.clock import now
print("lost", sweeps.find_lost(now() + settings.LEASE * 2))
"""


class Deployment:
    """A deployment on servers of its own, and what to ask of it."""

    def __init__(self, folder: Path, postgresql: PostgreSQL, redis: Redis) -> None:
        self.folder, self.postgresql, self.redis = folder, postgresql, redis
        self.workers: list[subprocess.Popen[bytes]] = []
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLGATE_", "DJANGO_"))}
        self.environment = kept | {
            "TOOLGATE_MODE": "production",
            "TOOLGATE_SECRET_KEY": "invented for this test",
            "TOOLGATE_DATA_DIR": str(folder),
            "TOOLGATE_DATABASE_URL": postgresql.url,
            "TOOLGATE_REDIS_URL": redis.url,
            "TOOLGATE_TOOLS": "tests.faults.waiting",
            "DJANGO_SETTINGS_MODULE": "toolgate.settings",
        }
        with sqlite3.connect(folder / "runs.sqlite3") as database:
            database.execute("CREATE TABLE runs (idempotency_key TEXT)")
        database.close()
        self.django("migrate", "--verbosity=0")

    def django(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "django", *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, timeout=120).stdout

    def start_worker(self, pool: str, name: str) -> subprocess.Popen[bytes]:
        options = ["--pool", pool, "--concurrency", "4", "--hostname", name, "--without-mingle", "--without-gossip"]
        command = [sys.executable, "-m", "celery", "-A", "toolgate.celery", "worker", *options]
        with open(self.folder / "worker.log", "ab") as log:
            worker = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Its children, too: each worker leads a group of its own."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(ENDS_WITHIN)

    def runs(self) -> Counter[str]:
        database = sqlite3.connect(self.folder / "runs.sqlite3", timeout=30)
        found = Counter(key for (key,) in database.execute("SELECT idempotency_key FROM runs"))
        database.close()
        return found

    def rows(self, statement: str) -> Counter[str]:
        with psycopg.connect(self.postgresql.url) as connection:
            return Counter(row[0] for row in connection.execute(statement.encode()))

    def statuses(self) -> Counter[str]:
        return self.rows("SELECT status FROM approvals_toolcall")

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + ENDS_WITHIN
        while not is_so():
            assert time.monotonic() < end, (self.folder / "worker.log").read_text()
            time.sleep(0.1)

    def end(self) -> None:
        (self.folder / "go").touch()
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgreSQL, Redis]]:
    postgresql, redis = PostgreSQL(), Redis()
    try:
        postgresql.start()
        redis.start()
        yield postgresql, redis
    finally:
        postgresql.remove()
        redis.remove()


@pytest.fixture
def deployment(tmp_path: Path, servers: tuple[PostgreSQL, Redis]) -> Iterator[Deployment]:
    postgresql, redis = servers
    with psycopg.connect(postgresql.url_of("postgres", "postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS toolgate WITH (FORCE)")
        connection.execute("CREATE DATABASE toolgate OWNER toolgate")
    redis.restart()
    made = Deployment(tmp_path, postgresql, redis)
    yield made
    made.end()


def hand_out_again(redis: Redis) -> int:
    """What a worker with a lease of its own of no time at all does: every message that is being worked on is sent anew."""
    with Connection(redis.url, transport_options={"visibility_timeout": 0}) as broker:
        channel: Any = broker.channel()
        held = int(channel.client.hlen("unacked"))
        channel.qos.restore_visible(num=1000)
    return held


def is_worked_off(redis: Redis) -> bool:
    """No message waits, and none is being worked on."""
    with Connection(redis.url) as broker:
        channel: Any = broker.channel()
        return not channel.client.llen("celery") and not channel.client.hlen("unacked")


def test_message_that_the_broker_hands_out_again_while_the_call_runs_runs_nothing(deployment: Deployment) -> None:  # B001 B002
    for name in ("one@test", "two@test"):
        deployment.start_worker("threads", name)
    deployment.django("shell", "-c", SUBMIT)
    deployment.until(lambda: deployment.runs().total() == 4)
    assert hand_out_again(deployment.redis) >= 4
    deployment.until(lambda: is_worked_off(deployment.redis))
    assert deployment.statuses() == {"executing": 4}
    (deployment.folder / "go").touch()
    deployment.until(lambda: deployment.statuses() == {"succeeded": 4})
    assert set(deployment.runs().values()) == {1}
    kinds = deployment.rows("SELECT kind FROM approvals_auditevent WHERE kind IN ('claimed', 'succeeded', 'lost')")
    assert kinds == {"claimed": 4, "succeeded": 4}


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_call_of_a_worker_that_is_killed_is_found_whatever_the_pool(pool: str, deployment: Deployment) -> None:  # B130
    started = 1 if pool == "solo" else 4
    worker = deployment.start_worker(pool, "killed@test")
    deployment.django("shell", "-c", SUBMIT)
    deployment.until(lambda: deployment.runs().total() == started)
    deployment.kill(worker)
    assert f"lost {started}" in deployment.django("shell", "-c", FIND_LOST)
    deployment.start_worker(pool, "next@test")
    (deployment.folder / "go").touch()
    hand_out_again(deployment.redis)
    expected = {"outcome_unknown": started} | ({"succeeded": 4 - started} if started < 4 else {})
    deployment.until(lambda: deployment.statuses() == expected)
    assert set(deployment.runs().values()) == {1}

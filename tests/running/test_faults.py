"""Parts of a deployment die under load: nothing acknowledged is lost, nothing runs twice, nothing waits for ever.

Each ends with counts from the database and verified chains.
"""

from __future__ import annotations

import itertools
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx2
import psycopg
import pytest

from tests.running.production import Process, Production
from tests.servers import until

LONGEST = 300.0  # seconds; a bound, not a promise
LEASE = "4"
SETTINGS = {"TOOLGATE_TOOLS": "tests.running.counted", "TOOLGATE_LEASE_SECONDS": LEASE, "TOOLGATE_DISPATCH_SECONDS": "2"}
UNKNOWN = "SELECT count(*) FROM approvals_toolcall WHERE status = 'outcome_unknown'"
pytestmark = pytest.mark.timeout(600)
numbers = itertools.count()


@pytest.fixture(scope="module")
def web_and_clock() -> Iterator[Production]:
    production = Production(settings=dict(SETTINGS))
    try:
        production.start("web", "beat")
        yield production
    finally:
        production.end()


@pytest.fixture
def deployment(web_and_clock: Production) -> Iterator[Production]:
    """Web and clock, with no worker before and after."""
    yield web_and_clock
    for name in [name for name in web_and_clock.processes if name not in ("web", "beat")]:
        web_and_clock.processes.pop(name).end(signal.SIGKILL)


@dataclass
class Load:
    """Agents that submit until told to stop, and reviewers that approve all they see. Remembers what was acknowledged."""

    production: Production
    over: threading.Event = field(default_factory=threading.Event)
    submitted: dict[str, str] = field(default_factory=dict)
    approved: set[str] = field(default_factory=set)
    unknown_before: int = 0

    def __post_init__(self) -> None:
        ((self.unknown_before,),) = rows(self.production, UNKNOWN)

    def client(self, secret: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx2.Client(base_url=f"{self.production.url}/api/v1", headers=headers, timeout=30)

    def acknowledged(self, ask: Callable[[], httpx2.Response]) -> httpx2.Response | None:
        """Asks again until somebody answers. A refusal to serve is told as one: 503, or no connection at all."""
        while not self.over.is_set():
            try:
                answer = ask()
            except httpx2.TransportError:
                time.sleep(0.1)
                continue
            assert answer.status_code in (200, 201, 409, 503), answer.text
            if answer.status_code != 503:
                return answer
            time.sleep(0.1)
        return None

    def submit(self) -> None:
        with self.client(self.production.credentials["agent_key"]) as http:
            while not self.over.is_set():
                name = f"call {next(numbers)}"
                tool = "count" if len(name) % 2 else "count_at_once"
                body = {"tool": tool, "tool_call_id": name, "arguments": {"number": 1}}
                answer = self.acknowledged(lambda body=body: http.post("/tool-calls", json=body))  # type: ignore[misc]
                if answer is not None:
                    self.submitted[answer.json()["id"]] = name

    def approve(self, name: str) -> None:
        with self.client(self.production.credentials["people"][name]["token"]) as http:
            while not self.over.is_set():
                page = self.acknowledged(lambda: http.get("/inbox", params={"limit": 20}))
                for call in page.json()["results"] if page else ():
                    self._approve(http, call)
                time.sleep(0.05)

    def _approve(self, http: httpx2.Client, call: dict[str, Any]) -> None:
        body = {"kind": "approve", "digest": call["digest"]}
        if call["status"] == "pending" and call["id"] not in self.approved:
            answer = self.acknowledged(lambda: http.post(f"/tool-calls/{call['id']}/decisions", json=body))
            if answer is not None and answer.status_code == 200:
                self.approved.add(call["id"])

    def run_while(self, fault: Callable[[], None]) -> None:
        bound = threading.Timer(LONGEST, self.over.set)
        bound.start()
        with ThreadPoolExecutor(4) as pool:
            work = [pool.submit(self.submit) for _ in range(2)]
            work += [pool.submit(self.approve, name) for name in ("ada", "grace")]
            try:
                fault()
            finally:
                assert not self.over.is_set(), "the fault took too long"
                self.over.set()
                bound.cancel()
        for one in work:
            one.result()


def rows(production: Production, statement: str) -> list[Any]:
    with psycopg.connect(production.postgres.url) as connection:
        return connection.execute(statement.encode()).fetchall()


def counted(production: Production) -> Counter[str]:
    database = sqlite3.connect(production.folder / "counted.sqlite3", timeout=60)
    found = Counter(row[0] for row in database.execute("SELECT idempotency_key FROM runs"))
    database.close()
    return found


def in_the_inbox(load: Load) -> set[str]:
    """What people are told that nobody knows of, all pages of it."""
    found: set[str] = set()
    query = {"status": "outcome_unknown", "limit": "100"}
    with load.client(load.production.credentials["people"]["ada"]["token"]) as http:
        page = http.get("/inbox", params=query).json()
        found |= {call["id"] for call in page["results"]}
        while page["next"]:
            page = http.get(page["next"]).json()
            found |= {call["id"] for call in page["results"]}
    return found


def check(production: Production, load: Load, *, most_unknown: int) -> None:
    """What holds whatever died, once everything has come to an end."""
    still_open = "SELECT count(*) FROM approvals_toolcall WHERE status IN ('approved', 'executing')"
    until(lambda: rows(production, still_open) == [(0,)], lambda: f"{rows(production, still_open)}", within=LONGEST)
    statuses = {str(call_id): status for call_id, status in rows(production, "SELECT id, status FROM approvals_toolcall")}
    assert set(load.submitted) <= set(statuses)
    decided = {str(row[0]) for row in rows(production, "SELECT call_id FROM approvals_decision WHERE kind = 'approve'")}
    assert load.approved <= decided
    assert set(statuses.values()) <= {"pending", "succeeded", "outcome_unknown"}
    assert all(statuses[call_id] != "pending" for call_id in load.approved)

    ran = counted(production)
    assert set(ran.values()) == {1}
    assert all(ran[call_id] == 1 for call_id, status in statuses.items() if status == "succeeded")
    assert all(statuses[call_id] != "pending" for call_id in ran)

    unknown = {call_id for call_id, status in statuses.items() if status == "outcome_unknown"}
    assert len(unknown) - load.unknown_before <= most_unknown
    assert in_the_inbox(load) == unknown
    verified = production.run("verify")
    assert verified.returncode == 0, verified.stdout


def test_workers_killed_a_hundred_times_at_random_points(deployment: Production) -> None:
    workers, kills, threads = 3, 100, 2
    deployment.settings["TOOLGATE_WORKER_THREADS"] = str(threads)
    command = [sys.executable, "-m", "tests.running.killed_workers", str(workers), str(kills)]
    killed = Process(
        command, deployment.environment | {"DJANGO_SETTINGS_MODULE": "toolgate.settings"}, deployment.folder / "k.log"
    )
    deployment.processes["workers"] = killed
    load = Load(deployment)

    def all_killed() -> None:
        killed.start()
        end = time.monotonic() + LONGEST
        while f"killed {kills}\n" not in killed.log:
            assert killed.is_running, killed.log
            assert time.monotonic() < end, killed.log
            time.sleep(0.2)

    load.run_while(all_killed)
    check(deployment, load, most_unknown=kills * threads)


def test_web_processes_killed_under_load(deployment: Production) -> None:
    deployment.start_one("worker")
    load, web = Load(deployment), deployment.processes["web"]

    def killed_now_and_then() -> None:
        for _ in range(4):
            time.sleep(2)
            web.end(signal.SIGKILL)
            web.start()
            deployment.until_web_answers()

    load.run_while(killed_now_and_then)
    check(deployment, load, most_unknown=0)


@pytest.mark.parametrize("how", ["restarted", "killed", "frozen"])
def test_database_gone_for_a_while_under_load(how: str, deployment: Production) -> None:
    deployment.start_one("worker")
    load, postgres = Load(deployment), deployment.postgres

    def gone_twice() -> None:
        for _ in range(2):
            time.sleep(2)
            if how == "restarted":
                postgres.restart()
            elif how == "killed":
                postgres.kill()
                postgres.start()
            else:
                postgres.freeze()
                time.sleep(float(LEASE) * 1.5)
                postgres.go_on()
            deployment.until_web_answers()
            before = len(load.submitted)
            until(lambda before=before: len(load.submitted) > before + 3, lambda: deployment.log[-4000:])  # type: ignore[misc]

    load.run_while(gone_twice)
    check(deployment, load, most_unknown=2 * 4)  # what four threads held, twice


@pytest.mark.parametrize("hours", [-1, 1])
def test_worker_whose_clock_is_an_hour_off(hours: int, deployment: Production) -> None:
    off = (
        "import sys, time, datetime, time_machine; from toolgate.cli import main; "
        f"time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours={hours}), tick=True).start(); "
        "sys.exit(main(['worker']))"
    )
    worker = Process([sys.executable, "-c", off], deployment.environment, deployment.folder / "worker.log")
    deployment.processes["worker"] = worker
    worker.start()
    load = Load(deployment)
    load.run_while(lambda: until(lambda: len(load.approved) > 20, lambda: deployment.log[-4000:]))
    check(deployment, load, most_unknown=0)
    ((early, late),) = rows(
        deployment,
        "SELECT min(started_at - submitted_at), max(ended_at - submitted_at) FROM approvals_execution"
        " JOIN approvals_toolcall ON call_id = approvals_toolcall.id",
    )
    assert early.total_seconds() > -5
    assert late.total_seconds() < 1800

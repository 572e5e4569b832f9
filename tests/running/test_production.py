"""A whole deployment as processes: PostgreSQL, Redis, web, waiting, worker and beat, as docker-compose.yml starts them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import yaml

from tests.running.production import COMPOSE, Production, commands
from tests.servers import until
from toolgate.cli import COMMANDS

SLOW = 6  # seconds a call may take by which somebody could see that it waits for Redis


@pytest.fixture(scope="module")
def deployment() -> Iterator[Production]:
    production = Production()
    try:
        production.start()
        yield production
    finally:
        production.end()


def agent(production: Production, port: int = 0) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {production.credentials['agent_key']}"}
    url = f"http://127.0.0.1:{port or production.port}/api/v1"
    return httpx2.Client(base_url=url, headers=headers, timeout=70)


def person(production: Production, name: str = "ada") -> httpx2.Client:
    headers = {"Authorization": f"Bearer {production.credentials['people'][name]['token']}"}
    return httpx2.Client(base_url=f"{production.url}/api/v1", headers=headers, timeout=70)


def submit(http: httpx2.Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    body = {"tool": tool, "tool_call_id": f"{tool} {time.time_ns()}", "arguments": arguments}
    answer = http.post("/tool-calls", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def mail(number: int) -> dict[str, Any]:
    return {"to": f"{number}@example.org", "subject": "s", "body": "b"}


def status(production: Production, call_id: str) -> str:
    with psycopg.connect(production.postgres.url) as connection:
        found = connection.execute("SELECT status FROM approvals_toolcall WHERE id = %s", [call_id]).fetchone()
    assert found is not None
    return str(found[0])


def settled(production: Production, *calls: dict[str, Any]) -> list[str]:
    open_statuses = ("pending", "approved", "executing")
    until(lambda: all(status(production, call["id"]) not in open_statuses for call in calls), lambda: production.log)
    return [status(production, call["id"]) for call in calls]


def test_tells_every_story_of_the_demonstration(deployment: Production) -> None:
    told = deployment.run("demo", "--url", deployment.url)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "10 of 10 stories as promised." in told.stdout
    assert deployment.run("verify").returncode == 0


def test_waiting_door_answers_when_the_call_is_settled(deployment: Production) -> None:
    with agent(deployment) as http, agent(deployment, deployment.waiting_port) as waiting, person(deployment) as reviewer:
        call = submit(http, "send_mail", mail(0))
        answers: list[httpx2.Response] = []
        there = threading.Thread(target=lambda: answers.append(waiting.get(f"/tool-calls/{call['id']}", params={"wait": 50})))
        there.start()
        reviewer.post(f"/tool-calls/{call['id']}/decisions", json={"kind": "approve", "digest": call["digest"]})
        there.join()
    assert answers[0].json()["status"] == "succeeded"


def test_is_ready_only_with_all_that_it_needs(deployment: Production) -> None:
    assert httpx2.get(f"{deployment.url}/readyz", headers={"Host": "10.1.2.3"}).status_code == 200
    deployment.redis.freeze()
    try:
        frozen = httpx2.get(f"{deployment.url}/readyz", timeout=30)
        assert (frozen.status_code, frozen.json()["checks"]["database"]) == (503, "ok")
        assert "does not answer" in frozen.json()["checks"]["broker"]
        assert httpx2.get(f"{deployment.url}/healthz", timeout=30).json() == {"ok": True}
    finally:
        deployment.redis.go_on()
    until(lambda: deployment.readiness()["ok"], lambda: str(deployment.readiness()))


@pytest.mark.parametrize("away", ["frozen", "killed", "restarted empty"])
def test_no_request_waits_for_redis_and_what_was_approved_runs_when_it_is_back(away: str, deployment: Production) -> None:
    redis = deployment.redis
    with agent(deployment) as http, person(deployment) as reviewer:
        if away == "frozen":
            redis.freeze()
        else:
            redis.kill()
        began = time.monotonic()
        calls = [submit(http, "send_mail", mail(number)) for number in range(8)]
        for call in calls:
            body = {"kind": "approve", "digest": call["digest"]}
            assert reviewer.post(f"/tool-calls/{call['id']}/decisions", json=body).json()["status"] == "approved"
            assert http.get(f"/tool-calls/{call['id']}").json()["status"] == "approved"
        assert time.monotonic() - began < 8 * SLOW  # a bound on hanging, each request of 24 would have to wait for it
        if away == "restarted empty":
            for kept in redis.folder.glob("appendonlydir/*"):
                kept.unlink()
        if away == "frozen":
            redis.go_on()
        else:
            redis.start()
    assert settled(deployment, *calls) == ["succeeded"] * len(calls)


def test_worker_that_is_told_to_end_finishes_what_takes_a_moment(deployment: Production) -> None:
    with agent(deployment) as http:
        call = submit(http, "slow_report", {"seconds": 3})
        until(lambda: status(deployment, call["id"]) == "executing", lambda: deployment.log)
        worker = deployment.processes["worker"]
        assert worker.end() == 0, worker.log
        assert status(deployment, call["id"]) == "succeeded"
        waiting = submit(http, "slow_report", {"seconds": 0})
        worker.start()
    assert settled(deployment, waiting) == ["succeeded"]


def test_two_clocks_do_no_harm(deployment: Production) -> None:
    second = deployment.start_one("beat", "second beat")
    until(lambda: "toolgate clock runs" in second.log, lambda: second.log)
    with agent(deployment) as http:
        calls = [submit(http, "slow_report", {"seconds": 0}) for _ in range(10)]
    assert settled(deployment, *calls) == ["succeeded"] * len(calls)
    assert second.end() == 0, second.log
    assert deployment.run("verify").returncode == 0


def test_every_process_ends_cleanly_when_it_is_told(deployment: Production) -> None:
    for name in ("beat", "worker", "waiting", "web"):
        process = deployment.processes[name]
        assert process.end(signal.SIGTERM) == 0, process.log
        assert "Traceback" not in process.log
        process.start()
    deployment.until_ready()


def test_compose_file_is_one_and_its_commands_are_ours() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert {words[0] for words in commands().values()} <= set(COMMANDS)
    assert set(commands()) == {"migrate", "web", "waiting", "worker", "beat"}


def test_compose_file_holds_no_secret_of_its_own() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            is_secret = any(word in variable for word in ("SECRET", "PASSWORD", "DATABASE_URL"))
            assert not is_secret or ":?" in value, f"{name}: {variable}"


@pytest.mark.parametrize("command", ["web", "waiting", "worker", "beat"])
def test_command_says_that_it_is_for_production(command: str, tmp_path: Path) -> None:
    told = Production(folder=tmp_path, settings={"TOOLGATE_MODE": "embedded"}).run(command)
    assert told.returncode == 2
    assert "TOOLGATE_MODE must be production" in told.stderr

"""A whole deployment as processes: PostgreSQL, Redis, web, waiting, worker and beat, as docker-compose.yml starts them."""

from __future__ import annotations

import json
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
from tests.running.server import Serving
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


def test_tells_every_story_of_the_demonstration_at_the_waiting_door_too(deployment: Production) -> None:
    told = deployment.run("demo", "--url", f"http://127.0.0.1:{deployment.waiting_port}")
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
        calls = [submit(http, "send_mail", mail(number)) for number in range(20)]
        for call in calls:
            body = {"kind": "approve", "digest": call["digest"]}
            assert reviewer.post(f"/tool-calls/{call['id']}/decisions", json=body).json()["status"] == "approved"
            assert http.get(f"/tool-calls/{call['id']}").json()["status"] == "approved"
        assert time.monotonic() - began < 20 * SLOW  # a bound on hanging, each request of 60 would have to wait for it
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


def test_compose_file_starts_each_when_what_it_needs_is_there_and_keeps_it_running() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for name in ("web", "waiting", "worker", "beat"):
        needed = {other: how["condition"] for other, how in services[name]["depends_on"].items()}
        healthy = dict.fromkeys(("postgres", "redis"), "service_healthy")
        assert needed == {**healthy, "migrate": "service_completed_successfully"}
        assert services[name]["restart"] == "unless-stopped"
        assert services[name]["read_only"]
    assert services["migrate"]["restart"] == "no"
    for name in ("web", "waiting"):
        port = commands()[name][-1]
        assert f"127.0.0.1:{port}/healthz" in services[name]["healthcheck"]["test"][-1]
        assert services[name]["ports"] == [f"127.0.0.1:{port}:{port}"]
    for name in ("postgres", "redis"):
        assert services[name]["healthcheck"]
        assert services[name]["volumes"]
        assert "ports" not in services[name]


def test_image_is_made_of_what_is_here_and_runs_as_nobody_in_particular() -> None:
    root = COMPOSE.parent
    lines = (root / "Dockerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]]
    let_in = [line.removeprefix("!") for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert copied
    assert set(copied) == set(let_in)
    assert all((root / name).exists() for name in copied)
    assert [line for line in lines if line.startswith("USER ")][-1:] == ["USER toolgate"]
    assert "--require-hashes" in "".join(lines)
    assert "://" not in "".join(lines)


def test_compose_file_holds_no_secret_of_its_own() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            is_secret = any(word in variable for word in ("SECRET", "PASSWORD", "DATABASE_URL"))
            assert not is_secret or ":?" in value, f"{name}: {variable}"


def refusal(folder: Path, command: str, **settings: str) -> str:
    """What a process says that does not start."""
    production = Production(folder=folder, settings=settings)
    try:
        told = production.run(command)
    finally:
        production.postgres.remove()
        production.redis.remove()
    assert told.returncode == 2, told.stderr
    assert "Traceback" not in told.stderr
    return told.stderr


@pytest.mark.parametrize("command", ["web", "waiting", "worker", "beat"])
def test_command_says_that_it_is_for_production(command: str, tmp_path: Path) -> None:
    assert "TOOLGATE_MODE must be production" in refusal(tmp_path, command, TOOLGATE_MODE="embedded")


@pytest.mark.parametrize(
    ("command", "variable", "value", "wanted"),
    [
        ("web", "TOOLGATE_SECRET_KEY", "", "production needs TOOLGATE_SECRET_KEY"),
        ("waiting", "TOOLGATE_REDIS_URL", "", "production needs TOOLGATE_REDIS_URL"),
        ("worker", "TOOLGATE_REDIS_URL", "http://here", "TOOLGATE_REDIS_URL: must be like redis://"),
        ("beat", "TOOLGATE_DATABASE_URL", "sqlite:///gate", "TOOLGATE_DATABASE_URL: must be like postgres://"),
        ("web", "TOOLGATE_TOOLS", "no_such_module", "TOOLGATE_TOOLS: no_such_module cannot be loaded"),
        ("waiting", "TOOLGATE_LEASE_SECOND", "5", "Did you mean TOOLGATE_LEASE_SECONDS?"),
        ("worker", "TOOLGATE_GRACE_SECONDS", "soon", "TOOLGATE_GRACE_SECONDS"),
    ],
)
def test_command_names_what_keeps_it_from_working(command: str, variable: str, value: str, wanted: str, tmp_path: Path) -> None:
    assert wanted in refusal(tmp_path, command, **{variable: value})


def test_variables_that_kubernetes_adds_are_no_slips_of_the_pen(tmp_path: Path) -> None:
    added = {
        "TOOLGATE_SERVICE_HOST": "10.0.0.1",
        "TOOLGATE_WEB_SERVICE_PORT_HTTP": "80",
        "TOOLGATE_WEB_PORT": "tcp://10.0.0.1:80",
        "TOOLGATE_WEB_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    told = Serving(tmp_path, added).run("check")
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("url", ["https://gate.example.org", "https://gate.example.org:8443/", "https://[2001:db8::1]"])
def test_public_url_is_what_a_secure_deployment_follows_from(url: str, tmp_path: Path) -> None:
    production = Production(folder=tmp_path, settings={"TOOLGATE_PUBLIC_URL": url, "TOOLGATE_ALLOWED_HOSTS": ""})
    asked = ("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
    tell = f"import json; from toolgate import settings; print(json.dumps([getattr(settings, name) for name in {asked}]))"
    command = [sys.executable, "-c", tell]
    told = subprocess.run(command, env=production.environment, capture_output=True, text=True, check=True)
    production.postgres.remove()
    production.redis.remove()
    host = url.removeprefix("https://").rstrip("/").removesuffix(":8443")
    assert json.loads(told.stdout) == [[host], [url.rstrip("/")], True, True, True]


def test_style_sheets_are_served_without_a_server_of_their_own(deployment: Production) -> None:
    for port in (deployment.port, deployment.waiting_port):
        found = httpx2.get(f"http://127.0.0.1:{port}/static/approvals/pages.css")
        assert (found.status_code, found.headers["Content-Type"].split(";")[0]) == (200, "text/css")

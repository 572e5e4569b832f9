"""What stands in the log: one id from submit to result, through every process; and no secret, also at the finest level."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx2
import pytest

from tests.running.production import Production
from tests.running.server import Serving
from tests.servers import until

TOOLS = "tests.running.secretive"
ARGUMENT = "argument-Zr7qW2"
PASSWORD = "pass-phrase-Kx93vT"
METRICS_TOKEN = "metrics-token-Jm4sY8-long-enough"
SIGNING_KEY = "signing-key-Bn6cD1-which-is-long-enough-for-anybody-to-use"
pytestmark = pytest.mark.timeout(600)


def submit(http: httpx2.Client, tool: str, **headers: str) -> dict[str, Any]:
    body = {"tool": tool, "tool_call_id": f"{tool} 1", "arguments": {"password": ARGUMENT}, "agent_reasoning": ARGUMENT}
    answer = http.post("/api/v1/tool-calls", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def agent(serving: Serving) -> httpx2.Client:
    key = serving.run("agent", "logged").stdout.strip()
    return httpx2.Client(base_url=serving.url, headers={"Authorization": f"Bearer {key}"}, timeout=70)


def log_in(serving: Serving) -> httpx2.Client:
    assert serving.run("person", "mary", "--administrator", input=f"{PASSWORD}\n").returncode == 0
    browser = httpx2.Client(base_url=serving.url, timeout=70, follow_redirects=True)
    form = {"username": "mary", "csrfmiddlewaretoken": _token(browser.get("/login").text)}
    browser.post("/login", data=form | {"password": f"wrong-{PASSWORD}"})
    assert "Inbox" in browser.post("/login", data=form | {"password": PASSWORD}).text
    return browser


def _token(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    return found[1]


@pytest.mark.parametrize("debug", ["false", "true"])
def test_no_secret_is_logged_at_the_finest_level(debug: str, serve: Callable[..., Serving]) -> None:
    serving = serve(
        "--no-demo", TOOLGATE_TOOLS=TOOLS, TOOLGATE_LOG_LEVEL="DEBUG", TOOLGATE_DEBUG=debug,
        TOOLGATE_METRICS_TOKEN=METRICS_TOKEN, TOOLGATE_SECRET_KEY=SIGNING_KEY,
    )  # fmt: skip
    secrets = {ARGUMENT, PASSWORD, METRICS_TOKEN, SIGNING_KEY}
    with agent(serving) as http, closing(log_in(serving)) as browser:
        secrets |= {http.headers["Authorization"].split()[1], *browser.cookies.values()}
        ids = {submit(http, tool)["id"] for tool in ("work", "ask", "fail", "end", "parse", "judge")}
        calls = {call_id: http.get(f"/api/v1/tool-calls/{call_id}", params={"wait": 5}).json() for call_id in ids}
        assert {"succeeded", "failed", "invalid", "pending"} == {call["status"] for call in calls.values()}
        headers = {"X-CSRFToken": browser.cookies["csrftoken"]}
        for call in calls.values():
            browser.get(f"/calls/{call['id']}")
            path = f"/api/v1/tool-calls/{call['id']}"
            browser.post(f"{path}/preview", json={"edited_arguments": {"password": ARGUMENT}}, headers=headers)
            decision = {"kind": "edit", "digest": call["digest"], "edited_arguments": {"password": f"edited {ARGUMENT}"}}
            browser.post(f"{path}/decisions", json=decision, headers=headers)
            browser.post(f"{path}/decisions", json={"kind": "reject", "digest": "", "reason": ARGUMENT}, headers=headers)
        token = browser.post("/tokens", data={"name": "mine", "csrfmiddlewaretoken": headers["X-CSRFToken"]})
        secrets |= set(re.findall(r"tg_person_\w+", token.text))
        for secret in secrets:  # also where they do not belong
            httpx2.get(f"{serving.url}/api/v1/tools", headers={"Authorization": f"Bearer {secret}"})
            httpx2.get(f"{serving.url}/api/v1/tools/{secret}?q={secret}")
            httpx2.post(f"{serving.url}/api/v1/tool-calls", content=f"{{{secret}", headers={"Authorization": f"Basic {secret}"})
            httpx2.get(f"{serving.url}/{secret}", headers={"X-Request-ID": f"tg_agent_{secret}"})
        assert httpx2.get(f"{serving.url}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}).status_code == 200
    assert len(secrets) >= 8
    assert serving.end() == 0
    assert all(call_id in serving.log for call_id in ids)
    leaked = [line for line in serving.log.splitlines() if any(secret in line for secret in secrets)]
    assert not leaked


@pytest.mark.parametrize(
    "sent", ["", "short", "two words in it", "line%0Afeed-line", "é" * 20, "x" * 65, "tg_agent_0123456789ab"]
)
def test_strange_id_of_a_request_is_replaced(sent: str, served: Serving) -> None:
    answer = httpx2.get(f"{served.url}/api/v1/tools", headers={b"X-Request-ID": sent.encode()})
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-ID"])


def test_id_of_a_request_is_kept_and_answered(served: Serving) -> None:
    for path in ("/api/v1/tools", "/login", "/no/such/page", "/api/v1/nothing"):
        answer = httpx2.get(f"{served.url}{path}", headers={"X-Request-ID": "0123-my.own_ID"})
        assert answer.headers["X-Request-ID"] == "0123-my.own_ID"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    serving = Serving(tmp_path_factory.mktemp("served"), {"TOOLGATE_TOOLS": TOOLS}, ("--no-demo",))
    serving.start()
    yield serving
    serving.end()


def test_call_is_followed_by_one_id_through_every_process() -> None:
    production = Production(settings={"TOOLGATE_TOOLS": TOOLS})
    try:
        production.start("web", "worker", "beat")
        with agent(production) as http:
            call = submit(http, "work", **{"X-Request-ID": "request-of-the-agent"})
            until(lambda: "succeeded" in production.processes["worker"].log, lambda: production.log)
        logs = {name: lines(process.log) for name, process in production.processes.items()}
    finally:
        production.end()
    ours = {name: [line for line in found if line.get("call_id") == call["id"]] for name, found in logs.items()}
    assert [line["kind"] for line in ours["web"] if line["event"] == "event"] == ["submitted", "allowed"]
    assert [line["kind"] for line in ours["worker"] if line["event"] == "event"] == ["claimed", "succeeded"]
    assert [line["event"] for line in ours["worker"]][1] == "a line of the body"
    assert {line["request_id"] for line in [*ours["web"], *ours["worker"]]} == {"request-of-the-agent"}
    answered = [
        line for line in logs["web"] if line.get("request_id") == "request-of-the-agent" and line["event"] == "answered"
    ]
    assert [(line["method"], line["route"], line["status"]) for line in answered] == [("POST", "/api/v1/tool-calls", 201)]
    assert not [line for line in logs["web"] if "healthz" in json.dumps(line)]
    assert not [line for line in logs["web"] if "readyz" in json.dumps(line) and line["level"] == "info"]


def lines(log: str) -> list[dict[str, Any]]:
    """Each line is an object, whoever wrote it."""
    return [json.loads(line) for line in log.splitlines()]

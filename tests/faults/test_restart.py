"""A server that is killed and comes back with other settings: what waited still waits, what was approved is not asked again."""

from __future__ import annotations

import signal
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.running.server import Serving

SECRET = "hunter2-of-the-bank"


@pytest.fixture
def serving(serve: Callable[..., Serving]) -> Serving:
    return serve(TOOLGATE_TOOLS="tests.faults.restarting", TOOLGATE_LOG_LEVEL="DEBUG", TOOLGATE_DEBUG="true")


def http(serving: Serving, secret: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx2.Client(base_url=f"{serving.url}/api/v1", headers=headers, timeout=60)


def ran(serving: Serving) -> Counter[str]:
    database = sqlite3.connect(serving.folder / "counted.sqlite3")
    database.execute("CREATE TABLE IF NOT EXISTS runs (idempotency_key TEXT)")
    found = Counter(key for (key,) in database.execute("SELECT idempotency_key FROM runs"))
    database.close()
    return found


def ask_and_hang_up(serving: Serving, call_id: str) -> None:
    """A wait whose connection is cut by the one who waits."""
    request = f"GET /api/v1/tool-calls/{call_id}?wait=30 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with socket.create_connection(("127.0.0.1", serving.port)) as connection:
        connection.sendall(f"{request}Authorization: Bearer {serving.credentials['agent_key']}\r\n\r\n".encode())


def test_what_waited_waits_and_what_was_approved_runs_once_without_another_question(
    serving: Serving,
) -> None:  # B029 B046 B185 B190 B199
    agent, ada = (
        http(serving, secret) for secret in (serving.credentials["agent_key"], serving.credentials["people"]["ada"]["token"])
    )

    def submit(tool: str, name: str, **more: Any) -> httpx2.Response:
        return agent.post("/tool-calls", json={"tool": tool, "tool_call_id": name, "on_behalf_of": "mailer", **more})

    def approve(call: dict[str, Any]) -> int:
        body = {"kind": "approve", "digest": call["digest"]}
        return ada.post(f"/tool-calls/{call['id']}/decisions", json=body).status_code

    first, second = (submit("in_turn", str(n), arguments={"number": n}, run_id="r").json() for n in range(2))
    failing = submit("failing", "secretive", arguments={"token": SECRET}).json()
    assert approve(second) == approve(failing) == 200
    assert agent.get(f"/tool-calls/{failing['id']}", params={"wait": 30}).json()["status"] == "failed"
    ask_and_hang_up(serving, first["id"])

    assert serving.end(signal.SIGKILL) == -signal.SIGKILL
    serving.settings |= {"TOOLGATE_LEASE_SECONDS": "9", "TOOLGATE_DISPATCH_SECONDS": "0.5", "TOOLGATE_MAX_ATTEMPTS": "1"}
    serving.start()

    again = submit("in_turn", "0", arguments={"number": 0}, run_id="r")
    assert (again.status_code, again.json()["id"], again.json()["status"]) == (200, first["id"], "pending")
    read = ada.get(f"/tool-calls/{first['id']}").json()
    assert (read["agent"], read["on_behalf_of"]) == (first["agent"], "mailer")
    waiting = ada.get("/inbox").json()["results"]
    assert [call["id"] for call in waiting if call["tool"] == "in_turn"] == [first["id"]]
    assert (agent.get(f"/tool-calls/{second['id']}").json()["status"], ran(serving)) == ("approved", {})

    assert approve(first) == 200
    run = agent.get("/runs/r", params={"wait": 60}).json()
    assert [call["status"] for call in run["tool_calls"]] == ["succeeded"] * 2
    assert ran(serving) == {first["id"]: 1, second["id"]: 1}
    assert [len(call["decisions"]) for call in run["tool_calls"]] == [1, 1]
    assert serving.end(signal.SIGTERM) == 0
    assert serving.run("verify").returncode == 0
    assert SECRET not in serving.log
    agent.close()
    ada.close()

"""A server that is told to end does so within seconds, and says what became of what it held."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.databases import rows
from tests.running.server import Serving

Serve = Callable[..., Serving]
ENDS_WITHIN = 60  # seconds; a bound, not a promise


def agent(serving: Serving) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {serving.credentials['agent_key']}"}
    return httpx2.Client(base_url=f"{serving.url}/api/v1", headers=headers, timeout=70)


def submit(serving: Serving, tool: str, arguments: dict[str, Any], **more: Any) -> str:
    with agent(serving) as http:
        body = {"tool": tool, "tool_call_id": f"{tool} {time.time_ns()}", "arguments": arguments, **more}
        answer = http.post("/tool-calls", json=body)
    assert answer.status_code == 201, answer.text
    call_id: str = answer.json()["id"]
    return call_id


def status(serving: Serving, call_id: str) -> str:
    """As the database has it: asking the API would end what is overdue."""
    ((found,),) = rows(serving.database, "SELECT status FROM approvals_toolcall WHERE id = %s", call_id.replace("-", ""))
    return str(found)


def until(serving: Serving, call_id: str, wanted: str) -> None:
    end = time.monotonic() + ENDS_WITHIN
    while (found := status(serving, call_id)) != wanted:
        assert time.monotonic() < end, found
        time.sleep(0.1)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_finishes_what_takes_a_moment(how: signal.Signals, serve: Serve) -> None:
    serving = serve()
    call_id = submit(serving, "slow_report", {"seconds": 1.5})
    until(serving, call_id, "executing")
    assert serving.end(how) == 0
    assert status(serving, call_id) == "succeeded"
    assert "Traceback" not in serving.log


def test_leaves_what_takes_long_and_nobody_is_told_that_it_worked(serve: Serve) -> None:
    serving = serve(TOOLGATE_LEASE_SECONDS="2")
    call_id = submit(serving, "slow_report", {"seconds": 55})
    until(serving, call_id, "executing")
    answers: list[httpx2.Response] = []

    def wait() -> None:
        with agent(serving) as http:
            answers.append(http.get(f"/tool-calls/{call_id}", params={"wait": 50}))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    assert serving.end(signal.SIGTERM) == 0
    waiting.join()
    assert (answers[0].status_code, answers[0].headers["Retry-After"]) == (503, "1")
    assert (answers[0].json()["code"], answers[0].json()["detail"]) == ("stopping", "Ask again in a moment.")
    assert status(serving, call_id) == "executing"
    assert "Traceback" not in serving.log
    serving.start()
    until(serving, call_id, "outcome_unknown")


def test_clock_goes_on_while_slow_tools_hold_every_thread_of_the_worker(serve: Serve) -> None:
    serving = serve(TOOLGATE_WORKER_THREADS="1")
    slow = submit(serving, "slow_report", {"seconds": 55})
    until(serving, slow, "executing")
    mail = {"to": "a@example.org", "subject": "s", "body": "b"}
    until(serving, submit(serving, "send_mail", mail, timeout_seconds=0.3), "expired")
    assert status(serving, slow) == "executing"

"""1,000 calls, 8 agents, 4 reviewers, and the server killed five times: nothing acknowledged is lost, nothing runs twice."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.databases import rows
from tests.running.server import Serving

CALLS, AGENTS, REVIEWERS, KILLS = 1000, 8, 4, 5
WORKER_THREADS = 4
LONGEST = 400.0  # seconds; a bound, not a promise


def client(serving: Serving, secret: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx2.Client(base_url=f"{serving.url}/api/v1", headers=headers, timeout=30)


def until_answered(ask: Callable[[], httpx2.Response], over: threading.Event) -> httpx2.Response:
    """As a real client does: the same request again while the server is away."""
    while not over.is_set():
        try:
            answer = ask()
            if answer.status_code < 500:
                return answer
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("the time of the test is over")


def agent(serving: Serving, number: int, over: threading.Event, submitted: dict[str, str]) -> None:
    with client(serving, serving.credentials["agent_key"]) as http:
        for place in range(number, CALLS, AGENTS):
            body = {"tool": "count", "tool_call_id": f"call_{place}", "arguments": {"number": place}}
            answer = until_answered(lambda body=body: http.post("/tool-calls", json=body), over)  # type: ignore[misc] # mypy cannot infer a lambda's default
            assert answer.status_code in (200, 201), answer.text
            submitted[answer.json()["id"]] = f"call_{place}"


def reviewer(serving: Serving, token: str, over: threading.Event, decided: set[str], submitted: dict[str, str]) -> None:
    with client(serving, token) as http:
        while not over.is_set() and len(decided) < CALLS:
            page = until_answered(lambda: http.get("/inbox", params={"limit": 40}), over).json()["results"]
            for call in random.sample(page, len(page)):  # or all reviewers race for the first
                body = {"kind": "approve", "digest": call["digest"]}
                path = f"/tool-calls/{call['id']}/decisions"
                if call["status"] == "pending" and call["id"] not in decided:
                    answer = until_answered(lambda path=path, body=body: http.post(path, json=body), over)  # type: ignore[misc] # mypy cannot infer a lambda's default
                    if answer.status_code == 200:
                        decided.add(call["id"])
            if len(submitted) == CALLS and not any(call["status"] == "pending" for call in page):
                return


def kill_now_and_then(serving: Serving, submitted: dict[str, str], decided: set[str], over: threading.Event) -> None:
    """At even shares of all that there is to do, submits and decisions."""
    for number in range(1, KILLS + 1):
        while len(submitted) + len(decided) < 2 * CALLS * number // (KILLS + 1) and not over.is_set():
            time.sleep(0.05)
        serving.end(signal.SIGKILL)
        serving.start()


@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_and_nothing_runs_twice(serve: Callable[..., Serving]) -> None:
    serving = serve(
        TOOLGATE_TOOLS="tests.running.counted", TOOLGATE_LEASE_SECONDS="3", TOOLGATE_WORKER_THREADS=str(WORKER_THREADS)
    )
    over, submitted, decided = threading.Event(), {}, set()  # type: ignore[var-annotated] # told by the calls below
    bound = threading.Timer(LONGEST, over.set)
    bound.start()
    tokens = [serving.credentials["people"][name]["token"] for name in ("ada", "grace") * (REVIEWERS // 2)]

    with ThreadPoolExecutor(AGENTS + REVIEWERS + 1) as pool:
        work = [pool.submit(agent, serving, number, over, submitted) for number in range(AGENTS)]
        work += [pool.submit(reviewer, serving, token, over, decided, submitted) for token in tokens]
        work += [pool.submit(kill_now_and_then, serving, submitted, decided, over)]
        for one in work:
            one.result()

    open_statuses = "('pending', 'approved', 'executing')"
    while rows(serving.database, f"SELECT 1 FROM approvals_toolcall WHERE status IN {open_statuses} LIMIT 1"):  # noqa: S608 - our own words
        assert not over.is_set(), Counter(rows(serving.database, "SELECT status FROM approvals_toolcall"))
        time.sleep(0.5)
    bound.cancel()

    calls = {row[0]: row[1:] for row in rows(serving.database, "SELECT tool_call_id, id, status FROM approvals_toolcall")}
    assert len(calls) == len(submitted) == CALLS
    approved = {row[0] for row in rows(serving.database, "SELECT call_id FROM approvals_decision WHERE kind = 'approve'")}
    assert {call_id.replace("-", "") for call_id in decided} <= approved
    assert {call_id.replace("-", ""): name for call_id, name in submitted.items()} == {
        call_id: name for name, (call_id, _) in calls.items()
    }
    statuses = Counter(status for _, status in calls.values())
    assert set(statuses) <= {"succeeded", "outcome_unknown"}
    assert statuses["outcome_unknown"] <= KILLS * WORKER_THREADS  # no more than what was in somebody's hands

    counted = f"sqlite:///{serving.folder / 'counted.sqlite3'}"
    ran = Counter(row[0].replace("-", "") for row in rows(counted, "SELECT idempotency_key FROM runs"))
    assert max(ran.values()) == 1
    assert all(ran[call_id] == 1 for call_id, status in calls.values() if status == "succeeded")

    serving.end(signal.SIGTERM)
    verified = serving.run("verify")
    assert verified.returncode == 0, verified.stdout
    assert ", 0 broken." in verified.stdout

"""`?wait=`: holds the answer until a call moves, never longer than asked, and holds no connection meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from approvals.api import waiting
from approvals.clock import now
from approvals.models import Agent, DecisionKind, Status, ToolCall
from tests.api.conftest import Answer, Caller, bearer, key_of
from tests.calls import CallMaker

pytestmark = pytest.mark.usefixtures("real_db")


@pytest.fixture
def as_agent(real_db: None, agent: Agent) -> Caller:
    return bearer(key_of(agent))


@pytest.fixture(autouse=True)
def wakes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits here looks when woken, and not before it is late."""
    monkeypatch.setattr(waiting, "HEARING", 15)


@pytest.fixture
def in_background() -> Iterator[Callable[..., Any]]:
    """Runs a request in a thread of its own; its connections are closed when it is done."""
    with ThreadPoolExecutor(12) as pool:

        def start(caller: Caller, path: str, **query: Any) -> Any:
            def ask() -> tuple[Answer, float]:
                started = time.monotonic()
                try:
                    return Caller(caller.headers).get(path, query), time.monotonic() - started
                finally:
                    connections.close_all()

            return pool.submit(ask)

        yield start


def waits(count: int) -> None:
    """Returns once this many requests are held."""
    end = time.monotonic() + 10
    while waiting.places._taken != count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_answers_when_the_call_is_decided(as_agent: Caller, make_call: CallMaker, in_background: Any) -> None:
    call = make_call()
    decided = in_background(as_agent, f"tool-calls/{call.pk}", wait=20, until="decided")
    settled = in_background(as_agent, f"tool-calls/{call.pk}", wait=1.2, until="settled")
    waits(2)
    make_call.decide(call, DecisionKind.APPROVE)
    answered, spent = decided.result()
    assert (answered.body["status"], spent < 10) == ("approved", True)
    answered, spent = settled.result()
    assert (answered.body["status"], spent >= 1.2) == ("approved", True)
    assert "retry-after" in answered.headers


def test_answers_when_the_whole_run_is_settled(as_agent: Caller, make_call: CallMaker, in_background: Any) -> None:
    first, second = make_call(run_id="r"), make_call(run_id="r")
    run = in_background(as_agent, "runs/r", wait=20)
    waits(1)
    make_call.decide(first, DecisionKind.REJECT)
    time.sleep(0.3)
    assert not run.done()
    make_call.decide(second, DecisionKind.REJECT)
    answered, _ = run.result()
    assert answered.body["settled"]
    assert len(answered.body["tool_results"]) == 2


def test_ends_what_is_overdue_itself(
    as_agent: Caller, make_call: CallMaker, in_background: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "HEARING", 1)  # nobody wakes for that
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(expires_at=now() + timedelta(seconds=0.5))
    answered, spent = in_background(as_agent, f"tool-calls/{call.pk}", wait=20).result()
    assert (answered.body["status"], spent < 10) == ("expired", True)
    assert "expired" in answered.body["result"]["content"][0]["content"]


def test_answers_at_once_when_too_many_wait(as_agent: Caller, make_call: CallMaker, in_background: Any, settings: Any) -> None:
    settings.WAIT_LIMIT = 2
    call = make_call()
    held = [in_background(as_agent, f"tool-calls/{call.pk}", wait=20) for _ in range(2)]
    waits(2)
    answered, spent = in_background(as_agent, f"tool-calls/{call.pk}", wait=20).result()
    assert (answered.status, answered.body["status"], spent < 5) == (200, "pending", True)
    assert int(answered.headers["retry-after"]) >= 1
    make_call.decide(call, DecisionKind.REJECT)
    assert [one.result()[0].body["status"] for one in held] == ["rejected"] * 2
    waits(0)


def test_holds_no_connection(as_agent: Caller, make_call: CallMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    class Moved(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            held.append(connections["default"].connection is not None)
            return super().wait(timeout)

    monkeypatch.setattr(waiting, "Event", Moved)
    as_agent.get(f"tool-calls/{make_call().pk}", {"wait": "0.2"})
    assert held
    assert not any(held)


def test_knows_an_unchanged_call(as_agent: Caller, make_call: CallMaker) -> None:
    call = make_call()
    tag = as_agent.get(f"tool-calls/{call.pk}").headers["etag"]
    assert as_agent.get(f"tool-calls/{call.pk}", {"wait": "0.1"}, If_None_Match=f'"other", W/{tag}').status == 304


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.INVALID, Status.CANCELLED])
def test_is_over_at_once_for_a_settled_call(status: Status, as_agent: Caller, make_call: CallMaker) -> None:
    call, started = make_call(status), time.monotonic()
    assert as_agent.get(f"tool-calls/{call.pk}", {"wait": "60"}).body["status"] == status
    assert time.monotonic() - started < 10
    assert threading.active_count() < 50


@pytest.mark.parametrize("seconds", ["-1", "60.1", "NaN", "Infinity", "sNaN", "1e9", "", "x", "\x00"])
def test_for_what_is_no_time_is_refused(seconds: str, as_agent: Caller, make_call: CallMaker) -> None:
    for path in (f"tool-calls/{make_call(run_id='r').pk}", "runs/r"):
        refused = as_agent.get(path, {"wait": seconds})
        assert (refused.status, refused.problem, refused.body["field"]) == (422, "invalid_request", "wait")

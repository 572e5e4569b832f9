"""Whatever comes twice (a message, a press, a retry, an answer to a lost worker), the body does not run twice."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection

from approvals import dispatch, execution, lifecycle, sweeps
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.models import Decision, Person, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.execution.working import Counting, Working, deliver, gate, is_idle, settled, until
from tests.lifecycle.test_races import together
from tests.review.browser import page_of, press, visit
from tests.review.conftest import LogIn

pytestmark = pytest.mark.usefixtures("real_db")


def test_twenty_presses_of_a_button_are_one_decision_and_one_run(
    reviewer: Person, log_in: LogIn, make_call: CallMaker, tools: Any, worker: Working
) -> None:  # B013
    body = Counting()
    call = make_call.submit(register(tools, "counted", function=body))
    browsers = [log_in(reviewer) for _ in range(20)]
    page = visit(browsers[0], f"/calls/{call.pk}")
    presses = [partial(press, browser, page, "/decide", "approve") for browser in browsers]
    assert {response.status_code for response in together(*presses)} == {302}
    assert settled(call) == [Status.SUCCEEDED]
    until(lambda: is_idle(worker))
    assert body.ran == {str(call.pk): 1}
    assert Decision.objects.filter(call=call).count() == 1


def test_form_that_edits_and_approves_sent_twice_is_one_edit_and_one_run(
    reviewer: Person, log_in: LogIn, make_call: CallMaker, tools: Any, worker: Working
) -> None:  # B014
    received: list[Any] = []

    def body(arguments: dict[str, Any], context: Any) -> str:
        received.append(dict(arguments))
        return "done"

    call = make_call.submit(register(tools, "noted", function=body), {"amount": 5})
    browsers = [log_in(reviewer) for _ in range(4)]
    form = visit(browsers[0], f"/calls/{call.pk}/edit")
    checked = press(browsers[0], form, "/edit", "check", arguments='{"amount": 4}')
    page = page_of(checked)
    presses = [partial(press, browser, page, "/edit", "approve") for browser in browsers]
    assert {response.status_code for response in together(*presses)} == {302}
    assert settled(call) == [Status.SUCCEEDED]
    until(lambda: is_idle(worker))
    assert received == [{"amount": 4}]
    assert Decision.objects.filter(call=call).count() == 1


def test_cancel_of_what_runs_comes_too_late_and_says_so(
    as_agent: Caller, make_call: CallMaker, tools: Any, worker: Working
) -> None:  # B010
    opened, wait = gate()
    body = Counting()

    def slow(arguments: Any, context: Any) -> str:
        body(arguments, context)
        return wait(arguments, context)

    tool = register(tools, "slow", function=slow, require_approval=False)
    sent = {"tool": tool, "tool_call_id": "call_1"}
    call_id = as_agent.post("tool-calls", sent).body["id"]
    until(lambda: body.ran)
    late = as_agent.post(f"tool-calls/{call_id}/cancel")
    assert (late.status, late.problem, late.body["current_status"]) == (409, "wrong_status", "executing")
    assert "can no longer be cancelled" in late.body["detail"]
    again = as_agent.post("tool-calls", sent)
    assert (again.status, again.body["id"], again.body["status"]) == (200, call_id, "executing")
    opened.set()
    assert as_agent.get(f"tool-calls/{call_id}", {"wait": "30"}).body["status"] == "succeeded"
    assert as_agent.post("tool-calls", sent).body["status"] == "succeeded"
    assert body.ran == {call_id: 1}
    assert as_agent.post("tool-calls", sent | {"tool_call_id": "call_2"}).status == 201


@pytest.fixture
def impatient_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A write that finds the database locked fails soon instead of waiting half a minute."""
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    connection.close()
    yield
    connection.close()


def close_when_released(outside: sqlite3.Connection, released: threading.Event) -> None:
    released.wait(60)
    outside.close()


def locking(ran: list[str], released: threading.Event) -> Callable[[Any, Any], str]:
    """A body after which the database cannot be written until somebody says so."""

    def body(arguments: Any, context: dict[str, Any]) -> str:
        ran.append(context["idempotency_key"])
        outside = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
        outside.execute("BEGIN IMMEDIATE")
        threading.Thread(target=close_when_released, args=(outside, released)).start()
        return "done"

    return body


@pytest.mark.sqlite  # where one writer locks the whole database
@pytest.mark.usefixtures("impatient_database")
def test_result_that_cannot_be_stored_at_first_is_stored_later_and_the_body_not_run_again(
    as_agent: Caller, as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B011 B139
    ran: list[str] = []
    released = threading.Event()
    tool = register(tools, "locking", function=locking(ran, released))
    sent = {"tool": tool, "tool_call_id": "call_1"}
    call = ToolCall.objects.get(pk=as_agent.post("tool-calls", sent).body["id"])
    approve = {"kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
    assert as_person.post(f"tool-calls/{call.pk}/decisions", approve).status == 200
    threading.Timer(1.2, released.set).start()
    assert execution.execute(call.pk) == Status.SUCCEEDED
    again = as_agent.post("tool-calls", sent)
    assert (again.status, again.body["result"]["content"][0]["content"]) == (200, "done")
    assert as_person.post(f"tool-calls/{call.pk}/decisions", approve).body["status"] == "succeeded"
    assert execution.execute(call.pk) == "not_approved"
    assert ran == [str(call.pk)]


@pytest.mark.sqlite  # where one writer locks the whole database
@pytest.mark.usefixtures("impatient_database")
def test_result_that_could_never_be_stored_is_told_as_unknown_and_not_run_again(
    as_agent: Caller, as_person: Caller, make_call: CallMaker, tools: Any, settings: Any
) -> None:  # B011
    settings.LEASE = timedelta(seconds=0.3)
    ran: list[str] = []
    released = threading.Event()
    tool = register(tools, "locking", function=locking(ran, released))
    sent = {"tool": tool, "tool_call_id": "call_1"}
    call = ToolCall.objects.get(pk=as_agent.post("tool-calls", sent).body["id"])
    approve = {"kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
    as_person.post(f"tool-calls/{call.pk}/decisions", approve)
    with pytest.raises(DatabaseError):
        execution.execute(call.pk)
    released.set()
    until(lambda: sweeps.find_lost(now()))
    again = as_agent.post("tool-calls", sent)
    assert (again.status, again.body["status"], again.body["result"]) == (200, "outcome_unknown", None)
    assert as_person.post(f"tool-calls/{call.pk}/decisions", approve).body["status"] == "outcome_unknown"
    sweeps.sweep()
    assert execution.execute(call.pk) == "not_approved"
    assert ran == [str(call.pk)]


def test_sent_to_run_again_while_the_sweep_and_another_person_are_at_it_runs_at_most_once(
    make_call: CallMaker, tools: Any, worker: Working, second_reviewer: Person, settings: Any
) -> None:  # B016
    settings.DISPATCH_AFTER = timedelta(0)
    body = Counting()
    tool = register(tools, "counted", function=body)
    grace = Reviewer(second_reviewer, "session")
    for _ in range(5):
        dispatch.holds_the_queue.clear()
        call = make_call.lost(tool=tool)
        dispatch.holds_the_queue.set()
        settle = partial(lifecycle.settle, call_id=call.pk, reason="I looked.", at=now())
        answers = together(
            partial(settle, reviewer=make_call.reviewer, outcome="run_again"),
            partial(settle, reviewer=grace, outcome="failed"),
            sweeps.sweep,
            partial(deliver, call.pk, call.pk),
        )
        refused = [answer for answer in answers if isinstance(answer, NotPossible)]
        (status,) = settled(call)
        until(lambda: is_idle(worker))
        assert len(refused) == 1
        assert refused[0].detail.startswith("It cannot be decided like that any more")
        assert body.ran[str(call.pk)] == (1 if status == Status.SUCCEEDED else 0)
        assert verify_chain(str(call.pk)).is_whole

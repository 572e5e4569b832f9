"""Lost messages, dead workers, a clock that stood still, a busy database: they cost time, never a call or a second run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from approvals import dispatch, lifecycle, sweeps
from approvals.clock import now
from approvals.models import AuditEvent, EventKind, Execution, Status, ToolCall
from tests.calls import CallMaker, register
from tests.execution.working import Counting, Working, deliver, is_idle, settled, until
from toolgate.celery import app

pytestmark = pytest.mark.usefixtures("real_db")


# --- a worker that dies ---------------------------------------------------------------------------------------------------

SUBMIT = """
from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import Submission
from approvals.models import Agent
agent = Agent.objects.create(name="an agent")
for tool in ("crash", "crash_again"):
    lifecycle.submit(agent=agent, submission=Submission(tool, tool, "{}"), at=now())
"""
FIND_LOST = """
from django.conf import settings
from approvals import execution, sweeps
from approvals.clock import now
from approvals.models import Execution, ToolCall
sweeps.find_lost(now() + settings.LEASE * 2)
for call in ToolCall.objects.order_by("tool"):
    print(call.tool, call.status, Execution.objects.filter(call=call).count())
"""
WORK = (
    FIND_LOST
    + """
execution.execute(ToolCall.objects.get(tool=input()).pk)
"""
)


@pytest.mark.sqlite  # a deployment of its own, on a file
def test_body_that_always_kills_its_worker_runs_a_bounded_number_of_times(tmp_path: Path) -> None:  # B127 B128
    ours = {"TOOLGATE_DATA_DIR": str(tmp_path), "TOOLGATE_TOOLS": "tests.faults.crashing", "TOOLGATE_MAX_ATTEMPTS": "2"}

    def run(*arguments: str, typed: str = "") -> tuple[int, list[str]]:
        command = [sys.executable, "-m", "django", *arguments, "--settings", "toolgate.settings"]
        done = subprocess.run(
            command, env=os.environ | ours, input=typed, capture_output=True, text=True, check=False, timeout=120
        )
        return done.returncode, done.stdout.split()[-6:]

    assert run("migrate", "--verbosity=0")[0] == run("shell", "-c", SUBMIT)[0] == 0
    killed = [run("shell", "-c", WORK, typed=tool)[0] for tool in ("crash", "crash_again", "crash_again")]
    assert killed == [-signal.SIGKILL] * 3
    ended, told = run("shell", "-c", WORK, typed="crash_again")
    assert ended == 0
    assert told == ["crash", "outcome_unknown", "1", "crash_again", "outcome_unknown", "2"]


def test_waiting_agent_is_told_of_a_lost_worker(as_agent: Any, make_call: CallMaker) -> None:  # B127
    call = make_call(Status.EXECUTING)
    sweeps.find_lost(now() + timedelta(hours=1))
    told = as_agent.get(f"tool-calls/{call.pk}", {"wait": "0.2"}).body
    assert (told["status"], told["settled"], told["result"]) == ("outcome_unknown", False, None)


# --- messages that are lost, early or late --------------------------------------------------------------------------------


@pytest.fixture
def messages() -> Iterator[Callable[[], int]]:
    """How many messages nobody has taken. No worker runs."""
    app.control.purge()
    dispatch.holds_the_queue.set()
    with app.connection_for_read() as broker:
        channel: Any = broker.default_channel
        yield lambda: int(channel.queue_declare("celery").message_count)
    dispatch.holds_the_queue.clear()
    app.control.purge()


def test_no_message_goes_out_before_the_row_is_there_nor_for_one_that_never_will_be(
    make_call: CallMaker, tools: Any, messages: Callable[[], int]
) -> None:  # B136
    with transaction.atomic():
        dispatch.execute_soon(make_call.agent.pk)
        transaction.set_rollback(True)
    assert messages() == 0
    with transaction.atomic():
        dispatch.execute_soon(make_call.agent.pk)
        assert messages() == 0
    assert messages() == 1


def test_verb_within_somebody_elses_transaction_is_refused_at_once(
    make_call: CallMaker, tools: Any, messages: Callable[[], int]
) -> None:  # B136
    tool = register(tools, "free", require_approval=False)
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        make_call.submit(tool)
    assert (ToolCall.objects.count(), messages()) == (0, 0)


def test_cancelled_call_never_runs_though_its_message_is_on_its_way(
    make_call: CallMaker, tools: Any, start_worker: Callable[[], Working]
) -> None:  # B131
    body = Counting()
    tool = register(tools, "counted", function=body, require_approval=False)
    dispatch.holds_the_queue.set()
    calls = [make_call.submit(tool) for _ in range(3)]
    for call in calls:
        lifecycle.cancel(call_id=call.pk, agent=make_call.agent, at=now())
    first = start_worker()
    until(lambda: is_idle(first))
    first.end()
    second = start_worker()
    deliver(*[call.pk for call in calls])
    until(lambda: is_idle(second))
    assert not body.ran
    assert set(ToolCall.objects.values_list("status", flat=True)) == {Status.CANCELLED}


def test_calls_whose_messages_a_broker_forgot_run_once_each(
    make_call: CallMaker, tools: Any, start_worker: Callable[[], Working], settings: Any
) -> None:  # B124 B125 B200
    settings.DISPATCH_AFTER = timedelta(seconds=1)
    body = Counting()
    tool = register(tools, "counted", function=body, require_approval=False)
    calls = [make_call.submit(tool) for _ in range(10)]  # nobody holds a queue, so the messages are lost
    worker = start_worker()
    assert not body.ran
    until(lambda: sweeps.sweep() and not ToolCall.objects.exclude(status=Status.SUCCEEDED).exists())
    assert set(settled(*calls)) == {Status.SUCCEEDED}
    until(lambda: is_idle(worker))
    assert body.ran == {str(call.pk): 1 for call in calls}


# --- a clock that stood still ----------------------------------------------------------------------------------------------


def test_clock_that_stood_still_catches_up_in_one_round_with_one_record_a_call(make_call: CallMaker) -> None:  # B133
    calls = [make_call() for _ in range(30)]
    ToolCall.objects.update(expires_at=now() - timedelta(days=1))
    assert sweeps.sweep()["expired"] == 30
    assert sweeps.sweep()["expired"] == 0
    assert AuditEvent.objects.filter(kind=EventKind.EXPIRED).count() == len(calls)


# --- a database that is busy ------------------------------------------------------------------------------------------------


def test_claim_is_one_guarded_update_that_needs_no_lock_on_a_row(make_call: CallMaker) -> None:  # B137
    call = make_call(Status.APPROVED)
    stale = ToolCall.objects.get(pk=call.pk)
    lifecycle.claim(call_id=call.pk, worker=lifecycle.Worker("one"), at=now())
    assert ToolCall.objects.filter(pk=stale.pk, status=stale.status, version=stale.version).update(version=99) == 0
    with pytest.raises(lifecycle.NotPossible):
        lifecycle.claim(call_id=call.pk, worker=lifecycle.Worker("another"), at=now())
    assert Execution.objects.filter(call=call).count() == 1
    assert connection.vendor != "sqlite" or connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"

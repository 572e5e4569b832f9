"""A worker is stopped, and another one started: what it held ends once, what it did not begin is begun by the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import sweeps
from approvals.models import Status, ToolCall
from tests.calls import CallMaker, register
from tests.execution.working import Counting, Working, approved, deliver, gate, settled, until

pytestmark = pytest.mark.usefixtures("real_db")


def test_worker_that_is_stopped_finishes_what_it_holds_and_the_next_does_not_run_it_again(
    make_call: CallMaker, tools: Any, start_worker: Callable[[], Working]
) -> None:
    worker, (opened, wait), body = start_worker(), gate(), Counting()

    def slow(arguments: Any, context: Any) -> str:
        body(arguments, context)
        return wait(arguments, context)

    held = approved(make_call, register(tools, "slow", function=slow))
    until(lambda: body.ran)
    threading.Timer(0.5, opened.set).start()
    worker.end()
    assert ToolCall.objects.get(pk=held.pk).status == Status.SUCCEEDED
    start_worker()
    deliver(held.pk)
    assert settled(approved(make_call, register(tools, "after"))) == [Status.SUCCEEDED]
    assert body.ran == {str(held.pk): 1}


def test_worker_that_is_stopped_just_after_a_delivery_loses_nothing_and_runs_nothing_twice(
    make_call: CallMaker, tools: Any, start_worker: Callable[[], Working], settings: Any
) -> None:
    settings.DISPATCH_AFTER = timedelta(0)
    body = Counting(seconds=0.01)
    tool = register(tools, "counted", function=body, require_approval=False)
    calls: list[ToolCall] = []
    for number in range(5):
        current = start_worker()
        calls += [make_call.submit(tool) for _ in range(3)]
        time.sleep(number / 50)
        current.end()
    start_worker()
    sweeps.sweep()
    assert set(settled(*calls)) == {Status.SUCCEEDED}
    assert body.ran == {str(call.pk): 1 for call in calls}

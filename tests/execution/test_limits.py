"""Time limits and leases where it gets narrow: slow parsers, coroutines, lost leases, a database that is busy."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from approvals import execution, lifecycle, resolution
from approvals.clock import now
from approvals.models import DecisionKind, Execution, Status, ToolCall
from tests.calls import CallMaker, register

pytestmark = pytest.mark.usefixtures("real_db")
SHORT: dict[str, Any] = {"time_limit": timedelta(seconds=30), "soft_time_limit": timedelta(seconds=0.3)}
NOBODY_ELSE_WRITES = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "BEGIN; LOCK TABLE approvals_toolcall"}
STOPPED = "The tool did not finish within 0.3 seconds and was stopped."


def spend(seconds: float) -> None:
    """Time that an exception can interrupt."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def text(call: ToolCall) -> str:
    content: str = json.loads(ToolCall.objects.get(pk=call.pk).result)["content"][0]["content"]
    return content


def test_time_of_the_parser_counts_and_the_body_is_not_entered(make_call: CallMaker, tools: Any) -> None:
    entered: list[bool] = []
    is_slow: list[bool] = []

    def parse(arguments: dict[str, Any]) -> None:
        if is_slow:
            spend(20)

    tool = register(tools, parse_args=parse, function=lambda arguments, context: entered.append(True), **SHORT)
    call = make_call.submit(tool)
    make_call.decide(call, DecisionKind.APPROVE)
    is_slow.append(True)
    assert execution.execute(call.pk) == Status.FAILED
    assert (text(call), entered) == (STOPPED, [])


def test_coroutine_is_stopped_while_it_awaits_and_may_clean_up(make_call: CallMaker, tools: Any) -> None:
    cleaned: list[bool] = []

    async def body(arguments: Any, context: Any) -> str:
        try:
            await asyncio.sleep(20)
        finally:
            cleaned.append(True)
        return "never"

    call = make_call.submit(register(tools, function=body, require_approval=False, **SHORT))
    assert execution.execute(call.pk) == Status.FAILED
    assert (text(call), cleaned) == (STOPPED, [True])
    assert "SoftTimeLimitExceeded" in Execution.objects.get(call=call).exception


def test_timeout_of_the_coroutine_itself_is_its_own_error(make_call: CallMaker, tools: Any) -> None:
    async def body(arguments: Any, context: Any) -> str:
        async with asyncio.timeout(0.05):
            await asyncio.sleep(20)
        return "never"

    call = make_call.submit(register(tools, function=body, require_approval=False, **SHORT))
    assert execution.execute(call.pk) == Status.FAILED
    assert text(call).startswith("ERROR: (TimeoutError)")


def test_body_whose_lease_is_gone_is_still_stopped_and_its_answer_changes_nothing(
    make_call: CallMaker, tools: Any, settings: Any
) -> None:
    settings.LEASE = timedelta(seconds=0.3)
    stopped: list[float] = []

    def body(arguments: Any, context: Any) -> str:
        held = ToolCall.objects.get(pk=context["idempotency_key"])
        assert held.lease is not None
        lifecycle.lose(call_id=held.pk, lease=held.lease, why="a test", at=now(), is_certain=True)
        started = time.monotonic()
        try:
            spend(20)
        finally:
            stopped.append(time.monotonic() - started)
        return "late"

    limits: dict[str, Any] = {"time_limit": timedelta(seconds=30), "soft_time_limit": timedelta(seconds=1)}
    call = make_call.submit(register(tools, function=body, require_approval=False, **limits))
    assert execution.execute(call.pk) == "lease_lost"
    assert len(stopped) == 1
    lost = ToolCall.objects.get(pk=call.pk)
    assert (lost.status, lost.result) == (Status.OUTCOME_UNKNOWN, "")


def test_answer_is_stored_once_the_database_can_be_written_again(make_call: CallMaker, tools: Any) -> None:
    ran: list[bool] = []
    outside = connection.copy()
    outside.inc_thread_sharing()
    release = threading.Timer(1.5, lambda: outside.cursor().execute("ROLLBACK"))

    def body(arguments: Any, context: Any) -> str:
        ran.append(True)
        outside.cursor().execute(NOBODY_ELSE_WRITES[connection.vendor])
        release.start()
        return "done"

    call = make_call.submit(register(tools, function=body, require_approval=False))
    assert execution.execute(call.pk) == Status.SUCCEEDED
    release.join()
    outside.close()
    assert (ran, text(call)) == ([True], "done")


def test_worker_whose_tools_cannot_be_loaded_claims_nothing(make_call: CallMaker, tools: Any, settings: Any) -> None:
    call = make_call(Status.APPROVED)
    settings.TOOLGATE_TOOLS = ("no.such.module",)
    resolution.registry.cache_clear()
    with pytest.raises(ModuleNotFoundError):
        execution.execute(call.pk)
    assert ToolCall.objects.get(pk=call.pk).status == Status.APPROVED
    assert not Execution.objects.exists()

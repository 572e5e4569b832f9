"""Time ends a call once, for everybody, by the instant alone: whoever asks, in whatever zone, with or without the clock."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from approvals import execution, lifecycle, sweeps
from approvals.clock import now
from approvals.models import AuditEvent, DecisionKind, EventKind, Interrupt, Status, ToolCall
from approvals.review.tags import status_badge
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.review.browser import page_of, press, visit
from toolgate import Interrupt as Asks

pytestmark = pytest.mark.usefixtures("real_db")


def overdue(call: ToolCall) -> None:
    """Its deadline was a second ago."""
    ToolCall.objects.filter(pk=call.pk).update(expires_at=now() - timedelta(seconds=1))


def expired_events(call: ToolCall) -> int:
    return AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.EXPIRED).count()


def test_overdue_call_is_over_for_everybody_though_no_clock_runs(
    as_agent: Caller, as_person: Caller, ada: Client, make_call: CallMaker
) -> None:  # B113 B116 B118
    call = make_call()
    page = visit(ada, f"/calls/{call.pk}")
    overdue(call)
    digest = call.resolution.digest if call.resolution else ""
    refused = as_person.post(f"tool-calls/{call.pk}/decisions", {"kind": "approve", "digest": digest})
    assert (refused.status, refused.problem, refused.body["current_status"]) == (409, "already_settled", "expired")
    late = page_of(press(ada, page, "/decide", "approve"))
    assert (late.status, "it is expired" in late.text, "approve" in late.buttons()) == (409, True, False)
    for _ in range(2):
        told = as_agent.get(f"tool-calls/{call.pk}", {"wait": "30"}).body
        assert (told["status"], told["settled"]) == ("expired", True)
        assert "Submit it again if it is still wanted." in told["result"]["content"][0]["content"]
    assert as_person.get("inbox").body["count"] == 0
    again = as_agent.post("tool-calls", {"tool": "tool", "tool_call_id": call.tool_call_id, "arguments": {}})
    assert (again.status, again.body["id"], again.body["status"]) == (200, str(call.pk), "expired")
    assert execution.execute(call.pk) == "not_approved"
    assert sweeps.sweep()["expired"] == 0
    assert expired_events(call) == 1


@pytest.mark.parametrize(
    "ask", ["read", "list", "run", "submit", "batch", "cancel", "inbox", "inbox page", "history page", "run page"]
)
def test_nobody_is_told_that_an_overdue_call_still_waits(
    ask: str, as_agent: Caller, as_person: Caller, ada: Client, make_call: CallMaker
) -> None:  # B116 B118
    call = make_call(run_id="r")
    overdue(call)
    sent = {"tool": "tool", "tool_call_id": call.tool_call_id, "arguments": {}, "run_id": "r"}
    asked: dict[str, Any] = {
        "read": lambda: as_agent.get(f"tool-calls/{call.pk}"),
        "list": lambda: as_agent.get("tool-calls"),
        "run": lambda: as_agent.get("runs/r"),
        "submit": lambda: as_agent.post("tool-calls", sent),
        "batch": lambda: as_agent.post("tool-calls/batch", {"run_id": "r", "calls": [sent]}),
        "cancel": lambda: as_agent.post(f"tool-calls/{call.pk}/cancel"),
        "inbox": lambda: as_person.get("inbox"),
        "inbox page": lambda: visit(ada, "/"),
        "history page": lambda: visit(ada, "/history"),
        "run page": lambda: visit(ada, f"/calls/{call.pk}/run"),
    }
    if ask.endswith("page"):
        assert status_badge(Status.PENDING) not in asked[ask]().source
    else:
        assert '"pending"' not in asked[ask]().text


def test_every_call_that_waits_has_a_deadline_that_nobody_can_stretch(
    as_agent: Caller, make_call: CallMaker, tools: Any
) -> None:  # B115
    tool = register(tools, "hourly", expires_after=timedelta(hours=1), approval_valid_for=timedelta(hours=2))
    for seconds in (None, 1800, 86400):
        sent = {"tool": tool, "tool_call_id": str(seconds), **({"timeout_seconds": seconds} if seconds else {})}
        call = ToolCall.objects.get(pk=as_agent.post("tool-calls", sent).body["id"])
        assert call.expires_at is not None
        assert call.expires_at - call.submitted_at == timedelta(seconds=min(seconds or 3600, 3600))
    too_long = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "x", "timeout_seconds": 10**9})
    assert (too_long.status, too_long.body["field"]) == (422, "timeout_seconds")
    waiting = {status: make_call(status, tool=tool) for status in (Status.PENDING, Status.APPROVED, Status.INTERRUPTED)}
    assert all(call.expires_at is not None for call in waiting.values())
    assert as_agent.get("tools").body["tools"]


def test_time_of_people_counts_from_the_submit_and_time_of_the_tool_while_it_runs_only(
    make_call: CallMaker, tools: Any
) -> None:  # B119
    """The tool has 2 seconds; it is asked about for an hour, and asks itself for another."""
    ask = lambda arguments, context: "done" if context["interrupts"] else Asks("Really?")  # noqa: E731 - said once
    limits: dict[str, Any] = {"time_limit": timedelta(seconds=2), "expires_after": timedelta(hours=2)}
    call = make_call.submit(register(tools, "asking", function=ask, **limits))
    hour = timedelta(hours=1)
    ToolCall.objects.filter(pk=call.pk).update(submitted_at=now() - hour, expires_at=now() + hour)
    make_call.decide(call, DecisionKind.APPROVE)
    assert execution.execute(call.pk) == Status.INTERRUPTED
    asked = ToolCall.objects.get(pk=call.pk)
    assert asked.expires_at is not None
    assert asked.expires_at - now() > hour  # people have their own time for the question
    later = now() + hour
    question = Interrupt.objects.get(call=call)
    lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=question.pk, reviewer=make_call.reviewer, answer=True, at=later)
    assert execution.execute(call.pk) == Status.SUCCEEDED


SUBMIT = """
from datetime import timedelta
from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import Submission
from approvals.models import Agent
agent = Agent.objects.create(name="an agent")
sent = Submission("count", "call_1", '{"number": 1}', timeout=timedelta(seconds=60))
call, _ = lifecycle.submit(agent=agent, submission=sent, at=now())
print(call.pk, call.expires_at.timestamp())
"""
EXPIRE = """
import sys
from datetime import timedelta
from approvals import sweeps
from approvals.clock import now
from approvals.models import ToolCall
call = ToolCall.objects.get()
print(sweeps.expire(call.submitted_at + timedelta(seconds=59)), sweeps.expire(call.submitted_at + timedelta(seconds=61)))
print(ToolCall.objects.get().status, call.expires_at.timestamp())
"""


def test_deadline_is_the_same_instant_for_processes_of_different_zones(tmp_path: Path) -> None:  # B121
    def run(zone: str, *arguments: str) -> str:
        ours = {"TOOLGATE_DATA_DIR": str(tmp_path), "TOOLGATE_TOOLS": "tests.running.counted", "TZ": zone}
        command = [sys.executable, "-m", "django", *arguments, "--settings", "toolgate.settings"]
        done = subprocess.run(command, env=os.environ | ours, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout

    run("UTC", "migrate", "--verbosity=0")
    before = datetime.now(UTC).timestamp()
    submitted = float(run("Pacific/Auckland", "shell", "-c", SUBMIT).split()[-1])
    assert 60 <= submitted - before < 180
    assert run("America/St_Johns", "shell", "-c", EXPIRE).split()[-4:] == ["0", "1", "expired", str(submitted)]


def test_instants_that_were_written_without_a_zone_are_read_as_utc(
    as_person: Caller, as_agent: Caller, ada: Client, make_call: CallMaker
) -> None:  # B122
    late, in_time = make_call(), make_call()
    with connection.cursor() as cursor:
        for call, text in ((late, "2001-01-01 00:00:00"), (in_time, "2999-01-01 00:00:00")):
            statement = "UPDATE approvals_toolcall SET expires_at = %s, submitted_at = '2000-01-01 00:00:00' WHERE id = %s"
            cursor.execute(statement, [text, call.pk.hex])
    assert as_person.get("inbox").status == visit(ada, "/").status == visit(ada, "/history").status == 200
    assert as_agent.get(f"tool-calls/{late.pk}").body["expires_at"] is None
    assert sweeps.sweep()["expired"] == 0
    assert as_agent.get(f"tool-calls/{in_time.pk}").body["expires_at"] == "2999-01-01T00:00:00Z"
    digest = in_time.resolution.digest if in_time.resolution else ""
    assert as_person.post(f"tool-calls/{in_time.pk}/decisions", {"kind": "approve", "digest": digest}).status == 200
    assert as_person.post(f"tool-calls/{late.pk}/decisions", {"kind": "approve", "digest": digest}).problem == "already_settled"

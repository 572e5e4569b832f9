"""The numbers of /metrics are those of the database: exact, once, and bounded whatever agents send."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from approvals import audit, dispatch, lifecycle, metrics, sweeps
from approvals.audit import Verification
from approvals.clock import now
from approvals.lifecycle import Ending, Submission
from approvals.models import DecisionKind, Status, Sweep, ToolCall, Total, TrailCheck
from tests.calls import WORKER, CallMaker, register
from tests.metrics.conftest import Read, key
from toolgate import Function, Ok
from toolgate.tools.tool_result import result_of


@pytest.mark.django_db
def test_settled_calls_are_counted_once_by_tool_status_and_policy(make_call: CallMaker, read: Read) -> None:
    for status in (Status.SUCCEEDED, Status.SUCCEEDED, Status.REJECTED, Status.DENIED, Status.PENDING):
        make_call(status)
    assert metrics.tally() == 4
    assert metrics.tally() == 0
    found = read()
    assert found[key("settled_calls_total", tool="tool", status="succeeded", outcome="require_approval")] == 2
    assert found[key("settled_calls_total", tool="tool", status="rejected", outcome="require_approval")] == 1
    assert found[key("settled_calls_total", tool="denied", status="denied", outcome="deny")] == 1
    assert found[key("open_calls", tool="tool", status="pending")] == 1


@pytest.mark.django_db
def test_names_that_no_tool_has_are_one_label(make_call: CallMaker, read: Read, tools: Any) -> None:
    for number in range(50):
        make_call.submit(f"no such tool {number}")
    gone = make_call(Status.PENDING)
    ToolCall.objects.filter(pk=gone.pk).update(tool="unregistered since")
    metrics.tally()
    found = read()
    labels = {dict(labels).get("tool") for _, labels in found}
    assert labels == {None, "other"}
    assert found[key("settled_calls_total", tool="other", status="invalid", outcome="none")] == 50
    assert found[key("open_calls", tool="other", status="pending")] == 1


def walked(make: CallMaker, at: datetime, *, decided: float, started: float, ended: float) -> None:
    """One call whose verbs happen so many seconds after the submit."""
    tool = register(make.tools)
    sent = Submission(tool=tool, tool_call_id=f"walked {at} {decided}", arguments="{}")
    call = lifecycle.submit(agent=make.agent, submission=sent, at=at)[0]
    make.decide(call, DecisionKind.APPROVE, at=at + timedelta(seconds=decided))
    call = lifecycle.claim(call_id=call.pk, worker=WORKER, at=at + timedelta(seconds=started))
    assert call.lease is not None
    result = result_of(Ok("done"), tool_call_id=call.tool_call_id, function=Function(name=tool))
    ending = Ending(Status.SUCCEEDED, result)
    lifecycle.finish(call_id=call.pk, lease=call.lease, worker=WORKER, ending=ending, at=at + timedelta(seconds=ended))


@pytest.mark.django_db
def test_times_fall_into_their_buckets(make_call: CallMaker, read: Read) -> None:
    at = now() - timedelta(hours=12)
    walked(make_call, at, decided=4, started=4.2, ended=5.2)
    walked(make_call, at, decided=40_000, started=40_020, ended=40_021)
    metrics.tally()
    found = read()

    def buckets(measure: str) -> dict[str, float]:
        rows = {dict(labels)["le"]: value for (name, labels), value in found.items() if name == f"toolgate_{measure}_bucket"}
        values = [rows[bound] for bound in sorted(rows, key=float)]
        assert values == sorted(values), "cumulative"
        return rows

    decide, start, run = (buckets(f"{name}_seconds") for name in ("decide", "start", "run"))
    assert (decide["1.0"], decide["5.0"], decide["14400.0"], decide["86400.0"], decide["+Inf"]) == (0, 1, 1, 2, 2)
    assert (start["0.1"], start["0.25"], start["15.0"], start["60.0"]) == (0, 1, 1, 2)
    assert (run["0.5"], run["1.0"], run["+Inf"]) == (0, 2, 2)
    assert found[key("decide_seconds_sum", tool="tool")] == pytest.approx(40_004)
    assert found[key("run_seconds_count", tool="tool")] == 2


def test_several_clocks_count_each_call_once(real_db: None, make_call: CallMaker, read: Read) -> None:
    for _ in range(60):
        make_call(Status.REJECTED)
    failed: list[BaseException] = []

    def count() -> None:
        try:
            metrics.tally()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    clocks = [threading.Thread(target=count) for _ in range(4)]
    for one in clocks:
        one.start()
    for one in clocks:
        one.join()
    metrics.tally()
    assert not failed
    assert read()[key("settled_calls_total", tool="tool", status="rejected", outcome="require_approval")] == 60
    assert not ToolCall.objects.filter(is_tallied=False)


@pytest.mark.django_db
def test_oldest_that_waits_and_leases_are_told_with_their_age(make_call: CallMaker, read: Read, tools: Any) -> None:
    assert read()[key("lease_oldest_seconds")] == 0
    old = make_call(Status.PENDING)
    ToolCall.objects.filter(pk=old.pk).update(submitted_at=now() - timedelta(seconds=600))
    make_call(Status.INTERRUPTED)
    make_call(Status.EXECUTING)
    found = read()
    assert found[key("waiting_oldest_seconds", tool="tool")] == pytest.approx(600, abs=60)
    assert found[key("open_calls", tool="tool", status="interrupted")] == 1
    assert found[key("leases")] == 1
    assert 0 <= found[key("lease_oldest_seconds")] < 60


@pytest.mark.django_db
def test_clock_that_stands_or_never_went_is_told(read: Read) -> None:
    assert read()[key("last_sweep_age_seconds")] == float("inf")
    Sweep.note(now() - timedelta(hours=1))
    assert read()[key("last_sweep_age_seconds")] == pytest.approx(3600, abs=60)


@pytest.mark.django_db
def test_state_of_the_trail_is_told_once_it_was_verified(read: Read) -> None:
    assert key("trail_broken_chains") not in read()
    broken = [Verification("a chain", 3, "event 2 was changed after it was written", 2)]
    audit.keep_outcome(7, 30, broken, now())
    found = read()
    assert [found[key(f"trail_{name}")] for name in ("chains", "events", "broken_chains")] == [7, 30, 1]
    assert found[key("trail_verified_timestamp_seconds")] == pytest.approx(now().timestamp(), abs=60)
    (kept,) = TrailCheck.objects.all()
    assert json.loads(kept.problems) == [{"chain": "a chain", "problem": "event 2 was changed after it was written"}]


def test_sweep_counts_what_was_settled_and_the_hints_of_its_process(real_db: None, make_call: CallMaker, read: Read) -> None:
    dispatch.holds_the_queue.set()
    try:
        make_call(Status.CANCELLED)
        for _ in range(3):
            make_call(Status.APPROVED)
        sweeps.sweep()
    finally:
        dispatch.holds_the_queue.clear()
    assert Total.objects.get(measure="hints", status="sent").value >= 3
    found = read()
    assert found[key("hints_total", delivery="sent")] >= 3
    assert found[key("settled_calls_total", tool="tool", status="cancelled", outcome="require_approval")] == 1


@pytest.mark.django_db
def test_numbers_are_kept_for_a_moment(make_call: CallMaker, read: Read, settings: Any) -> None:
    make_call()
    assert read()[key("open_calls", tool="tool", status="pending")] == 1
    settings.METRICS_KEPT_FOR = timedelta(minutes=1)
    read()
    make_call()
    assert read()[key("open_calls", tool="tool", status="pending")] == 1
    settings.METRICS_KEPT_FOR = timedelta(0)
    assert read()[key("open_calls", tool="tool", status="pending")] == 2


@pytest.mark.django_db
def test_reading_takes_few_queries_however_many_calls_there_are(
    make_call: CallMaker, read: Read, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        make_call(Status.SUCCEEDED)
        make_call()
    metrics.tally()
    with django_assert_max_num_queries(6):
        read()

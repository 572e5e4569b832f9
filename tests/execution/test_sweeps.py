"""What the clock does, each round: expire, find what lost workers held, hand out again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from approvals import lifecycle, sweeps
from approvals.clock import now
from approvals.models import Administration, AuditEvent, EventKind, Status, ToolCall
from tests.calls import CallMaker, register

pytestmark = pytest.mark.usefixtures("real_db")


def dispatch_at(call: ToolCall) -> datetime:
    found = ToolCall.objects.get(pk=call.pk).dispatch_at
    assert found is not None
    return found


@pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED, Status.INTERRUPTED])
def test_what_is_overdue_expires_with_an_answer(status: Status, make_call: CallMaker) -> None:
    call = make_call(status)
    assert sweeps.expire(now()) == 0
    assert sweeps.expire(now() + timedelta(days=2)) == 1
    ended = ToolCall.objects.get(pk=call.pk)
    assert (ended.status, "expired" in ended.result) == (Status.EXPIRED, True)
    assert AuditEvent.objects.get(chain=str(call.pk), kind=EventKind.EXPIRED).actor_kind == "clock"


@pytest.mark.parametrize("status", [Status.EXECUTING, Status.OUTCOME_UNKNOWN, Status.SUCCEEDED, Status.REJECTED])
def test_time_does_not_end_what_runs_or_is_over(status: Status, make_call: CallMaker) -> None:
    call = make_call(status)
    assert sweeps.expire(now() + timedelta(days=400)) == 0
    assert ToolCall.objects.get(pk=call.pk).status == status


def test_lease_that_still_holds_is_left_alone(make_call: CallMaker, settings: Any) -> None:
    call = make_call(Status.EXECUTING)
    assert sweeps.find_lost(now()) == 0
    assert call.lease is not None
    renewed = now() + settings.LEASE * 2
    assert lifecycle.renew(call_id=call.pk, lease=call.lease, at=renewed)
    assert sweeps.find_lost(renewed) == 0
    assert sweeps.find_lost(renewed + settings.LEASE) == 1


def test_unclaimed_call_is_handed_out_less_and_less_often(make_call: CallMaker, settings: Any) -> None:
    call = make_call(Status.APPROVED)
    at, gaps = now(), []
    for _ in range(9):
        at = max(at, dispatch_at(call))
        assert sweeps.dispatch_again(at) == 1
        gaps.append((dispatch_at(call) - at) / settings.DISPATCH_AFTER)
    assert gaps == sorted(gaps)
    assert gaps[0] in (1, 2)
    assert gaps[-1] == 4


def test_new_queue_hands_out_at_once_what_an_old_one_held(make_call: CallMaker) -> None:
    call, others = make_call(Status.APPROVED), [make_call(Status.PENDING), make_call(Status.SUCCEEDED)]
    before = list(ToolCall.objects.filter(pk__in=[other.pk for other in others]).values())
    for _ in range(6):
        sweeps.dispatch_again(dispatch_at(call))
    assert sweeps.dispatch_again(now()) == 0
    sweeps.hand_out_everything(now())
    assert sweeps.dispatch_again(now()) == 1
    assert before == list(ToolCall.objects.filter(pk__in=[other.pk for other in others]).values())


def test_call_that_cannot_be_moved_does_not_hold_up_the_others(make_call: CallMaker, tools: Any) -> None:
    broken, good = make_call(Status.PENDING), make_call.submit(register(tools, "good"))
    AuditEvent.objects.create(chain=str(broken.pk), sequence=2, kind=EventKind.SEEN, at=now(), data="{}")  # its place is taken
    ToolCall.objects.filter(pk=broken.pk).update(expires_at=now() - timedelta(hours=1))
    ToolCall.objects.filter(pk=good.pk).update(expires_at=now() - timedelta(minutes=1))
    assert sweeps.expire(now()) == 1
    assert ToolCall.objects.get(pk=good.pk).status == Status.EXPIRED
    assert ToolCall.objects.get(pk=broken.pk).status == Status.PENDING


def test_round_with_nothing_to_do_changes_nothing(make_call: CallMaker) -> None:
    make_call(Status.SUCCEEDED)
    assert sweeps.sweep()["tallied"] == 1
    before = list(ToolCall.objects.values()), AuditEvent.objects.count(), list(Administration.objects.values())
    assert sweeps.sweep() == {"expired": 0, "lost": 0, "dispatched": 0, "tallied": 0}
    assert before == (list(ToolCall.objects.values()), AuditEvent.objects.count(), list(Administration.objects.values()))

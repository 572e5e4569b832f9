"""What the clock does: sends again what no worker took, ends what is overdue, finds what a lost worker held."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db.models import QuerySet

from approvals import clock, dispatch, lifecycle
from approvals.models import Status, ToolCall

log = logging.getLogger(__name__)
BATCH = 500
LAST_SWEEP = "toolgate.last_sweep"


def sweep() -> dict[str, int]:
    """One round of everything. Two at once are harmless: every step is a guarded verb or a hint."""
    at = clock.now()
    cache.set(LAST_SWEEP, at, None)
    return {"expired": expire(at), "lost": find_lost(at), "dispatched": dispatch_again(at)}


def expire(at: datetime) -> int:
    overdue = ToolCall.objects.overdue(at).order_by("expires_at")
    return _each(_ids(overdue), lambda call_id: lifecycle.expire(call_id=call_id, at=at))


def find_lost(at: datetime) -> int:
    """Leases that ran out: the worker died, or could not reach the database for that long."""
    silent = ToolCall.objects.filter(status=Status.EXECUTING, lease_expires_at__lte=at)
    why = "Its worker fell silent while it ran."
    rows = silent.order_by("lease_expires_at").values_list("pk", "lease")[:BATCH]
    held = {call_id: lease for call_id, lease in rows if lease is not None}
    return _each(held, lambda call_id: lifecycle.lose(call_id=call_id, lease=held[call_id], why=why, at=at))


def dispatch_again(at: datetime) -> int:
    """Approved calls that nobody claimed: the message was lost, or the process that wrote them holds no queue."""
    unclaimed = ToolCall.objects.filter(status=Status.APPROVED, dispatch_at__lte=at).order_by("dispatch_at")
    ids = _ids(unclaimed)
    ToolCall.objects.filter(pk__in=ids, status=Status.APPROVED).update(dispatch_at=at + settings.DISPATCH_AFTER)
    for call_id in ids:
        dispatch.send(call_id)
    return len(ids)


def _ids(calls: QuerySet[ToolCall]) -> list[UUID]:
    return list(calls.values_list("pk", flat=True)[:BATCH])


def _each(ids: Iterable[UUID], verb: Callable[[UUID], ToolCall]) -> int:
    done = 0
    for call_id in ids:
        try:
            verb(call_id)
            done += 1
        except lifecycle.NotPossible as error:  # somebody was faster, which is as good
            log.debug("call %s: %s", call_id, error.detail)
    return done

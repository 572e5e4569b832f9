"""What the clock does: sends again what no worker took, ends what is overdue, finds what a lost worker held, counts."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from approvals import audit, clock, dispatch, lifecycle, metrics
from approvals.models import EventKind, Status, Sweep, ToolCall
from approvals.models.actors import SYSTEM, Actor

log = logging.getLogger(__name__)
BATCH = 500


def sweep() -> dict[str, int]:
    """One round of everything. Two at once are harmless: every step is a guarded verb or a hint."""
    at = clock.now()
    Sweep.note(at)
    done = {"expired": expire(at), "lost": find_lost(at), "dispatched": dispatch_again(at), "tallied": metrics.tally()}
    dispatch.count_hints()
    return done


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


def prune(at: datetime, *, older_than: timedelta, actor: Actor) -> int:
    """Removes the payloads of every call that was settled longer ago than that; answers of how many."""
    done = 0
    while ids := _ids(to_prune(at, older_than).order_by("settled_at")):
        pruned = _each(ids, lambda call_id: lifecycle.prune(call_id=call_id, actor=actor, at=at))
        done += pruned
        if not pruned:  # they cannot be pruned, as the log says
            break
    return done


def after_restore(at: datetime) -> int:
    """Whatever could have run since the backup was made is for people to look at; answers how many calls."""
    done, could_have_run = 0, ToolCall.objects.filter(status__in=(Status.APPROVED, Status.EXECUTING), runs_by_agent=False)
    while ids := _ids(could_have_run.order_by("pk")):
        moved = _each(ids, lambda call_id: lifecycle.restore(call_id=call_id, at=at))
        done += moved
        if not moved:
            break
    audit.record_administration(EventKind.RESTORED, at=at, actor=SYSTEM, data={"calls": done})
    return done


def to_prune(at: datetime, older_than: timedelta) -> QuerySet[ToolCall]:
    return ToolCall.objects.filter(pruned_at__isnull=True, settled_at__lt=at - older_than)


def dispatch_again(at: datetime) -> int:
    """Approved calls that nobody claimed: the message was lost, or the process that wrote them holds no queue."""
    unclaimed = ToolCall.objects.filter(status=Status.APPROVED, dispatch_at__lte=at).order_by("dispatch_at")
    rows = list(unclaimed.values_list("pk", "decided_at", "submitted_at")[:BATCH])
    by_delay: dict[timedelta, list[UUID]] = defaultdict(list)
    for call_id, decided_at, submitted_at in rows:
        by_delay[_delay(at - (decided_at or submitted_at))].append(call_id)
    for delay, ids in by_delay.items():
        ToolCall.objects.filter(pk__in=ids, status=Status.APPROVED).update(dispatch_at=at + delay)
    for call_id, *_ in rows:
        dispatch.send(call_id)
    return len(rows)


def hand_out_everything(at: datetime) -> None:
    """The queue is new and empty: the next round hands out all that is approved, whenever it was last handed out."""
    ToolCall.objects.filter(status=Status.APPROVED, dispatch_at__gt=at).update(dispatch_at=at)


def _delay(age: timedelta) -> timedelta:
    """Longer for what waits for its turn or for a busy worker, not to flood the queue; bounded, because hints get lost."""
    after = settings.DISPATCH_AFTER
    return after * next((times for times in (1, 2) if after * times >= age), 4)


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
        except Exception:  # one call that cannot be moved must not hold up all the others
            log.exception("the clock could not move call %s", call_id)
    return done

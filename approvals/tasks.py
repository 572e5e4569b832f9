"""The doors for Celery: names that `approvals.dispatch` owns, bound to what they do. Messages carry a call's id only."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from approvals import audit, clock, dispatch, execution, sweeps, tracing
from approvals.models.actors import CLOCK


@shared_task(name=dispatch.EXECUTE, ignore_result=True, acks_late=True, reject_on_worker_lost=False, bind=True)
def execute(self: Any, call_id: str) -> str:
    with tracing.continued(self.request.headers or {}, call_id=call_id):
        return execution.execute(UUID(call_id))


@shared_task(name=dispatch.SWEEP, ignore_result=True, expires=60)
def sweep() -> dict[str, int]:
    return sweeps.sweep()


@shared_task(name=dispatch.PRUNE, ignore_result=True)
def prune() -> int:
    return sweeps.prune(clock.now(), older_than=settings.PRUNE_AFTER, actor=CLOCK) if settings.PRUNE_AFTER else 0


@shared_task(name=dispatch.VERIFY, ignore_result=True)
def verify() -> bool:
    return audit.inspect_trail_when_due()

"""The doors for Celery: names that `approvals.dispatch` owns, bound to what they do. Messages carry a call's id only."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task

from approvals import audit, dispatch, execution, sweeps, tracing


@shared_task(name=dispatch.EXECUTE, ignore_result=True, acks_late=True, reject_on_worker_lost=False, bind=True)
def execute(self: Any, call_id: str) -> str:
    with tracing.continued(self.request.headers or {}, call_id=call_id):
        return execution.execute(UUID(call_id))


@shared_task(name=dispatch.SWEEP, ignore_result=True, expires=60)
def sweep() -> dict[str, int]:
    return sweeps.sweep()


@shared_task(name=dispatch.VERIFY, ignore_result=True)
def verify() -> bool:
    return audit.inspect_trail_when_due()

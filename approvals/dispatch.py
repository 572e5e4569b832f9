"""How work reaches a worker: names of tasks, sent after commit. A message that is lost costs time, never a call."""

from __future__ import annotations

import logging
import threading
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction

EXECUTE = "toolgate.execute"
SWEEP = "toolgate.sweep"

log = logging.getLogger(__name__)


# Set by the one process that holds the embedded queue in its memory; any other leaves the row to the sweep.
holds_the_queue = threading.Event()


def execute_soon(call_id: UUID) -> None:
    """Hints to the workers, once the transaction at hand is committed, that a call is approved."""
    transaction.on_commit(lambda: send(call_id), robust=True)


def send(call_id: UUID) -> None:
    """Sends the hint now. A broker that is away is logged and left to the sweep."""
    if settings.IS_EMBEDDED and not holds_the_queue.is_set():
        return
    try:
        current_app.send_task(EXECUTE, args=[str(call_id)], ignore_result=True, retry=False)
    except Exception as error:  # noqa: BLE001 - kombu raises the broker library's own errors; the row is the truth
        log.warning("could not hand call %s to a worker (%s); the sweep will", call_id, type(error).__name__)

"""How work reaches a worker: names of tasks, sent after commit. A message that is lost costs time, never a call."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction

from approvals import tracing
from approvals.models import Count, Total
from approvals.sending import Sender

EXECUTE = "toolgate.execute"
SWEEP = "toolgate.sweep"
VERIFY = "toolgate.verify"
PRUNE = "toolgate.prune"

log = logging.getLogger(__name__)


# Set by the one process that holds the embedded queue in its memory; any other leaves the row to the sweep.
holds_the_queue = threading.Event()


def execute_soon(call_id: UUID) -> None:
    """Hints to the workers, once the transaction at hand is committed, that a call is approved."""
    transaction.on_commit(lambda: send(call_id), robust=True)


def send(call_id: UUID) -> None:
    """Sends the hint soon, and never waits: a broker may be away, or take a connection and answer nothing."""
    hint = Hint(call_id, tracing.carried())
    if not settings.IS_EMBEDDED:
        if not _sender.take(lambda: _publish(hint)):
            log.warning("could not hand call %s to a worker (too many wait to be sent); the sweep will", call_id)
    elif holds_the_queue.is_set():
        _publish(hint)


@dataclass(frozen=True, slots=True)
class Hint:
    """A message to the workers. Its headers say only by what it can be traced."""

    call_id: UUID
    headers: dict[str, str]


def _publish(hint: Hint) -> None:
    call_id = hint.call_id
    try:
        current_app.send_task(EXECUTE, args=[str(call_id)], ignore_result=True, retry=False, headers=dict(hint.headers))
        _note("sent")
    except Exception as error:  # noqa: BLE001 - kombu raises the broker library's own errors; the row is the truth
        _note("failed")
        log.warning("could not hand call %s to a worker (%s); the sweep will", call_id, type(error).__name__)


_uncounted: Counter[str] = Counter()
_counting = threading.Lock()


def _note(delivery: str) -> None:
    with _counting:
        _uncounted[delivery] += 1


def count_hints() -> None:
    """Adds the hints of this process to the totals. Called now and then: a row that is written for each would be dear."""
    with _counting:
        counted = dict(_uncounted)
        _uncounted.clear()
    if not counted:
        return
    try:
        with transaction.atomic():
            Total.add({Count("hints", status=delivery): number for delivery, number in counted.items()})
    except (DatabaseError, InterfaceError):
        with _counting:
            _uncounted.update(counted)
        raise


def _count() -> None:
    try:
        count_hints()
    except (DatabaseError, InterfaceError) as error:
        log.warning("could not count the hints to workers (%s); trying again", type(error).__name__)
    finally:
        connection.close()


_sender = Sender("hints to workers", now_and_then=_count)

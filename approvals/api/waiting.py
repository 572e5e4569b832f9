"""`?wait=`: holds an answer until a call moves. Holds a thread, but no connection meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from threading import Event, Lock

from django.conf import settings
from django.db import connection
from rest_framework.request import Request

from approvals.api.problems import invalid
from approvals.clock import now
from approvals.lifecycle.ending import end_if_overdue
from approvals.models import SETTLED, Status, ToolCallQuerySet
from approvals.waking import listeners, subscription

LONGEST = 60
HEARING = 1.0  # seconds between two looks at the row, while wakes arrive
FIRST, DEAF = 0.005, 0.1  # while they do not; a tool may answer at once, people do not


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait at the most, in seconds, and until what: `decided` or `settled`."""

    seconds: float
    until: str

    def is_over(self, calls: ToolCallQuerySet) -> bool:
        """Whether all of these calls have moved. What is overdue is ended first: nobody is told that it still waits."""
        end_overdue(calls)
        return self.have_moved(calls.order_by().values_list("status", flat=True))

    def have_moved(self, statuses: Iterable[str]) -> bool:
        return all(status in SETTLED if self.until == "settled" else status != Status.PENDING for status in statuses)


def asked_for(request: Request) -> Wait:
    until = request.query_params.get("until", "settled")
    if until not in ("decided", "settled"):
        raise invalid("until", "must be decided or settled")
    try:
        seconds = Decimal(request.query_params.get("wait", "0"))
    except InvalidOperation:
        seconds = Decimal(-1)
    if not seconds.is_finite() or not 0 <= seconds <= LONGEST:
        raise invalid("wait", f"must be a number of seconds from 0 to {LONGEST}")
    return Wait(float(seconds), until)


def end_overdue(calls: ToolCallQuerySet) -> None:
    at = now()
    for call in calls.overdue(at).order_by():
        end_if_overdue(call, at)


class _Places:
    """How many requests may wait at once in this process."""

    def __init__(self) -> None:
        self._lock, self._taken = Lock(), 0

    @contextmanager
    def one(self) -> Iterator[bool]:
        """Yields whether there was a place."""
        with self._lock:
            got = self._taken < settings.WAIT_LIMIT
            self._taken += got
        try:
            yield got
        finally:
            with self._lock:
                self._taken -= got


places = _Places()


def hold(wait: Wait, about: str, is_over: Callable[[], bool]) -> None:
    """Returns when `is_over()` says so, when the time is over, or at once when too many wait already.

    Looks whenever something moved that is `about` this, and now and then, because a wake may be lost.
    """
    if not wait.seconds or is_over():
        return
    moved = Event()
    with places.one() as got_one, listeners.listening(about, moved.set):
        end, pause = time.monotonic() + wait.seconds if got_one else 0.0, FIRST
        while not is_over() and (left := end - time.monotonic()) > 0:
            if not connection.in_atomic_block:
                connection.close()
            moved.wait(min(HEARING if subscription.hears else pause, left))
            moved.clear()
            pause = min(pause * 1.5, DEAF)

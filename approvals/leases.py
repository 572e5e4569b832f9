"""How a worker keeps a call while it runs, and what ends a body that takes too long.

The limits start at the claim and are kept here rather than by the worker pool, so that they hold in threads too. At the soft
limit an exception is raised in the body; at the hard one the worker gives the call up as `outcome_unknown`, because nobody
can say what a body that does not answer has done. What it says later finds its lease gone.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from approvals import clock, lifecycle

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    soft: timedelta
    hard: timedelta


@contextmanager
def renewed(call_id: UUID, lease: UUID) -> Iterator[None]:
    """Renews the lease meanwhile."""
    with _kept(Watch(call_id, lease, None)):
        yield


@contextmanager
def watched(call_id: UUID, lease: UUID, limits: Limits) -> Iterator[Watch]:
    """Renews the lease meanwhile and ends what takes too long: SoftTimeLimitExceeded is raised in the calling thread."""
    watch = Watch(call_id, lease, limits)
    with _kept(watch):
        yield watch


@contextmanager
def _kept(watch: Watch) -> Iterator[None]:
    thread = threading.Thread(target=watch.keep, name=f"lease of {watch.call_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.stop()
        thread.join()


@dataclass
class Watch:
    """Looks after one execution from a thread of its own."""

    call_id: UUID
    lease: UUID
    limits: Limits | None
    body: int = field(default_factory=threading.get_ident)
    started: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    warned: bool = False
    is_awaited: bool = False

    def stoppable(self, body: Callable[..., Any]) -> Callable[[Any, Any], Any]:
        """The body, stopped at the soft limit also while it awaits: a loop that waits sees nothing raised in its thread."""

        def run(arguments: Any, context: Any) -> Any:
            answer = body(arguments, context)
            return self._cancelled_in_time(answer) if inspect.iscoroutine(answer) else answer

        return run

    async def _cancelled_in_time(self, answer: Coroutine[Any, Any, Any]) -> Any:
        with self.lock:
            self.is_awaited = True
        try:
            async with asyncio.timeout(max(0.0, self._next_limit() - time.monotonic())) as limit:
                return await answer
        except TimeoutError:
            if limit.expired():
                raise SoftTimeLimitExceeded from None
            raise

    def stop(self) -> None:
        with self.lock:  # so that the exception of the soft limit is never raised in a body that has ended
            self.done.set()

    def keep(self) -> None:
        every = settings.LEASE.total_seconds() / 3
        renew_at = self.started + every
        try:
            while not self.done.wait(self._until(renew_at)):
                if not self._enforce():
                    return
                if time.monotonic() >= renew_at:  # a lease that is gone is not renewed; the limits of the body still hold
                    renew_at = renew_at + every if self._renew() else float("inf")
        finally:
            connection.close()

    def _until(self, renew_at: float) -> float:
        return min(max(0.0, min(renew_at, self._next_limit()) - time.monotonic()), threading.TIMEOUT_MAX)

    def _next_limit(self) -> float:
        if self.limits is None:
            return float("inf")
        return self.started + (self.limits.hard if self.warned else self.limits.soft).total_seconds()

    def _enforce(self) -> bool:
        """False once the call is given up."""
        if self.limits is None or time.monotonic() < self._next_limit():
            return True
        if not self.warned:
            self.warned = True
            with self.lock:
                if not self.done.is_set() and not self.is_awaited:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self.body), ctypes.py_object(SoftTimeLimitExceeded)
                    )
            return True
        return not self._give_up(self.limits.hard)

    def _give_up(self, limit: timedelta) -> bool:
        why = f"The tool still ran after its hard time limit of {limit.total_seconds():g} seconds."
        try:
            lifecycle.lose(call_id=self.call_id, lease=self.lease, why=why, at=clock.now(), is_certain=True)
        except (lifecycle.NotPossible, DatabaseError, InterfaceError) as error:
            log.warning("could not give up call %s: %s", self.call_id, error)
        return True

    def _renew(self) -> bool:
        try:
            return lifecycle.renew(call_id=self.call_id, lease=self.lease, at=clock.now())
        except (DatabaseError, InterfaceError):
            log.exception("could not renew the lease of call %s; trying again", self.call_id)
            return True

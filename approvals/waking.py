"""Who waits for a call hears when it moves: in this process at once, in others through Redis.

A wake that is lost costs time, never an answer: who waits reads the row again now and then.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache

import redis
from django.conf import settings
from django.db import transaction
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.retry import Retry

from approvals.models import ToolCall
from approvals.sending import Sender

CHANNEL = "toolgate:moved"
PATIENCE = 2  # seconds that Redis may take for an answer
SILENCE = 5  # seconds without a word, after which Redis is asked whether it is there
PAUSE = 1  # seconds between two tries to listen

log = logging.getLogger(__name__)


def about_call(call_id: object) -> str:
    return f"call {call_id}"


def about_run(agent_id: object, run_id: str) -> str:
    return f"run {agent_id} {run_id}"


def about_agent(agent_id: object) -> str:
    return f"agent {agent_id}"


def wake_soon(call: ToolCall) -> None:
    """Once the transaction at hand is committed, wakes those who wait for this call, its run, or any call of its agent."""
    about = [about_call(call.pk), about_agent(call.agent_id)]
    if call.run_id:
        about.append(about_run(call.agent_id, call.run_id))
    transaction.on_commit(lambda: wake(about), robust=True)


def wake(about: list[str]) -> None:
    """Never waits and never fails."""
    listeners.wake(about)
    if not settings.IS_EMBEDDED:
        _sender.take(lambda: _publish(about))


Wake = Callable[[], None]


class Listeners:
    """Who waits in this process, and for what."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: defaultdict[str, set[Wake]] = defaultdict(set)

    @contextmanager
    def listening(self, about: str, wake: Wake) -> Iterator[None]:
        """Meanwhile `wake` is called, from any thread, whenever something moves that is `about` this."""
        with self._lock:
            self._wakes[about].add(wake)
        if not settings.IS_EMBEDDED:
            subscription.ensure()
        try:
            yield
        finally:
            with self._lock:
                self._wakes[about].discard(wake)
                if not self._wakes[about]:
                    del self._wakes[about]

    def wake(self, about: Iterable[str]) -> None:
        with self._lock:
            found = [wake for one in about for wake in self._wakes.get(one, ())]
        for wake in found:
            wake()

    def wake_everybody(self) -> None:
        """What moved while nobody could tell is found by reading."""
        with self._lock:
            about = list(self._wakes)
        self.wake(about)


class Subscription:
    """The one subscription of this process to what moves in all others."""

    def __init__(self) -> None:
        self._lock, self._thread = threading.Lock(), threading.Thread(daemon=True)
        self._hears, self._is_over = threading.Event(), threading.Event()

    @property
    def hears(self) -> bool:
        """Whether a wake from elsewhere would arrive now, as far as can be known."""
        return settings.IS_EMBEDDED or self._hears.is_set()

    def ensure(self) -> None:
        if self._thread.is_alive():
            return
        with self._lock:
            if not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="wakes from elsewhere", daemon=True)
                self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join(2 * SILENCE)

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                with closing(_client().pubsub()) as heard:  # type: ignore[no-untyped-call]
                    heard.subscribe(CHANNEL)
                    self._listen(heard)
            except (redis.RedisError, OSError) as error:
                if self._hears.is_set():
                    log.warning(
                        "does not hear what moves elsewhere (%s): looks at the rows until it does", type(error).__name__
                    )
            self._hears.clear()
            listeners.wake_everybody()
            self._is_over.wait(PAUSE)

    def _listen(self, heard: PubSub) -> None:
        was_asked = False
        while not self._is_over.is_set():
            message = heard.get_message(timeout=PATIENCE if was_asked else SILENCE)
            if message is None and was_asked:
                raise redis.TimeoutError
            if was_asked := message is None:
                heard.ping()
            elif message["type"] == "subscribe":
                self._hears.set()
                listeners.wake_everybody()
            elif message["type"] == "message":
                with suppress(ValueError, TypeError):  # whoever else may write there: a wake too many does no harm
                    listeners.wake([str(about) for about in json.loads(message["data"])])


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        str(settings.CELERY_BROKER_URL), socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
    )


def _publish(about: list[str]) -> None:
    try:
        _client().publish(CHANNEL, json.dumps(about))
    except (redis.RedisError, OSError) as error:
        log.info("could not wake those who wait elsewhere (%s): they look at the row", type(error).__name__)


listeners = Listeners()
subscription = Subscription()
_sender = Sender("wakes")

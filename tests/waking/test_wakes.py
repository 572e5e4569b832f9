"""Wakes through a real Redis: what moves in another process is heard, and what cannot be heard is known."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import redis

from approvals import waking
from tests.servers import Redis, until


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """A Redis of its own, and a process that has heard nothing yet."""
    found = Redis()
    found.start()
    settings.IS_EMBEDDED, settings.CELERY_BROKER_URL = False, found.url
    monkeypatch.setattr(waking, "listeners", waking.Listeners())
    monkeypatch.setattr(waking, "subscription", waking.Subscription())
    monkeypatch.setattr(waking, "SILENCE", 0.3)
    waking._client.cache_clear()
    yield found
    waking.subscription.end()
    waking._client().close()
    waking._client.cache_clear()
    found.remove()


def hears() -> bool:
    return waking.subscription.hears


def test_one_from_another_process_arrives(server: Redis) -> None:
    moved, other, about = threading.Event(), threading.Event(), waking.about_call(uuid4())
    with waking.listeners.listening(about, moved.set), waking.listeners.listening("call 1", other.set):
        until(hears, lambda: "not heard")
        moved.clear()
        other.clear()
        with redis.Redis.from_url(server.url) as elsewhere:
            for strange in ("", "{", "7", "null", b"\xff\xfe"):
                elsewhere.publish(waking.CHANNEL, strange)
            elsewhere.publish(waking.CHANNEL, json.dumps([about]))
        assert moved.wait(30)
    assert not other.is_set()


def test_one_of_this_process_arrives_once_there_and_everywhere(server: Redis) -> None:
    moved = threading.Event()
    with redis.Redis.from_url(server.url) as elsewhere, elsewhere.pubsub() as heard:
        heard.subscribe(waking.CHANNEL)
        until(lambda: (heard.get_message() or {}).get("type") == "subscribe", lambda: "not subscribed")
        with waking.listeners.listening("run 1 a b", moved.set):
            waking.wake(["call 1", "run 1 a b"])
            assert moved.is_set()
        found = heard.get_message(timeout=30)
    assert json.loads(found["data"]) == ["call 1", "run 1 a b"]


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_redis_that_is_gone_is_noticed_and_everybody_looks(how: str, server: Redis) -> None:
    moved = threading.Event()
    with waking.listeners.listening("call 1", moved.set):
        until(hears, lambda: "not heard")
        moved.clear()
        server.kill() if how == "killed" else server.freeze()
        assert moved.wait(30)
        until(lambda: not hears(), lambda: "believes that it hears")
        waking.wake(["call 2"])  # neither waits nor fails
        server.start() if how == "killed" else server.go_on()
        until(hears, lambda: "does not listen again")


def test_nobody_is_woken_who_has_gone() -> None:
    listeners, moved = waking.Listeners(), threading.Event()
    with listeners.listening("call 1", moved.set):
        pass
    listeners.wake(["call 1"])
    listeners.wake_everybody()
    assert not moved.is_set()
    assert not listeners._wakes

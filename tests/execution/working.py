"""A real Celery worker beside a test, and what to ask of it."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from approvals import dispatch
from approvals.models import DecisionKind, ToolCall
from tests.calls import CallMaker
from toolgate.celery import app
from toolgate.parts import Worker

ENDS_WITHIN = 60  # seconds; a bound, not a promise


class Working:
    """A worker in a thread, as `toolgate serve` runs it."""

    def __init__(self) -> None:
        self.worker = Worker()
        self.thread = threading.Thread(target=self.worker.run)
        self.thread.start()

    def end(self) -> None:
        if self.thread.is_alive():
            self.worker.stop()
            self.thread.join(ENDS_WITHIN)
            assert not self.thread.is_alive()


def approved(make: CallMaker, tool: str, arguments: Any = None, **fields: Any) -> ToolCall:
    return make.decide(make.submit(tool, arguments, **fields), DecisionKind.APPROVE)


def deliver(*call_ids: object) -> None:
    for call_id in call_ids:
        app.send_task(dispatch.EXECUTE, args=[str(call_id)])


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + ENDS_WITHIN
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def settled(*calls: ToolCall) -> list[str]:
    """The statuses of these calls once all are settled."""
    ids = [call.pk for call in calls]
    until(lambda: not ToolCall.objects.filter(pk__in=ids, settled_at=None).exists())
    found = dict(ToolCall.objects.filter(pk__in=ids).values_list("pk", "status"))
    return [found[call_id] for call_id in ids]


def text(call: ToolCall) -> str:
    result = json.loads(ToolCall.objects.get(pk=call.pk).result)
    return "\n".join(part["content"] for part in result["content"])


def is_idle(worker: Working) -> bool:
    """Everything that was delivered was looked at: seen several times, for a message may be on its way between the two."""
    for _ in range(3):
        if _is_busy(worker):
            return False
        time.sleep(0.02)
    return True


def _is_busy(worker: Working) -> bool:
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        waiting = channel.queue_declare("celery", passive=True).message_count
    return bool(waiting or worker.worker.controller.state.reserved_requests)


class Counting:
    """A body that counts how often it ran, by the key that stays the same over attempts."""

    def __init__(self, seconds: float = 0) -> None:
        self.ran: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.seconds = seconds

    def __call__(self, arguments: dict[str, Any], context: dict[str, Any]) -> str:
        with self.lock:
            self.ran[context["idempotency_key"]] += 1
        time.sleep(self.seconds)
        return "done"


def gate() -> tuple[threading.Event, Callable[[Any, Any], str]]:
    """An event, and a body that ends once it is set."""
    opened = threading.Event()

    def body(arguments: Any, context: Any) -> str:
        assert opened.wait(ENDS_WITHIN)
        return "done"

    return opened, body

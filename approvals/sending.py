"""What is sent elsewhere once a transaction is committed: by a thread of its own, so that no request waits for a broker."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress

MOST_UNSENT = 10_000
PAUSE = 5  # seconds between what is done now and then

log = logging.getLogger(__name__)


class Sender:
    """One thread a process, started by what is sent first; after a fork the child starts its own."""

    def __init__(self, name: str, now_and_then: Callable[[], None] = lambda: None) -> None:
        self.name, self.now_and_then = name, now_and_then
        self.unsent: queue.Queue[Callable[[], None]] = queue.Queue(MOST_UNSENT)
        self.lock, self.thread = threading.Lock(), threading.Thread(daemon=True)

    def take(self, send: Callable[[], None]) -> bool:
        """Sends soon, and never waits. False when too much is unsent already: it is dropped. `send` must not raise."""
        try:
            self.unsent.put_nowait(send)
        except queue.Full:
            return False
        if not self.thread.is_alive():
            self._start()
        return True

    def _start(self) -> None:
        with self.lock:
            if not self.thread.is_alive():
                self.thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                self.thread.start()

    def _run(self) -> None:
        then = 0.0
        while True:
            with suppress(queue.Empty):
                self.unsent.get(timeout=PAUSE)()
            if time.monotonic() > then:
                then = time.monotonic() + PAUSE
                self.now_and_then()

"""What runs beside the web, in threads of the embedded process or as processes of their own: a worker and a clock."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from contextlib import suppress
from typing import Any, Protocol

from celery.beat import Scheduler, Service
from celery.worker import WorkController
from django.db import connection

from approvals import dispatch
from toolgate.celery import app
from toolgate.settings import IS_EMBEDDED, settings

log = logging.getLogger(__name__)


class Part(Protocol):
    """What runs until it is stopped, and without which a server is of no use."""

    name: str

    def run(self) -> None: ...
    def stop(self) -> None: ...


class Worker:
    """A Celery worker through its controller: its command line wants to be the main thread."""

    name = "worker"

    def __init__(self) -> None:
        self.controller: Any = WorkController(
            app=app,
            hostname="embedded" if IS_EMBEDDED else f"worker@{socket.gethostname()}-{os.getpid()}",
            pool="threads",
            concurrency=settings.worker_threads,
            loglevel=logging.WARNING,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )

    def run(self) -> None:
        dispatch.holds_the_queue.set()
        self.controller.start()

    def stop(self) -> None:
        """Takes no more calls and waits for those that run."""
        dispatch.holds_the_queue.clear()
        with suppress(SystemExit):
            self.controller.stop(exitcode=0)


class InThisThread(Scheduler):
    """Runs what is due itself: as a message it would wait behind slow tools, or for a broker that is away.

    What takes its time runs beside it, one at a time, so that the sweep is never late.
    """

    beside = threading.Thread()

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> Any:
        entry = self.reserve(entry) if advance else entry
        if entry.task == dispatch.SWEEP:
            self._run(entry)
        elif not self.beside.is_alive():
            self.beside = threading.Thread(target=self._run, args=(entry,), name=entry.name, daemon=True)
            self.beside.start()

    def _run(self, entry: Any) -> None:
        try:
            self.app.tasks[entry.task].apply(entry.args, entry.kwargs)
        finally:
            connection.close()


class Clock:
    """Celery's beat, its schedule in memory."""

    name = "clock"

    def __init__(self) -> None:
        app.loader.import_default_modules()  # a worker does so by itself
        self.service: Any = Service(app, max_interval=1, scheduler_cls=InThisThread)

    def run(self) -> None:
        self.service.start()

    def stop(self) -> None:
        self.service.stop(wait=True)


def run_until_told(part: Part) -> None:
    """Runs a part as a process of its own, until SIGTERM or SIGINT. What it holds then has the grace to end."""
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())

    def run() -> None:
        try:
            part.run()
        except Exception:
            log.exception("the %s failed", part.name)
        told.set()

    running = threading.Thread(target=run, name=part.name, daemon=True)
    running.start()
    log.info("toolgate %s runs", part.name)
    told.wait()
    is_over = running.is_alive()  # or it ended by itself
    ending = threading.Thread(target=part.stop, daemon=True)
    ending.start()
    ending.join(settings.grace_seconds)
    logging.shutdown()
    os._exit(0 if is_over else 1)  # Python would wait for a tool that still runs: what it holds is left to its lease

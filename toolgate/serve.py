"""The embedded process: web, worker and clock in one, on SQLite. What `toolgate serve` runs."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from celery.beat import Scheduler, Service
from celery.worker import WorkController

from approvals import dispatch
from toolgate.asgi import application
from toolgate.celery import app
from toolgate.settings import settings

log = logging.getLogger(__name__)
GRACE_SECONDS = 5


class Worker:
    """A Celery worker in a thread, through its controller: its command line wants to be the main thread."""

    def __init__(self) -> None:
        self.controller: Any = WorkController(
            app=app,
            hostname="embedded",
            pool="threads",
            concurrency=settings.worker_threads,
            loglevel=logging.WARNING,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        self.thread = threading.Thread(target=self.controller.start, name="worker", daemon=True)

    def start(self) -> None:
        dispatch.holds_the_queue.set()
        self.thread.start()

    def stop(self) -> None:
        dispatch.holds_the_queue.clear()
        with suppress(SystemExit):
            self.controller.stop(exitcode=0)
        self.thread.join(GRACE_SECONDS)


class Clock:
    """Celery's beat in a thread, its schedule in memory."""

    def __init__(self) -> None:
        self.service: Any = Service(app, max_interval=1, scheduler_cls=Scheduler)
        self.thread = threading.Thread(target=self.service.start, kwargs={"embedded_process": True}, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.service.stop(wait=True)
        self.thread.join(GRACE_SECONDS)


class Server(uvicorn.Server):
    """uvicorn raises the signal again once it has shut down, so what must end with it ends inside its shutdown."""

    def __init__(self, config: uvicorn.Config, when_serving: Callable[[], None]) -> None:
        super().__init__(config)
        self.when_serving = when_serving
        self.worker, self.clock = Worker(), Clock()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.worker.start()
            self.clock.start()
            self.when_serving()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await asyncio.to_thread(self.clock.stop)
        await asyncio.to_thread(self.worker.stop)


def serve(host: str, port: int, when_serving: Callable[[], None]) -> None:
    """Serves until a signal ends it. Raises OSError when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
        )
        with suppress(KeyboardInterrupt):  # uvicorn raises the signal again once everything has ended
            Server(config, when_serving).run([listener])

"""An ASGI server and what runs in threads beside it: `toolgate serve`, the embedded process, and `toolgate waiting`."""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from django.db import connection

from approvals import clock, sweeps
from toolgate.asgi import application
from toolgate.parts import Clock, Part, Worker

log = logging.getLogger(__name__)
GRACE_SECONDS = 4


class Server(uvicorn.Server):
    """uvicorn raises the signal again once it has shut down, so what must end with it ends inside its shutdown."""

    def __init__(self, config: uvicorn.Config, when_serving: Callable[[], None], *parts: Part) -> None:
        super().__init__(config)
        self.when_serving = when_serving
        self.parts = parts
        self.failed = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.started or not sockets:
            return
        for part in self.parts:
            _in_a_thread(part.name, partial(self._keep, part))
        address = sockets[0].getsockname()
        _in_a_thread("first request", partial(self._tell, address))

    def _keep(self, part: Part) -> None:
        """Runs a part. If it ends by itself, nothing would be executed and nobody told: then the server ends, too."""
        try:
            part.run()
        except Exception:
            log.exception("the %s failed", part.name)
        if not self.should_exit:
            log.critical("The %s ended by itself, so the server stops.", part.name)
            self.failed = self.should_exit = True

    def _tell(self, address: tuple[Any, ...]) -> None:
        """Says that it serves once a first request was answered, which also loads what the first one has to wait for."""
        asking = http.client.HTTPConnection(reachable(address[0]), address[1], timeout=60)
        with suppress(OSError, http.client.HTTPException):
            asking.request("GET", "/api/v1/tools")
            asking.getresponse()
            self.when_serving()
        asking.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends web, worker and clock side by side. What still runs after the grace is left: its lease says so later."""
        self.should_exit = True
        ending = [_in_a_thread(f"end of the {part.name}", part.stop) for part in self.parts]
        joined = [asyncio.to_thread(thread.join, GRACE_SECONDS) for thread in ending]
        await asyncio.gather(super().shutdown(sockets), *joined)


def _in_a_thread(name: str, run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def reachable(host: str) -> str:
    """Where to ask a server that listens there."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound


def listen(host: str, port: int) -> socket.socket:
    """The port, taken. Raises OSError when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


def serve(listener: socket.socket, when_serving: Callable[[], None], *parts: Part) -> bool:
    """Serves until a signal ends it, with these parts beside it. False when it ended by itself."""
    config = uvicorn.Config(
        application,
        loop="uvloop",
        http="httptools",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
    )
    server = Server(config, when_serving, *parts)
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again once everything has ended
        server.run([listener])
    return not server.failed


def serve_everything(listener: socket.socket, when_serving: Callable[[], None]) -> bool:
    """The embedded process: the queue is new and empty, so all that is approved is handed out anew."""
    sweeps.hand_out_everything(clock.now())
    connection.close()
    return serve(listener, when_serving, Worker(), Clock())

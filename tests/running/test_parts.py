"""The server and what runs in threads beside it: none goes on without the others."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest
import uvicorn

from toolgate.asgi import application
from toolgate.serve import GRACE_SECONDS, Server, listen, reachable


@dataclass
class Beside:
    """A part that runs until it is stopped, fails, or does not stop."""

    name: str = "part of a test"
    error: Exception | None = None
    is_deaf: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        if self.error:
            raise self.error
        self.over.wait()

    def stop(self) -> None:
        self.stopped.set()
        if self.is_deaf:
            threading.Event().wait(GRACE_SECONDS * 5)
        self.over.set()


def run(*parts: Beside, is_told_to_end: bool = True) -> Server:
    """A server that has ended. It is told to as soon as it says that it serves, or it must have its own reason."""

    def end() -> None:
        server.should_exit = server.should_exit or is_told_to_end

    server = Server(uvicorn.Config(application, log_config=None, lifespan="off"), end, *parts)
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        thread.join(60)
    assert not thread.is_alive()
    return server


def test_stops_every_part_when_it_is_told_to_end() -> None:
    parts = Beside(), Beside()
    assert not run(*parts).failed
    assert all(part.stopped.is_set() and part.over.is_set() for part in parts)


@pytest.mark.parametrize("error", [RuntimeError("lost its broker"), None])
def test_ends_when_a_part_ends_by_itself(error: Exception | None, caplog: pytest.LogCaptureFixture) -> None:
    early, other = Beside(error=error), Beside()
    early.over.set()
    server = run(early, other, is_told_to_end=False)
    assert server.failed
    assert other.stopped.is_set()
    assert "The part of a test ended by itself, so the server stops." in caplog.text


def test_does_not_wait_for_ever_for_a_part_that_does_not_stop() -> None:
    assert not run(Beside(is_deaf=True)).failed


@pytest.mark.parametrize(("host", "asked"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("127.0.0.1", "127.0.0.1")])  # noqa: S104 - compared, not bound
def test_asks_an_address_that_can_be_asked(host: str, asked: str) -> None:
    assert reachable(host) == asked

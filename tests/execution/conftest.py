"""Real Celery workers for tests: threads, the memory broker, the database file that the test uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.execution.working import Working, is_idle, until
from toolgate.celery import app


@pytest.fixture
def start_worker(real_db: None) -> Iterator[Callable[[], Working]]:
    """Starts workers, which end with the test."""
    started: list[Working] = []

    def start() -> Working:
        started.append(Working())
        return started[-1]

    app.control.purge()
    yield start
    for working in started:
        working.end()


@pytest.fixture(scope="module")
def worker_of_the_module() -> Iterator[Working]:
    app.control.purge()
    working = Working()
    yield working
    working.end()


@pytest.fixture
def worker(real_db: None, worker_of_the_module: Working) -> Iterator[Working]:
    """A worker that is there before the test and idle after it."""
    yield worker_of_the_module
    until(lambda: is_idle(worker_of_the_module))

"""Everybody at once: callers over HTTP, people in browsers, and a real worker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.api.conftest import as_agent, as_other_agent, as_person, as_second_person, as_stranger
from tests.execution.conftest import start_worker
from tests.execution.working import Working
from tests.review.conftest import ada, grace, log_in
from tests.running.conftest import serve

__all__ = [
    "ada",
    "as_agent",
    "as_other_agent",
    "as_person",
    "as_second_person",
    "as_stranger",
    "grace",
    "log_in",
    "serve",
    "start_worker",
]


@pytest.fixture
def worker(start_worker: Callable[[], Working]) -> Working:
    """A worker for this test only: the others of its module run calls themselves."""
    return start_worker()
